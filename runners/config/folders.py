"""Folders that environment variables name."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.errors import ConfigError


def named_folder(variable: str) -> Path | None:
    """Return the folder that an environment variable names, None if it is not set.

    Raises ConfigError where it begins with the home of a user who has none, as ``~nobody``, or may not be entered.
    """
    given = os.environ.get(variable, "")
    expanded = os.path.expanduser(given)
    if expanded.startswith("~"):
        raise ConfigError(f"{variable}: found '{given}', but that user has no home folder, expected a folder")
    if not given:
        return None
    try:
        os.stat(os.path.join(expanded, "."))
    except (FileNotFoundError, NotADirectoryError):  # which whoever needs it says, or makes it
        pass
    except OSError as error:
        raise ConfigError(
            f"{variable}: found '{given}', which cannot be read ({error.strerror}), expected a folder that can"
        ) from None
    return Path(expanded)


@contextmanager
def readable() -> Iterator[None]:
    """Say in one sentence that something cannot be read, as for want of rights: ConfigError."""
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"{error.filename}: cannot be read ({error.strerror}), expected a file or folder that can"
        ) from None
