"""What the configuration says of a paper, and the numbers that it printed."""

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from bench.errors import ConfigError
from runners.config.tree import choices, merge, nested, one_of, path_of, placed, read, shown, unknown_choice

SOURCES = ("stated", "code", "assumed")
_KEYS = ("name", "title", "authors", "summary", "headline", "labels", "readings", "settings")


@cache
def load_paper(name: str) -> dict[str, Any]:
    """Return a paper's configuration.

    ``name``, ``title``, ``authors``, ``summary``; ``labels`` (axis -> label -> overrides), which its figures share;
    ``settings``, nested as those of a run, with a level for the choice below each part; ``sources``: the dotted key of
    each setting -> [stated | code | assumed, place]. Raises ConfigError when there is no such paper, or a setting has
    no source or two.
    """
    if name not in choices("paper"):
        raise unknown_choice("paper", name)
    paper = read(f"paper/{name}")
    file = shown(f"paper/{name}")
    with placed(f"paper/{name}"):
        for key in [key for key in paper if key not in _KEYS]:
            raise ConfigError(f"found the key '{key}', {one_of(key, _KEYS)}")
    settings: dict[str, Any] = {}
    sources: dict[str, list[str]] = {}
    for entry in paper.get("settings", []):
        block = dict(entry)
        source = block.pop("source", None)
        if not isinstance(source, list) or len(source) != 2 or source[0] not in SOURCES:
            raise ConfigError(
                f"{file}: found the source {source} of {', '.join(block)}, expected [{' | '.join(SOURCES)}, place]"
            )
        for pattern, value in block.items():
            for key in _keys(pattern):
                for leaf in leaves(value, key):
                    if leaf in sources:
                        raise ConfigError(f"{file}: found a second source of {leaf}, expected one")
                    sources[leaf] = source
                merge(settings, nested(key, value), add=True)
    return {"labels": {}, **paper, "settings": settings, "sources": sources}


def leaves(value: Any, key: str) -> dict[str, Any]:
    """Return the values in a nested mapping by their dotted keys, which begin with ``key``."""
    if not (isinstance(value, dict) and value):
        return {key: value}
    return {leaf: item for name, inner in value.items() for leaf, item in leaves(inner, f"{key}.{name}").items()}


def _keys(pattern: str) -> list[str]:
    """Return the keys that a pattern such as ``env.{movielens, titanic}.dim`` stands for."""
    parts = [
        re.split(r",\s*", part[1:-1]) if part.startswith("{") else [part] for part in re.split(r"(\{.*?\})", pattern)
    ]
    return ["".join(words) for words in itertools.product(*parts)]


def published(paper: str, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the numbers of a paper's table that a figure shows.

    ``wanted`` has ``table``, its name; for each axis of the table whose labels in the figure are others, the figure's
    labels, each with the table's label or with several, of which the first that has a number counts; and for other axes
    of the figure the one label. A number has the label on each axis, ``what`` it is (by default ``mean``), ``value``,
    ``cell``, the name it has in every figure that shows it, and, where there is one, a ``note``. Raises ConfigError
    when there is no such table or label.
    """
    tables = read(f"published/{paper}")
    if wanted["table"] not in tables:
        raise ConfigError(f"published.table: found '{wanted['table']}', {one_of(wanted['table'], tables)}")
    table = tables[wanted["table"]]
    axes: list[str] = table["axes"]
    numbers = dict(_numbers(table["values"], len(axes)))
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
            name = ": ".join([wanted["table"], *cell, *([] if "what" in axes else [what])])
            entries.append({**entry, "what": what, **number, "cell": name})
    return entries


def compared(paper: str) -> dict[str, Any]:
    """Return which ``methods`` of a paper's printed numbers are compared over which ``panels``; empty if all are."""
    tables = read(f"published/{paper}") if path_of(f"published/{paper}") else {}
    return next((table["compared"] for table in tables.values() if "compared" in table), {})


def _labels(axis: str, wanted: Any, valid: list[str]) -> dict[str, list[str]]:
    """Return a figure's labels of an axis of a table, each with the table's labels that it may stand for."""
    if not isinstance(wanted, dict):
        wanted = {label: label for label in (valid if wanted is None else wanted)}
    labels = {str(label): [columns] if isinstance(columns, str) else columns for label, columns in wanted.items()}
    for label in itertools.chain(*labels.values()):
        if label not in valid:
            raise ConfigError(f"published.{axis}: found '{label}', {one_of(label, dict.fromkeys(valid))}")
    return labels


def _numbers(values: Any, depth: int, *labels: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not depth:
        yield labels, values
        return
    for label, inner in values.items():
        yield from _numbers(inner, depth - 1, *labels, str(label))
