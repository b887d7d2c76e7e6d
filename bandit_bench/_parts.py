"""Parts of an experiment given in Python: their choices and settings.

A part is a name (``"cdt"``), a class, an object of a class, or one of these with settings: ``("cdt", {"k": 2})``.
"""

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias

from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError
from bench.report.labels import canonical
from runners.config.classes import BASES, is_suites
from runners.config.compose import Run, Value, compose, keys_of
from runners.config.listed import class_at
from runners.config.tree import GROUPS, PARTS, class_of, plain, suite_choices

Part: TypeAlias = Any
"""A name, a class, an object of a class, or a pair of one of these and a dict of settings."""

Parts: TypeAlias = Any
"""One part, or a list of them, or a dict by label."""


@dataclass(frozen=True)
class Piece:
    """A piece of a run: its choices by group, its values by key, and the classes given as objects by part."""

    choices: Mapping[str, str] = field(default_factory=dict)
    values: tuple[Value, ...] = ()
    classes: Mapping[str, type] = field(default_factory=dict)

    def __add__(self, other: "Piece") -> "Piece":
        """Return the combination of both pieces; the other piece has precedence."""
        classes = {part: cls for part, cls in self.classes.items() if part not in other.choices}
        return Piece({**self.choices, **other.choices}, (*self.values, *other.values), classes | dict(other.classes))

    @property
    def words(self) -> list[str]:
        return [*(f"{group}={name}" for group, name in self.choices.items()),
                *(f"{'+' * added}{key}={literal(value)}" for key, value, added in self.values)]  # fmt: skip

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the piece chooses or sets, down to single values."""
        return keys_of(self.choices, self.values)

    def composed(self) -> Run:
        """Return the composed run. Raises ConfigError for an unknown choice or key, or an invalid value."""
        return compose(self.choices, self.values, classes=self.classes)


Axis = dict[str, Piece]
"""The values of an axis, by label."""

_BARE = re.compile(r"[A-Za-z_][\w./*?@%-]*", re.ASCII)
_QUOTED = re.compile(r"""(['"])((?:(?!\1)[^\\]|\\.)*)\1""")
_RESERVED = {"true", "false", "null", "inf", "nan"}


class Labelled(NamedTuple):
    """A part, or a value of a key, with its label; an empty label stands for the default label."""

    label: str
    given: Any


def axis_of(key: str, given: Parts) -> Axis:
    """Return the given parts, or values of a key, by label; default labels are made from names, settings and values.

    Raises ConfigError if no part or value is given, if a value does not suit the key, or if two have the same label.
    """
    if isinstance(given, Mapping):
        named = [Labelled(canonical(label), one) for label, one in given.items()]
    else:
        is_several = isinstance(given, Sequence if key in PARTS else Iterable) and not isinstance(given, str)
        each = given if is_several and not _is_pair(given) else [given]
        named = [one if isinstance(one, Labelled) else Labelled("", one) for one in each]
    if not named:
        raise ConfigError(f"{key}: found none, expected one, or several in a list")
    axis: Axis = {}
    for label, piece in (_of_parts if key in PARTS else _of_values)(key, named):
        if label in axis:
            raise ConfigError(
                f"{key}: found the label '{label}' twice, expected different labels: {key}=label=..., in Python a dict "
                "by label"
            )
        axis[label] = piece
    return axis


def _of_parts(group: str, named: Sequence[Labelled]) -> Iterator[tuple[str, Piece]]:
    read = [(label, part, *_read(group, part)) for label, part in named]
    for label, part, name, values, cls in read:
        others = {key for _, _, other, settings, _ in read if other == name for key in settings}
        if isinstance(part, BASES[group]):  # an object's default is a value like the others
            values = {key: getattr(part, key) for key in vars(part) if key in others | values.keys()}
        values = {key: plain(value, f"{group}.{key}") for key, value in values.items()}
        of_part = tuple(Value(f"{group}.{key}", value) for key, value in values.items())
        yield label or label_of(group, name, values), Piece({group: name}, of_part, {group: cls} if cls else {})


def _of_values(key: str, named: Sequence[Labelled]) -> Iterator[tuple[str, Piece]]:
    for label, value in named:
        by_default = canonical(value) if isinstance(value, str | float) else literal(plain(value, key))
        yield label or by_default, settings_of({key: value})


def part_of(group: str, part: Part) -> Piece:
    (piece,) = axis_of(group, [part]).values()
    return piece


def is_direct(part: Part) -> bool:
    """Whether a part is the class of an environment that is played directly, without an algorithm."""
    base = part[0] if _is_pair(part) else part
    cls = base if isinstance(base, type) else type(base)
    return issubclass(cls, DirectEnvironment)


def label_of(group: str, name: str, settings: Mapping[str, Any]) -> str:
    """Return the default label of a part."""
    label = _shown_as(group, name)
    if settings:
        shown = {
            key: value if isinstance(value, str) else without_quotes(literal(value)) for key, value in settings.items()
        }
        label += f" ({', '.join(f'{key} = {text}' for key, text in shown.items())})"
    return label


def settings_of(settings: Mapping[str, Any] | None) -> Piece:
    """Return the choices and values of ``settings``.

    Raises ConfigError, naming the key, for a value that is not plain data.
    """
    if not isinstance(settings, Mapping | None):
        raise ConfigError(f"settings: found {settings!r}, expected values by key, such as {{'env.dim': 5}}")
    piece = Piece()
    for key, given in (settings or {}).items():
        name = key.lstrip("+")
        value = plain(given, name)
        piece += Piece({name: str(value)}) if name in GROUPS else Piece(values=(Value(name, value, key != name),))
    return piece


def runner_of(runner: str | Mapping[str, Any] | None) -> Piece:
    """Return the back end for the repetitions, given by name or by keys of `runner` such as ``{"time_limit": 60}``."""
    if runner is None or isinstance(runner, str):
        return Piece({"runner": runner}) if runner else Piece()
    return settings_of({f"runner.{key}": value for key, value in runner.items()})


def check_words(**given: Any) -> None:
    """Raise ConfigError for an argument that is not a string."""
    for key, value in given.items():
        if not isinstance(value, str):
            raise ConfigError(f"{key}: found {value!r}, expected a word")


def labels_by_axis(only: Any, example: str) -> dict[str, list[str]]:
    """Return the labels that select a part of a figure, as a list for each axis.

    Raises ConfigError if ``only`` is not a mapping.
    """
    if not isinstance(only, Mapping | None):
        raise ConfigError(f"only: found '{only}', expected labels by axis: {example}")
    given = dict(only or {})
    lists = {axis: isinstance(of, Iterable) and not isinstance(of, str) for axis, of in given.items()}
    return {axis: list(map(str, of if lists[axis] else [of])) for axis, of in given.items()}


def without_quotes(word: str) -> str:
    """Return an argument of the command line without its quotes: ``env.path=a b.csv`` for ``env.path='a b.csv'``."""
    return _QUOTED.sub(lambda match: match[2].replace(rf"\{match[1]}", match[1]), word)


def literal(value: Any) -> str:
    """Return plain data as text for a command line."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        if _BARE.fullmatch(value) and value.lower() not in _RESERVED:
            return value
        text = re.sub(r"(\\*)(?='|$)", r"\1\1", value).replace("'", r"\'")
        return f"'{text}'"
    if isinstance(value, list):
        return f"[{','.join(map(literal, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key}:{literal(item)}' for key, item in value.items())}}}"
    return repr(value)


def _own_settings(component: Any) -> dict[str, Any]:
    """Return the settings of an object that differ from the defaults of its class.

    Raises ConfigError if the class is no dataclass, so that its settings cannot be read.
    """
    if not is_dataclass(component):
        raise ConfigError(
            f"found an object of {type(component).__name__}, whose settings cannot be read, expected @bandit_bench."
            f"component in the line above its class, or the class with its settings: ({type(component).__name__}, {{}})"
        )
    found = {}
    for item in fields(component):
        default = item.default if item.default_factory is MISSING else item.default_factory()
        value = getattr(component, item.name)
        if item.init and not (type(value) is type(default) and bool(value == default)):
            found[item.name] = value
    return found


def _is_pair(part: Any) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], Mapping)


def _read(group: str, part: Part) -> tuple[str, dict[str, Any], type | None]:
    """Return the name and the settings of a part, and the class of a part that is a user's own."""
    settings: Mapping[str, Any] = {}
    if _is_pair(part):
        part, settings = part
    if isinstance(part, str):
        return part, dict(settings), None
    base = BASES[group]
    if isinstance(part, base):
        settings = _own_settings(part) | dict(settings)
        part = type(part)
    if not (isinstance(part, type) and issubclass(part, base)):
        found = " ".join(reprlib.repr(part).split())
        raise ConfigError(
            f"{group}: found {found}, expected a name, a class that derives from {base.__name__}, an "
            "object of one, or one of these with settings: ('cdt', {'radius_scale': 0.5})"
        )
    if choice := _choice_of(group, part):
        return choice, dict(settings), None
    return f"{part.__module__}.{part.__qualname__}".replace("<locals>.", ""), dict(settings), part


def _choice_of(group: str, cls: type) -> str:
    """Return the choice of ``group`` whose class is ``cls``; "" for a class outside the suite or without a choice."""
    if not is_suites(cls):
        return ""
    target = f"{cls.__module__}.{cls.__qualname__}"
    return next((name for name in suite_choices(group) if class_of(group, name) == target), "")


def _shown_as(group: str, name: str) -> str:
    """Return the label of a part; a tuner of the suite has the same label and colour in all figures."""
    path = class_of(group, name) if group == "tuner" else ""
    cls: Any = class_at(path) if path else None
    return str(cls.shown_as()) if cls else name.rpartition(".")[2]
