"""The project's own errors: every one is a single sentence meant for the user."""


class BenchError(Exception):
    """Anything a user can mend: what was found, where, and what is expected."""


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
