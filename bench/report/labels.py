"""Labels of axes in one form, for labels from YAML files, CSV files and data frames."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import unescape
from typing import Any

ANY = "*"
"""In a selection: any label, but not an empty one."""

Selection = dict[str, tuple[str, ...]]
"""Axis -> the labels allowed on it; axes that are not named are free."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def canonical(value: Any) -> str:
    """Return ``value`` as a label, such as "0.5" for 0.5, "4" for 4.0, and "" for None and NaN.

    Strings are unchanged. A number has enough digits to identify it.
    """
    if isinstance(value, float):
        short = f"{value:.10g}"
        return "" if math.isnan(value) else short if float(short) == value else repr(float(value)).removesuffix(".0")
    return "" if value is None else str(value)


def labels_of(entry: Any) -> Any:
    """Return the overrides of an axis by label, which are written out or given as values with a template.

    Other content is returned unchanged. Raises ValueError if two values have the same label.
    """
    if not isinstance(entry, Mapping):
        return entry
    if set(entry) == {"values", "override"}:
        pairs = [(canonical(value), [entry["override"].format(value)]) for value in entry["values"]]
    else:
        pairs = [(canonical(label), [] if words is None else words) for label, words in entry.items()]
    for label, number in Counter(label for label, _ in pairs).items():
        if number > 1:
            raise ValueError(f"different labels, two are '{label}'")
    return dict(pairs)


def is_number(label: str) -> bool:
    """Return whether a label is written as a number."""
    return _NUMBER.fullmatch(label) is not None


def same_numbers(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels that are different notations of one number, such as 1.1 and 1.10, or an empty tuple."""
    by_number: dict[float, list[str]] = {}
    for label in filter(is_number, labels):
        by_number.setdefault(float(label), []).append(label)
    return next((tuple(same) for same in by_number.values() if len(same) > 1), ())


def is_plain(label: str) -> bool:
    """Return whether a label is a number that a table can hold as a number and give back as written."""
    return (is_number(label) or label in ("inf", "-inf")) and f"{float(label):.10g}" == label


def apart(name: str, taken: Collection[str]) -> str:
    """Return the name of a reference or limit, changed if a method has the same name."""
    while name in taken:
        name += " (not a method)"
    return name


def selection(raw: Mapping[str, Any]) -> Selection:
    """Return a selection as written in YAML (axis -> label or list of labels) with canonical labels."""
    chosen = {}
    for axis, value in raw.items():
        several = isinstance(value, Sequence) and not isinstance(value, str)
        chosen[str(axis)] = tuple(canonical(item) for item in (value if several else [value]))
    return chosen


def matches(labels: Mapping[str, str], chosen: Selection) -> bool:
    """Return whether an experiment's labels satisfy a selection."""
    return all(is_allowed(labels.get(axis, ""), allowed) for axis, allowed in chosen.items())


def is_allowed(label: str, allowed: Collection[str]) -> bool:
    """Return whether a label is in ``allowed``; ``ANY`` stands for all labels but "", the missing label."""
    return label in allowed or (label != "" and ANY in allowed)


def describe(chosen: Selection) -> str:
    """Return a selection as text, for units and notes."""
    if not chosen:
        return "all runs"
    words = {(ANY,): "any {}", ("",): "no {}"}
    return ", ".join(
        words[labels].format(axis)
        if labels in words
        else "/".join(f"{axis} {label}" if is_number(label) else label for label in labels)
        for axis, labels in chosen.items()
    )


def said(axis: str, label: str, link: str = " ") -> str:
    """Return a label as text, in which a number is preceded by its axis."""
    return f"{axis.replace('_', ' ')}{link}{label}" if is_number(label) else label


def panel_title(labels: Selection) -> str:
    return ", ".join(said(axis, only[0], " = ") for axis, only in labels.items())


def anchor_of(heading: str) -> str:
    """Return the id of a heading in GitHub's form."""
    words = unescape(re.sub(r"<[^>]*>", "", heading)).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
