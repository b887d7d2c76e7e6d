"""What pages are made of, against numbers computed by hand."""

import math
from typing import Any

import pytest

from bench.gallery.claims import forest
from bench.gallery.numbers import ratio_of
from bench.gallery.picture import Picture
from bench.report.claims.check import KINDS

SIDES = {"left": {"method": "a"}, "right": {"method": "b"}}


def case(estimate: float, low: float, high: float, **more: Any) -> dict[str, Any]:
    values = {"estimate": estimate, "ci_low": low, "ci_high": high, "repetitions_needed": math.nan}
    values |= dict.fromkeys(("relative", "relative_low", "relative_high"), math.nan)
    given = {"claim": "1", "text": "a is less than b", "case": "x", "kind": "ratio", "expect": "less"}
    return {**given, "threshold": 1.0, "verdict": "holds", "holm": "", "origin": "ours", "values": values} | more


def test_cases_lie_on_one_axis_with_the_line_that_decides() -> None:
    """From 0.5 to 1.5, with 4 % of room on both sides: 0.5 is at 4, 1 at 50, 1.5 at 96."""
    found = forest([case(0.75, 0.5, 1.0), case(1.25, 1.0, 1.5), case(math.nan, math.nan, math.nan)])
    assert found is not None
    assert (found.ends, found.threshold, found.at, found.side) == (("0.5", "1.5"), "1", 50, "below")
    assert [spot and spot[:3] for spot in found.spots] == [(4, 50, 27), (50, 96, 73), None]
    assert forest([case(math.nan, math.nan, math.nan)]) is None


def test_a_case_far_from_the_others_is_cut_off() -> None:
    found = forest([case(1.1, 1.0, 1.2), case(1.1, 1.0, 1.2), case(9, 8, 10)])
    assert found is not None
    assert found.spots[2] == (100, 100, 99, "r")
    assert found.ends == ("1", "1.8")  # four times as far as the median case


def test_ratios_over_powers_of_ten_have_a_logarithmic_axis() -> None:
    found = forest([case(0.1, 0.01, 1.0), case(10.0, 1.0, 100.0)])
    assert found is not None
    assert [spot and spot[2] for spot in found.spots] == [27, 73]


def test_differences_are_shown_as_shares_where_all_are_known() -> None:
    relative = {"relative": 0.1, "relative_low": 0.0, "relative_high": 0.2}
    one = case(10, 0, 20, kind="paired_difference", threshold=0.0)
    both = [{**one, "values": one["values"] | relative}, {**one, "values": one["values"] | relative}]
    assert [found.ends for found in (forest(both), forest([one])) if found] == [("0 %", "+20 %"), ("0", "20")]
    assert [found.shares for found in (forest(both), forest([one])) if found] == [
        [("+10 %", "0 to +20 %")] * 2, [("", "")]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "threshold"),
    [
        ({"kind": "paired_difference", **SIDES, "expect": "less"}, 0),
        ({"kind": "paired_difference", **SIDES, "expect": "similar", "margin": 0.1}, 0),
        ({"kind": "paired_difference", **SIDES, "expect": "at_most", "margin": 0.1}, 0.1),
        ({"kind": "paired_difference", **SIDES, "expect": "at_least", "margin": 0.1}, -0.1),
        ({"kind": "relative_difference", **SIDES, "reference": {}, "over": ["task"], "expect": "less"}, 0),
        ({"kind": "ratio", **SIDES, "expect": "less", "threshold": 2.0}, 2),
        ({"kind": "ratio", **SIDES, "expect": "less"}, 1),
        ({"kind": "spread", **SIDES, "expect": "less"}, 1),
        ({"kind": "bound", "measured": {}, "formula": {"name": "exp3", "n_arms": 5}}, 1),
        ({"kind": "slope", "expect": "less", "threshold": 0.75}, 0.75),
        ({"kind": "slope", "expect": "less", "threshold": 0.75, "log_power": 1}, None),
        ({"kind": "best_on_grid", "axis": "c", "differs": {"panel": ["a", "b"]}}, 0),
        ({"kind": "best_on_grid", "axis": "c", "expect": "less", "threshold": 4}, 4),
        ({"kind": "count", "of": "2"}, 0.5),
    ],
)
def test_the_number_that_decides_is_that_of_the_claim(claim: dict[str, Any], threshold: float | None) -> None:
    column = {} if claim["kind"] == "count" else {"column": "regret"}
    assert KINDS[claim["kind"]].model_validate({"id": "1", "text": "a", **column, **claim}).compared_with() == threshold


def test_a_published_number_lies_between_half_and_twice() -> None:
    found = ratio_of({"published": 10.0, "ours": 10.0, "low": 5.0, "high": 40.0})
    assert (found["ratio"], found["spot"]) == (1, (4, 100, 50, "r"))
    assert ratio_of({"published": 10.0, "ours": None, "low": None, "high": None})["spot"] is None


@pytest.mark.parametrize(
    "style", ["font-size: 10px; font-family: 'DejaVu Sans'", "font: 10px 'DejaVu Sans'", "fill: red"]
)
def test_a_panel_ends_where_its_title_does_in_the_svg_of_any_matplotlib(style: str) -> None:
    title = f'<text style="{style}; text-anchor: start" x="10" y="9" transform="rotate(-0 10 9)">{"m" * 20}</text>'
    axes = f'  <g id="axes_1">\n<path d="M 10 50 \nL 60 50 \nL 60 10 \nL 10 10 \n"/>\n{title}\n  </g>\n'
    picture = Picture.of("a.svg", f'<svg viewBox="0 0 300 100">\n{axes}</svg>')
    left, _, width, _ = picture.panels[0]
    assert 100 < left + width < 200


def test_a_panel_begins_below_the_line_above_it_and_notes_follow_the_caption_as_a_sentence() -> None:
    """A turned name of 44 letters of 8 points around 150 ends 0.55 * 8 * 22 above that, and 4 points of room."""
    turned = 'style="font: 8px sans; text-anchor: middle" x="9" y="150" transform="rotate(-90 9 150)"'
    name = f"<text {turned}>{'a' * 44}</text>"
    axes = f'  <g id="axes_1">\n<path d="M 10 240 \nL 90 240 \nL 90 60 \nL 10 60 \n"/>\n{name}\n  </g>\n'
    lines = [(40, "scale paper: 20 repetitions"), (280, "Lines: mean of"), (290, "Some repetitions")]
    words = "".join(f'<text style="font: 8px sans" transform="translate(5 {y})">{text}</text>' for y, text in lines)
    picture = Picture.of("a.svg", f'<svg viewBox="0 0 300 300">\n{axes}{words}</svg>')
    assert picture.panels[0][1] == pytest.approx(49.2)
    assert picture.words == "scale paper: 20 repetitions. Lines: mean of Some repetitions"
