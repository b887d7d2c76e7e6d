"""The content of a figure as marks with numbers, from which pictures, pages and notebooks are made."""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bench.report.labels import apart
from bench.report.style import GREY, Look
from bench.report.typeset import spelled

Array = npt.NDArray[np.float64]
INTERVAL = "95 % interval"
LINE_BETWEEN = "#E4E4E4"
RANDOM_ARMS = "Random arms"
RANDOM_CAPTION = "Random arms: expected regret of uniformly random arms, computed from the means."
FAR = 1.5
"""Multiple of the methods' largest number above which random arms, which would flatten it, are only mentioned."""


Role = Literal["method", "reference", "limit"]
"""Role of a line: a compared method, a reference, or a limit of tuning."""
REFERENCE = Look(GREY, width=1.0, order=1.2)
RANDOM = Look(GREY, (0, (5, 2)), width=1.2, order=1.5)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A drawn mark and its numbers; `Panel.add` makes it from numbers of any type."""

    part: str  # "line" (the method itself), "bound", "published" and so on; unique for a case and name
    name: str
    case: str  # the panel, or row, of the numbers, as text
    x: Array | None  # None, as y may be: a line across the panel
    y: Array | None
    look: Look
    role: Role = "method"
    # Points, joined if the look has dashes; from y - half to y + half, the box from low to high; a square that begins
    # at x, y; words alone
    shape: Literal["line", "box", "tick", "cell", "text"] = "line"
    number: Literal["x", "y", ""] = "y"  # the axis of the numbers; "": there are none to read
    low: Array = field(default_factory=lambda: np.empty(0))  # ends of intervals, along the same axis
    high: Array = field(default_factory=lambda: np.empty(0))
    interval: Literal["band", "bars", "segment", ""] = ""  # how they are drawn; bars have caps
    every: tuple[int, int] | None = None  # first point with a marker, and the step to the next
    half: float = 0.0
    text: str = ""  # written into a cell, or alone,
    ink: str = ""  # and in which colour

    @property
    def numbers(self) -> Array:
        values = self.x if self.number == "x" else self.y
        return np.empty(0) if values is None or not self.number else values

    @property
    def every_number(self) -> Array:
        """Every number drawn, ends of intervals included."""
        numbers = np.concatenate([self.numbers, self.low, self.high])
        return np.asarray(numbers[np.isfinite(numbers)])


@dataclass(frozen=True)
class Axis:
    """An axis, which is scaled to the marks by default.

    If ``few`` is true, there is room for only a few numbers. A logarithmic axis with numbers on both sides of 0 is
    linear up to ``linear``.
    """

    label: str = ""
    log: bool = False
    low: float | None = None
    high: float | None = None
    ticks: Sequence[float] | None = None
    names: Sequence[str] | None = None
    few: bool = False
    linear: float = 0.0


@dataclass(frozen=True)
class Text:
    """Text in a panel; ``x`` is a share of the panel, and ``y`` is a share of the panel or a row."""

    x: float
    y: float
    words: str
    on: Literal["x", "xy"]
    offset: float = 0.0
    how: dict[str, Any] = field(default_factory=dict)


@dataclass
class Panel:
    title: str = ""
    subtitle: str = ""
    marks: list[Mark] = field(default_factory=list)
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    texts: list[Text] = field(default_factory=list)
    rows: bool = False  # y names rows, first on top
    lines: dict[float, str] = field(default_factory=dict)  # thin level lines: height -> colour
    is_table: bool = False  # cells with names on top, no axes

    @property
    def is_empty(self) -> bool:
        return not self.marks and not self.texts

    @property
    def every_number(self) -> Array:
        """Every number drawn, ends of intervals included."""
        return np.concatenate([mark.every_number for mark in self.marks if mark.number])

    def add(self, name: str, look: Look, *, x: Any = None, y: Any = None, **keys: Any) -> Mark:
        """Add a mark of numbers or sequences, and return the mark.

        A single number of ``x`` or ``y`` applies to all points. If only ``x`` or only ``y`` is given, the mark is a
        line across the panel at this number.
        """
        numbers = {"x": x, "y": y} | {key: keys.pop(key) for key in ("low", "high") if key in keys}
        arrays = {key: np.atleast_1d(np.asarray(given, float)) for key, given in numbers.items() if given is not None}
        if "x" in arrays and "y" in arrays:
            arrays["x"], arrays["y"] = np.broadcast_arrays(arrays["x"], arrays["y"])
        defaults = {"part": "line", "case": self.title, "x": None, "y": None, "number": "x" if y is None else "y"}
        self.marks.append(Mark(**(defaults | arrays | keys), name=name, look=look))
        return self.marks[-1]

    def add_in_row(self, row: float, name: str, numbers: Any, look: Look, **keys: Any) -> None:
        """Add a mark of numbers along the horizontal axis to a row."""
        self.add(name, look, **({"x": numbers, "y": row, "number": "x"} | keys))

    def mention_random_arms(self, regret: float) -> None:
        """Write the regret of random arms at the top if the regret exceeds the panel."""
        how: dict[str, Any] = {"ha": "left", "va": "top", "color": "#555555", "fontstyle": "italic", "fontsize": 8.0}
        how |= {"zorder": 6, "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1.5}}
        self.texts.append(Text(0.02, 0.98, f"random arms: {regret:,.0f} ↑", "xy", how=how))


def end_without(random: float, bottom: float, top: float, *, is_log: bool) -> float | None:
    """Return the upper end of a linear axis that leaves out random arms, or None.

    The result is None if random arms fit or are unknown (NaN). The axis begins at ``bottom``, and ``top`` is the
    largest drawn number of a method.
    """
    if is_log or not math.isfinite(random) or top <= 0 or random <= FAR * top:
        return None
    return top + 0.22 * (top - bottom)


@dataclass
class Plot:
    """A plot, whose lines have the names ``methods``; references and limits have other names (see `beside`)."""

    title: str
    note: str = ""  # above the panels: scale, repetitions and data
    panels: list[Panel] = field(default_factory=list)
    legend: dict[str, Look] = field(default_factory=dict)
    caption: list[str] = field(default_factory=list)  # sentences below
    panel_size: tuple[float, float] = (3.9, 2.9)  # inches
    mark: str = ""  # the mark of replaced data, such as SURROGATE DATA
    methods: Sequence[str] = ()
    looks: Mapping[str, Look] = field(default_factory=dict)  # by method
    colors: Mapping[str, str] = field(default_factory=dict)  # chosen ones, by name
    words: Mapping[str, str] = field(default_factory=dict)  # replacements of its words in the display

    def marks(self) -> Iterator[Mark]:
        for panel in self.panels:
            yield from panel.marks

    def look(self, name: str, **keys: Any) -> Look:
        """Return the look of a line, with ``keys`` changed."""
        return replace(self.looks[name], **keys)

    def beside(self, name: str) -> str:
        """Return the name of a reference or limit in this plot, distinct from methods' names."""
        return apart(name, self.methods)

    def explain(self, name: str, look: Look) -> None:
        self.legend.setdefault(name, look)

    def put(self, panel: Panel, name: str, look: Look, *, role: Role = "method", **keys: Any) -> Mark:
        """Add a mark to a panel (see `Panel.add`) and its name to the legend, and return the mark."""
        if role != "method":
            name = self.beside(name)
            look = replace(look, color=self.colors.get(name, look.color))
        self.explain(name, look)
        return panel.add(name, look, role=role, **keys)

    def put_random(self, panel: Panel, **keys: Any) -> None:
        """Add random arms to a panel (see `put`)."""
        self.put(panel, RANDOM_ARMS, RANDOM, role="reference", **keys)

    def spelled(self) -> "Plot":
        """Return the plot with its words replaced for display."""
        if not self.words:
            return self
        say = partial(spelled, words=self.words)

        def of_axis(axis: Axis) -> Axis:
            return replace(axis, label=say(axis.label), names=axis.names and list(map(say, axis.names)))

        panels = [
            replace(
                panel, title=say(panel.title), subtitle=say(panel.subtitle), x=of_axis(panel.x), y=of_axis(panel.y),
                marks=[replace(mark, name=say(mark.name), case=say(mark.case)) for mark in panel.marks],
            )
            for panel in self.panels
        ]  # fmt: skip
        legend, caption = {say(name): look for name, look in self.legend.items()}, list(map(say, self.caption))
        title, note = say(self.title), say(self.note)
        return replace(self, title=title, note=note, panels=panels, legend=legend, caption=caption, words={})

    def put_last(self, *names: str) -> None:
        """Move ``names`` to the end of the legend in the given order."""
        for name in names:
            if name in self.legend:
                self.legend[name] = self.legend.pop(name)


def row_panel(title: str, x_label: str, names: Sequence[str], beyond: float = 0.5) -> Panel:
    """Return a panel with a named row at each whole number, thin lines between rows, and room ``beyond`` both ends."""
    last = len(names) - 1
    y = Axis(ticks=range(len(names)), names=names, low=last + beyond, high=-beyond)
    lines = dict.fromkeys((row + 0.5 for row in range(last)), LINE_BETWEEN)
    return Panel(title, x=Axis(x_label), y=y, rows=True, lines=lines)


def start_at_zero(lowest: float, highest: float) -> float | None:
    """Return 0 as the lower end of an axis if no number is negative and the numbers remain distinguishable."""
    return 0.0 if 0 <= lowest < highest / 2 else None


def wrapped(label: str, letters: int) -> str:
    return "\n".join(textwrap.wrap(label, letters, break_long_words=False)) or label
