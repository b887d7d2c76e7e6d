"""The project's errors. Each message is one sentence for the user."""

import re
import traceback
from collections.abc import Iterable


class BenchError(Exception):
    """An error that the user can fix: the message says where, what was found and what is expected."""

    _is_shown = False

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: the message, or on a later request such as ``%tb`` the traceback."""
        if self._is_shown:
            return "".join(traceback.format_exception(self)).splitlines()
        self._is_shown = True
        return [f"{type(self).__name__}: {self} (%tb shows the traceback)"]


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


def either(words: Iterable[str]) -> str:
    """Return ``words`` as a list with commas; a word that contains a comma is put in quotes."""
    return ", ".join(repr(word) if "," in word else word for word in words) or "(none)"


class ConfigError(BenchError):
    """A setting is unknown, has the wrong type or is out of range.

    The message begins with the configuration ``file`` if the file is known, the ``owner`` of the setting, such as a
    class name, and the ``setting``.
    """

    def __init__(self, text: str, *, owner: str = "", setting: str = "", file: str = "") -> None:
        super().__init__(text)
        self.owner, self.setting, self.file = owner, setting, file

    def __str__(self) -> str:
        about = ".".join(filter(None, (self.owner, self.setting)))
        return ": ".join(filter(None, (self.file, about, super().__str__())))

    def under(self, key: str) -> "ConfigError":
        """Return a copy of the error that names ``key`` as the owner of the wrong setting."""
        return ConfigError(super().__str__(), owner=key, setting=self.setting, file=self.file)


class SpaceError(ConfigError):
    """A search space or its hyper-parameter ``name`` is wrong, or does not suit the tuner that searches it."""

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text, owner=f"hyper-parameter '{name}'" if name else "search space")
        self.name = name


class DataError(BenchError):
    """A data file is missing, damaged or in the wrong format."""


class TaskError(BenchError):
    """A task broke its contract, for example by returning a reward that is not finite."""


class TunerError(BenchError):
    """A tuner's methods were called out of order, or the tuner was told a value that it cannot use."""


class StoreError(BenchError):
    """A stored result cannot be read, or differs from the result that was written."""
