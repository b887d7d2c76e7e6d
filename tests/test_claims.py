import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import NO_CURVES, check, still_open
from scipy import stats as reference

from bench.critical import fixed
from bench.errors import ConfigError, DataError
from bench.report.claims.best_on_grid import best_value
from bench.report.claims.bound import largest_regret
from bench.report.claims.judgement import MIN_REPETITIONS
from bench.report.claims.quantities import RatioOfMeans, Resampled
from bench.stats import mean_interval

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
    rows = check({"claims": [{"id": "1", "text": "t", **claim}], **figure}, finals, curves)
    assert len(rows) == 1
    return rows.iloc[0]


def compare(expect: str, **more: Any) -> dict[str, Any]:
    return {"kind": "paired_difference", "left": {"method": "A"}, "right": {"method": "B"}, "expect": expect, **more}


def pairs(panels: Iterable[str], value: Callable[[str, str], Any]) -> pd.DataFrame:
    """Methods A and B on each panel."""
    return finals_of({(("panel", panel), ("method", m)): value(panel, m) for panel in panels for m in "AB"})


NOISE = np.random.default_rng(0).normal(size=20)
SHARED = np.random.default_rng(1).normal(0, 100, size=20)


# paired_difference


@pytest.mark.parametrize(
    ("shift", "spread", "expect", "verdict"),
    [  # right's mean is 1000: within 50 is a tie
        (-100, 1, "less", "holds"),
        (100, 1, "less", "fails"),
        (-100, 400, "less", "open"),
        (-100, 1, "greater", "fails"),
        (100, 1, "greater", "holds"),
        (100, 400, "greater", "open"),
        (-100, 1, "at_most", "holds"),
        (100, 1, "at_most", "fails"),
        (100, 400, "at_most", "open"),
        (-100, 1, "at_least", "fails"),
        (100, 1, "at_least", "holds"),
        (-100, 400, "at_least", "open"),
        *((shift, 1, expect, "tie") for shift in (-45, 0, 45) for expect in ("less", "greater", "at_most", "at_least")),
        (0, 400, "less", "open"),
        (-49.9, 1, "less", "holds"),  # the interval reaches beyond the margin, and is below 0
        (49.9, 1, "less", "fails"),
        (49.9, 1, "greater", "holds"),
        (49.9, 1, "at_most", "fails"),
        (-49.9, 1, "at_least", "fails"),
    ],
)
def test_paired_difference(shift: float, spread: float, expect: str, verdict: str) -> None:
    noise = spread * (NOISE - NOISE.mean())
    right = 1000 + SHARED - SHARED.mean()
    row = verdict_of(compare(expect), methods(A=right + noise + shift, B=right))
    assert row["verdict"] == verdict
    assert row["estimate"] == pytest.approx(shift, abs=1e-9)
    expected = mean_interval(noise + shift)
    np.testing.assert_allclose([row["ci_low"], row["ci_high"]], expected[1:3], atol=1e-9)
    assert row["relative"] == pytest.approx(shift / 1000, abs=1e-9)
    assert row["relative_low"] < row["relative"] < row["relative_high"]
    assert row["n"] == 20
    assert row["unit"] == "mean paired difference of final regret, A - B"
    assert (row["claim"], row["kind"], row["case"], row["expect"]) == ("1", "paired_difference", "all", expect)


def test_a_tie_is_two_one_sided_tests_at_5_percent() -> None:
    """Against SciPy: the tests of left - 0.95 right > 0 and left - 1.05 right < 0."""
    right = 1000 + SHARED
    verdicts = set()
    for spread in np.linspace(40, 200, 81):
        left = 1.01 * right + spread * NOISE
        low = reference.ttest_1samp(left - 0.95 * right, 0, alternative="greater").pvalue
        high = reference.ttest_1samp(left - 1.05 * right, 0, alternative="less").pvalue
        row = verdict_of(compare("less"), methods(A=left, B=right))
        assert (row["verdict"] == "tie") == (max(low, high) <= 0.05)
        if row["verdict"] == "tie":
            assert row["p"] == pytest.approx(max(low, high), rel=0.01)
        verdicts.add(row["verdict"])
    assert verdicts == {"tie", "open"}


def test_the_margin_of_a_tie_is_written_in_the_claim() -> None:
    finals = methods(A=1020 + NOISE, B=1000 + SHARED / 100)
    assert verdict_of(compare("less"), finals)["verdict"] == "tie"
    assert verdict_of(compare("less", tie=0.01), finals)["verdict"] == "fails"
    assert verdict_of(compare("less", tie=0), finals)["verdict"] == "fails"
    negative = methods(A=-980 - NOISE, B=-1000 - SHARED / 100)  # rewards may be
    assert verdict_of(compare("greater"), negative)["verdict"] == "tie"
    assert verdict_of(compare("greater", tie=0.01), negative)["verdict"] == "holds"
    assert verdict_of(compare("greater", tie=0.01), negative)["relative"] == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("shift", [-30, 30])
def test_p_is_that_of_students_paired_test(shift: float) -> None:
    left, right = 500 + SHARED + 20 * NOISE + shift, 500 + SHARED
    row = verdict_of(compare("less", tie=0), methods(A=left, B=right))
    assert row["verdict"] == ("holds" if shift < 0 else "fails")
    assert row["p"] == pytest.approx(reference.ttest_rel(left, right).pvalue, rel=0.01)


def test_pairing_is_by_repetition_number_not_by_position() -> None:
    finals = methods(A=1000 + SHARED - 5, B=1000 + SHARED)
    shuffled = finals.sample(frac=1, random_state=3)
    assert verdict_of(compare("less"), shuffled)["ci_high"] == pytest.approx(-5)
    assert verdict_of(compare("less", tie=0), shuffled)["verdict"] == "holds"
    wrong = finals.copy()
    is_a = wrong["method"] == "A"
    wrong.loc[is_a, "repetition"] = np.roll(wrong.loc[is_a, "repetition"], 1)
    assert verdict_of(compare("less", tie=0), wrong)["verdict"] == "open"


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
    gaps = {"Z": -9, "Y": 9}
    finals = pairs(gaps, lambda panel, method: 100 + gaps[panel] * (method == "A") + NOISE)
    claim = {"id": "1", "text": "t", **compare("less", per=["panel"])}
    rows = check({"claims": [claim]}, finals)
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
    average = verdict_of(compare("less", right=both, tie=0.01), finals)
    each = verdict_of(compare("less", right=both, combine={"right": "lowest"}, tie=0.01), finals)
    assert (average["estimate"], average["verdict"]) == (pytest.approx(-2.5), "holds")
    assert (each["estimate"], each["verdict"]) == (pytest.approx(5), "fails")
    assert each["unit"] == "mean paired difference of final regret, A - lowest of B/C"


@pytest.mark.parametrize(
    ("expect", "verdicts"),
    [
        ("less", ["holds", "open", "fails"]),
        ("at_most", ["holds", "holds", "fails"]),
        ("greater", ["fails", "open", "holds"]),
        ("at_least", ["fails", "holds", "holds"]),
    ],
)
def test_at_the_threshold_itself(expect: str, verdicts: list[str]) -> None:
    """Ratios that never vary: below, at and above one half."""
    claim = {**compare(expect), "kind": "ratio", "threshold": 0.5}
    found = [verdict_of(claim, methods(A=share * (100 + NOISE), B=100 + NOISE)) for share in (0.25, 0.5, 2)]
    assert [row["verdict"] for row in found] == verdicts


# too little data


def test_no_interval_and_no_verdict_from_one_repetition() -> None:
    row = verdict_of(compare("less"), methods(A=[1], B=[2]))
    assert (row["estimate"], row["verdict"], row["n"]) == (-1, "open", 1)
    assert math.isnan(row["ci_low"])
    assert math.isnan(row["ci_high"])


def test_no_verdict_from_too_few_repetitions() -> None:
    few = MIN_REPETITIONS - 1
    finals = methods(A=100 + NOISE[:few], B=200 - NOISE[:few])
    row = verdict_of(compare("less"), finals)
    assert row["verdict"] == "open"
    assert f"at least {MIN_REPETITIONS} repetitions, there are {few}" in row["note"]
    assert row["needs"] == MIN_REPETITIONS
    finals = methods(A=100 + NOISE[: few + 1], B=200 - NOISE[: few + 1])
    assert verdict_of(compare("less"), finals)["verdict"] == "holds"
    row = verdict_of(compare("less", tie=0), methods(A=[96, 98], B=[100, 100]))  # the least number would do
    assert (row["verdict"], row["needs"]) == ("open", MIN_REPETITIONS)


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
    rows = check({"claims": [claim], "runs": RUNS}, finals)
    assert rows["case"].tolist() == ["P", "Q"]
    assert rows["verdict"].tolist() == ["holds", "open"]
    assert math.isnan(rows["estimate"][1])
    assert rows["note"][1] == "no results of Q, A"


def test_without_any_results_every_claim_is_open() -> None:
    claims = [
        {"id": "1", "text": "t", **compare("less", per=["panel"])},
        {"id": "2", "text": "t", "kind": "count", "of": "1"},
        {"id": "3", "text": "t", "kind": "slope", "measured": {"panel": "P", "method": "A"}, "expect": "at_most",
         "threshold": 1},
        {"id": "4", "text": "t", "kind": "bound", "measured": {"method": "A"}, "over": {"method": "B"},
         "candidates": [1], "per": ["panel"]},
    ]  # fmt: skip
    for finals in (pd.DataFrame(), finals_of({(("panel", "P"), ("method", "A")): [1.0]}).iloc[:0]):
        for runs in (RUNS, []):
            rows = check({"claims": claims, "runs": runs}, finals)
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
        {"claims": [{"id": "1", "text": "t", **claim}], "runs": runs},
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
    claim = {**compare("less"), "kind": "spread"}
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
    claim = {**compare("less"), "kind": "spread"}
    assert verdict_of(claim, methods(A=[1, 2, 3], B=[1, 5, 9]))["verdict"] == "open"
    assert "3 repetitions" in verdict_of(claim, methods(A=[1, 2], B=[1, 3]))["note"]


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


def test_bound_is_tested_against_each_candidate() -> None:
    """Below: below 1 against every candidate, each at 2.5 %; above: above 1 against one, each at 1.25 %."""
    rng = np.random.default_rng(5)
    values = rng.normal(1000, 100, size=(10, 3))
    finals = finals_of(
        {(("method", "TL"),): values[:, 0], (("alpha", 0),): values[:, 1], (("alpha", 1),): values[:, 2]}, 40
    )
    row = verdict_of({**BOUND, "candidates": [2]}, finals)
    constant = 2 * math.sqrt((math.e - 1) * 2 * 40 * math.log(2))

    def p(ratio: float, candidate: int) -> float:
        return float(reference.ttest_1samp(values[:, 0] - ratio * (values[:, candidate] + constant), 0).pvalue)

    assert min(p(row["ci_high"], 1), p(row["ci_high"], 2)) == pytest.approx(0.05, rel=1e-6) or (
        max(p(row["ci_high"], 1), p(row["ci_high"], 2)) == pytest.approx(0.05, rel=1e-6)
    )
    lows = [p(row["ci_low"], 1), p(row["ci_low"], 2)]
    assert any(value == pytest.approx(0.025, rel=1e-6) for value in lows)
    best = min(values[:, 1].mean(), values[:, 2].mean())
    assert row["estimate"] == pytest.approx(values[:, 0].mean() / (best + constant))


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
    factors = {T: 1 + rng.normal(0, 0.05, size=20) for T in horizons}
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
    std = (
        mean * width * math.sqrt(20) / 2.093024
    )  # of Student's t with 19 degrees of freedom: the band is mean -+ width
    return pd.DataFrame({"method": "A", "column": "regret", "round": rounds, "mean": mean, "std": std, "n": 20})


@pytest.mark.parametrize(
    ("power", "width", "verdict"), [(0.5, 0.01, "holds"), (1.5, 0.01, "fails"), (0.9, 0.5, "open")]
)
def test_slope_along_rounds(power: float, width: float, verdict: str) -> None:
    claim = {"kind": "slope", "measured": {"method": "A"}, "expect": "less", "threshold": 1}
    row = verdict_of(claim, methods(A=NOISE), curve(power, width))
    assert row["estimate"] == pytest.approx(power)
    assert row["ci_low"] < power < row["ci_high"]
    assert row["verdict"] == verdict
    assert verdict_of(claim, methods(A=NOISE))["note"] == "no curve of regret for A"


# steepness


def probed(slopes: list[float], noise: float, n: int = 12) -> pd.DataFrame:
    """Sums over 100 rounds of rewards at 0.5, 1 and 2 whose slopes between them are given, with the same noise."""
    rng = np.random.default_rng(4)
    heights = np.cumsum([0.0, 0.5 * slopes[0], 1.0 * slopes[1]])
    shared, own = rng.normal(0, 5, (n, 1)), rng.normal(0, noise, (n, 3))
    sums = 100 * (heights + shared + own)
    frame = pd.DataFrame(sums, columns=["probe_0.5", "probe_1", "probe_2"])
    return frame.assign(method="A", repetition=range(n), rounds=100, regret=1.0)[
        ["method", "repetition", "rounds", "regret", "probe_0.5", "probe_1", "probe_2"]
    ]


@pytest.mark.parametrize(
    ("slopes", "length", "estimate", "verdict"),
    [
        ([0.1, -0.3], 1.0, 0.3, "holds"),  # downwards counts, too
        ([0.5, 0.1], 1.5, 0.75, "holds"),
        ([0.5, 0.1], 4.0, 2.0, "fails"),
        ([0.5, 0.1], 2.0, 1.0, "open"),
    ],
)
def test_steepness(slopes: list[float], length: float, estimate: float, verdict: str) -> None:
    claim = {"kind": "steepness", "length": length, "expect": "at_most"}
    row = verdict_of(claim, probed(slopes, 0.003))
    assert row["verdict"] == verdict
    assert row["estimate"] == pytest.approx(estimate, abs=0.02)
    assert row["ci_low"] < row["estimate"] < row["ci_high"]


def test_steepness_needs_probed_values() -> None:
    claim = {"kind": "steepness", "expect": "at_most"}
    row = verdict_of(claim, methods(A=range(10)))
    assert (row["verdict"], row["note"]) == ("open", "the results have no two probed values")


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
    rows = check({**figure, "claims": [claim]}, finals)
    assert rows["estimate"].tolist() == [4.0, 1.0]
    assert set(rows["verdict"]) == {"open"}
    assert set(rows["note"]) == {"reported, nothing is expected of it"}
    rows = check({**figure, "claims": [{**claim, "expect": "at_least", "threshold": 2}]}, finals)
    assert rows["verdict"].tolist() == ["holds", "fails"]
    rows = check({**figure, "claims": [{**claim, "best": "highest"}]}, finals)
    assert rows["estimate"].tolist() == [0.0, 5.0]


def test_best_on_grid_needs_one_experiment_per_value() -> None:
    finals = grid_finals({"Y": 4.0, "Z": 1.0}, 1.0)
    with pytest.raises(ConfigError, match="several experiments share one value of 'alpha'"):
        verdict_of({"kind": "best_on_grid", "axis": "alpha"}, finals)
    with pytest.raises(ConfigError, match="axis 'panel' is not numeric"):
        verdict_of({"kind": "best_on_grid", "axis": "panel", "measured": {"alpha": 1}}, finals)


# count


MOST = {"id": 2, "text": "t", "kind": "count", "of": 1}


def count_row(shifts: list[float], noise: float = 0.01, **more: Any) -> Any:
    centred = noise * (NOISE - NOISE.mean())
    by_panel = {f"p{i}": shift for i, shift in enumerate(shifts)}
    finals = pairs(by_panel, lambda panel, method: 100 + (by_panel[panel] + centred) * (method == "A"))
    claims = [
        {"id": "m", "text": "mostly", "kind": "count", "of": 1, **more},
        {"id": 1, "text": "t", **compare("less", per=["panel"], tie=0)},
    ]
    rows = check({"claims": claims}, finals)
    assert rows["claim"].tolist() == ["m"] + ["1"] * len(shifts)
    return rows.iloc[0]


@pytest.mark.parametrize(
    ("shifts", "more", "verdict", "estimate"),
    [
        ([-1, -1, -1], {}, "holds", 1),
        ([-1, -1, 1], {}, "fails", 2 / 3),  # two of three are not more than two thirds
        ([-1, -1, -1, 1], {}, "holds", 3 / 4),
        ([-1, -1, 1, 1], {}, "fails", 1 / 2),
        ([-1, -1, -1e-4], {}, "open", 1),
        ([-1, 1e-4, 1e-4], {}, "open", 1 / 3),
        ([-1, -1, -1, 1e-4], {}, "holds", 3 / 4),
        ([-1, -1, 1], {"more_than": 0.5}, "holds", 2 / 3),
        ([-1, 1], {"more_than": 0.5}, "fails", 1 / 2),
    ],
)
def test_count_is_more_than_a_share(shifts: list[float], more: Any, verdict: str, estimate: float) -> None:
    row = count_row(shifts, **more)
    assert row["verdict"] == verdict
    assert row["estimate"] == pytest.approx(estimate)
    assert row["n"] == len(shifts)


def test_count_interval_runs_from_cases_that_hold_to_cases_that_do_not_fail() -> None:
    row = count_row([-1, -1e-4, 1, 1])
    assert (row["ci_low"], row["estimate"], row["ci_high"]) == (0.25, 0.5, 0.5)
    assert row["note"] == "1 hold, 0 tie, 1 open, 2 fail of 4"


@pytest.mark.parametrize(
    ("expect", "verdict"), [("less", "fails"), ("at_most", "holds"), ("greater", "fails"), ("at_least", "holds")]
)
def test_a_tie_counts_for_no_more_and_no_less(expect: str, verdict: str) -> None:
    noise = NOISE - NOISE.mean()
    finals = pairs("PQR", lambda _, method: 100 + noise * (method == "A"))
    rows = check({"claims": [{"id": 1, "text": "t", **compare(expect, per=["panel"])}, MOST]}, finals)
    assert rows["verdict"].tolist() == ["tie"] * 3 + [verdict]
    assert rows["note"].iloc[-1] == "0 hold, 3 tie, 0 open, 0 fail of 3"


@pytest.mark.parametrize(("shifts", "agree"), [((0, 4, 20), 2 / 3), ((-20, -4, 20), 1 / 3)])
def test_open_cases_agree_by_their_estimate(shifts: tuple[float, ...], agree: float) -> None:
    noise = 60 * (NOISE - NOISE.mean())
    by_panel = dict(zip("PQR", shifts, strict=True))
    finals = pairs(by_panel, lambda panel, method: 100 + (noise + by_panel[panel]) * (method == "A"))
    claims = [{"id": 1, "text": "t", **compare("similar", per=["panel"], margin=0.05)}, MOST]
    rows = check({"claims": claims}, finals)
    assert rows["verdict"].tolist() == ["open"] * 4
    assert rows["estimate"].iloc[-1] == pytest.approx(agree)


def test_a_best_value_that_differs_agrees() -> None:
    claims = [{"id": 1, "text": "t", **DIFFERS}, MOST]
    for z, noise, agree in [(1.0, 1.0, 1), (4.0, 0.1, 0)]:
        finals = grid_finals({"Y": 4.0, "Z": z}, noise)
        assert check({"claims": claims}, finals)["estimate"].iloc[-1] == agree


def test_cases_that_say_nothing_are_not_counted() -> None:
    finals = pairs(("p0", "p1", "p2"), lambda panel, m: 100 + NOISE - 50 * (m == "A" and panel != "p0"))
    figure = {"claims": [{"id": 1, "text": "t", **compare("less", per=["panel"])}, MOST]}
    rows = check(figure, finals)
    assert rows["verdict"].tolist() == ["says_nothing", "holds", "holds", "holds"]
    assert rows["note"].iloc[-1] == "2 hold, 0 tie, 0 open, 0 fail of 2; 1 no evidence"
    rows = check(figure, finals, surrogate=True)
    assert set(rows["verdict"]) == {"says_nothing"}
    assert rows["note"].iloc[1] == "the data was generated in place of the real"
    assert "packaged" in check(figure, finals, packaged=True)["note"].iloc[1]
    genuine = [{"panel": "p1", "method": "A"}, {"panel": "p1", "method": "B"}, {"panel": "p2", "method": "A"}]
    rows = check(figure, finals, surrogate=True, genuine=genuine)
    assert rows["verdict"].tolist() == ["says_nothing", "holds", "says_nothing", "holds"]


# cases that say nothing


@pytest.mark.parametrize("kind", ["paired_difference", "ratio", "spread"])
@pytest.mark.parametrize("expect", ["less", "at_most", "greater", "at_least"])
def test_identical_sides_say_nothing(kind: str, expect: str) -> None:
    row = verdict_of({**compare(expect), "kind": kind}, methods(A=SHARED + 300, B=SHARED + 300))
    assert (row["verdict"], row["note"]) == ("says_nothing", "both sides are identical in every repetition")
    assert math.isnan(row["p"])
    assert row["holm"] == ""
    almost = SHARED + 300
    almost[7] += 1e-9
    assert verdict_of({**compare(expect), "kind": kind}, methods(A=SHARED + 300, B=almost))["verdict"] != "says_nothing"


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ((1.0, 1.02), "says_nothing"),
        ((1.3, 1.5), "says_nothing"),
        ((0.99, 1.5), "says_nothing"),  # reaches it
        ((0.5, 1.02), "holds"),
        ((1.3, 0.5), "fails"),
    ],
)
def test_sides_no_better_than_random_arms_say_nothing(shares: tuple[float, float], verdict: str) -> None:
    random = 1000 + SHARED
    finals = methods(A=shares[0] * random + 60 * NOISE, B=shares[1] * random + 60 * NOISE[::-1])
    finals["random_regret"] = np.tile(random, 2)
    row = verdict_of(compare("less", tie=0.01), finals)
    assert row["verdict"] == verdict
    assert ("random arms" in row["note"]) == (verdict == "says_nothing")
    renamed = finals.rename(columns={"regret": "reward"})
    assert verdict_of(compare("less", column="reward"), renamed)["verdict"] != "says_nothing"


def test_few_repetitions_do_not_make_a_side_random() -> None:
    random = 1000 + 0 * NOISE
    finals = methods(A=700 + 900 * NOISE, B=600 + 900 * NOISE[::-1])
    finals["random_regret"] = np.tile(random, 2)
    assert verdict_of(compare("less"), finals)["verdict"] == "open"


@pytest.mark.parametrize(("random", "verdict"), [(200.0, "says_nothing"), (2000.0, "holds"), (500.0, "holds")])
def test_a_bound_that_random_arms_satisfy_says_nothing(random: float, verdict: str) -> None:
    finals = bound_finals(100, [120, 90], rounds=2500)  # the bound is 90 + 309 = 199 to 399
    finals["random_regret"] = random + 0.0 * finals["regret"]
    finals.loc[0, "random_regret"] += 1e-6
    assert verdict_of({**BOUND, "candidates": [2]}, finals)["verdict"] == verdict


def test_a_bound_above_the_largest_regret_says_nothing() -> None:
    claim = {"kind": "bound", "measured": {"method": "A"}, "formula": {"name": "exp3", "n_arms": 5}}
    finals = finals_of({(("method", "A"),): 10 + NOISE}, rounds=30)  # 2 sqrt(5 * 30 * ln 5) = 31.08
    row = verdict_of(claim, finals)
    assert (row["verdict"], row["note"]) == (
        "says_nothing",
        "the bound, 31.08 or more, is not below the largest regret possible, 30",
    )
    assert verdict_of(claim, finals_of({(("method", "A"),): 10 + NOISE}, rounds=40))["verdict"] == "holds"
    gaps = {**claim, "formula": {"name": "ucb1", "gaps": [0, 0.1]}}
    finals = finals_of({(("method", "A"),): 10 + NOISE}, rounds=1000)  # 8 ln 1000 / 0.1 = 553, at most 100 is possible
    assert verdict_of(gaps, finals)["verdict"] == "says_nothing"


@pytest.mark.parametrize(("idle", "verdict"), [(20.0, "says_nothing"), (300.0, "holds"), (31.08, "holds")])
def test_a_bound_that_a_tuner_satisfies_which_does_not_learn_says_nothing(idle: float, verdict: str) -> None:
    formula = {"name": "exp3", "n_arms": 5}  # at 900 rounds 170.2
    claim = {"kind": "bound", "measured": {"method": "A"}, "formula": formula, "against": {"method": "B"}}
    finals = finals_of({(("method", "A"),): 10 + NOISE, (("method", "B"),): idle * 170.2 / 31.08 + NOISE}, rounds=900)
    row = verdict_of(claim, finals)
    assert row["verdict"] == verdict
    assert (row["note"] == "B stays below the bound, too") == (verdict == "says_nothing")


def test_against_goes_with_a_formula() -> None:
    with pytest.raises(ConfigError, match="'against' goes with 'formula'"):
        verdict_of({**BOUND, "candidates": [2], "against": {"method": "B"}}, bound_finals(100, [120, 90]))


# Holm, repetitions needed, looking repeatedly


def panels(shifts: Mapping[str, float], n: int = 20, spread: float = 10) -> pd.DataFrame:
    rng = np.random.default_rng(10)
    return pairs(shifts, lambda panel, m: 1000 + spread * rng.normal(size=n) + shifts[panel] * (m == "A"))


PANELS = {
    "name": "f",
    "column": "regret",
    "claims": [{"id": "1", "text": "t", **compare("less", per=["panel"], tie=0)}],
}


def test_holm_counts_all_tested_cases_of_a_figure() -> None:
    finals = panels({"far": -100, "near": -7.5, "none": 0.0})
    rows = check(PANELS, finals).set_index("case")
    assert rows["verdict"].to_dict() == {"far": "holds", "near": "holds", "none": "open"}
    assert 0.025 < rows["p"]["near"] <= 0.05  # of the two smallest p-values of three tests
    assert rows["holm"].to_dict() == {"far": "yes", "near": "no", "none": ""}
    alone = check(PANELS, finals[finals["panel"] == "near"], NO_CURVES)
    assert alone["holm"].tolist() == ["yes"]


def test_needed_repetitions_decide_in_four_of_five_cases() -> None:
    rng = np.random.default_rng(11)
    row = verdict_of(compare("less", tie=0), methods(A=1000 + np.resize([-8, 12, -28], 12), B=np.full(12, 1000.0)))
    needs = int(row["needs"])
    assert (row["verdict"], 12 < needs < 200) == ("open", True)
    deviation = np.resize([-8, 12, -28], 12).std(ddof=1)
    values = rng.normal(-8, deviation, (2000, needs))
    decided = reference.ttest_1samp(values, 0, axis=1).pvalue <= 0.05
    assert decided.mean() == pytest.approx(0.8, abs=0.05)


def test_what_no_number_of_repetitions_decides() -> None:
    noise = NOISE - NOISE.mean()
    row = verdict_of(compare("less", tie=0), methods(A=1000 + noise, B=np.full(20, 1000.0)))
    assert (row["verdict"], math.isnan(row["needs"])) == ("open", True)
    row = verdict_of(compare("less"), methods(A=1000 + 400 * noise, B=np.full(20, 1000.0)))
    assert row["verdict"] == "open"
    assert 100 < row["needs"] < 2000  # a tie


def test_looking_repeatedly_needs_more() -> None:
    finals = panels({"far": -100, "near": -8})
    fixed, sequential = (check(PANELS, finals, sequential=one).set_index("case") for one in (False, True))
    assert fixed["verdict"].tolist() == ["holds", "holds"]
    assert sequential["verdict"].tolist() == ["holds", "open"]
    assert (sequential["ci_high"] > fixed["ci_high"]).all()
    assert sequential["p"]["far"] > fixed["p"]["far"]
    assert sequential["needs"]["near"] > 20


def test_what_is_still_open_names_experiments_and_repetitions() -> None:
    finals = panels({"far": -100, "near": -8})
    found = still_open(PANELS, finals)
    assert list(found) == [("1", "near")]
    experiments, repetitions = found["1", "near"]
    assert experiments == [{"panel": "near", "method": "A"}, {"panel": "near", "method": "B"}]
    assert repetitions == check(PANELS, finals, sequential=True).set_index("case")["needs"]["near"]
    assert still_open(PANELS, finals, sequential=False) == {}
    reported = {"id": "2", "text": "t", "kind": "best_on_grid", "axis": "alpha"}
    assert still_open({"claims": [reported]}, grid_finals({"Y": 1.0}, 1.0)) == {}


# bad claims


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"kind": "paird"}, r"claim '1', key 'kind': unknown kind 'paird', choose from paired_difference, relative_"),
        (
            compare("less", exepct="x"),
            r"'1' of kind 'paired_difference': unknown key 'exepct', valid ones: .*id, text,",
        ),
        (compare("lower"), r", key 'expect': found 'lower', expected 'less', 'greater'"),
        ({"kind": "ratio", "left": {"method": "A"}, "expect": "less"}, r"of kind 'ratio': key 'right' is missing"),
        (compare("similar"), r": expect: similar needs a margin"),
        (compare("less", margin=0.1), r": expect: less takes no margin"),
        (compare("less", left={"methd": "A"}), r"claim '1', key 'left': the figure has no axis 'methd', its axes are"),
        (
            compare("less", left={"method": "a"}),
            r"claim '1', key 'left': axis 'method' has no label 'a', valid ones: A, B",
        ),
        (compare("less", left="A"), r", key 'left': found 'A', expected axes with their labels"),
        (compare("less", per=["panle"]), r"claim '1', key 'per': the figure has no axis 'panle'"),
        (compare("less", per=["method"]), r"claim '1', key 'left': axis 'method' is also in 'per'"),
        (compare("less", right={"method": "A"}), r"claim '1': 'left' and 'right' select the same runs: A"),
        (compare("less", combine={"left": "min"}), r", key 'combine.left': found 'min', expected 'mean'"),
        (compare("less", combine={"lft": "mean"}), r": unknown key 'combine.lft', valid ones: left, right$"),
        (compare("at_most", margin=0.1, tie=0.1), r": expected either 'margin' or 'tie'"),
        (compare("less", tie=-1), r", key 'tie'"),
        ({**compare("less", threshold=0.5, tie=0.1), "kind": "ratio"}, r"'tie' goes with the threshold 1 only"),
        (compare("less", cannot_feel={"cases": {}}), r": key 'cannot_feel.why' is missing"),
        (
            compare("less", cannot_feel={"cases": {"panel": "P"}, "why": "w"}),
            r"claim '1', key 'cannot_feel.cases': axis 'panel' is not in 'per', which is: empty",
        ),
        ({**BOUND, "over": {"method": "B"}, "candidates": []}, r", key 'candidates'"),
        ({**BOUND, "over": {"method": "B"}, "measured": {"method": "A"}, "candidates": [0]}, r"key 'candidates.0'"),
        ({"kind": "slope", "axis": "T", "expect": "less", "threshold": 1}, r"key 'axis': the figure has no axis 'T'"),
        ({"kind": "best_on_grid", "axis": "panel", "differs": {"method": ["A"]}}, r"found .*, expected one axis"),
        ({"kind": "best_on_grid", "axis": "panel", "expect": "less"}, r"a threshold goes with expect"),
        ({"kind": "count", "of": "7"}, r"claim '1', key 'of': no claim '7' to count, choose from none"),
        ({"kind": "count", "of": []}, r"'1' of kind 'count', key 'of'"),
    ],
)
def test_a_bad_claim_names_figure_claim_key_and_choices(claim: dict[str, Any], message: str) -> None:
    figure = {"runs": RUNS, "claims": [{"id": 1, "text": "t", **claim}]}
    with pytest.raises(ConfigError, match=message) as caught:
        check(figure, pd.DataFrame())
    assert str(caught.value).startswith("figure 'f', claim '1'")
    assert "\n" not in str(caught.value)


def test_ids_differ_and_claims_are_mappings() -> None:
    claim = {"id": 1, "text": "t", **compare("less")}
    with pytest.raises(ConfigError, match="this id is used twice"):
        check({"claims": [claim, {**claim, "id": "1"}]}, pd.DataFrame())
    with pytest.raises(ConfigError, match="expected a list of mappings"):
        check({"claims": ["TL wins"]}, pd.DataFrame())


def test_a_figure_without_claims_has_an_empty_table() -> None:
    rows = check({}, pd.DataFrame())
    assert rows.empty
    assert {"claim", "verdict", "note"} <= set(rows.columns)


# What a comparison turned round would change


def test_cases_are_limited_by_only_and_by_every_axis_that_cannot_be_felt() -> None:
    finals = finals_of(
        {
            (("panel", panel), ("env", env), ("method", method)): 100 + NOISE + (50 if method == "B" else 0)
            for panel in "PQ"
            for env in "EF"
            for method in "AB"
        }
    )
    unfelt = {"cases": {"panel": "Q", "env": "F"}, "why": "no random arms"}
    claim = {"id": "1", "text": "t", **compare("less", per=["panel", "env"], cannot_feel=unfelt)}
    figure = {"name": "f", "column": "regret"}
    rows = check({**figure, "claims": [claim]}, finals)
    assert rows["verdict"].tolist() == ["holds", "holds", "holds", "says_nothing"]
    assert rows["note"].tolist() == ["", "", "", "no random arms"]
    np.testing.assert_allclose(rows["estimate"], -50)
    rows = check({**figure, "claims": [{**claim, "only": {"panel": "P"}}]}, finals)
    assert rows["case"].str.contains("P").tolist() == [True, True]


def test_looking_repeatedly_starts_at_ten_repetitions() -> None:
    for n, verdict in ((9, "open"), (10, "holds")):
        finals = methods(A=NOISE[:n], B=1000 + SHARED[:n])
        claims = [{"id": "1", "text": "t", **compare("less")}]
        (row,) = check({"claims": claims}, finals, sequential=True).to_dict("records")
        assert row["verdict"] == verdict
        assert ("at least 10 repetitions" in row["note"]) == (n < 10)


def test_a_ratio_to_a_mean_of_0_is_undefined() -> None:
    ratio = RatioOfMeans(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.0, 1.0]))
    assert np.isnan([ratio.estimate, *ratio.ends(0.025, fixed, 3)]).all()


def test_resamples_give_the_interval_where_there_are_any() -> None:
    assert np.isnan(Resampled(1.0, np.empty(0), 5).ends(0.025, fixed, 5)).all()
    low, high = Resampled(1.0, np.linspace(0, 2, 101), 5).ends(0.025, fixed, 5)
    assert -2 < low < 0.05 < 1.95 < high < 4


def test_the_best_value_of_one_repetition_has_no_interval() -> None:
    best = best_value(np.array([1.0, 2.0]), np.array([[3.0, 4.0]]))
    assert (best.estimate, best.n) == (1.0, 1)
    assert np.isnan([best.low, best.high]).all()


def test_random_arms_are_held_against_a_bound_from_two_repetitions_on() -> None:
    finals = bound_finals(100, [120, 90], rounds=2500)
    finals["random_regret"] = 200 + 1e-6 * finals["repetition"]
    for n in (2, 5):
        assert verdict_of({**BOUND, "candidates": [2]}, finals[finals["repetition"] < n])["verdict"] == "says_nothing"
    # A repetition that one candidate lacks: random arms of the others are not paired with these.
    lacking = finals.drop(index=finals[(finals["alpha"] == 1) & (finals["repetition"] == 3)].index)
    assert verdict_of({**BOUND, "candidates": [2]}, lacking)["verdict"] == "holds"


def test_the_largest_regret_is_that_of_the_largest_gap() -> None:
    assert largest_regret({"name": "ucb1", "gaps": [0, 0.1, 0.5]}, 100) == 50
    assert largest_regret({"name": "exp3"}, 100) == 100


def test_a_count_of_one_claim_may_name_it_by_itself() -> None:
    finals = pairs("PQR", lambda _, method: (method == "B") * 50 + NOISE)
    claims = [
        {"id": "first", "text": "t", **compare("less", per=["panel"], tie=0)},
        {"id": "most", "text": "t", "kind": "count", "of": "first"},
    ]
    rows = check({"claims": claims}, finals)
    assert rows["verdict"].tolist() == ["holds"] * 4


def test_a_ratio_of_medians() -> None:
    a, b = 100 + NOISE, 200 + 2 * NOISE
    a[0], b[1] = 1e4, 1e5
    claim = {**compare("less", statistic="median"), "kind": "ratio"}
    row = verdict_of(claim, methods(A=a, B=b))
    assert row["estimate"] == pytest.approx(np.median(a) / np.median(b))
    assert row["verdict"] == "holds"
    assert "not positive" in verdict_of(claim, methods(A=a, B=0 * b))["note"]
    assert verdict_of({**claim, "statistic": "mean"}, methods(A=100 + NOISE, B=102 + NOISE))["verdict"] == "tie"


def test_a_median_of_paired_ratios() -> None:
    """What changes from pair to pair, by far more than left and right differ, does not count."""
    level = np.exp(50 * NOISE / np.abs(NOISE).max())
    a, b = level * (0.95 + 0.0001 * NOISE), level.copy()
    a[0] *= 1e4
    claim = {**compare("less", tie=0.01), "kind": "ratio"}
    row = verdict_of({**claim, "statistic": "paired_median"}, methods(A=a, B=b))
    assert row["estimate"] == pytest.approx(np.median(a / b))
    assert row["verdict"] == "holds"
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"] < 1
    assert verdict_of({**claim, "statistic": "median"}, methods(A=a, B=b))["verdict"] == "open"
    assert "not positive" in verdict_of({**claim, "statistic": "paired_median"}, methods(A=a, B=0 * b))["note"]


def test_a_slope_reads_its_own_curve_from_a_round_on() -> None:
    claim = {"kind": "slope", "measured": {"method": "A"}, "expect": "less", "threshold": 1}
    bent = curve(0.5, 0.01)
    bent.loc[bent["round"] < 500, "mean"] = 1.0
    both = pd.concat([bent, bent.assign(method="B", mean=2.0 * bent["round"] ** 3)])
    row = verdict_of({**claim, "from_fraction": 0.5}, methods(A=NOISE, B=NOISE), both)
    assert row["estimate"] == pytest.approx(0.5)  # round 500 is in, too
    assert row["unit"].startswith("log-log slope of mean regret against round")
    few = verdict_of(claim, methods(A=NOISE), curve(0.5, 0.01).assign(n=9))
    assert (few["verdict"], "at least 10 repetitions" in few["note"]) == ("open", True)
    short = curve(0.5, 0.001).iloc[:2]
    assert verdict_of(claim, methods(A=NOISE), short)["estimate"] == pytest.approx(0.5)
    assert "no curve" in verdict_of(claim, methods(A=NOISE), short.iloc[:1])["note"]
    assert "no logarithm" in verdict_of(claim, methods(A=NOISE), short.assign(mean=[0.0, 1.0]))["note"]
    assert "no logarithm" in verdict_of(claim, methods(A=NOISE), short.assign(mean=[-1.0, 1.0]))["note"]


def test_all_labels_along_a_slope_are_positive_numbers() -> None:
    finals = finals_of({(("horizon", label),): 10 + NOISE for label in ("10", "x")})
    row = verdict_of({"kind": "slope", "axis": "horizon", "expect": "less", "threshold": 1}, finals)
    assert row["note"] == "axis 'horizon' has labels that are not positive numbers"


@pytest.mark.parametrize(("exponent", "verdict"), [(0.78, "holds"), (0.9, "fails")])
def test_a_slope_is_allowed_the_logarithm_of_its_theorem(exponent: float, verdict: str) -> None:
    """0.78 is more than 3/4, and less than T^(3/4) ln T grows from 10^3 to 10^7, by NumPy's fit."""
    horizons = 10.0 ** np.arange(3, 8)
    finals = finals_of({(("horizon", f"{t:.0f}"),): t**exponent * (1 + 0.01 * NOISE) for t in horizons})
    claim = {"kind": "slope", "axis": "horizon", "expect": "at_most", "threshold": 0.75}
    plain, row = verdict_of(claim, finals), verdict_of({**claim, "log_power": 1}, finals)
    assert (plain["verdict"], row["verdict"]) == ("fails", verdict)
    assert plain["estimate"] == row["estimate"]
    allowed = np.polyfit(np.log(horizons), np.log(horizons**0.75 * np.log(horizons)), 1)[0]
    assert row["note"] == f"allowed over these values: {allowed:.3f}"
    assert row["note"].endswith("0.841")
    root = verdict_of({**claim, "log_power": 0.5}, finals)
    assert root["note"] == f"allowed over these values: {(allowed + 0.75) / 2:.3f}"
    assert plain["note"] == ""
