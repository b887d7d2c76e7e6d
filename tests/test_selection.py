"""The choice of repetitions by one method's result: the rule, and the figure."""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import finals_of, numbers_of, shown, tables

from bench.papers.cdt.selection import kept, number_run, printed, resampled

FIGURE: dict[str, Any] = {
    "name": "selection",
    "title": "Chosen",
    "kind": "bench.papers.cdt.selection.Selection",
    "column": "regret",
    "ranked_by": "CDT",
    "size": 20,
    "runs": [{"panel": {"LinUCB": []}, "method": {"OP": [], "CDT": []}}],
    "published": [{"panel": "LinUCB", "method": "CDT", "what": "mean", "value": 90.0}],
}


def test_the_rule_by_hand():
    """Five requested, eight run; of 10, 11, ..., 17 the ones from 12 to 16 are reported."""
    assert [number_run(size) for size in (5, 10, 20)] == [8, 16, 32]
    ranked = np.array([17.0, 12, 10, 15, 11, 14, 13, 16])
    assert kept(ranked, 5).tolist() == [1, 6, 5, 3, 7]
    values = np.stack([ranked, [1.0, 2, 3, 4, 5, 6, 7, 8]], axis=1)
    found = printed(values[None], 5, 0, np.zeros(2))
    assert found.mean.tolist() == [[14.0, (2 + 7 + 6 + 4 + 8) / 5]]
    assert found.std[0, 0] == pytest.approx(np.sqrt(2.5))
    plain = printed(values[None], 5, None, np.zeros(2))
    assert plain.mean.tolist() == [[(17 + 12 + 10 + 15 + 11) / 5, 3.0]]
    assert found.lowest.tolist() == [0.0, 1.0]


def test_intervals_cover_the_true_value():
    """mean -+ 2.776 std / sqrt(5): of 1 to 5 that is 3 -+ 1.963."""
    values = np.arange(1.0, 6.0)[None, :, None]
    for true, covers in ((1.05, True), (1.03, False), (4.95, True), (4.97, False)):
        assert printed(values, 5, None, np.array([true])).covers.tolist() == [[covers]]


def test_sets_of_our_runs_agree_with_all_sets_there_are():
    """Three repetitions, sets of three (two asked for), the lowest two left out: every multiset and its probability."""
    values = np.array([[1.0, 10.0], [2.0, 40.0], [4.0, 20.0]])
    expected, total = np.zeros(2), 0.0
    for chosen in combinations_with_replacement(range(3), 3):
        counts = np.bincount(chosen, minlength=3)
        ways = 6 / np.prod([np.prod(range(1, count + 1)) for count in counts])
        expected += ways * values[sorted(chosen)[2]]
        total += ways
    assert total == 27
    sets = resampled(values, number_run(2), 40_000, np.random.default_rng(1))
    assert sets.shape == (40_000, 3, 2)
    highest = np.take_along_axis(sets, kept(sets[:, :, 0], 1)[:, :, None], axis=1)[:, 0]
    np.testing.assert_allclose(highest.mean(axis=0), expected / 27, atol=4 * 15 / np.sqrt(40_000))


def finals(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    shared, own = rng.normal(0, 10, n), rng.normal(0, 10, (2, n))
    values = {("LinUCB", "OP"): 100 + shared + own[0], ("LinUCB", "CDT"): 95 + shared + own[1]}
    return finals_of(values, "panel", "method", rounds=100)


def test_the_figure_shows_the_effect_of_the_selection():
    """CDT's printed mean sinks below OP's, which sinks less; its deviation shrinks, and its intervals miss."""
    own = finals(60)
    table = tables(FIGURE, own)["table"].set_index("method")
    op, cdt = table.loc["OP"], table.loc["CDT"]
    assert cdt["mean"] == pytest.approx(own[own["method"] == "CDT"]["regret"].mean(), abs=0.2)
    assert cdt["mean"] - cdt["chosen_mean"] > op["mean"] - op["chosen_mean"] > 0.3
    assert cdt["chosen_std"] < 0.75 * cdt["std"]
    assert cdt["chosen_covers"] < cdt["covers"] - 0.1
    assert cdt["chosen_lowest"] > cdt["lowest"]
    assert cdt["lowest"] + op["lowest"] == pytest.approx(1)
    assert cdt["low"] < cdt["mean"] < cdt["high"]
    assert (cdt["printed"], cdt["n"]) == (90, 60)
    assert np.isnan(op["printed"])
    marks = numbers_of(shown(FIGURE, pd.DataFrame(), own)).set_index(["name", "part"])["x"]
    assert marks["CDT", "published"] == 90
    assert marks["CDT", "chosen repetitions"] == cdt["chosen_mean"]
    assert tables(FIGURE, own[own["method"] == "OP"])["table"].empty
