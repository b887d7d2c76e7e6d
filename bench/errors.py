"""The project's own errors. Each message is one sentence for the user."""

import re
import sysconfig
import traceback
from pathlib import Path

_NOT_THE_USERS = tuple(
    str(path)
    for path in (
        Path(__file__).parent,
        Path(__file__).parents[1] / "runners",
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    )
)


class BenchError(Exception):
    """An error the user can fix. The message says what was found, where, and what is expected."""


def one_line(error: BaseException) -> str:
    """Return an error's message as one line, with control characters escaped."""
    text = re.sub(r"\s*\n\s*", "; ", str(error).strip())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def describe(error: BaseException) -> str:
    """Return the first line of what went wrong, with the last line of a user's own file where it passed through one.

    The message alone for an error of this project; else with the name of its class, such as
    ``ValueError: no such arm (my_tuner.py:7 in _ask)``.
    """
    text = str(error).strip().partition("\n")[0]
    if not isinstance(error, BenchError):
        text = f"{type(error).__name__}: {text}".removesuffix(": ")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_library(frame.filename)]
    if frames:
        text += f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})"
    return text


def _is_library(file: str) -> bool:
    return file.startswith(("<", *_NOT_THE_USERS))


class ConfigError(BenchError):
    """A setting is unknown, has the wrong type or is out of range."""


class DataError(BenchError):
    """A data file is missing, damaged or in the wrong format."""


class TaskError(BenchError):
    """A task broke its contract, for example by returning a reward that is not finite."""


class TunerError(BenchError):
    """A tuner's methods were called out of order, or it was told something it cannot use."""


class StoreError(BenchError):
    """A stored result cannot be read, or differs from what was written."""
