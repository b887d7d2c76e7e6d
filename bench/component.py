"""What environments, algorithms, tuners and tasks have in common: their settings are validated fields."""

from collections.abc import Callable
from dataclasses import field, fields
from functools import wraps
from typing import Any, TypeVar, dataclass_transform

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

from bench.errors import ConfigError

C = TypeVar("C")
_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True)


@dataclass_transform(field_specifiers=(field,))
def component(cls: type[C]) -> type[C]:
    """Turn a class with annotated settings into one whose constructor checks every value.

    The fields are the keys of its configuration file. A wrong value raises
    :class:`~bench.errors.ConfigError` with one sentence that names the key, what was found and what is expected.
    """
    checked: Any = dataclass(config=_CONFIG, eq=False)(cls)
    checked.__init__ = _one_sentence(checked.__init__, checked)
    return checked


def _one_sentence(init: Callable[..., None], cls: Any) -> Callable[..., None]:
    @wraps(init)
    def checked_init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, *args, **kwargs)
        except ValidationError as error:
            names = [item.name for item in fields(cls) if item.init]
            raise ConfigError(_describe(cls.__name__, error, names)) from None

    return checked_init


def _describe(name: str, error: ValidationError, names: list[str]) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "unexpected_keyword_argument":
        return f"{name}: found the unknown key '{where}', expected one of: {', '.join(names) or '(none)'}"
    if first["type"] in ("missing", "missing_argument"):
        return f"{name}: found no value for '{where}', expected one"
    expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return f"{name}.{where}: found {first['input']!r}, expected {expected[0].lower()}{expected[1:]}"
