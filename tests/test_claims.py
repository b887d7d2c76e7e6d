import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.errors import ConfigError, DataError
from bench.report.claims import check
from bench.stats import mean_interval

NO_CURVES = pd.DataFrame()
Labels = tuple[tuple[str, Any], ...]


def finals_of(experiments: Mapping[Labels, Any], rounds: int = 10_000) -> pd.DataFrame:
    """One row per experiment and repetition, axis columns first."""
    axes = list(dict.fromkeys(axis for labels in experiments for axis, _ in labels))
    rows = [
        {
            **{axis: dict(labels).get(axis, np.nan) for axis in axes},
            "repetition": repetition,
            "rounds": rounds,
            "regret": float(value),
        }
        for labels, values in experiments.items()
        for repetition, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def methods(**values: Any) -> pd.DataFrame:
    return finals_of({(("method", name),): numbers for name, numbers in values.items()})


def verdict_of(claim: dict[str, Any], finals: pd.DataFrame, curves: pd.DataFrame = NO_CURVES, **figure: Any) -> Any:
    rows = check(
        {"name": "f", "column": "regret", "claims": [{"id": "1", "text": "t", **claim}], **figure}, finals, curves
    )
    assert len(rows) == 1
    return rows.iloc[0]


def compare(expect: str, **more: Any) -> dict[str, Any]:
    return {"kind": "paired_difference", "left": {"method": "A"}, "right": {"method": "B"}, "expect": expect, **more}


NOISE = np.random.default_rng(0).normal(size=20)
SHARED = np.random.default_rng(1).normal(0, 100, size=20)


# paired_difference


@pytest.mark.parametrize(
    ("shift", "expect", "verdict"),
    [
        (-5, "less", "holds"),
        (5, "less", "fails"),
        (0, "less", "open"),
        (-5, "greater", "fails"),
        (5, "greater", "holds"),
        (0, "greater", "open"),
        (-5, "at_most", "holds"),
        (5, "at_most", "fails"),
        (0, "at_most", "open"),
        (-5, "at_least", "fails"),
        (5, "at_least", "holds"),
    ],
)
def test_paired_difference(shift: float, expect: str, verdict: str) -> None:
    noise = NOISE - NOISE.mean()
    row = verdict_of(compare(expect), methods(A=1000 + SHARED + noise + shift, B=1000 + SHARED))
    assert row["verdict"] == verdict
    assert row["estimate"] == pytest.approx(shift, abs=1e-9)
    expected = mean_interval(noise + shift)
    np.testing.assert_allclose([row["ci_low"], row["ci_high"]], expected[1:3], atol=1e-9)
    assert row["n"] == 20
    assert row["unit"] == "mean paired difference of final regret, A - B"
    assert (row["claim"], row["kind"], row["case"], row["expect"]) == ("1", "paired_difference", "all", expect)


def test_pairing_is_by_repetition_number_not_by_position() -> None:
    finals = methods(A=1000 + SHARED - 5, B=1000 + SHARED)
    shuffled = finals.sample(frac=1, random_state=3)
    assert verdict_of(compare("less"), shuffled)["ci_high"] == pytest.approx(-5)
    wrong = finals.copy()
    is_a = wrong["method"] == "A"
    wrong.loc[is_a, "repetition"] = np.roll(wrong.loc[is_a, "repetition"], 1)
    assert verdict_of(compare("less"), wrong)["verdict"] == "open"


def test_identical_results_are_no_worse_but_not_better() -> None:
    finals = methods(A=SHARED, B=SHARED)
    assert verdict_of(compare("at_most"), finals)["verdict"] == "holds"
    assert verdict_of(compare("at_least"), finals)["verdict"] == "holds"
    assert verdict_of(compare("less"), finals)["verdict"] == "open"


@pytest.mark.parametrize(
    ("shift", "verdict"), [(-50, "holds"), (30, "holds"), (50, "open"), (100, "fails")]
)  # the margin is 50 of 1000
def test_at_most_with_a_margin(shift: float, verdict: str) -> None:
    noise = NOISE - NOISE.mean()
    row = verdict_of(compare("at_most", margin=0.05), methods(A=1000 + noise + shift, B=np.full(20, 1000)))
    assert row["verdict"] == verdict
    assert row["estimate"] == pytest.approx(shift / 1000)
    assert "share of B's mean" in row["unit"]
    mirrored = verdict_of(compare("at_least", margin=0.05), methods(A=1000 - noise - shift, B=np.full(20, 1000)))
    assert mirrored["verdict"] == verdict


@pytest.mark.parametrize(
    ("shift", "spread", "verdict"),
    [
        (0, 1, "holds"),
        (40, 1, "holds"),
        (-40, 1, "holds"),
        (50, 1, "open"),
        (100, 1, "fails"),
        (-100, 1, "fails"),
        (0, 500, "open"),
    ],
)
def test_similar_is_a_test_of_equivalence(shift: float, spread: float, verdict: str) -> None:
    noise = spread * (NOISE - NOISE.mean())
    row = verdict_of(compare("similar", margin=0.05), methods(A=1000 + noise + shift, B=np.full(20, 1000)))
    assert row["verdict"] == verdict


def test_cases_are_the_labels_of_per_in_the_figures_order() -> None:
    finals = finals_of(
        {
            (("panel", panel), ("method", method)): 100 + shift + NOISE
            for panel, gap in [("Z", -9), ("Y", 9)]
            for method, shift in [("A", gap), ("B", 0)]
        }
    )
    claim = {"id": "1", "text": "t", **compare("less", per=["panel"])}
    rows = check({"name": "f", "column": "regret", "claims": [claim]}, finals, NO_CURVES)
    assert rows["case"].tolist() == ["Z", "Y"]
    assert rows["verdict"].tolist() == ["holds", "fails"]


def test_several_experiments_on_a_side_are_averaged_within_each_repetition() -> None:
    finals = finals_of(
        {
            (("panel", "Y"), ("method", "A")): NOISE,
            (("panel", "Y"), ("method", "B")): NOISE + 4,
            (("panel", "Z"), ("method", "A")): SHARED,
            (("panel", "Z"), ("method", "B")): SHARED - 2,
        }
    )
    row = verdict_of(compare("less"), finals)
    assert row["estimate"] == pytest.approx(-1)
    assert row["verdict"] == "holds"
    unbalanced = finals[(finals["panel"] != "Z") | (finals["method"] != "A")]
    row = verdict_of(compare("less"), unbalanced)
    assert row["verdict"] == "open"
    assert "no fair average" in row["note"]


def test_lowest_of_right_means_less_than_each_of_them() -> None:
    finals = methods(A=100 + NOISE, B=110 + NOISE, C=95 + NOISE)
    both = {"method": ["B", "C"]}
    average = verdict_of(compare("less", right=both), finals)
    each = verdict_of(compare("less", right=both, combine={"right": "lowest"}), finals)
    assert (average["estimate"], average["verdict"]) == (pytest.approx(-2.5), "holds")
    assert (each["estimate"], each["verdict"]) == (pytest.approx(5), "fails")
    assert each["unit"] == "mean paired difference of final regret, A - lowest of B/C"


# too little data


def test_no_interval_and_no_verdict_from_one_repetition() -> None:
    row = verdict_of(compare("less"), methods(A=[1], B=[2]))
    assert (row["estimate"], row["verdict"], row["n"]) == (-1, "open", 1)
    assert math.isnan(row["ci_low"])
    assert math.isnan(row["ci_high"])


def test_no_verdict_from_fewer_than_five_repetitions() -> None:
    finals = methods(A=[1, 2, 3, 4], B=[11, 12, 13, 14.5])
    row = verdict_of(compare("less"), finals)
    assert row["verdict"] == "open"
    assert "at least 5 repetitions, there are 4" in row["note"]
    assert verdict_of(compare("less"), methods(A=[1, 2, 3, 4, 5], B=[11, 12, 13, 14.5, 15]))["verdict"] == "holds"


RUNS = [{"panel": {"P": ["env=p"], "Q": ["env=q"]}, "method": {"A": ["tuner=a"], "B": ["tuner=b"]}}]


@pytest.mark.parametrize("kind", ["paired_difference", "ratio", "spread"])
def test_missing_experiments_leave_their_case_open(kind: str) -> None:
    finals = finals_of(
        {
            (("panel", "P"), ("method", "A")): 100 + NOISE / 2,
            (("panel", "P"), ("method", "B")): 200 + NOISE,
            (("panel", "Q"), ("method", "B")): 200 + NOISE,
        }
    )
    claim = {"id": "1", "text": "t", **compare("less", per=["panel"]), "kind": kind}
    rows = check({"name": "f", "column": "regret", "claims": [claim], "runs": RUNS}, finals, NO_CURVES)
    assert rows["case"].tolist() == ["P", "Q"]
    assert rows["verdict"].tolist() == ["holds", "open"]
    assert math.isnan(rows["estimate"][1])
    assert rows["note"][1] == "no results of Q, A"


def test_without_any_results_every_claim_is_open() -> None:
    claims = [
        {"id": "1", "text": "t", **compare("less", per=["panel"])},
        {"id": "2", "text": "t", "kind": "count", "of": "1"},
        {
            "id": "3",
            "text": "t",
            "kind": "slope",
            "measured": {"panel": "P", "method": "A"},
            "expect": "at_most",
            "threshold": 1,
        },
        {
            "id": "4",
            "text": "t",
            "kind": "bound",
            "measured": {"method": "A"},
            "over": {"method": "B"},
            "candidates": [1],
            "per": ["panel"],
        },
    ]
    for finals in (pd.DataFrame(), finals_of({(("panel", "P"), ("method", "A")): [1.0]}).iloc[:0]):
        for runs in (RUNS, []):
            rows = check({"name": "f", "column": "regret", "claims": claims, "runs": runs}, finals, NO_CURVES)
            assert set(rows["verdict"]) == {"open"}
            assert rows["note"].str.len().gt(0).all()


def test_a_missing_column_leaves_the_case_open() -> None:
    row = verdict_of(compare("less", column="seconds"), methods(A=NOISE, B=NOISE))
    assert row["verdict"] == "open"
    assert row["note"] == "the results have no column 'seconds'"


def test_repetitions_that_are_not_in_all_runs_are_left_out_and_counted() -> None:
    row = verdict_of(compare("less"), methods(A=SHARED[:15] - 5, B=SHARED))
    assert (row["n"], row["verdict"], row["note"]) == (15, "holds", "15 of 20 repetitions are in all runs")
    finals = methods(A=SHARED - 5, B=SHARED)
    finals.loc[3, "regret"] = np.nan
    assert verdict_of(compare("less"), finals)["n"] == 19


def test_a_repetition_that_stands_twice_is_an_error() -> None:
    finals = methods(A=NOISE, B=NOISE)
    with pytest.raises(DataError, match="repetition 0 of A twice"):
        verdict_of(compare("less"), pd.concat([finals, finals.iloc[:1]]))
    with pytest.raises(DataError, match="lack the column 'repetition'"):
        verdict_of(compare("less"), finals.drop(columns="repetition"))


def test_labels_that_look_like_numbers_survive_csv(tmp_path: Any) -> None:
    runs = [{"arms": {"60": ["k=60"], "120": ["k=120"]}, "width": {"values": [0.1, 1.0], "override": "w={}"}}]
    finals = finals_of({(("arms", a), ("width", w)): NOISE + float(a) for a in ("60", "120") for w in (0.1, 1.0)})
    finals.to_csv(tmp_path / "finals.csv", index=False)
    claim = compare("less", left={"arms": 60}, right={"arms": "120"}, per=["width"])
    rows = check(
        {"name": "f", "column": "regret", "claims": [{"id": "1", "text": "t", **claim}], "runs": runs},
        pd.read_csv(tmp_path / "finals.csv"),
        NO_CURVES,
    )
    assert rows["case"].tolist() == ["width 0.1", "width 1"]
    assert rows["verdict"].tolist() == ["holds", "holds"]


# ratio, spread


def test_ratio() -> None:
    finals = methods(A=100 + NOISE, B=200 + 2 * NOISE)
    claim = {"kind": "ratio", "left": {"method": "A"}, "right": {"method": "B"}}
    row = verdict_of({**claim, "expect": "at_most", "threshold": 0.5}, finals)
    assert row["verdict"] == "holds"  # exactly one half in every resample
    np.testing.assert_allclose([row["estimate"], row["ci_low"], row["ci_high"]], 0.5)
    assert verdict_of({**claim, "expect": "less", "threshold": 0.6}, finals)["verdict"] == "holds"
    assert verdict_of({**claim, "expect": "less", "threshold": 0.4}, finals)["verdict"] == "fails"
    assert verdict_of({**claim, "expect": "greater"}, finals)["verdict"] == "fails"
    row = verdict_of({**claim, "expect": "less"}, methods(A=NOISE, B=NOISE * 0))
    assert (row["verdict"], math.isnan(row["estimate"])) == ("open", True)


def test_spread() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, 40), rng.normal(50, 5, 40)
    claim = {"kind": "spread", "left": {"method": "A"}, "right": {"method": "B"}, "expect": "less"}
    row = verdict_of(claim, methods(A=a, B=b))
    assert row["estimate"] == pytest.approx(a.std() / b.std())
    assert row["ci_low"] < 0.2 < row["ci_high"]
    assert row["verdict"] == "holds"
    assert verdict_of(claim, methods(A=b, B=a))["verdict"] == "fails"
    assert verdict_of(claim, methods(A=a, B=a[::-1]))["verdict"] == "open"
    # The smallest of all, although less than the average of the others' spreads.
    three = methods(A=3 * a, B=b, C=a)
    several = {**claim, "right": {"method": ["B", "C"]}}
    assert verdict_of({**several, "combine": {"right": "lowest"}}, three)["verdict"] == "fails"
    assert verdict_of(several, methods(A=a, B=b, C=a + 0 * b))["verdict"] == "holds"


def test_spread_of_three_repetitions_has_no_interval() -> None:
    claim = {"kind": "spread", "left": {"method": "A"}, "right": {"method": "B"}, "expect": "less"}
    assert verdict_of(claim, methods(A=[1, 2, 3], B=[1, 5, 9]))["verdict"] == "open"
    assert "2 repetitions" in verdict_of(claim, methods(A=[1], B=[1]))["note"]


# bound


def bound_finals(tuner: float, candidates: list[float], rounds: int = 10_000) -> pd.DataFrame:
    experiments: dict[Labels, Any] = {(("method", "TL"),): tuner + NOISE}
    for i, mean in enumerate(candidates):
        experiments[(("alpha", i),)] = mean + NOISE[::-1] * (1 + i)
    return finals_of(experiments, rounds)


BOUND = {"kind": "bound", "measured": {"method": "TL"}, "over": {"alpha": "*"}}


def test_bound_of_one_hyper_parameter() -> None:
    constant = 2 * math.sqrt((math.e - 1) * 3 * 10_000 * math.log(3))
    finals = bound_finals(400, [900, 300, 500])
    lowest = finals[finals["alpha"] == 1]["regret"].mean()
    row = verdict_of({**BOUND, "candidates": [3]}, finals)
    own = finals[finals["method"] == "TL"]["regret"].mean()
    assert row["estimate"] == pytest.approx(own / (lowest + constant), rel=1e-12)
    assert row["verdict"] == "holds"
    assert row["expect"] == "less"
    assert verdict_of({**BOUND, "candidates": [3]}, bound_finals(900, [900, 300, 500]))["verdict"] == "fails"
    assert (
        verdict_of({**BOUND, "candidates": [3]}, bound_finals(lowest + constant, [900, 300, 500]))["verdict"] == "open"
    )


def test_bound_of_several_hyper_parameters_adds_their_constants() -> None:
    constant = sum(2 * math.sqrt((math.e - 1) * n * 500 * math.log(n)) for n in (3, 2))
    finals = bound_finals(400, [900, 300, 500, 600, 700, 800], rounds=500)
    row = verdict_of({**BOUND, "candidates": [3, 2]}, finals)
    expected = (400 + NOISE.mean()) / (300 + 2 * NOISE.mean() + constant)
    assert row["estimate"] == pytest.approx(expected, rel=1e-12)


def test_bound_takes_the_minimum_anew_in_each_resample() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(1000, 100, size=(10, 3))
    finals = finals_of(
        {(("method", "TL"),): values[:, 0], (("alpha", 0),): values[:, 1], (("alpha", 1),): values[:, 2]}, 4
    )
    row = verdict_of({**BOUND, "candidates": [2]}, finals)
    draws = np.random.default_rng(99).integers(0, 10, size=(20_000, 10))
    constant = 2 * math.sqrt((math.e - 1) * 2 * 4 * math.log(2))
    ratios = [values[d, 0].mean() / (min(values[d, 1].mean(), values[d, 2].mean()) + constant) for d in draws]
    np.testing.assert_allclose([row["ci_low"], row["ci_high"]], np.quantile(ratios, [0.025, 0.975]), rtol=0.01)


def test_bound_needs_all_candidates_and_one_length() -> None:
    finals = bound_finals(400, [900, 300])
    row = verdict_of({**BOUND, "candidates": [3]}, finals)
    assert (row["verdict"], row["note"]) == ("open", "'over' selects 2 runs, the candidates make 3")
    finals.loc[0, "rounds"] = 9_000
    assert "from 9000 to 10000 rounds" in verdict_of({**BOUND, "candidates": [2]}, finals)["note"]
    with pytest.raises(ConfigError, match="'measured' selects 2 experiments in case 'all'"):
        verdict_of({**BOUND, "measured": {"alpha": "*"}, "candidates": [2]}, finals)


# slope


@pytest.mark.parametrize(("power", "verdict"), [(0.5, "holds"), (0.75, "open"), (1.0, "fails")])
def test_slope_along_an_axis(power: float, verdict: str) -> None:
    rng = np.random.default_rng(6)
    horizons = (1000, 10_000, 100_000)
    factors = {T: 1 + rng.normal(0, 0.05, size=15) for T in horizons}
    finals = finals_of(
        {(("method", "A"), ("horizon", T)): 3 * T**power * factors[T] / factors[T].mean() for T in horizons}
    )
    claim = {"kind": "slope", "axis": "horizon", "per": ["method"], "expect": "at_most", "threshold": 0.75}
    row = verdict_of(claim, finals)
    assert row["estimate"] == pytest.approx(power, abs=1e-9)
    assert row["ci_low"] < power < row["ci_high"]
    assert row["verdict"] == verdict
    assert row["case"] == "A"


def test_slope_is_that_of_least_squares() -> None:
    values = {100: 20.0, 1000: 30.0, 5000: 90.0}
    finals = finals_of({(("horizon", T),): [v] * 5 for T, v in values.items()})
    row = verdict_of({"kind": "slope", "axis": "horizon", "expect": "less", "threshold": 1}, finals)
    expected = np.polyfit(np.log(list(values)), np.log(list(values.values())), 1)[0]
    np.testing.assert_allclose([row["estimate"], row["ci_low"], row["ci_high"]], expected)


def test_slope_of_a_mean_that_is_not_positive_is_open() -> None:
    finals = finals_of({(("horizon", T),): [v] * 5 for T, v in [(10, -1.0), (100, 5.0)]})
    row = verdict_of({"kind": "slope", "axis": "horizon", "expect": "less", "threshold": 1}, finals)
    assert (row["verdict"], "no logarithm" in row["note"]) == ("open", True)


def curve(power: float, width: float) -> pd.DataFrame:
    rounds = np.arange(10, 1001, 10)
    mean = 5.0 * rounds**power
    band = {"ci_low": mean * (1 - width), "ci_high": mean * (1 + width)}
    return pd.DataFrame({"method": "A", "column": "regret", "round": rounds, "mean": mean, "std": 1.0, **band, "n": 20})


@pytest.mark.parametrize(
    ("power", "width", "verdict"), [(0.5, 0.01, "holds"), (1.5, 0.01, "fails"), (0.9, 0.5, "open")]
)
def test_slope_along_rounds(power: float, width: float, verdict: str) -> None:
    claim = {"kind": "slope", "measured": {"method": "A"}, "expect": "less", "threshold": 1}
    row = verdict_of(claim, methods(A=NOISE), curve(power, width))
    assert row["estimate"] == pytest.approx(power)
    assert row["ci_low"] < power < row["ci_high"]
    assert row["verdict"] == verdict
    assert verdict_of(claim, methods(A=NOISE))["note"] == "there are no curves"


# best_on_grid


def grid_finals(best: Mapping[str, float], noise: float) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return finals_of(
        {
            (("panel", panel), ("alpha", alpha)): 10 * (alpha - at) ** 2 + rng.normal(0, noise, 12)
            for panel, at in best.items()
            for alpha in np.arange(0, 5.1, 0.5)
        }
    )


DIFFERS = {"kind": "best_on_grid", "axis": "alpha", "differs": {"panel": ["Y", "Z"]}}


@pytest.mark.parametrize(
    ("z", "noise", "verdict"), [(1.0, 1.0, "holds"), (4.0, 0.1, "fails"), (4.0, 100.0, "open"), (3.9, 5.0, "open")]
)
def test_best_on_grid_differs(z: float, noise: float, verdict: str) -> None:
    row = verdict_of(DIFFERS, grid_finals({"Y": 4.0, "Z": z}, noise))
    assert row["verdict"] == verdict
    assert row["expect"] == "differs"
    if noise <= 1:
        assert row["estimate"] == 4.0 - z


def test_best_on_grid_per_case() -> None:
    finals = grid_finals({"Y": 4.0, "Z": 1.0}, 1.0)
    claim = {"id": "1", "text": "t", "kind": "best_on_grid", "axis": "alpha", "per": ["panel"]}
    figure = {"name": "f", "column": "regret"}
    rows = check({**figure, "claims": [claim]}, finals, NO_CURVES)
    assert rows["estimate"].tolist() == [4.0, 1.0]
    assert set(rows["verdict"]) == {"open"}
    rows = check({**figure, "claims": [{**claim, "expect": "at_least", "threshold": 2}]}, finals, NO_CURVES)
    assert rows["verdict"].tolist() == ["holds", "fails"]
    rows = check({**figure, "claims": [{**claim, "best": "highest"}]}, finals, NO_CURVES)
    assert rows["estimate"].tolist() == [0.0, 5.0]


def test_best_on_grid_needs_one_experiment_per_value() -> None:
    finals = grid_finals({"Y": 4.0, "Z": 1.0}, 1.0)
    with pytest.raises(ConfigError, match="several experiments share one value of 'alpha'"):
        verdict_of({"kind": "best_on_grid", "axis": "alpha"}, finals)
    with pytest.raises(ConfigError, match="axis 'panel' is not numeric"):
        verdict_of({"kind": "best_on_grid", "axis": "panel", "measured": {"alpha": 1}}, finals)


# count


def count_row(shifts: list[float], noise: float = 0.01, **more: Any) -> Any:
    finals = finals_of(
        {
            (("panel", f"p{i}"), ("method", method)): (100 + shift if method == "A" else 100) + noise * values
            for i, shift in enumerate(shifts)
            for method, values in [("A", NOISE - NOISE.mean()), ("B", 0 * NOISE)]
        }
    )
    claims = [
        {"id": "m", "text": "mostly", "kind": "count", "of": 1, **more},
        {"id": 1, "text": "t", **compare("less", per=["panel"])},
    ]
    rows = check({"name": "f", "column": "regret", "claims": claims}, finals, NO_CURVES)
    assert rows["claim"].tolist() == ["m"] + ["1"] * len(shifts)
    return rows.iloc[0]


@pytest.mark.parametrize(
    ("shifts", "verdict", "estimate"),
    [
        ([-1, -1, -1], "holds", 1),
        ([-1, -1, 1], "fails", 2 / 3),  # two of three are not more than two thirds
        ([-1, -1, -1, 1], "holds", 3 / 4),
        ([-1, -1, 1, 1], "fails", 1 / 2),
        ([-1, -1, -1e-4], "open", 1),
        ([-1, 1e-4, 1e-4], "open", 1 / 3),
        ([-1, -1, -1, 1e-4], "holds", 3 / 4),
    ],
)
def test_count_is_more_than_two_thirds(shifts: list[float], verdict: str, estimate: float) -> None:
    row = count_row(shifts)
    assert row["verdict"] == verdict
    assert row["estimate"] == pytest.approx(estimate)
    assert row["n"] == len(shifts)


def test_count_interval_runs_from_cases_that_hold_to_cases_that_do_not_fail() -> None:
    row = count_row([-1, -1e-4, 1, 1])
    assert (row["ci_low"], row["estimate"], row["ci_high"]) == (0.25, 0.5, 0.5)
    assert row["note"] == "1 hold, 1 open, 2 fail of 4"


def test_count_with_another_share() -> None:
    assert count_row([-1, -1, 1], more_than=0.5)["verdict"] == "holds"
    assert count_row([-1, 1], more_than=0.5)["verdict"] == "fails"


# bad claims


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"kind": "paird"}, r"claim '1', key 'kind': unknown kind 'paird', choose from paired_difference, ratio"),
        (
            compare("less", exepct="x"),
            r"claim '1': unknown key 'exepct', valid for kind 'paired_difference': id, text,",
        ),
        (compare("lower"), r"claim '1', key 'expect': Input should be 'less', 'greater'.*found 'lower'"),
        ({"kind": "ratio", "left": {"method": "A"}, "expect": "less"}, r"claim '1': key 'right' is missing"),
        (compare("similar"), r"claim '1': expect: similar needs a margin"),
        (compare("less", margin=0.1), r"claim '1': expect: less takes no margin"),
        (compare("less", left={"methd": "A"}), r"claim '1', key 'left': the figure has no axis 'methd', its axes are"),
        (
            compare("less", left={"method": "a"}),
            r"claim '1', key 'left': axis 'method' has no label 'a', valid ones: A, B",
        ),
        (compare("less", left="A"), r"claim '1', key 'left': expected axes with their labels"),
        (compare("less", per=["panle"]), r"claim '1', key 'per': the figure has no axis 'panle'"),
        (compare("less", per=["method"]), r"claim '1', key 'left': axis 'method' is also in 'per'"),
        (compare("less", right={"method": "A"}), r"claim '1': 'left' and 'right' select the same runs: A"),
        (compare("less", combine={"left": "min"}), r"claim '1', key 'combine.left': Input should be 'mean'"),
        (compare("less", combine={"lft": "mean"}), r"claim '1': unknown key 'combine.lft'.*left, right"),
        ({**BOUND, "over": {"method": "B"}, "candidates": []}, r"claim '1', key 'candidates'"),
        ({**BOUND, "over": {"method": "B"}, "measured": {"method": "A"}, "candidates": [0]}, r"key 'candidates.0'"),
        ({"kind": "slope", "axis": "T", "expect": "less", "threshold": 1}, r"key 'axis': the figure has no axis 'T'"),
        ({"kind": "best_on_grid", "axis": "panel", "differs": {"method": ["A"]}}, r"key 'differs': expected one axis"),
        ({"kind": "best_on_grid", "axis": "panel", "expect": "less"}, r"a threshold goes with expect"),
        ({"kind": "count", "of": "7"}, r"claim '1', key 'of': no claim '7' to count, choose from none"),
        ({"kind": "count", "of": []}, r"claim '1', key 'of'"),
    ],
)
def test_a_bad_claim_names_figure_claim_key_and_choices(claim: dict[str, Any], message: str) -> None:
    figure = {"name": "f", "column": "regret", "runs": RUNS, "claims": [{"id": 1, "text": "t", **claim}]}
    with pytest.raises(ConfigError, match=message) as caught:
        check(figure, pd.DataFrame(), NO_CURVES)
    assert str(caught.value).startswith("figure 'f', claim '1'")
    assert "\n" not in str(caught.value)


def test_ids_differ_and_claims_are_mappings() -> None:
    claim = {"id": 1, "text": "t", **compare("less")}
    with pytest.raises(ConfigError, match="this id is used twice"):
        check({"name": "f", "column": "regret", "claims": [claim, {**claim, "id": "1"}]}, pd.DataFrame(), NO_CURVES)
    with pytest.raises(ConfigError, match="expected a list of mappings"):
        check({"name": "f", "claims": ["TL wins"]}, pd.DataFrame(), NO_CURVES)


def test_a_figure_without_claims_has_an_empty_table() -> None:
    rows = check({"name": "f"}, pd.DataFrame(), NO_CURVES)
    assert rows.empty
    assert {"claim", "verdict", "note"} <= set(rows.columns)
