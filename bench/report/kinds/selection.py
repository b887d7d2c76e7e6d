"""What it does to every method if repetitions are chosen by the result of one."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.labels import canonical
from bench.report.plot import Look, Mark, Plot, look_of
from bench.report.results import Results
from bench.report.rows import Rows, in_row
from bench.report.selected import DROPPED, normal, normal_shift, number_run, printed, resampled
from bench.report.series import series_name
from bench.report.tables import by_experiment
from bench.stats import Array

_SETS = 4_000
_OURS, _NORMAL = "our runs", "normal"
_ROW, _WIDTH = 0.75, 4.4
_TICK = Look("#333333", "none", "|", size=11, edge_width=1.4)
_HEIGHTS = {_OURS: -0.16, _NORMAL: 0.16}
_FILLED, _OPEN = "chosen repetitions", "all repetitions"
_RANGE = "where 95 % of such means lie"
_COLUMNS = ("n", "of", "mean", "low", "high", "std", "covers", "lowest",
            "chosen_mean", "chosen_low", "chosen_high", "chosen_std", "chosen_covers", "chosen_lowest",
            "printed")  # fmt: skip


class _Case(NamedTuple):
    """A panel's experiments that have results, with their final values (repetitions, methods)."""

    keys: list[Key]
    values: Array


class Selection(Rows):
    """Means that a set of repetitions would print, all of them taken or those chosen by one method's own result.

    Sets are drawn from our repetitions, and from a normal distribution with the same means and covariances. The rule is
    that of `bench.report.selected`.

    Parameters
    ----------
    ranked_by
        The label on the axis `method` by whose results repetitions are chosen.
    size
        The number of repetitions that are reported.
    """

    ranked_by: str
    size: Annotated[int, Field(ge=2, strict=True)]

    def check(self, data: Experiments) -> None:
        """Check also that the method by which is ranked is there."""
        super().check(data)
        if canonical(self.ranked_by) not in data.labels("method"):
            known = ", ".join(data.labels("method"))
            raise ConfigError(f"{self.where}, key 'ranked_by': found '{self.ranked_by}', expected one of: {known}")

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return two rows for each experiment: of sets drawn from our runs and from a normal distribution.

        Returns
        -------
        DataFrame
            The axes, then `n` (our repetitions), `of` ("our runs" or "normal"); `mean`, with `low` and `high` where
            95 % of the printed means lie, `std`, the mean printed deviation, `covers`, the share of printed 95 %
            intervals that contain the true mean, `lowest`, the share of sets in which the method has the lowest mean;
            the same with `chosen_`; and `printed`, the paper's number. Of the normal distribution the means are exact.
        """
        data = results.data
        beside = {} if results.is_surrogate else self._printed(data)
        rows = []
        for case in self._cases(results):
            for of in (_OURS, _NORMAL):
                rows += self._rows_of(data, case, of, beside)
        return {"table": pd.DataFrame(rows, columns=[*data.axes, *_COLUMNS])}

    def _printed(self, data: Experiments) -> dict[Key, float]:
        numbers = [number for number in self.published_numbers(data) if number.what == "mean"]
        return {
            key: number.value
            for number in numbers
            for key in data.keys
            if number.labels.items() <= data.as_dict(key).items()
        }

    def _cases(self, results: Results) -> Iterator[_Case]:
        data = results.data
        for chosen in data.groups(self.panel_axes(data), [{}]):
            keys = [key for key in data.select(chosen) if len(results.column(key, self.column))]
            if all(data.as_dict(key)["method"] != canonical(self.ranked_by) for key in keys):
                continue
            series = [data.rows(key).set_index("repetition")[self.column].astype(float) for key in keys]
            complete = pd.concat(series, axis=1).dropna().sort_index()
            if len(complete) > 1:
                yield _Case(keys, complete.to_numpy())

    def _rows_of(self, data: Experiments, case: _Case, of: str, beside: Mapping[Key, float]) -> list[dict[str, Any]]:
        values = case.values
        by = [data.as_dict(key)["method"] for key in case.keys].index(canonical(self.ranked_by))
        rng = np.random.default_rng(0)
        draw = resampled if of == _OURS else normal
        sets = draw(values, number_run(self.size), _SETS, rng)
        true = values.mean(axis=0)
        plain, chosen = (printed(sets, self.size, rank, true) for rank in (None, by))
        means = {"": plain.mean.mean(axis=0), "chosen_": chosen.mean.mean(axis=0)}
        if of == _NORMAL:
            covariances = np.atleast_2d(np.cov(values, rowvar=False))[by]
            means = {"": true, "chosen_": true + normal_shift(self.size) * covariances / np.sqrt(covariances[by])}
        rows = []
        for place, key in enumerate(case.keys):
            row: dict[str, Any] = data.as_dict(key) | {"n": len(values), "of": of}
            for stem, sample in (("", plain), ("chosen_", chosen)):
                low, high = np.quantile(sample.mean[:, place], (0.025, 0.975))
                row |= {
                    f"{stem}mean": means[stem][place], f"{stem}low": low, f"{stem}high": high,
                    f"{stem}std": sample.std[:, place].mean(), f"{stem}covers": sample.covers[:, place].mean(),
                    f"{stem}lowest": sample.lowest[place],
                }  # fmt: skip
            rows.append(row | {"printed": beside.get(key, np.nan)})
        return rows

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        """Return a row per method: open marks without, filled ones with the choice, and the printed number."""
        data, table = results.data, tables["table"]
        axes = self.panel_axes(data)
        plot = Plot(self.heading, "", [])
        found = {of: by_experiment(table[table["of"] == of], data) for of in (_OURS, _NORMAL)}
        for panel, _, keys in self.panels_of_rows(results):
            plot.panels.append(panel)
            for name, (row, key) in keys.items():
                for of, own in found.items():
                    if key in own:
                        panel.marks += _pair(panel, row, name, own[key], of)
                if key in found[_OURS] and np.isfinite(found[_OURS][key]["printed"]):
                    number = in_row(panel, row, name, [found[_OURS][key]["printed"]], _TICK, part="published")
                    panel.marks.append(replace(number, what="published"))
            if panel.marks:
                self.scale(plot, panel)
        plot.explain(_OPEN, Look("#333333", "none", "o", size=6, fill="none"))
        plot.explain(_FILLED, Look("#333333", "none", "o", size=6))
        plot.explain("the same, normal values", Look("#333333", "none", "D", size=4.5))
        plot.explain(_RANGE, Look("#333333", width=1.6))
        if any(mark.part == "published" for mark in plot.marks()):
            plot.explain("published", _TICK)
        if any(panel.marks for panel in plot.panels):
            ranked = next(series_name(data, key, axes) for key in data.keys if canonical(self.ranked_by) in key)
            plot.caption = [
                f"Of {number_run(self.size)} repetitions all methods report the {self.size} with the ranks "
                f"{DROPPED + 1} to {DROPPED + self.size} by {ranked}'s own {self.column}, beside {self.size} "
                "repetitions that are not chosen. "
                "Whether published numbers were made so is not known.",
                f"{_SETS:,} sets, drawn with replacement from our repetitions, or from a normal distribution with the "
                "same means and covariances.",
            ]
        plot.panel_size = self.panel_size(plot, _WIDTH, _ROW)
        return plot


def _pair(panel: Any, row: int, name: str, found: Mapping[Any, Any], of: str) -> list[Mark]:
    """Return the marks of a method without and with the choice, from our runs or of normal values."""
    marks = []
    for stem, is_chosen in (("", False), ("chosen_", True)):
        height = row + _HEIGHTS[of] + (0.1 if is_chosen else -0.04)
        dot = look_of(name, dash="none", marker="o" if of == _OURS else "D", size=6.0 if of == _OURS else 4.5, order=5)
        dot = dot if is_chosen else replace(dot, fill="none")
        ends = {end: np.array([float(found[f"{stem}{end}"])]) for end in ("low", "high")}
        marks.append(
            in_row(
                panel, row, name, [found[f"{stem}mean"]], dot, part=f"{_FILLED if is_chosen else _OPEN}, {of}",
                y=np.array([height]), interval="segment", n=[found["n"]], what=_FILLED if is_chosen else _OPEN,
                ends=_RANGE, **ends,
            )
        )  # fmt: skip
    return marks
