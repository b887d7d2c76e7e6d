"""The project's errors. Each message is one sentence for the user."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class BenchError(Exception):
    """An error that the user can fix: the message says where, what was found and what is expected."""


def message(error: BaseException) -> str:
    """Return an error's message; a placeholder if the error's own ``__str__`` fails."""
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

    The message begins with the ``owner``, such as a class name, and its ``setting``. ``at`` is the place in a
    configuration file, values before keys. ``within``, the id of the enclosing entry, and ``mark``, file and line (0 if
    unknown), are added where they are known and then come first.
    """

    def __init__(self, text: str, *, owner: str = "", setting: str = "", at: Iterable[object] = ()) -> None:
        super().__init__(text)
        self.owner, self.setting = owner, setting
        self.at = tuple(map(str, at))
        self.within = ""
        self.mark: tuple[str, int] | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in self.mark or () if part)
        about = ".".join(filter(None, (self.owner, self.setting)))
        return ": ".join(filter(None, (place, about, super().__str__())))

    def under(self, key: str) -> "ConfigError":
        """Return the error with ``key`` as the owner of its setting."""
        error = ConfigError(super().__str__(), owner=key, setting=self.setting, at=self.at)
        error.within, error.mark = self.within, self.mark
        return error


class SpaceError(ConfigError):
    """A search space or its hyper-parameter ``name`` is wrong, or does not suit the tuner that searches it."""

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text, owner=f"hyper-parameter '{name}'" if name else "search space")
        self.name = name


@contextmanager
def within(name: str) -> Iterator[None]:
    """Add the id of the entry in question to a `ConfigError`."""
    try:
        yield
    except ConfigError as error:
        error.within = error.within or name
        raise


class DataError(BenchError):
    """A data file is missing, damaged or in the wrong format."""


class TaskError(BenchError):
    """A task broke its contract, for example by returning a reward that is not finite."""


class TunerError(BenchError):
    """A tuner's methods were called out of order, or the tuner was told a value that it cannot use."""


class StoreError(BenchError):
    """A stored result cannot be read, or differs from the result that was written."""
