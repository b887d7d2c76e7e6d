"""The common base of environments, algorithms, tuners and tasks, which validates their settings."""

import copy
import copyreg
import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform, get_args

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

from bench.errors import ConfigError

copyreg.pickle(type(MISSING), lambda _: "MISSING")  # A class that is sent to a worker by value keeps this attribute.

C = TypeVar("C")
_TYPES = ("bool", "float", "int", "str")
"""The last part of the place of an error about a setting of several types."""
_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True)


def neutral(*, default: Any) -> Any:
    """Declare a setting that was added after the first results.

    With the value ``default`` the results are unchanged, and their key omits the setting.

    The default must be immutable.
    """
    return field(default=default, metadata={"neutral": True})


@dataclass_transform(field_specifiers=(field, neutral))
def component(cls: type[C]) -> type[C]:
    """Add a constructor that validates every value to a class with annotated settings.

    Raises ConfigError for a wrong value, naming the key, the value found and the value expected.
    """
    checked: Any = dataclass(config=_CONFIG, eq=False)(cls)
    checked.__init__ = _one_sentence(checked.__init__, checked)
    return checked


def defaults(cls: type) -> dict[str, Any]:
    """Return the settings of a class and their defaults as plain data.

    Every configuration of the class starts from these values. ``space`` starts from an algorithm's ``spaces``. For a
    class without validated fields, the settings are the constructor's arguments that have defaults. The settings in
    ``common``, which all classes of the same kind share, are included.
    """
    if is_dataclass(cls):
        found: dict[str, Any] = {item.name: _default(item) for item in fields(cls) if item.init}
    else:
        found = {name: argument.default for name, argument in inspect.signature(cls).parameters.items()}
    if "space" in found:
        found["space"] = getattr(cls, "spaces", {})
    own = {name: _plain(value) for name, value in found.items() if value not in (MISSING, inspect.Parameter.empty)}
    return own | (defaults(cls.common) if hasattr(cls, "common") else {})


def neutral_settings(cls: type) -> dict[str, Any]:
    """Return the settings of a class that were declared with `neutral`, with their neutral values."""
    items = fields(cls) if is_dataclass(cls) else ()
    own = {item.name: item.default for item in items if item.metadata.get("neutral")}
    return own | (neutral_settings(cls.common) if hasattr(cls, "common") else {})


def path_settings(cls: type) -> set[str]:
    """Return the settings of a class that are declared as a path, such as ``Path | None``.

    Their values are the files that an object of the class reads.
    """
    items = fields(cls) if is_dataclass(cls) else ()
    own = {item.name for item in items if Path in (item.type, *get_args(item.type))}
    return own | (path_settings(cls.common) if hasattr(cls, "common") else set())


def _default(item: Any) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else copy.copy(value)


def _one_sentence(init: Callable[..., None], cls: Any) -> Callable[..., None]:
    @wraps(init)
    def checked_init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, *args, **kwargs)
        except ValidationError as error:
            names = [item.name for item in fields(cls) if item.init]
            setting, text = _describe(error, names, cls)
            raise ConfigError(text, owner=cls.__name__, setting=setting) from None

    return checked_init


def _describe(error: ValidationError, names: list[str], cls: type) -> tuple[str, str]:
    """Return the name of the wrong setting ("" if none), the value found and the value expected."""
    first, *others = error.errors()
    *parts, _ = first["loc"]
    # For a setting of several types, pydantic reports one error per type, with the type as last part of the place.
    kinds = [each for each in (first, *others) if each["loc"][:-1] == tuple(parts)]
    if not (any(each["type"] == "literal_error" for each in kinds[1:]) or (parts and first["loc"][-1] in _TYPES)):
        kinds, parts = [first], list(first["loc"])
    where = ".".join(str(part) for part in parts)
    if first["type"] == "unexpected_keyword_argument":
        if isinstance(value := vars(cls).get(where), bool | int | float | str):
            kind = type(value).__name__
            return where, f"found a setting without a type, expected one in the class: {where}: {kind} = {value!r}"
        return "", f"found the unknown key '{where}', expected one of: {', '.join(names) or '(none)'}"
    if first["type"] in ("missing", "missing_argument"):
        return "", f"found no value for '{where}', expected one"
    messages = [each["msg"].partition(", unable to parse")[0] for each in kinds]
    texts = [text.removeprefix("Input should be ").removeprefix("Value error, ") for text in messages]
    texts = [re.sub("^(greater|less) ", r"a number \1 ", text) for text in texts]
    expected = " or ".join(text[0].lower() + text[1:] for text in texts)
    if first["type"] == "string_type" and type(first["input"]) in (int, float):  # such as a column that is called 7
        expected += f", such as {str(first['input'])!r}"
    return where, f"found {first['input']!r}, expected {expected}"
