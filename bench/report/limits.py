"""Limits of tuning: the best fixed configuration of a grid, and the best configuration of each stretch of the run.

Both are known only afterwards and are chosen on the repetitions that measure them. The lowest of several means lies
below the expected regret of its configuration, so the limits are optimistic.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, PositiveInt

from bench.critical import fixed
from bench.errors import ConfigError
from bench.report.claims.quantities import RatioOfMeans
from bench.report.figure_keys import Axes, Sources
from bench.report.labels import Selection, apart, said
from bench.report.results import Labels, Results
from bench.report.tasks import BEST_FIXED, METHOD
from bench.stats import Array

LIMIT = "limit: "
RANDOM_CONFIGURATION = f"{LIMIT}random"
BEST_BY_STRETCH = "Best configuration in each stretch"


class Limits(BaseModel):
    """Fixed configurations, run in addition to a figure's methods; only the best are drawn.

    ``candidates`` are blocks of axes as in ``runs``, with the axes of the panels and further axes whose labels make the
    configurations. ``random`` has the overrides of a configuration drawn at random in each round. ``repetitions`` is
    the largest number of repetitions of each run, and ``stretches`` is the number of equal parts of a panel's run, each
    with its best configuration. ``sources`` have the same form as in the figure, and are for settings of these runs
    only.
    """

    model_config = ConfigDict(extra="forbid")

    candidates: list[Axes]
    random: list[str] = ["tuner=random"]
    repetitions: PositiveInt = 20
    stretches: dict[str, PositiveInt] = {}
    sources: Sources = {}

    def blocks(self, panels: Sequence[str]) -> Iterator[dict[str, dict[str, list[str]]]]:
        """Yield blocks as in ``runs``, in which the configurations are methods whose names begin with `LIMIT`."""
        for block in self.candidates:
            axes = {axis: labels for axis, labels in block.items() if axis not in panels}
            methods = {RANDOM_CONFIGURATION: self.random}
            for labels in product(*axes.values()):
                chosen = dict(zip(axes, labels, strict=True))
                name = ", ".join(said(axis, label) for axis, label in chosen.items())
                overrides = [override for axis, label in chosen.items() for override in axes[axis][label]]
                methods[f"{LIMIT}{name}"] = ["tuner=fixed", *overrides]
            yield {axis: block[axis] for axis in panels if axis in block} | {METHOD: methods}

    def names(self, panels: Sequence[str]) -> frozenset[str]:
        """Return the labels of the configurations on the axis of the methods."""
        return frozenset(name for block in self.blocks(panels) for name in block[METHOD])

    def check(self, results: Results, panels: Sequence[str], where: str) -> None:
        """Raise ConfigError if there are no methods, if a method has a limit's name, or if a panel is unknown."""
        results.check_axis(METHOD, f"{where}, key 'limits'")
        for name in self.names(panels).intersection(results.labels(METHOD)):
            text = f"{where}, key 'limits': a method is called '{name}', like a limit: rename it"
            raise ConfigError(text)
        for block in self.candidates:
            chosen = {axis: tuple(block[axis]) for axis in panels if axis in block}
            results.check(chosen, f"{where}, key 'limits.candidates'")
        labels = [label for axis in panels for label in results.labels(axis)]
        where = f"{where}, key 'limits.stretches'"
        for panel in self.stretches:
            if panel not in labels:
                raise ConfigError(f"{where}: no panel '{panel}', valid ones: {', '.join(labels)}")


class OfPanel(NamedTuple):
    """The limits of a panel: the random configuration, all fixed configurations, and the best fixed configuration."""

    random: Labels
    candidates: list[Labels]
    best: Labels
    n: int


def limits_of(results: Results, names: frozenset[str], chosen: Selection, column: str) -> OfPanel | None:
    """Return the limits of a panel, or None unless all limits have the same repetitions.

    ``names`` are the labels of the limits of all panels.
    """
    random = results.undeclared({**chosen, METHOD: (RANDOM_CONFIGURATION,)})
    candidates = results.undeclared({**chosen, METHOD: tuple(names - {RANDOM_CONFIGURATION})})
    values = results.complete([*random, *candidates], column)
    if not random or not candidates or not len(values):
        return None
    means = values.mean(axis=0)[1:]
    return OfPanel(random[0], candidates, candidates[int(means.argmin())], len(values))


def by_stretch(results: Results, limits: OfPanel, column: str, stretches: int) -> tuple[Array, Array]:
    """Return the rounds and the regret of the configuration whose mean grows least in each stretch.

    Each configuration was played from the first round. Between the rounds that curves keep, means are interpolated.
    """
    curves = [results.curve(key, column) for key in limits.candidates]
    rounds = curves[0]["round"].to_numpy(dtype=np.float64)
    ends = np.linspace(0.0, rounds[-1], stretches + 1)
    grid = np.union1d(np.append(rounds, 0.0), ends)
    means = np.array([np.interp(grid, np.append(0.0, rows["round"]), np.append(0.0, rows["mean"])) for rows in curves])
    line = np.zeros(len(grid))
    for start, end in zip(np.searchsorted(grid, ends[:-1]), np.searchsorted(grid, ends[1:]), strict=True):
        best = means[int((means[:, end] - means[:, start]).argmin())]
        line[start : end + 1] = line[start] + best[start : end + 1] - best[start]
    return grid[1:], line[1:]


def closed_gaps(results: Results, limits: Limits, column: str, panels: Sequence[Selection]) -> pd.DataFrame:
    """Return the share that each method closes of the gap between random and the best fixed configurations.

    Repetitions are paired, intervals are Fieller's, and there are none unless random configurations are clearly worse.
    The columns are the axes of the panels, `method`, `n`, `mean`, `random` and `best_fixed` (means of the same
    repetitions), `configuration` (the best configuration), `share` (1 for a method that is as good), `ci_low` and
    `ci_high`. If random configurations are no worse than the best fixed configuration, there is no share, and the
    column `note` states this.
    """
    rows, names = [], limits.names(results.panel_axes())
    for chosen in panels:
        if (found := limits_of(results, names, chosen, column)) is None:
            continue
        panel = {axis: label for axis, (label,) in chosen.items()}
        configuration = results.as_dict(found.best)[METHOD].removeprefix(LIMIT)
        for key in results.select(chosen):
            values = results.complete([found.random, found.best, key], column)
            rows += [panel | _closed(results.series_name(key, panel), values, configuration)] if len(values) else []
        number = next((limits.stretches[label] for label in panel.values() if label in limits.stretches), 0)
        if number:
            values = results.complete([found.random, found.best], column)[: found.n].mean(axis=0)
            last = float(by_stretch(results, found, column, number)[1][-1])
            share = (values[0] - last) / (values[0] - values[1]) if values[0] > values[1] else math.nan
            means = {"n": found.n, "mean": last, "random": values[0], "best_fixed": values[1]}
            stretched = apart(BEST_BY_STRETCH, results.labels(METHOD))
            rows.append(panel | {METHOD: stretched} | means | {"configuration": "", "share": share})
    frame = pd.DataFrame(rows)
    no_gap = frame["random"] <= frame["best_fixed"] if rows else pd.Series(dtype=bool)
    return frame.assign(note=np.where(no_gap, _NO_GAP, "")) if no_gap.any() else frame


_NO_GAP = "no gap to close: random configurations have no more regret than the best fixed one"


def _closed(name: str, values: Array, best: str) -> dict[str, object]:
    random, fixed_, method = values.T
    share = RatioOfMeans(random - method, random - fixed_)
    estimate, low, high, n = share.interval(0.025, fixed)
    if not math.isfinite(low + high):
        low, high = math.nan, math.nan
    means = {"mean": method.mean(), "random": random.mean(), "best_fixed": fixed_.mean()}
    return {METHOD: name, "n": n, **means, "configuration": best, "share": estimate, "ci_low": low, "ci_high": high}


CAPTION = (
    f"{BEST_FIXED}: the one of a grid with the lowest mean over {{n}} repetitions, known only afterwards. Chosen and "
    "measured on the same repetitions, it is optimistic: the lowest of several means lies below what it estimates. The "
    "methods may have more repetitions; the table of limits compares on those that all have."
)
STRETCH_CAPTION = (
    f"{BEST_BY_STRETCH}: in each part of the run between changes the one whose mean grew least there, each played from "
    "the first round; more optimistic still."
)
