"""A figure's SVG, made part of a page: ids of its own, and numbers to be read off its lines."""

import json
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from bench.report.experiments import Experiments
from bench.report.grid_axis import grid_axis, panel_axes
from bench.report.kinds.series import panel_title, series_name
from bench.report.labels import canonical
from bench.report.parts import read_part_id
from bench.report.style import RANDOM_ARMS
from bench.report.tables import RANDOM_REGRET

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_KEPT = {_SVG + tag for tag in ("svg", "g", "defs", "path", "use", "text", "tspan", "clipPath", "rect", "image")}
ElementTree.register_namespace("", _SVG.strip("{}"))

Point = list[Any]
"""x, mean, ends of the interval, number of repetitions; None where unknown."""


class Picture(NamedTuple):
    """The SVG element as text, and the colour of each method that can be hidden."""

    svg: str
    methods: dict[str, str]


def inline(text: str, prefix: str, title: str, points: Mapping[tuple[str, str], list[Point]]) -> Picture:
    """Return an SVG file as an element of a page.

    Parameters
    ----------
    text
        The file.
    prefix
        Put before every id, so that several pictures can share a page.
    title
        What it shows, for those who cannot see it.
    points
        The values of lines by panel and name; used where a line has as many points.

    Raises
    ------
    ValueError
        If it is no SVG.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from None
    if root.tag != _SVG + "svg" or "viewBox" not in root.attrib:
        raise ValueError("not an SVG with a viewBox")
    _clean(root, prefix)
    methods: dict[str, str] = {}
    for node in root.iter(_SVG + "g"):
        part = read_part_id(node.get("id", "").removeprefix(prefix))
        if part is None:
            continue
        kind, panel, name = part
        node.attrib = {"data-part": kind, "data-name": name}
        if kind != "line":
            continue
        styles = "; ".join(child.get("style", "") for child in node.iter())
        colour = re.search(r"stroke: (#\w+)", styles)
        methods.setdefault(name, colour[1] if colour else "#777777")
        own = points.get((panel, name), [])
        path = node.find(f"{_SVG}path")  # without, there are marks alone
        spots = node.findall(f".//{_SVG}use") if path is None else re.findall("[ML]", path.get("d", ""))
        if len(own) in (1, len(spots)):
            node.attrib |= {"data-panel": panel, "data-points": json.dumps(own, separators=(",", ":"))}
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": title}
    if RANDOM_ARMS in methods:  # behind all else in the picture, last in the legend
        methods[RANDOM_ARMS] = methods.pop(RANDOM_ARMS)
    return Picture(ElementTree.tostring(root, encoding="unicode"), methods)


def _clean(node: ElementTree.Element, prefix: str) -> None:
    """Keep what draws, nothing that acts or loads; prefix ids; shorten numbers to a hundredth of a point."""
    for child in list(node):
        if child.tag in _KEPT:
            _clean(child, prefix)
        else:
            node.remove(child)
    node.tail = None
    for key, value in list(node.attrib.items()):
        is_link = key in ("href", _XLINK + "href")
        if key.lower().startswith("on") or (is_link and not value.startswith(("#", "data:image/"))):
            del node.attrib[key]
        elif is_link:
            del node.attrib[key]
            node.set("href", f"#{prefix}{value[1:]}" if value.startswith("#") else value)
        elif key == "id":
            node.set(key, prefix + value)
        elif key in ("d", "x", "y", "transform"):
            node.set(key, re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.2f}", value.replace("\n", "")))
        else:
            node.set(
                key, value.replace("url(#", f"url(#{prefix}").replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")
            )


def read_points(
    figure: Mapping[str, Any], curves: pd.DataFrame, table: pd.DataFrame
) -> dict[tuple[str, str], list[Point]]:
    """Return the values drawn, by panel and name as in `part_id`; of a line that is level, one.

    Parameters
    ----------
    figure
        The figure as a plain dict.
    curves, table
        Its mean curves and its table of final values; may be empty.

    Raises
    ------
    BenchError
        If they don't fit each other.
    """
    data = Experiments(figure, pd.DataFrame())
    kind, column = figure.get("kind"), figure.get("column")
    panels = panel_axes(figure, data)
    axis = grid_axis(figure, data) if kind == "grid" else ""
    points: dict[tuple[str, str], list[Point]] = {}
    random: dict[tuple[str, Any], list[float]] = {}
    for row in (curves if kind == "curves" else table).to_dict("records"):
        key = tuple(canonical(row.get(name)) for name in data.axes)
        labels = data.as_dict(key)
        panel, name = panel_title({name: (labels[name],) for name in panels}), series_name(data, key, [*panels, axis])
        x, values = None, [row.get(part) for part in ("mean", "ci_low", "ci_high", "n")]
        if kind == "curves":
            x = row.get("round")
            if row.get("column") == RANDOM_REGRET:
                random.setdefault((panel, x), []).append(float(row["mean"]))
            if row.get("column") != column:
                continue
        elif kind == "grid":
            random.setdefault((panel, None), []).append(float(row.get("random_arms", math.nan)))
            x = float(labels[axis]) if labels[axis] else None
        elif kind == "timing":  # seconds, then seconds in relation to the reference
            ends = row.get("fastest"), row.get("slowest")
            points.setdefault(("seconds", name), []).append([panel, row.get("seconds"), *ends, row.get("n")])
            panel, x, values = "relative", panel, [row.get("relative"), None, None, row.get("n")]
        elif kind == "lipschitz":
            x, values = row.get("probed"), [row.get("mean"), None, None, None]
        elif kind == "bound":
            panel, name = data.text(key), labels.get("method") or next(filter(None, key), "")
        points.setdefault((panel, name), []).append([x, *values])
    for (panel, x), means in random.items():
        known = [mean for mean in means if math.isfinite(mean)]
        points.setdefault((panel, RANDOM_ARMS), []).append([x, sum(known) / max(len(known), 1), None, None, None])
    if axis:
        for own in points.values():
            own.sort(key=lambda point: point[0] or 0.0)
    return {key: [[_short(value) for value in point] for point in own] for key, own in points.items()}


def _short(value: Any) -> Any:
    """Return a number with five digits as JSON can hold it, None for a missing one, text as it is."""
    if isinstance(value, str):
        return value
    try:
        number = float(f"{float(value):.5g}")
    except (TypeError, ValueError):
        return None
    return (int(number) if number == int(number) else number) if math.isfinite(number) else None
