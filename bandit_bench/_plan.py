"""A requested comparison: lines and panels with their overrides, and the figure that shows it."""

import itertools
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bandit_bench._parts import Axis, Piece, without_quotes
from bench.columns import column_of
from bench.digest import digest
from bench.errors import ConfigError
from bench.report.labels import canonical
from runners.config.figures import LabelledRun
from runners.config.tree import PARTS

LOOK = ("x_scale", "y_scale", "colors", "rounds")
"""Keys of a figure of curves that affect its drawing."""
METHOD = "method"
"""The axis whose labels are lines."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_LONGEST_LABEL = 200
"""Largest number of characters of a label, which appears in legends and tables."""


@dataclass(frozen=True)
class ComparisonPlan:
    """The parts of a comparison.

    ``axes`` holds the parts and keys with several values, such as ``tuner`` or ``env.dim``. ``lines`` names the axes of
    the lines; all other axes make panels. ``common`` applies to all runs, ``sizes`` holds horizon, repetitions and
    seed, and ``machine`` holds the back end. ``until_decided`` is the largest number of repetitions if repetitions are
    added until the verdicts are decided. ``tie`` is the largest difference that counts as a tie, as a share of the mean
    of the second line. ``look`` holds the keys that affect the drawing; see `LOOK`.
    """

    axes: Mapping[str, Axis]
    lines: Sequence[str]
    common: Piece
    sizes: Piece
    machine: Piece
    paper: str
    scale: str
    column: str
    name: str
    until_decided: int | None
    tie: float | None
    look: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.name and not NAME.fullmatch(self.name):
            raise ConfigError(
                f"name: found '{self.name}', expected up to 80 letters, digits, - and _, a letter or digit first"
            )
        for axis, values in self.axes.items():
            for label in values:
                if not (label.strip() and label.isprintable() and len(label) <= _LONGEST_LABEL):
                    raise ConfigError(
                        f"{axis}: found the label {reprlib.repr(label)}, expected one line of 1 to {_LONGEST_LABEL} "
                        "printable characters"
                    )
        for axis in self.lines:
            if axis not in self.axes:
                raise ConfigError(f"lines: found '{axis}', expected one or more of: {', '.join(self.axes)}")

    def check_number(self) -> None:
        if len(self.methods) < 2:
            (found,) = self.methods
            other = next(iter(self.panels), "algorithm")
            raise ConfigError(
                f"{self.lines[0]}: found only '{found}', expected at least two, or another axis of lines: lines={other}"
            )

    @cached_property
    def methods(self) -> Axis:
        """The lines, which are all combinations of the values of the axes in ``lines``."""
        several = [axis for axis in self.lines if len(self.axes[axis]) > 1] or self.lines[:1]
        methods: Axis = {}
        for combination in itertools.product(*(self.axes[axis].items() for axis in self.lines)):
            labels = [label for axis, (label, _) in zip(self.lines, combination, strict=True) if axis in several]
            methods[", ".join(labels)] = sum((piece for _, piece in combination), Piece())
        return methods

    @property
    def panels(self) -> dict[str, Axis]:
        """The axes of the panels, which are all axes with several values except the axes of the lines."""
        return {axis: values for axis, values in self.axes.items() if axis not in self.lines and len(values) > 1}

    @property
    def shared(self) -> Piece:
        """The overrides common to all runs, apart from lines, panels, paper, scale and sizes."""
        single = [_only(values) for axis, values in self.axes.items() if axis not in self.lines]
        return sum(single, Piece()) + self.common

    def runs(self) -> list[LabelledRun]:
        panels, shared, found = self.panels, self.shared + self.sizes, []
        around = Piece({"scale": self.scale, "paper": self.paper})
        for method, piece in self.methods.items():
            for point in itertools.product(*(values.items() for values in panels.values())):
                own = sum((of_panel for _, of_panel in point), piece) + shared
                labels = [method, *(label for label, _ in point)]
                run = (around + own + self.machine).composed()
                words = [f"paper={self.paper}", *own.words]
                found.append(
                    LabelledRun(
                        **vars(run),
                        labels=dict(zip((METHOD, *panels), map(canonical, labels), strict=True)),
                        overrides=words,
                        keys=own.keys,
                    )
                )
        return found

    @property
    def title(self) -> str:
        """The name, by default made from the compared parts, so that different comparisons have different folders."""
        if self.name:
            return self.name
        words = [*self._shared_labels, *self.methods, *(label for values in self.panels.values() for label in values)]
        slug = re.sub(r"[^\w]+", "-", "-".join(words).lower()).strip("-")[:48].strip("-")
        axes = {axis: _words(values) for axis, values in self.axes.items()}
        asked: list[Any] = [
            axes,
            list(self.lines),
            sorted(self.common.words),
            sorted(self.sizes.words),
            self.paper,
            self.scale,
        ]
        asked += [self.column, self.until_decided, dict(self.look), *[self.tie] * (self.tie is not None)]
        return f"{slug}-{digest(asked, 6)}"

    @property
    def _key(self) -> str:
        """The last part of the key whose values make the lines, such as ``dim``; "" if the lines are made of parts."""
        several = [axis for axis in self.lines if len(self.axes[axis]) > 1]
        return several[0].rpartition(".")[2] if len(several) == 1 and several[0] not in PARTS else ""

    @property
    def _shared_labels(self) -> list[str]:
        """The names to show with each value of a key, because a value alone is unclear."""
        return [*self.axes.get("tuner", {}), self._key] if self._key else []

    def figure(self, methods: Axis, runs: Sequence[LabelledRun], tuned: str) -> dict[str, Any]:
        """Return the figure of some lines and their runs, with claims that compare the first line with each other line.

        ``tuned`` names the tuned hyper-parameters of each algorithm, for the line below the title.
        """
        _, better, label = column_of(self.column)
        better, word = better or "more", "regret" if self.column == "regret" else label
        panels, shared, sizes = self.panels, self.shared.words, self.sizes.words
        first, *others = methods
        parts = [word for word in shared if word.partition("=")[0] in PARTS]
        where = f" ({', '.join(parts)})" if parts else ""
        seed = [word for word in sizes if word.startswith("seed=")]  # horizon and repetitions are always given
        settings = ", ".join(without_quotes(word) for word in [*shared, *seed] if word not in parts)
        below = [tuned] * bool(tuned) + [f"With {settings}"] * bool(settings)
        key = f"{self._key} = " if self._key else ""
        claims = [
            {
                "id": other,
                "text": f"{key}{first} ends with {better} {word} than {other}",
                "kind": "paired_difference",
                "left": {METHOD: first},
                "right": {METHOD: other},
                "expect": "less" if better == "less" else "greater",
                "per": list(panels),
                **({"tie": self.tie} if self.tie is not None else {}),
            }
            for other in others
        ]
        keys = dict.fromkeys(key for run in runs for key in run.keys)
        return {
            "name": self.title,
            "paper": self.paper,
            "title": f"{label[:1].upper()}{label[1:]} by {' and '.join(self.lines)}{where}",
            **({"note": ". ".join(below)} if below else {}),
            "kind": "curves",
            "column": self.column,
            "x_label": "round",
            "y_label": label,
            "panels": list(panels),
            "common": shared,
            "runs": [{METHOD: _words(methods), **{axis: _words(values) for axis, values in panels.items()}}],
            "claims": claims,
            "sources": {key: ["assumed", "the comparison says so"] for key in keys if key not in PARTS},
            **self.look,
        }


def _only(values: Axis) -> Piece:
    return next(iter(values.values())) if len(values) == 1 else Piece()


def _words(axis: Axis) -> dict[str, list[str]]:
    return {label: piece.words for label, piece in axis.items()}
