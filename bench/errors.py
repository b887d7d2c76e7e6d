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
    """A setting is unknown, has the wrong type or is out of range.

    The message begins with ``file``, the configuration file that it is about, where that is known, with ``owner``, such
    as a class as its own code calls it, and the ``setting`` of it.
    """

    def __init__(self, text: str, *, owner: str = "", setting: str = "", file: str = "") -> None:
        super().__init__(text)
        self.owner, self.setting, self.file = owner, setting, file

    def __str__(self) -> str:
        about = ".".join(filter(None, (self.owner, self.setting)))
        return ": ".join(filter(None, (self.file, about, super().__str__())))

    def under(self, key: str) -> "ConfigError":
        """Return it as it is where a configuration has ``key`` for its owner."""
        return ConfigError(super().__str__(), owner=key, setting=self.setting, file=self.file)


class SpaceError(ConfigError):
    """A search space is wrong, or the hyper-parameter ``name`` of it, or does not fit what searches it."""

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text, owner=f"hyper-parameter '{name}'" if name else "search space")
        self.name = name


class DataError(BenchError):
    """A data file is missing, damaged or in the wrong format."""


class TaskError(BenchError):
    """A task broke its contract, for example by returning a reward that is not finite."""


class TunerError(BenchError):
    """A tuner's methods were called out of order, or it was told something it cannot use."""


class StoreError(BenchError):
    """A stored result cannot be read, or differs from what was written."""
