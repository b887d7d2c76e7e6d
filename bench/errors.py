"""The project's errors. Each message is one sentence for the user."""

import re


class BenchError(Exception):
    """An error the user can fix. The message says what was found, where, and what is expected."""


def message(error: BaseException) -> str:
    """Return an error's message; the class of an error may fail to say it."""
    try:
        return str(error).strip()
    except BaseException:
        return "(its message cannot be shown)"


def one_line(error: BaseException) -> str:
    """Return an error's message as one line, with control characters escaped."""
    text = re.sub(r"\s*\n\s*", "; ", message(error))
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


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
