"""The configuration of a paper, and its printed numbers."""

import itertools
import re
import reprlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from bench.errors import ConfigError
from runners.config.folders import remembered
from runners.config.tree import (
    CLASS,
    PARTS,
    choices,
    expect,
    merge,
    nested,
    one_of,
    path_of,
    placed,
    read,
    unknown_choice,
)

SOURCES = ("stated", "code", "assumed")
_OF_A_RUN = (*PARTS, "horizon", "repetitions")
_KEYS = ("name", "title", "authors", "summary", "headline", "labels", "readings", "settings")
_TABLE = ("axes", "values", "compared")


@remembered
@cache
def load_paper(name: str) -> dict[str, Any]:
    """Return a paper's configuration.

    It has ``name``, ``title``, ``authors`` and ``summary``; ``labels``, which maps axis -> label -> overrides and is
    shared by the paper's figures; ``settings``, nested as in a run, with a level for the choice below each part; and
    ``sources``, which maps the dotted key of each setting -> [stated | code | assumed, place]. Raises ConfigError if
    there is no such paper, or if a setting has no source or two sources.
    """
    if name not in choices("paper"):
        raise unknown_choice("paper", name)
    with placed(f"paper/{name}"):
        paper = {"labels": {}, "readings": {}, "settings": [], **read(f"paper/{name}")}
        for key in [key for key in paper if key not in _KEYS]:
            raise ConfigError(f"found the key '{key}', {one_of(key, _KEYS)}")
        for key in ("labels", "readings"):
            for inner, value in expect(dict, paper[key], key).items():
                expect(dict, value, f"{key}.{inner}")
        settings: dict[str, Any] = {}
        sources: dict[str, list[str]] = {}
        for entry in expect(list, paper["settings"], "settings"):
            block = dict(expect(dict, entry, "settings"))
            source = block.pop("source", None)
            if not isinstance(source, list) or len(source) != 2 or source[0] not in SOURCES:
                raise ConfigError(
                    f"found the source {source} of {', '.join(block)}, expected [{' | '.join(SOURCES)}, place]"
                )
            for pattern, value in block.items():
                for key in _keys(pattern):
                    for leaf, number in leaves(value, key).items():
                        _check(leaf, number)
                        if leaf in sources:
                            raise ConfigError(f"found a second source of {leaf}, expected one")
                        sources[leaf] = source
                    merge(settings, nested(key, value))
    return {**paper, "settings": settings, "sources": sources}


def paper_settings(part: str, paper: str, choice: str = "") -> dict[str, Any]:
    """Return a paper's settings for a choice of a part, or, for the part ``uncapped``, the size of the paper's runs."""
    settings = load_paper(paper)["settings"] if paper in choices("paper") else {}
    if part == "uncapped":
        return {key: settings[key] for key in ("horizon", "repetitions") if key in settings}
    found: dict[str, Any] = settings.get(part, {}).get("custom" if CLASS.fullmatch(choice) else choice, {})
    return found


def _check(key: str, value: Any) -> None:
    """Raise ConfigError for an unknown part or choice, or for a size of a run that is not a whole number.

    Whether a choice has the setting is checked when the choice is used.
    """
    part, *rest = key.split(".")
    if part not in _OF_A_RUN or (rest and part not in PARTS):
        raise ConfigError(f"found the setting '{key}', {one_of(part, _OF_A_RUN)}")
    if part not in PARTS and (type(value) is not int or value < 1):
        raise ConfigError(f"{key}: found {value!r}, expected a whole number, at least 1")
    if part in PARTS and len(rest) < 2:
        raise ConfigError(f"found '{key}' with a value, expected {part}, choice and setting: {part}.custom.size")
    if part in PARTS and rest[0] not in choices(part):
        raise ConfigError(f"{key}: found the {part} '{rest[0]}', {one_of(rest[0], choices(part))}")


def leaves(value: Any, key: str = "") -> dict[str, Any]:
    """Return the values in a nested mapping by dotted keys, which begin with ``key``."""
    if not (isinstance(value, dict) and value):
        return {key: value} if key else {}
    prefix = key and f"{key}."
    return {leaf: item for name, inner in value.items() for leaf, item in leaves(inner, f"{prefix}{name}").items()}


def _keys(pattern: str) -> list[str]:
    """Return the keys that match a pattern such as ``env.{movielens, titanic}.dim``."""
    parts = [
        re.split(r",\s*", part[1:-1]) if part.startswith("{") else [part] for part in re.split(r"(\{.*?\})", pattern)
    ]
    return ["".join(words) for words in itertools.product(*parts)]


def published(paper: str, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the numbers of a paper's table that a figure shows.

    ``wanted`` holds the name of the ``table``. It also holds, by axis, the labels of the figure that differ from the
    table's, each with one label of the table or with several, the first of which that has a number counts; and the
    label of the figure on axes that the table lacks. A number has a label on each axis, the statistic ``what`` (by
    default ``mean``), its ``value``, its ``cell`` (the name of the number in all figures) and perhaps a ``note``.
    Raises ConfigError if there is no such table or label.
    """
    tables = read(f"published/{paper}")
    name = str(expect(dict, wanted, "published").get("table"))
    if name not in tables:
        raise ConfigError(f"published.table: found '{name}', {one_of(name, tables)}")
    with placed(f"published/{paper}"):
        table = expect(dict, tables[name], name)
        for key in [key for key in table if key not in _TABLE]:
            raise ConfigError(f"{name}: found the key '{key}', {one_of(key, _TABLE)}")
        axes: list[str] = expect(list, table.get("axes"), f"{name}.axes")
        numbers = dict(_numbers(table.get("values"), axes, name))
    labels = [_labels(axis, wanted.get(axis), [cell[at] for cell in numbers]) for at, axis in enumerate(axes)]
    others = {axis: label for axis, label in wanted.items() if axis != "table" and axis not in axes}
    entries = []
    for point in itertools.product(*labels):
        cells = itertools.product(*(of_axis[label] for of_axis, label in zip(labels, point, strict=True)))
        cell = next((cell for cell in cells if cell in numbers), None)
        if cell is not None:
            entry: dict[str, Any] = {**dict(zip(axes, point, strict=True)), **others}
            what = entry.pop("what", "mean")
            number = numbers[cell] if isinstance(numbers[cell], dict) else {"value": numbers[cell]}
            title = ": ".join([name, *cell, *([] if "what" in axes else [what])])
            entries.append({**entry, "what": what, **number, "cell": title})
    return entries


def compared(paper: str) -> dict[str, Any]:
    """Return the ``methods`` and ``panels`` whose printed numbers are compared; an empty mapping stands for all."""
    tables = read(f"published/{paper}") if path_of(f"published/{paper}") else {}
    return next((table["compared"] for table in tables.values() if "compared" in table), {})


def _labels(axis: str, wanted: Any, valid: list[str]) -> dict[str, list[str]]:
    """Return the labels of a figure on an axis, each with the labels of the table that may stand for it."""
    if not isinstance(wanted, dict):
        wanted = {label: label for label in (valid if wanted is None else wanted)}
    labels = {str(label): [columns] if isinstance(columns, str) else columns for label, columns in wanted.items()}
    for label in itertools.chain(*labels.values()):
        if label not in valid:
            raise ConfigError(f"published.{axis}: found '{label}', {one_of(label, dict.fromkeys(valid))}")
    return labels


def _numbers(values: Any, axes: list[str], table: str, *labels: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the labels and the number of each cell. Raises ConfigError unless ``values`` has a level for each axis."""
    where = ".".join([table, "values", *labels])
    is_number = isinstance(values, int | float) or (isinstance(values, dict) and "value" in values)
    if is_number != (len(labels) == len(axes)) or not (is_number or isinstance(values, dict)):
        at = f"labels of the axis '{axes[len(labels)]}'" if len(labels) < len(axes) else "a number"
        found, order = reprlib.repr(values), ", ".join(axes)
        text = f"{where}: found {found}, expected {at}: {table}.axes are {order}, outermost first"
        raise ConfigError(text)
    if is_number:
        for key in values if isinstance(values, dict) else ():
            if key not in ("value", "note"):
                raise ConfigError(f"{where}: found the key '{key}', expected value and, if there is one, note")
        yield labels, values
        return
    for label, inner in values.items():
        yield from _numbers(inner, axes, table, *labels, str(label))
