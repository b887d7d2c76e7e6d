"""The smoothness of the reward in a hyper-parameter, from rewards in blocks of rounds and their slopes."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BeforeValidator, Field, PositiveFloat

from bench.report.claims.base import Case, CaseClaim, Chosen, by_kind
from bench.report.claims.judgement import Direction, Question, Unmeasured
from bench.report.claims.quantities import Extreme, Mean
from bench.report.figure import Figure
from bench.report.labels import describe, panel_title
from bench.report.plot import GREY, Axis, Look, Panel, Plot
from bench.report.results import Results
from bench.report.tables import experiments_of

PROBE = "probe_"
"""Prefix of the columns of probed values, before the value."""


class Steepness(CaseClaim):
    """A claim on the largest slope of the mean reward of a round between neighbouring probed values.

    The slope bounds the Lipschitz constant from below, because the reward may be steeper between the probed values. The
    steepest pair of neighbours, upwards or downwards, is used, and each pair has an equal share of the error. The final
    values ``probe_<value>`` are sums over the rounds; ``length`` is the length that counts as 1 in the metric.
    """

    kind: Literal["steepness"]
    expect: Direction
    measured: Chosen = Field(default_factory=dict)
    length: PositiveFloat = 1.0
    threshold: float = 1.0

    def unit(self) -> str:
        runs = f", {describe(self.measured)}" if self.measured else ""
        return (
            f"largest change of the mean {self.column} of a round between neighbouring values, by their distance in "
            f"units of {self.length:g}{runs}, against {self.threshold:g}"
        )

    def question(self, case: Case) -> Question:
        key = case.only(case.sides["measured"])
        columns = {
            float(name.removeprefix(PROBE)): name for name in map(str, case.results.rows(key)) if name.startswith(PROBE)
        }
        if len(columns) < 2:
            raise Unmeasured("the results have no two probed values")
        places = np.array(sorted(columns))
        sums = [case.values([key], column=columns[place])[0][:, 0] for place in places]
        (rounds,) = case.values([key], column="rounds")
        means = np.array(sums) / rounds[:, 0]
        rises = np.diff(means, axis=0) / np.diff(places)[:, None] * self.length
        parts = [[Mean(sign * rise) for rise in rises for sign in (1.0, -1.0)]]
        return Question(Extreme(parts, "max", "max"), self.expect, self.threshold)


def _share(value: Any) -> float:
    try:
        share = float(Fraction(str(value)))
    except (ValueError, ZeroDivisionError):
        share = -1.0
    if not 0 <= share < 1:
        raise ValueError("a share such as 1/7 or 0.1")
    return share


_MEAN = "mean over blocks"


class Lipschitz(Figure):
    """The centred reward of every probed value, its mean and standard deviation over blocks of rounds.

    `drop` is the share of rounds before the first block, such as 1/7; the rest is divided into `blocks` equal blocks.
    """

    claim_kinds: ClassVar[dict[str, type[Any]]] = by_kind(Steepness)

    drop: Annotated[float, BeforeValidator(_share)] = 0.0
    blocks: Annotated[int, Field(ge=2, strict=True)]

    def curve_columns(self) -> list[str]:
        return [f"{PROBE}*"]

    def kept_rounds(self, rounds: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Return the positions of the rounds closest to the ends of blocks.

        If there are few rounds, there are fewer blocks.
        """
        ends = rounds[-1] * np.linspace(self.drop, 1, self.blocks + 1)
        return np.unique(np.abs(rounds[None, :] - ends[:, None]).argmin(axis=1))

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return the axes, `probed` (a value), `blocks` (number), and `mean` and `std` of the centred reward.

        The reward of a value in a block is the mean over the block's rounds, centred by the mean over all values, so
        that changes common to all values do not count.
        """
        parts = [pd.DataFrame(columns=[*results.axes, "probed", "blocks", "mean", "std"])]
        for key in results.experiments:
            curves = results.curve(key, f"{PROBE}*")
            if curves.empty or curves["round"].nunique() < 2:
                continue
            probed = curves["column"].str.removeprefix(PROBE).astype(float)
            sums = curves.assign(probed=probed).pivot(index="round", columns="probed", values="mean")
            means = np.diff(sums.to_numpy(dtype=np.float64), axis=0) / np.diff(sums.index.to_numpy())[:, None]
            centred = means - means.mean(axis=1, keepdims=True)
            spread = centred.std(axis=0, ddof=1) if len(centred) > 1 else np.full(centred.shape[1], np.nan)
            values = {"probed": sums.columns, "blocks": len(centred), "mean": centred.mean(axis=0), "std": spread}
            parts.append(pd.DataFrame({**results.as_dict(key), **values}))
        return {"table": pd.concat(parts[1:] or parts, ignore_index=True)}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        table, axes = tables["table"], results.panel_axes()
        experiments = experiments_of(table, results)
        plot = self.blank(results, (results.series_name(key, axes) or _MEAN for key in results.experiments))
        for chosen in results.groups(axes, [{}]):
            x, y = Axis(self.x_label or "value"), Axis(self.y_label or "centred reward")
            panel = Panel(panel_title(chosen), x=x, y=y)
            plot.panels.append(panel)
            known = [key for key in results.select(chosen) if key in experiments]
            if known:
                panel.add("", Look(GREY, width=0.8, order=1), y=0.0, part="zero")
            for key in known:
                rows = table[[experiment == key for experiment in experiments]]
                name, mean, std = results.series_name(key, axes) or _MEAN, rows["mean"], rows["std"].fillna(0.0)
                ends = {"low": mean - std, "high": mean + std, "interval": "bars"}
                panel.add(name, plot.look(name, size=4.0), x=rows["probed"], y=mean, **ends)
                plot.explain(name, plot.look(name))
        if len(table):
            rounds, blocks = results.curves["round"], int(table["blocks"].max())
            first, last = int(rounds.min()), int(rounds.max())
            plot.caption = [
                f"Points: mean over {blocks} blocks of about {(last - first) / blocks:,.0f} rounds, after round "
                f"{first:,} and up to round {last:,}, of the expected reward that each value would have got, all else "
                "being equal, less the block's mean over the values. Bars: one standard deviation over blocks."
            ]
        return plot
