"""The numbers behind what a figure draws, by the names that its parts bear."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bench.report.claims.bound import Bound
from bench.report.claims.check import read
from bench.report.claims.finding import Unmeasured
from bench.report.experiments import Experiments, Key
from bench.report.gallery.text import INTERVAL, number
from bench.report.grid_axis import grid_axis, panel_axes
from bench.report.kinds.bound import experiment_text
from bench.report.kinds.rows import reference
from bench.report.kinds.series import panel_title, series_name
from bench.report.labels import canonical, selection
from bench.report.regret_bounds import regret_bound
from bench.report.style import RANDOM_ARMS
from bench.report.tables import RANDOM_REGRET, final_column, random_arms, shows_random_arms
from bench.stats import Interval

Part = tuple[str, str, str]
"""Part, panel and name, as in `bench.report.parts.part_id`."""

Point = list[Any]
"""x, value, ends of the interval, number of repetitions; None where unknown."""


class Marks(NamedTuple):
    """The points of a part; of a line that is level, one. What they are, if not means, and what x and the ends are."""

    points: list[Point]
    what: str = ""
    x: str = ""
    ends: str = INTERVAL


def read_marks(
    figure: Mapping[str, Any], curves: pd.DataFrame, table: pd.DataFrame, finals: pd.DataFrame
) -> dict[Part, Marks]:
    """Return the values drawn.

    Parameters
    ----------
    figure
        The figure as a plain dict.
    curves, table, finals
        Its mean curves, its table, and its final values by repetition; any may be empty.

    Raises
    ------
    BenchError
        If they don't fit each other.
    """
    kind = str(figure.get("kind"))
    if kind not in _KINDS:
        return {}
    data = Experiments(figure, finals)
    found: dict[Part, Marks] = {}
    for part, marks in _KINDS[kind](figure, data, curves if kind == "curves" else table):
        points = [[_short(value) for value in point] for point in marks.points]
        points = [point for point in points if point[1] is not None]  # what is missing is not drawn
        if part in found:
            found[part].points.extend(points)
        elif points:
            found[part] = marks._replace(points=points)
    return found


Found = Iterator[tuple[Part, Marks]]


def _curves(figure: Mapping[str, Any], data: Experiments, curves: pd.DataFrame) -> Found:
    panels, column, x = panel_axes(figure, data), str(figure["column"]), str(figure.get("x_label", "round"))
    random: dict[tuple[str, float], list[float]] = {}
    for key, row in _rows(data, curves):
        panel, name = _panel(data, key, panels), series_name(data, key, panels) or column
        if row.get("column") == RANDOM_REGRET:
            random.setdefault((panel, row["round"]), []).append(float(row["mean"]))
        if row.get("column") == column:
            yield ("line", panel, name), Marks([[row.get("round"), *_interval(row)]], x=x)
    for (panel, place), means in random.items():
        yield ("line", panel, RANDOM_ARMS), Marks([[place, sum(means) / len(means), None, None, None]], x=x)
    yield from _reference(figure, data, panels)
    if "column" not in curves:
        return
    for entry in figure.get("bounds") or ():
        for key in data.select(selection(entry["measured"])):
            own = curves[curves["column"] == column]
            for axis, label in data.as_dict(key).items():
                own = own[own[axis].map(canonical) == label] if axis in own else own
            rounds = own["round"].sort_values().tolist()
            values: Any = regret_bound(entry["formula"], rounds) if rounds else []
            points = [[place, value, None, None, None] for place, value in zip(rounds, values, strict=True)]
            yield ("bound", _panel(data, key, panels), series_name(data, key, panels)), Marks(points, "bound", x)


def _grid(figure: Mapping[str, Any], data: Experiments, table: pd.DataFrame) -> Found:
    axis, panels = grid_axis(figure, data), panel_axes(figure, data)
    x = str(figure.get("x_label", axis.replace("_", " ")))
    lines: dict[tuple[str, str], list[Point]] = {}
    random: dict[str, list[tuple[float, float]]] = {}
    for key, row in _rows(data, table):
        panel, label = _panel(data, key, panels), data.as_dict(key)[axis]
        name = series_name(data, key, [*panels, axis])
        random.setdefault(panel, []).append((float(label or "nan"), _number(row.get("random_arms"))))
        if not label:
            yield ("line", panel, name), Marks([[None, *_interval(row)]])
        elif row.get("n") != 0:
            lines.setdefault((panel, name or "mean on the grid"), []).append([float(label), *_interval(row)])
    places: dict[str, set[float]] = {}
    for (panel, name), points in lines.items():
        points.sort(key=lambda point: float(point[0]))
        places.setdefault(panel, set()).update(point[0] for point in points)
        yield ("line", panel, name), Marks(points, x=x)
        ends = {"lowest": min, "highest": max}.get(str(figure.get("best", "lowest")))
        if ends:
            yield (
                ("best", panel, name),
                Marks([ends(points, key=lambda point: _number(point[1]))], "best on the grid", x),
            )
    for panel, means in random.items():
        if axis == "horizon":
            by_place: dict[float, list[float]] = {}
            for place, mean in means:
                by_place.setdefault(place, []).append(mean)
            points = [[place, _mean(own), None, None, None] for place, own in by_place.items() if place == place]
            yield ("line", panel, RANDOM_ARMS), Marks(points, x=x)
        else:
            yield ("line", panel, RANDOM_ARMS), Marks([[None, _mean([mean for _, mean in means]), None, None, None]])
    for entry in figure.get("bounds") or ():
        for panel, xs in places.items():
            points = [[one, float(regret_bound(entry["formula"], [one])[0]), None, None, None] for one in sorted(xs)]
            yield ("bound", panel, str(entry["label"])), Marks(points, "bound", x)
    for panel, marks in _published_best(figure, data, panels):
        yield ("published", panel, "published best"), marks._replace(x=x)


def _published_best(figure: Mapping[str, Any], data: Experiments, panels: list[str]) -> Iterator[tuple[str, Marks]]:
    """Return by panel where the paper found the best value, and its mean."""
    numbers: dict[str, dict[str, float]] = {}
    for entry in figure.get("published") or ():
        panel = panel_title({axis: (canonical(entry[axis]),) for axis in panels if axis in entry})
        numbers.setdefault(panel, {})[entry["what"]] = entry["value"]
    for panel, own in numbers.items():
        if "best" in own and "mean" in own:
            yield panel, Marks([[own["best"], own["mean"], None, None, None]], "published")


def _dots(figure: Mapping[str, Any], data: Experiments, table: pd.DataFrame) -> Found:
    panels, column = panel_axes(figure, data), str(figure["column"])
    for key, row in _rows(data, table):
        panel, name = _panel(data, key, panels), series_name(data, key, panels) or column
        yield ("line", panel, name), Marks([[None, *_interval(row)]])
        yield ("published", panel, name), Marks([[None, row.get("published_mean"), None, None, None]], "published")
        yield ("repetitions", panel, name), _repetitions(data, key, column)
    yield from _reference(figure, data, panels)
    if not shows_random_arms(figure, data):
        return
    for chosen in data.groups(panels, [{}]):
        random = random_arms(data, data.select(chosen))
        yield ("line", panel_title(chosen), RANDOM_ARMS), Marks([[None, random, None, None, None]])


def _distribution(figure: Mapping[str, Any], data: Experiments, table: pd.DataFrame) -> Found:
    panels, column = panel_axes(figure, data), str(figure["column"])
    for key, row in _rows(data, table):
        panel, name = _panel(data, key, panels), series_name(data, key, panels) or column
        yield ("line", panel, name), Marks([[None, *_interval(row)]], "mean")
        values = final_column(data, key, column)
        if not len(values):
            continue
        low, middle, high, upper = np.quantile(values, (0.25, 0.5, 0.75, 0.95))
        yield ("box", panel, name), Marks([[None, middle, low, high, len(values)]], "median", ends="quartiles")
        yield ("quantile", panel, name), Marks([[None, upper, None, None, len(values)]], "95 % quantile")
        yield ("repetitions", panel, name), _repetitions(data, key, column)
    yield from _reference(figure, data, panels)


def _reference(figure: Mapping[str, Any], data: Experiments, panels: list[str]) -> Found:
    """Return the figure's reference line in every panel."""
    line = reference(figure)
    for chosen in data.groups(panels, [{}]) if line else ():
        value, label = line or (math.nan, "")
        yield ("reference", panel_title(chosen), label), Marks([[None, value, None, None, None]])


def _repetitions(data: Experiments, key: Key, column: str) -> Marks:
    rows = data.rows(key).sort_values("repetition")
    if column not in rows:
        return Marks([])
    pairs = zip(rows["repetition"], rows[column], strict=True)
    return Marks([[number, value, None, None, None] for number, value in pairs], x="repetition")


def _bound(figure: Mapping[str, Any], data: Experiments, table: pd.DataFrame) -> Found:
    for claim in read(figure, data):
        if not isinstance(claim, Bound):
            continue
        for case in claim.cases(data):
            try:
                sides = claim.sides(data, case)
            except Unmeasured:
                continue
            labels = sides.experiment
            panel = experiment_text(labels)
            name = labels.get("method", next(filter(None, labels.values()), ""))
            limits = {"line": sides.measured, "bound": sides.bound, "best": sides.best}
            for part, interval in limits.items():
                if interval is not None:
                    what = {"line": "measured", "bound": "bound", "best": "best candidate"}[part]
                    yield (part, panel, name), Marks([_point(interval)], what)
            if shows_random_arms(figure, data):
                random = random_arms(data, data.select({**case, **claim.measured}))
                yield ("line", panel, RANDOM_ARMS), Marks([[None, random, None, None, None]])


def _timing(figure: Mapping[str, Any], data: Experiments, table: pd.DataFrame) -> Found:
    panels, ends = panel_axes(figure, data), "fastest and slowest"
    for key, row in _rows(data, table):
        panel, name = _panel(data, key, panels), series_name(data, key, panels)
        seconds = [panel, row.get("seconds"), row.get("fastest"), row.get("slowest"), row.get("n")]
        yield ("line", "seconds", name), Marks([seconds], "median", ends=ends)
        yield ("line", "relative", name), Marks([[panel, row.get("relative"), None, None, row.get("n")]])
        for value in ("seconds", "relative"):
            printed = [panel, row.get(f"published_{value}"), None, None, None]
            yield ("published", value, name), Marks([printed], "published")


def _lipschitz(figure: Mapping[str, Any], data: Experiments, table: pd.DataFrame) -> Found:
    panels, x = panel_axes(figure, data), str(figure.get("x_label", "value"))
    for key, row in _rows(data, table):
        mean, deviation = _number(row.get("mean")), _number(row.get("std"))
        point = [row.get("probed"), mean, mean - deviation, mean + deviation, None]
        name = series_name(data, key, panels) or "mean over blocks"
        ends = f"one standard deviation over {row.get('blocks', '?')} blocks"
        yield ("line", _panel(data, key, panels), name), Marks([point], x=x, ends=ends)


def _ranking(figure: Mapping[str, Any], data: Experiments, table: pd.DataFrame) -> Found:
    [reference] = figure["reference"].values()
    for _, row in _rows(data, table):
        relative, mean = [None, row.get("relative"), None, None, row.get("n")], number(row.get("mean"))
        yield ("cell", str(row["task"]), str(row["method"])), Marks([relative], f"relative to {reference}; mean {mean}")


_KINDS = {
    "curves": _curves,
    "grid": _grid,
    "dots": _dots,
    "distribution": _distribution,
    "bound": _bound,
    "timing": _timing,
    "lipschitz": _lipschitz,
    "ranking": _ranking,
}


def _rows(data: Experiments, table: pd.DataFrame) -> Iterator[tuple[Key, dict[Any, Any]]]:
    for row in table.to_dict("records"):
        yield tuple(canonical(row.get(axis)) for axis in data.axes), row


def _panel(data: Experiments, key: Key, panels: list[str]) -> str:
    labels = data.as_dict(key)
    return panel_title({axis: (labels[axis],) for axis in panels})


def _interval(row: Mapping[Any, Any]) -> list[Any]:
    return [row.get(part) for part in ("mean", "ci_low", "ci_high", "n")]


def _point(interval: Interval) -> Point:
    is_sure = interval.low == interval.high
    return [None, interval.estimate, *((None, None) if is_sure else (interval.low, interval.high)), interval.n]


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _mean(values: list[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else math.nan


def _short(value: Any) -> Any:
    """Return a number with five digits as JSON can hold it, None for a missing one, text as it is."""
    if isinstance(value, str):
        return value
    try:
        number = float(f"{float(value):.5g}")
    except (TypeError, ValueError):
        return None
    return (int(number) if number == int(number) else number) if math.isfinite(number) else None
