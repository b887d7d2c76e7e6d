"""Folders that environment variables name."""

import os
from pathlib import Path

from bench.errors import ConfigError


def named_folder(variable: str) -> Path | None:
    """Return the folder that an environment variable names, None if it is not set.

    Raises ConfigError where it begins with the home of a user who has none, as ``~nobody``.
    """
    given = os.environ.get(variable, "")
    expanded = os.path.expanduser(given)
    if expanded.startswith("~"):
        raise ConfigError(f"{variable}: found '{given}', but that user has no home folder, expected a folder")
    return Path(expanded) if given else None
