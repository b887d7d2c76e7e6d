"""A first lesson of 90 minutes, a notebook that is copied to the current folder: bandit-bench lesson [FOLDER]."""

import shutil
import sys
from functools import partial
from pathlib import Path

from bench.errors import ConfigError
from runners.command import plain_command
from runners.config.folders import CHECKOUT

NAME = "first_steps.ipynb"
SOURCE = CHECKOUT / "notebooks" / NAME if CHECKOUT else Path(__file__).with_name(NAME)


def lesson(words: list[str]) -> bool:
    """Copy the notebook to the current folder.

    Raises ConfigError if a file of the same name exists, because it may contain a learner's own cells.
    """
    folder = Path(*words[:1])
    if len(words) > 1 or not folder.is_dir():
        raise ConfigError(f"lesson: found '{' '.join(words)}', expected a folder that exists, or none")
    if (folder / NAME).exists():
        raise ConfigError(f"{folder / NAME}: found a file of this name, expected none: it may have your own changes")
    shutil.copy(SOURCE, folder / NAME)
    print(f"{folder / NAME}: open it in Jupyter, for example with: jupyter lab {folder / NAME}")
    return True


main = partial(plain_command, __doc__, lesson)

if __name__ == "__main__":
    sys.exit(main())
