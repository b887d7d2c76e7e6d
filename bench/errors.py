"""The project's own errors: every one is a single sentence meant for the user."""

import re


class BenchError(Exception):
    """Anything a user can mend: what was found, where, and what is expected."""


def one_line(error: BaseException) -> str:
    """Return an error's text as one line; what a terminal would act upon, in a value or a data file, is escaped."""
    text = re.sub(r"\s*\n\s*", "; ", str(error).strip())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class ConfigError(BenchError):
    """A setting is unknown, of the wrong type or out of range."""


class DataError(BenchError):
    """A data file is missing, damaged or not what it should be."""


class TaskError(BenchError):
    """A task broke its contract, for instance by paying a reward that is not finite."""


class TunerError(BenchError):
    """A tuner was used out of order or fed something it cannot learn from."""


class StoreError(BenchError):
    """A stored result cannot be read, or is not what was written."""
