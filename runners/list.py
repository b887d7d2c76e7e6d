"""List the choices: bandit-bench list [GROUP [CHOICE]], such as bandit-bench list tuner cdt.

Without arguments it prints one line for each choice of each group; for a choice, its description, its source, and its
settings with types and defaults; for a tuner, also its abilities and, if there are any, its results among other tuners.
The groups `kind` and `claim` have the keys of a figure's file, the group `column` the columns of result files.
"""

import sys
from functools import partial

from bench.errors import ConfigError
from runners.command import plain_command
from runners.results.store import results_folder


def show(words: list[str]) -> bool:
    """Print all groups, one group, or one choice."""
    from runners.config.reference import entry, overview  # slow to import

    if len(words) > 2:
        raise ConfigError(f"list: found {len(words)} words, expected a group and a choice: bandit-bench list tuner cdt")
    print(entry(words[0], words[1], results_folder()) if len(words) == 2 else overview(*words))
    return True


main = partial(plain_command, __doc__, show)
if __name__ == "__main__":
    sys.exit(main())
