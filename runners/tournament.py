"""Your own tuner in the tournament: bandit-bench tournament tuner=my_module.MyTuner [scale=quick] [jobs=2].

It is run on the tournament's tasks, with the settings and seeds of the committed results of 46 tuners, and
compared with each of them: wins and losses over all families, by family and by task, with intervals and a page.
``scale``: ``quick`` (a task of each family, 2,000 rounds, 5 repetitions), ``reduced`` (all tasks, 30 repetitions) or
``paper`` (10,000 rounds). The expected time is printed first; ``dry_run=true`` prints only that. ``repetitions=10``:
fewer; ``only={family: arms}`` or ``only={task: [triangle, sine]}``: some tasks; several tuners, labels and settings as
in ``bandit-bench compare``; ``name``: the folder below ``results/compare/``.
"""

import shlex
import sys
from functools import partial

from runners.command import plain_command, read_words

_KEYS = ("tuners", "scale", "repetitions", "settings", "jobs", "runner", "name", "renew", "dry_run", "command")


def tournament(words: list[str]) -> bool:
    """Run the missing repetitions and print the standings; return whether nothing was left out or failed."""
    from bandit_bench._tournament import TAKEN  # slow to import
    from bandit_bench._tournament import tournament as played
    from bench.errors import ConfigError
    from runners.compare import arguments

    if not any(word.startswith("tuner=") for word in words):
        raise ConfigError("tuner: found none, expected your own: tuner=my_module.MyTuner")
    own = [word for word in words if word.startswith("dry_run=")]
    given = arguments([word for word in words if word not in own])
    given |= {"command": shlex.join(["python", "-m", "runners.tournament", *words])}
    given |= read_words(own, {"dry_run": False})
    only = given["settings"].pop("only", {})
    for key, value in given.items():
        if key not in _KEYS and value:
            raise ConfigError(f"{key}: found an argument that the tournament does not take, {TAKEN}")
    result = played(given.pop("tuners"), only=only, **{key: value for key, value in given.items() if key in _KEYS})
    if result is None:
        return True
    for row in result.standings.to_dict("records"):
        indent = {"over all": 0, "by family": 2, "by task": 4}[row["by"]]
        what = f"{' ' * indent}{row['method'] + ' ' if not indent else ''}{row['part']}"
        print(
            f"{what:<44} {row['relative']:6.3f} [{row['ci_low']:.3f}, {row['ci_high']:.3f}]  "
            f"{row['wins']:>3} wins, {row['losses']} losses, {row['open']} open"
        )
    print("regret over that of random configurations, with its 95 % interval; against each of the others:")
    for line in result.notes:
        print(line)
    print(f"page: {result.folder / 'index.html'}")
    return result.is_complete


main = partial(plain_command, __doc__, tournament)

if __name__ == "__main__":
    sys.exit(main())
