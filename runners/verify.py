"""Check the committed results: python -m runners.verify [figure=cdt/figure2] [paper=cdt] [seconds=180] [seed=0]

Committed are those of scale paper; papers and figures of your own are checked as the suite's are. First every table,
claim and published number is derived again from the committed repetitions and measured seconds, and compared byte by
byte; nothing is run for it. Then some repetitions, drawn at random, are run anew with ``jobs`` workers (default: 2),
until the whole has taken about ``seconds``. Every last value and every point of a curve is compared with the committed
one: exactly on the same kind of processor with the same versions, else to a relative tolerance of 1e-6. The exit code
is 1 if any differs, or if the code or data of a figure's runs have changed since the figure was made. Runs that train
an encoder first are drawn only of the figure that is named. With ``record=true``, ``verified.csv`` in the folder of
results notes what was compared of each result, and when.

``carry=true`` plays at least one repetition of every run whose code has changed, of all figures, of one ``paper`` or of
one ``figure``. The committed repetitions of those that come out equal, bit for bit, get the names that the changed code
gives them; see `runners.execute.carry`. ``repetitions=3`` plays three of each run, which is needed where a class keeps
its state in another form; ``seconds`` limits the time, if it is given.
"""

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.errors import ConfigError
from runners.cli import full_name
from runners.command import plain_command, read_words
from runners.config.runner import Runner
from runners.config.tree import choices, unknown_choice
from runners.results.store import results_folder

_DEFAULTS = {"seconds": 180, "figure": "", "paper": "", "seed": 0, "jobs": 2}  # fmt: skip


def main() -> int:
    """Verify what the command line asks for; return the exit code."""
    return plain_command(__doc__, verify)


def verify(words: Sequence[str]) -> bool:
    """Derive, draw, run and compare; return whether nothing differs and nothing is outdated."""
    from runners.execute.sample import TOLERANCE, draw, outdated, playable, run_anew  # slow to import
    from runners.results.replay import committed_runs

    given = _parse(words)
    end = time.perf_counter() + given["seconds"]
    jobs, named, names = given["jobs"], given["figure"], _with_results(given["figure"], given["paper"])
    is_derived = _derive(names, jobs, overviews=not (named or given["paper"]))
    results = {folder: list(committed_runs(name, folder)) for name in names for folder in _folders(name)}
    old = [text for folder, runs in results.items() if (text := outdated(folder, runs))]
    runs = playable([run for of_result in results.values() for run in of_result], bool(named))
    drawn = draw(runs, (end - time.perf_counter()) * jobs, random.Random(given["seed"]))
    verified, first = run_anew(drawn, jobs)
    figures = len({run.name for run, _ in drawn})
    compared, equal = (sum(getattr(result, part) for result in verified.values()) for part in ("values", "equal"))
    print(f"{len(drawn)} repetitions of {figures} figure{'s' * (figures > 1)} run anew: {compared:,} values")
    print(f"{equal:,} equal, {compared - equal:,} differ{': first ' + first if first else ''}")
    if not all(run.same_machine for run, _ in drawn):
        print(f"some were made on another processor or with other versions: equal to a relative {TOLERANCE:g}")
    for text in old:
        print(f"outdated: {text}")
    for folder, of_result in results.items():
        count = sum(run.is_asked and not run.is_confirmed for run in of_result)
        if count:
            print(f"to be confirmed: {folder.relative_to(results_folder())}: {count} of {len(of_result)} runs")
    return is_derived and compared == equal and not old


def _with_results(figure: str, paper: str) -> list[str]:
    """Return the figure, or all of a paper or of all papers, as far as there are results; ConfigError if of none."""
    root = results_folder()
    wanted = [figure] if figure else [name for name in choices("figure") if not paper or name.startswith(f"{paper}/")]
    names = [name for name in wanted if any((root / name).glob("paper*/manifest.json"))]
    if not names:
        word = f"figure={figure}" if figure else f"paper={paper or '<paper>'}"
        raise ConfigError(
            f"found no results of {figure or paper or 'any figure'} at scale paper below {root}, expected those of "
            f"python -m runners.reproduce {word} scale=paper"
        )
    return names


def _folders(name: str) -> list[Path]:
    """Return the results of a figure that repetitions are committed of."""
    return [path.parent for path in sorted((results_folder() / name).glob("paper*/repetitions.parquet"))]


def _derive(names: Sequence[str], jobs: int, *, overviews: bool) -> bool:
    """Derive all tables again, print what differs and what no repetition backs; return whether nothing differs."""
    from runners.execute.pool import spread, workers  # slow to import
    from runners.results.committed import SECONDS
    from runners.results.golden import compare_committed, compare_overviews

    root, runner = results_folder(), Runner(progress=False)
    with workers(runner, jobs):
        compared = compare_committed(root, names, spread(runner, jobs))
    if overviews and (root / "claims.csv").is_file():
        compared.append(compare_overviews(root))
    differences = [difference for result in compared for difference in result.differences]
    print(f"{sum(len(result.compared) for result in compared)} tables derived again: {len(differences)} differ")
    for difference in sorted(differences):
        print(f"differs: {difference}")
    unbacked = sorted(file for result in compared for file in result.unbacked)
    others = [file for file in unbacked if not file.endswith(f"/{SECONDS}")]
    if unbacked:
        count = len(unbacked) - len(others)
        words = [f"{SECONDS} of {count} result{'s' * (count > 1)}", *([", ".join(others)] if others else [])]
        print(f"measured seconds, which no repetition backs: {'; '.join(words)}")
    return not differences


def _parse(words: Sequence[str]) -> dict[str, Any]:
    given = read_words(words, _DEFAULTS)
    for key in ("seconds", "jobs"):
        if not given[key]:
            raise ConfigError(f"{key}: found '0', expected a whole number, at least 1")
    if given["paper"] and given["paper"] not in choices("paper"):
        raise unknown_choice("paper", given["paper"])
    if given["figure"]:
        given["figure"] = full_name(f"figure={given['figure']}", given["paper"]).partition("=")[2]
        if given["figure"] not in choices("figure"):
            raise unknown_choice("figure", given["figure"])
    return given


if __name__ == "__main__":
    sys.exit(main())
