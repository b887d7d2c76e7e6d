"""Parts of an experiment as Python has them, written as words of the configuration.

A part is a name (``"cdt"``), a class, an object made of one, or one of these with settings: ``("cdt", {"k": 2})``.
"""

import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError
from runners.config.by_value import hold
from runners.config.classes import BASES, import_class, is_suites
from runners.config.nearest import file_of_data
from runners.config.tree import class_of, suite_choices

Part: TypeAlias = Any
"""A name, a class, an object made of one, or a pair of one of these and a dict of settings."""

Parts: TypeAlias = Any
"""One part, or a list of them, or a dict by label."""

Axis = dict[str, list[str]]
"""Labels, each with its words."""

_BARE = re.compile(r"[A-Za-z_][\w./*?@%-]*", re.ASCII)
_QUOTED = re.compile(r"""(['"])((?:(?!\1)[^\\]|\\.)*)\1""")
_RESERVED = {"true", "false", "null", "inf", "nan"}
_OF_DATA = (
    "expected ('classification', {{'path': '{file}', 'target': <column of the class>}}) for labelled data, or "
    "('log', {{'path': '{file}', ...}}) for a log"
)


def axis_of(group: str, parts: Parts) -> Axis:
    """Return the labels of some parts, by default made of their names and settings, each with its words.

    Raises ConfigError where something is not part of the group, or two have the same label.
    """
    if isinstance(parts, Mapping):
        pairs = [(str(label), part) for label, part in parts.items()]
    else:
        is_several = isinstance(parts, Sequence) and not isinstance(parts, str) and not _is_pair(parts)
        pairs = [("", part) for part in (parts if is_several else [parts])]
    axis: Axis = {}
    read = [(given, part, *_read(group, part)) for given, part in pairs]
    for given, part, name, values in read:
        others = {key for _, _, other, settings in read if other == name for key in settings}
        if isinstance(part, BASES[group]):  # an object's default is a value like those of the others
            values = {key: getattr(part, key) for key in vars(part) if key in others | values.keys()}
        words = [word.partition("=") for word in setting_words(values)]
        put(axis, group, name, {key: text for key, _, text in words}, given)
    return axis


def put(axis: Axis, group: str, name: str, settings: Mapping[str, str], label: str = "") -> None:
    """Add a part to an axis, given its name and the words of its settings. Raises ConfigError if its label is taken."""
    label = label or label_of(group, name, settings)
    if label in axis:
        raise ConfigError(
            f"{group}: found two called '{label}', expected different labels: {group}=label={name},..., "
            "in Python a dict by label"
        )
    axis[label] = [f"{group}={name}", *(f"{group}.{key}={value}" for key, value in settings.items())]


def words_of(group: str, part: Part) -> list[str]:
    """Return the words of one part."""
    (words,) = axis_of(group, [part]).values()
    return words


def is_direct(part: Part) -> bool:
    """Whether a part is a class of a directly played environment, which no algorithm plays in."""
    base = part[0] if _is_pair(part) else part
    cls = base if isinstance(base, type) else type(base)
    return issubclass(cls, DirectEnvironment)


def label_of(group: str, name: str, settings: Mapping[str, str]) -> str:
    """Return what a part is called where no label is given."""
    label = _shown_as(group, name)
    if settings:
        label += f" ({', '.join(f'{key} = {without_quotes(value)}' for key, value in settings.items())})"
    return label


def without_quotes(word: str) -> str:
    """Return a word of the command line as a reader has it: ``env.path=a b.csv`` for ``env.path='a b.csv'``."""
    return _QUOTED.sub(lambda match: match[2].replace(rf"\{match[1]}", match[1]), word)


def literal(value: Any) -> str:
    """Return a value as a word of the command line. Raises ConfigError if it is not plain data."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        if _BARE.fullmatch(value) and value.lower() not in _RESERVED:
            return value
        text = re.sub(r"(\\*)(?='|$)", r"\1\1", value).replace("'", r"\'")
        return f"'{text}'"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(literal, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key}:{literal(item)}' for key, item in value.items())}}}"
    found, cure = reprlib.repr(value), ""
    if hasattr(value, "to_csv"):  # of pandas, or the like
        found, cure = f"a {type(value).__name__}", ", such as the name of a file: data.to_csv('data.csv', index=False)"
    raise ConfigError(f"found {found}, expected plain data (numbers, strings, lists, dicts){cure}")


def setting_words(settings: Mapping[str, Any] | None) -> list[str]:
    """Return the words of keys and their values. Raises ConfigError, naming the key, where one is no plain data."""
    if not isinstance(settings, Mapping | None):
        raise ConfigError(f"settings: found {settings!r}, expected values by key, such as {{'env.dim': 5}}")
    words = []
    for key, value in (settings or {}).items():
        try:
            words.append(f"{key}={literal(value)}")
        except ConfigError as error:
            raise ConfigError(f"{key}: {error}") from None
    return words


def runner_words(runner: str | Mapping[str, Any] | None) -> list[str]:
    """Return the words of where repetitions run: a name, or keys of `runner` such as ``{"time_limit": 60}``."""
    if runner is None or isinstance(runner, str):
        return [f"runner={runner}"] * bool(runner)
    return [f"runner.{key}={literal(value)}" for key, value in runner.items()]


def settings_of(component: Any) -> dict[str, Any]:
    """Return the settings of an object that are not the defaults of its class. Raises ConfigError if it hides them."""
    if not is_dataclass(component):
        raise ConfigError(
            f"found an object of {type(component).__name__}, whose settings cannot be read, expected @bandit_bench."
            f"component in the line above its class, or the class with its settings: ({type(component).__name__}, {{}})"
        )
    found = {}
    for item in fields(component):
        default = item.default if item.default_factory is MISSING else item.default_factory()
        if item.init and not _same(getattr(component, item.name), default):
            found[item.name] = getattr(component, item.name)
    return found


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _is_pair(part: Any) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], Mapping)


def _read(group: str, part: Part) -> tuple[str, dict[str, Any]]:
    """Return the name of a part as words, and its settings."""
    settings: Mapping[str, Any] = {}
    if _is_pair(part):
        part, settings = part
    if isinstance(part, str | Path) and group == "env" and file_of_data(str(part)):
        raise ConfigError(f"env: found the file '{part}', {_OF_DATA.format(file=part)}")
    if isinstance(part, str):
        return part, dict(settings)
    if group == "env" and hasattr(part, "to_csv"):  # of pandas, or the like
        cure = "data.to_csv('data.csv', index=False)"
        raise ConfigError(
            f"env: found a {type(part).__name__}, {_OF_DATA.format(file='data.csv')}; {cure} writes the file"
        )
    base = BASES[group]
    if isinstance(part, base):
        settings = settings_of(part) | dict(settings)
        part = type(part)
    if not (isinstance(part, type) and issubclass(part, base)):
        raise ConfigError(
            f"{group}: found {reprlib.repr(part)}, expected a name, a class that derives from {base.__name__}, an "
            "object of one, or one of these with settings: ('cdt', {'radius_scale': 0.5})"
        )
    return _choice_of(group, part) or hold(part), dict(settings)


def _choice_of(group: str, cls: type) -> str:
    """Return the suite's name of one of its classes, whose choice also chooses what it goes with; "" of another."""
    if not is_suites(cls):
        return ""
    target = f"{cls.__module__}.{cls.__qualname__}"
    return next((name for name in suite_choices(group) if class_of(group, name) == target), "")


def _shown_as(group: str, name: str) -> str:
    """Return what a part is called: a tuner of the suite as in its figures, and so in the same colour."""
    path = class_of(group, name) if group == "tuner" else ""
    cls: Any = import_class(group, {"_target_": path}) if path else None
    return str(cls.shown_as()) if cls else name.rpartition(".")[2]
