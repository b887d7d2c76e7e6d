"""Limits of a figure: their runs, the best configuration, and the gap that methods close."""

import math

import numpy as np
import pandas as pd
import pytest
import registry
from rendered import render
from scipy import stats

from bench.report.figure import read_figure
from bench.report.limits import BEST_BY_STRETCH, LIMIT, RANDOM_CONFIGURATION
from bench.report.tasks import BEST_FIXED
from runners.config.figures import expand, load_figure
from runners.execute.asked_figure import AskedFigure
from runners.execute.figure_run import FigureRun
from runners.execute.manifest import settings_table
from runners.results.store import Store

FIGURE = {
    "name": "made_up",
    "paper": "cdt",
    "kind": "curves",
    "column": "regret",
    "repetitions": 40,
    "runs": [{"panel": {"A": ["env.dim=3"], "B": ["env.dim=4"]}, "method": {"TL": ["tuner=tl"], "OP": ["tuner=op"]}}],
    "claims": [
        {"id": "1", "text": "TL has less", "kind": "paired_difference", "expect": "less", "per": ["panel"],
         "left": {"method": "TL"}, "right": {"method": "OP"}},
    ],
}  # fmt: skip
RATE = {"values": [0.1, 1, 3], "override": "+tuner.configuration.exploration_rate={}"}
LIMITS = {
    "candidates": [{"panel": {"A": ["env.dim=3"]}, "exploration_rate": RATE}],
    "repetitions": 15,
    "stretches": {"A": 2},
    "sources": {"tuner.configuration.exploration_rate": ["assumed", "three"]},
}
WITH = read_figure(FIGURE | {"limits": LIMITS})
ROUNDS = np.array([25, 50, 75, 100])
# Mean regret at these rounds: 0.1 is best early, 3 late, 1 over all
SHAPES = {"0.1": [1, 2, 30, 60], "1": [8, 16, 24, 32], "3": [20, 40, 42, 44]}


def made(n_methods=40, n_limits=15, seed=0):
    """Return curves and final values: all runs of a repetition share its noise."""
    rng = np.random.default_rng(seed)
    luck = rng.normal(0, 3, n_methods)
    shapes = {f"{LIMIT}exploration rate {rate}": shape for rate, shape in SHAPES.items()}
    shapes |= {RANDOM_CONFIGURATION: [15, 30, 45, 72], "TL": [10, 20, 30, 42], "OP": [15, 30, 45, 82]}
    finals, curves = [], []
    for method, shape in shapes.items():
        n = n_limits if method.startswith(LIMIT) else n_methods
        values = np.array(shape) + luck[:n, None] + rng.normal(0, 0.5, (n, 4))
        for panel in "AB" if not method.startswith(LIMIT) else "A":
            row = {"panel": panel, "method": method}
            finals += [row | {"repetition": i, "rounds": 100, "regret": values[i, -1]} for i in range(n)]
            means = {"column": "regret", "std": 1.0, "ci_low": math.nan, "ci_high": math.nan, "n": n}
            curves += [row | means | {"round": r, "mean": m} for r, m in zip(ROUNDS, values.mean(axis=0), strict=True)]
    return pd.DataFrame(curves), pd.DataFrame(finals)


def test_fixed_and_random_configurations_are_run_beside_the_methods():
    without, drawn = expand(read_figure(FIGURE), "paper", []), expand(WITH, "paper", [])
    first, added = drawn[: len(without)], drawn[len(without) :]
    for one, same in zip(first, without, strict=True):
        assert (one.labels, one.experiment.run_id) == (same.labels, same.experiment.run_id)
        assert one.settings.repetitions == same.settings.repetitions == 40
    assert [one.is_limit for one in drawn] == [False] * 4 + [True] * 4
    names = [RANDOM_CONFIGURATION, *(f"{LIMIT}exploration rate {rate}" for rate in ("0.1", "1", "3"))]
    assert [one.labels for one in added] == [{"panel": "A", "method": name} for name in names]
    assert [one.choices["tuner"] for one in added] == ["random", "fixed", "fixed", "fixed"]
    assert added[2].experiment.settings["tuner"]["configuration"] == {"exploration_rate": 1}
    assert {one.experiment.settings["env"]["dim"] for one in added} == {3}
    assert {one.settings.repetitions for one in added} == {15}
    assert {one.settings.repetitions for one in expand(WITH, "smoke", [])} == {2}
    rows = {row["key"]: row["source"] for row in settings_table(WITH, drawn)}
    assert rows["tuner.fixed.configuration.exploration_rate"] == "assumed"


def test_more_repetitions_for_the_claims_leave_the_limits_as_they_are(tmp_path):
    plan = AskedFigure(WITH, "cdt/made_up", "paper", [], "", until_decided=60)
    numbers = [one.settings.repetitions for one in FigureRun(plan, Store(tmp_path)).runs]
    assert numbers == [20] * 4 + [15] * 4


def test_methods_tables_and_claims_are_those_without_limits():
    curves, finals = made()
    with_limits = render(WITH, curves, finals)
    is_method = ~finals["method"].str.startswith(LIMIT)
    without = render(read_figure(FIGURE), curves[~curves["method"].str.startswith(LIMIT)], finals[is_method])
    pd.testing.assert_frame_equal(with_limits.tables["table"], without.tables["table"])
    pd.testing.assert_frame_equal(with_limits.claims, without.claims)
    marks = [mark for mark in with_limits.plot.marks() if mark.role != "limit"]
    assert [(mark.name, mark.case) for mark in marks] == [(mark.name, mark.case) for mark in without.plot.marks()]


def test_the_best_fixed_configuration_and_the_best_of_each_stretch_are_drawn():
    curves, finals = made()
    lines = {mark.name: mark for mark in render(WITH, curves, finals).plot.marks() if mark.role == "limit"}
    assert lines.keys() == {BEST_FIXED, BEST_BY_STRETCH}
    means = {name: rows["mean"].to_numpy() for name, rows in curves[curves["panel"] == "A"].groupby("method")}
    np.testing.assert_allclose(lines[BEST_FIXED].y, means[f"{LIMIT}exploration rate 1"])
    early, late = means[f"{LIMIT}exploration rate 0.1"], means[f"{LIMIT}exploration rate 3"]
    np.testing.assert_array_equal(lines[BEST_BY_STRETCH].x, ROUNDS)
    np.testing.assert_allclose(lines[BEST_BY_STRETCH].y, [*early[:2], *(early[1] + late[2:] - late[1])])
    assert {mark.case for mark in lines.values()} == {"A"}


def test_the_share_of_the_gap_and_its_interval():
    """Fieller's interval by its definition: where a paired t test does not reject the share."""
    curves, finals = made()
    table = render(WITH, curves, finals).tables["limits"].set_index("method")
    wide = finals[finals["panel"] == "A"].pivot_table(index="repetition", columns="method", values="regret").dropna()
    random, best = wide[RANDOM_CONFIGURATION], wide[f"{LIMIT}exploration rate 1"]
    assert set(table["configuration"].loc[["TL", "OP"]]) == {"exploration rate 1"}
    for method, expected in (("TL", 0.75), ("OP", -0.25)):
        row = table.loc[method]
        assert row["n"] == 15
        assert row["share"] == pytest.approx((random - wide[method]).mean() / (random - best).mean())
        assert row["share"] == pytest.approx(expected, abs=0.05)
        for end in (row["ci_low"], row["ci_high"]):
            assert stats.ttest_1samp(random - wide[method] - end * (random - best), 0).pvalue == pytest.approx(0.05)
        assert row["ci_low"] < row["share"] < row["ci_high"]
    stretches = table.loc[BEST_BY_STRETCH]
    assert stretches["mean"] == pytest.approx(2 + 4, abs=1.5)
    assert stretches["share"] == pytest.approx((random.mean() - stretches["mean"]) / (random - best).mean())


@pytest.mark.parametrize("name", ["cdt/figure2", "syndicated/figure2", "tournament/drift"])
def test_limits_search_where_the_tuners_search(name):
    """Every panel has limits, and every fixed value lies in the interval or among the candidates of its algorithm."""
    figure = load_figure(name)
    drawn = [one for one in expand(figure, "smoke", []) if one.labels["method"].startswith(LIMIT)]
    assert {one.labels["panel"] for one in drawn} == set(figure.runs[0]["panel"])
    for one in drawn:
        algorithm = registry.build("algorithm", one.choices["algorithm"])
        space = one.experiment.settings["algorithm"]["space"]
        for key, value in one.experiment.settings["tuner"].get("configuration", {}).items():
            known = algorithm.spaces[key] | space[key]
            candidates = known["candidates"]
            assert known["low"] <= value <= known["high"] or min(candidates) <= value <= max(candidates)
