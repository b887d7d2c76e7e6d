"""Figures given as plain dicts, judged and turned into tables and pictures for the tests."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure as Picture
from matplotlib.transforms import Bbox

from bench.report.claims import check as claims
from bench.report.figure import Figure, read_figure
from bench.report.pictures import draw as draw_plot
from bench.report.plot import Mark, Plot
from bench.report.provenance import Provenance
from bench.report.results import Results
from bench.report.style import applied

NO_CURVES = pd.DataFrame()


class Rendered(NamedTuple):
    tables: dict[str, pd.DataFrame]
    claims: pd.DataFrame
    plot: Plot | None


def finals_of(values: Mapping[Any, Any], *axes: str, rounds: int = 10, column: str = "regret") -> pd.DataFrame:
    """Return final values, with a row for each repetition of each label or tuple of labels, one label for each axis."""
    rows = [
        dict(zip(axes, labels if isinstance(labels, tuple) else (labels,), strict=True))
        | {"repetition": repetition, "rounds": rounds, column: value}
        for labels, numbers in values.items()
        for repetition, value in enumerate(numbers)
    ]
    return pd.DataFrame(rows)


def figure_of(figure: Mapping[str, Any]) -> Figure:
    """Return a figure; keys that every figure needs may be left out."""
    return read_figure({"name": "f", "kind": "curves", "column": "regret", **figure})


def check(figure: Mapping[str, Any], finals: pd.DataFrame, curves: pd.DataFrame = NO_CURVES, **how: Any) -> Any:
    """Return the verdicts; keys of `Provenance` give their basis, and True stands for surrogate data."""
    how |= {key: ("made_up",) for key in ("surrogate", "altered") if how.get(key)}
    known = figure_of(figure)
    return claims.verdicts_on(Results(known, curves, finals, Provenance(**how)))


def still_open(figure: Mapping[str, Any], finals: pd.DataFrame, *, most: int | None = 400) -> Any:
    return claims.still_open(Results(figure_of(figure), finals=finals, provenance=Provenance(until_decided=most)))


def results_of(figure: Mapping[str, Any], finals: pd.DataFrame, curves: Any = None, surrogate: bool = False) -> Results:
    provenance = Provenance(repetitions=(5,), surrogate=("made_up",) if surrogate else ())
    return Results(read_figure(figure), NO_CURVES if curves is None else curves, finals, provenance)


def tables(
    figure: Mapping[str, Any], finals: pd.DataFrame, curves: Any = None, *, surrogate: bool = False
) -> dict[str, pd.DataFrame]:
    return read_figure(figure).tables(results_of(figure, finals, curves, surrogate))


def render(figure: Mapping[str, Any] | Figure, curves: pd.DataFrame, finals: pd.DataFrame, **rest: Any) -> Rendered:
    results = Results(read_figure(figure), curves, finals, **rest)
    tables = results.figure.tables(results)
    return Rendered(tables, claims.verdicts_on(results), results.figure.plot(results, tables))


def shown(figure: Mapping[str, Any], curves: pd.DataFrame, finals: pd.DataFrame, *, note: str = "") -> Plot:
    """Return the plot of a figure, which is of surrogate data if ``note`` says so."""
    known = read_figure({**figure, "note": note})
    results = results_of(known, finals, curves, "urrogate" in note)
    return known.plot(results, known.tables(results))


def numbers_of(made: Plot) -> pd.DataFrame:
    """Return the points of all marks with the ends of their intervals."""
    parts = []
    for mark in made.marks():
        ends = {"low": mark.low, "high": mark.high} if len(mark.low) else {}
        about = {"case": mark.case, "name": mark.name, "part": mark.part}
        parts.append(pd.DataFrame({"x": mark.x, "y": mark.y, **ends}, index=range(len(mark.numbers))).assign(**about))
    return pd.concat(parts, ignore_index=True)


def draw(figure: Mapping[str, Any], curves: pd.DataFrame, finals: pd.DataFrame, *, note: str = "") -> Picture:
    """Draw a figure, which is of surrogate data if ``note`` says so."""
    return draw_plot(shown(figure, curves, finals, note=note))


def parts(made: Plot, part: str, name: str = "", panel: int | None = None) -> list[Mark]:
    """Return the marks of a part, restricted to a name or a panel if given."""
    panels = made.panels if panel is None else [made.panels[panel]]
    return [mark for shown in panels for mark in shown.marks if mark.part == part and name in ("", mark.name)]


def words_in(picture: Picture) -> list[str]:
    """Return the texts beside and within the panels of a picture."""
    return [text.get_text() for text in (*picture.texts, *(text for axes in picture.axes for text in axes.texts))]


def assert_readable(picture: Picture) -> None:
    """Assert that nothing overlaps on the page or within a panel, and that nothing is cut off."""
    with applied():
        picture.draw_without_rendering()
        renderer = picture.canvas.get_renderer()  # type: ignore[attr-defined]
        boxes: list[tuple[str, Bbox]] = [(text.get_text(), text.get_window_extent(renderer)) for text in picture.texts]
        boxes += [("legend", legend.get_window_extent(renderer)) for legend in picture.legends]
        boxes += [(f"panel {i}", axes.get_tightbbox(renderer)) for i, axes in enumerate(picture.axes)]
    assert_apart(boxes, picture)


def assert_apart(boxes: list[tuple[str, Bbox]], picture: Picture) -> None:
    for i, (label, box) in enumerate(boxes):
        assert -1 <= box.x0 < box.x1 <= picture.bbox.width + 1, f"{label} is cut off"
        assert -1 <= box.y0 < box.y1 <= picture.bbox.height + 1, f"{label} is cut off"
        for other, other_box in boxes[i + 1 :]:
            common = Bbox.intersection(box, other_box)
            touches = common is not None and common.width > 1 and common.height > 1
            assert not touches, f"'{label}' overlaps '{other}'"
