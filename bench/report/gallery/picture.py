"""A plot as part of a page: its panels as data, which the page draws."""

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from bench.report.plot import Axis, Look, Mark, Panel, Plot, Text
from bench.report.style import RANDOM_ARMS
from bench.report.typeset import in_unicode

_POINTS = 72.0
# Wider panels would have to be scrolled sideways on a phone, in inches.
_PHONE = 4.6
_DEFAULT = asdict(Look(""))


class Entry(NamedTuple):
    """A line of the legend: its words, how its sample looks; whether marks bear its name, and it is a box."""

    name: str
    look: dict[str, Any]
    is_part: bool
    is_box: bool


@dataclass(frozen=True)
class Picture:
    """Panels as for JSON, each as wide as given in points, legend, and the sentences below."""

    panels: list[dict[str, Any]]
    width: float
    legend: list[Entry]
    caption: list[str]


def picture(plot: Plot) -> Picture:
    """Return a plot as part of a page."""
    width = min(plot.panel_size[0], _PHONE)
    size = {"width": round(_POINTS * width, 1), "height": round(_POINTS * plot.panel_size[1], 1)}
    sentences = [part.rstrip(".") + "." for part in map(in_unicode, (plot.note, *plot.caption)) if part]
    return Picture([_panel(panel) | size for panel in plot.panels], size["width"], _legend(plot), sentences)


def _panel(panel: Panel) -> dict[str, Any]:
    title = in_unicode(". ".join(filter(None, (panel.title, panel.subtitle))))
    parts = {
        "x": _axis(panel.x),
        "y": _axis(panel.y),
        "rows": panel.rows,
        "lines": [_short(height) for height in panel.lines],
    }
    texts = [_text(text) for text in panel.texts]
    return {"title": title, **parts, "marks": [_mark(mark) for mark in panel.marks], "texts": texts}


def _mark(mark: Mark) -> dict[str, Any]:
    """Return a mark: words, look, and its points as place, number, ends and repetitions; coordinates if they differ."""
    points = [[_short(value) for value in point] for point in mark.points()] if mark.number else []
    words = {"part": mark.part, "name": mark.name, "case": mark.case, "what": mark.what, "label": mark.places_are}
    words |= {"ends": mark.ends if points and len(mark.low) else "", "number": mark.number, "interval": mark.interval}
    found: dict[str, Any] = {key: in_unicode(word) for key, word in words.items() if word}
    if mark.shape != "line":
        found |= {"shape": mark.shape, "half": _short(mark.half)}
    if mark.every:
        found["every"] = mark.every
    if mark.x is None or mark.y is None:
        return found | {"look": _look(mark.look), "points": points, "across": "y" if mark.number == "x" else "x"}
    for which, values in (("x", mark.x), ("y", mark.y)):
        numbers = [_short(value) for value in values]
        if numbers != [point[which == mark.number] for point in points]:
            found[which] = numbers
    return found | {"look": _look(mark.look), "points": points}


def _look(look: Look) -> dict[str, Any]:
    return {key: value for key, value in asdict(look).items() if value != _DEFAULT[key] or key in ("color", "dash")}


def _axis(axis: Axis) -> dict[str, Any]:
    numbers = {key: _short(value) for key, value in (("low", axis.low), ("high", axis.high)) if value is not None}
    numbers |= {"linear": axis.linear} if axis.linear else {}
    lists = {
        "ticks": axis.ticks and [_short(value) for value in axis.ticks],
        "names": axis.names and [*map(in_unicode, axis.names)],
    }
    return numbers | {
        key: value for key, value in (("label", in_unicode(axis.label)), ("log", axis.log), *lists.items()) if value
    }


def _text(text: Text) -> dict[str, Any]:
    words = {
        "x": _short(text.x),
        "y": _short(text.y),
        "words": in_unicode(text.words),
        "offset": text.offset,
        "align": text.how.get("ha", "left"),
    }
    return words | {key: value for key, value in (("on", text.on), ("name", in_unicode(text.name))) if value}


def _legend(plot: Plot) -> list[Entry]:
    """Return the legend: methods, then random arms and other lines, then what only explains a sign."""
    marks = sorted(plot.marks(), key=lambda mark: mark.part != "line")
    looks: dict[str, Look] = {}
    for mark in marks:
        if mark.name:
            looks.setdefault(mark.name, mark.look)
    known = {name: (sample.look, sample.is_box) for name, sample in plot.legend.items()}
    ordered = [*(name for name in known if name in looks), *(name for name in looks if name not in known)]
    methods = {mark.name for mark in marks if mark.part == "line"}
    names = sorted(ordered, key=lambda name: (name == RANDOM_ARMS, name not in methods))
    every = {name: known.get(name, (looks.get(name), False)) for name in [*names, *known]}
    return [
        Entry(in_unicode(name), _look(look), name in looks, is_box) for name, (look, is_box) in every.items() if look
    ]


def _short(value: Any, digits: int = 5) -> Any:
    """Return a number with few digits, None for a missing one, text as it is."""
    if isinstance(value, str) or value is None:
        return value
    if not math.isfinite(value):
        return None
    number = float(f"{float(value):.{digits}g}")
    return int(number) if number == int(number) else number
