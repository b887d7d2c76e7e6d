"""Kinds of claims: what is compared, what the verdict asks, which cases there are, and what is said of bad claims."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import NO_CURVES, check, still_open
from scipy import stats as reference

from bench.errors import ConfigError, DataError
from bench.report.claims.bound import largest_regret
from bench.report.claims.judgement import MIN_REPETITIONS
from bench.stats import mean_interval

Labels = tuple[tuple[str, Any], ...]
NOISE = np.random.default_rng(0).normal(size=20)
CENTRED = NOISE - NOISE.mean()
SHARED = np.random.default_rng(1).normal(0, 100, size=20)


def finals_of(experiments: Mapping[Labels, Any], rounds: int = 10_000) -> pd.DataFrame:
    """One row per experiment and repetition, axis columns first."""
    axes = list(dict.fromkeys(axis for labels in experiments for axis, _ in labels))
    rows = [
        {axis: dict(labels).get(axis, np.nan) for axis in axes}
        | {"repetition": repetition, "rounds": rounds, "regret": float(value)}
        for labels, values in experiments.items()
        for repetition, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def methods(**values: Any) -> pd.DataFrame:
    return finals_of({(("method", name),): numbers for name, numbers in values.items()})


def pairs(panels: Iterable[str], value: Callable[[str, str], Any]) -> pd.DataFrame:
    """Methods A and B on each panel."""
    return finals_of({(("panel", panel), ("method", m)): value(panel, m) for panel in panels for m in "AB"})


def judged(*claims: dict[str, Any], of: pd.DataFrame, curves: pd.DataFrame = NO_CURVES, **how: Any) -> Any:
    """Return the verdicts on claims with the ids 1, 2, ... unless they have others."""
    numbered = [{"id": str(number), "text": "t", **claim} for number, claim in enumerate(claims, start=1)]
    figure = {"runs": [], **{key: how.pop(key) for key in ("runs", "kind", "blocks") if key in how}}
    return check({"claims": numbered, **figure}, of, curves, **how)


def row_of(claim: dict[str, Any], finals: pd.DataFrame, curves: pd.DataFrame = NO_CURVES, **figure: Any) -> Any:
    rows = judged(claim, of=finals, curves=curves, **figure)
    assert len(rows) == 1
    return rows.iloc[0]


def verdict_of(claim: dict[str, Any], finals: pd.DataFrame, curves: pd.DataFrame = NO_CURVES) -> str:
    return str(row_of(claim, finals, curves)["verdict"])


def compare(expect: str, kind: str = "paired_difference", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "left": {"method": "A"}, "right": {"method": "B"}, "expect": expect, **more}


# paired_difference


@pytest.mark.parametrize(
    ("shift", "spread", "verdicts"),
    [  # of less, greater, at_most, at_least; right's mean is 1000: within 50 is a tie
        (-100, 1, "holds fails holds fails"),
        (100, 1, "fails holds fails holds"),
        (-100, 400, "open open open open"),
        (100, 400, "open open open open"),
        (0, 400, "open open open open"),
        (-45, 1, "tie tie tie tie"),
        (0, 1, "tie tie tie tie"),
        (45, 1, "tie tie tie tie"),
        (-49.9, 1, "holds fails holds fails"),  # the interval reaches beyond the margin, and is below 0
        (49.9, 1, "fails holds fails holds"),
    ],
)
def test_paired_difference(shift: float, spread: float, verdicts: str) -> None:
    right = 1000 + SHARED - SHARED.mean()
    finals = methods(A=right + spread * CENTRED + shift, B=right)
    rows = [row_of(compare(expect), finals) for expect in ("less", "greater", "at_most", "at_least")]
    assert [row["verdict"] for row in rows] == verdicts.split()
    row = rows[0]
    expected = mean_interval(spread * CENTRED + shift)
    np.testing.assert_allclose([row["estimate"], row["ci_low"], row["ci_high"]], [shift, *expected[1:3]], atol=1e-9)
    assert row["relative"] == pytest.approx(shift / 1000, abs=1e-9)
    assert row["relative_low"] < row["relative"] < row["relative_high"]
    assert row["unit"] == "mean paired difference of final regret, A - B"
    shown = [row[name] for name in ("claim", "kind", "case", "expect", "n")]
    assert shown == ["1", "paired_difference", "all", "less", 20]


def test_a_tie_is_two_one_sided_tests_at_5_percent() -> None:
    """Against SciPy: the tests of left - 0.95 right > 0 and left - 1.05 right < 0."""
    right = 1000 + SHARED
    verdicts = set()
    for spread in np.linspace(40, 200, 41):
        left = 1.01 * right + spread * NOISE
        low = reference.ttest_1samp(left - 0.95 * right, 0, alternative="greater").pvalue
        high = reference.ttest_1samp(left - 1.05 * right, 0, alternative="less").pvalue
        row = row_of(compare("less"), methods(A=left, B=right))
        assert (row["verdict"] == "tie") == (max(low, high) <= 0.05)
        if row["verdict"] == "tie":
            assert row["p"] == pytest.approx(max(low, high), rel=0.01)
        verdicts.add(row["verdict"])
    assert verdicts == {"tie", "open"}


def test_the_margin_of_a_tie_is_written_in_the_claim() -> None:
    finals = methods(A=1020 + NOISE, B=1000 + SHARED / 100)
    assert [verdict_of(compare("less", **tie), finals) for tie in ({}, {"tie": 0.01}, {"tie": 0})] == [
        "tie", "fails", "fails",
    ]  # fmt: skip
    negative = methods(A=-980 - NOISE, B=-1000 - SHARED / 100)  # rewards may be
    assert verdict_of(compare("greater"), negative) == "tie"
    row = row_of(compare("greater", tie=0.01), negative)
    assert (row["verdict"], row["relative"]) == ("holds", pytest.approx(0.02, rel=0.05))


@pytest.mark.parametrize("shift", [-30, 30])
def test_p_is_that_of_students_paired_test(shift: float) -> None:
    left, right = 500 + SHARED + 20 * NOISE + shift, 500 + SHARED
    row = row_of(compare("less", tie=0), methods(A=left, B=right))
    assert row["verdict"] == ("holds" if shift < 0 else "fails")
    assert row["p"] == pytest.approx(reference.ttest_rel(left, right).pvalue, rel=0.01)
    for end in (row["relative_low"], row["relative_high"]):  # Fieller's: not told from the truth at 5 %
        assert reference.ttest_1samp(left - right - end * right, 0).pvalue == pytest.approx(0.05)


def test_pairing_is_by_repetition_number_not_by_position() -> None:
    finals = methods(A=1000 + SHARED - 5, B=1000 + SHARED)
    row = row_of(compare("less", tie=0), finals.sample(frac=1, random_state=3))
    assert (row["verdict"], row["ci_high"]) == ("holds", pytest.approx(-5))
    is_a = finals["method"] == "A"
    finals.loc[is_a, "repetition"] = np.roll(finals.loc[is_a, "repetition"], 1)
    assert verdict_of(compare("less", tie=0), finals) == "open"


@pytest.mark.parametrize(
    ("shift", "spread", "at_most", "similar"),
    [  # the margin is 50 of 1000
        (-100, 1, "holds", "fails"),
        (-40, 1, "holds", "holds"),
        (0, 500, "open", "open"),
        (30, 1, "holds", "holds"),
        (50, 1, "open", "open"),
        (100, 1, "fails", "fails"),
    ],
)
def test_margins_of_no_worse_and_of_equivalence(shift: float, spread: float, at_most: str, similar: str) -> None:
    noise, right = spread * CENTRED, np.full(20, 1000)
    row = row_of(compare("at_most", margin=0.05), methods(A=1000 + noise + shift, B=right))
    assert (row["verdict"], row["estimate"]) == (at_most, pytest.approx(shift / 1000))
    assert "share of B's mean" in row["unit"]
    assert verdict_of(compare("at_least", margin=0.05), methods(A=1000 - noise - shift, B=right)) == at_most
    assert verdict_of(compare("similar", margin=0.05), methods(A=1000 + noise + shift, B=right)) == similar


def test_several_experiments_on_a_side_are_averaged_within_each_repetition() -> None:
    shifts = {("Y", "A"): NOISE, ("Y", "B"): NOISE + 4, ("Z", "A"): SHARED, ("Z", "B"): SHARED - 2}
    finals = pairs("YZ", lambda panel, method: shifts[panel, method])
    row = row_of(compare("less"), finals)
    assert (row["estimate"], row["verdict"]) == (pytest.approx(-1), "holds")
    unbalanced = finals[(finals["panel"] != "Z") | (finals["method"] != "A")]
    row = row_of(compare("less"), unbalanced)
    assert (row["verdict"], "no fair average" in row["note"]) == ("open", True)


# relative_difference


def tasks_of(values: Mapping[tuple[str, str, str], Any]) -> pd.DataFrame:
    return finals_of({tuple(zip(("family", "task", "method"), key, strict=True)): of for key, of in values.items()})


def test_relative_differences_are_averaged_over_tasks_then_families() -> None:
    """By hand: -0.1 and -0.3 of the reference on f's tasks, 0.1 on g's; of two experiments the lower counts."""
    parts = {("f", "t"): (1.0, -0.1), ("f", "u"): (10.0, -0.3), ("g", "v"): (100.0, 0.1)}
    values = {}
    for (family, task), (scale, share) in parts.items():
        for method, level in (("A", 2 + share), ("B", 2.0), ("worse", 9.0), ("R", 1.0)):
            values[family, task, method] = scale * (level + 0.01 * np.roll(CENTRED, ord(method[0])))
    values["g", "w", "A"] = NOISE  # not run by the others
    claim = compare("less", "relative_difference", reference={"method": "R"}, over=["family", "task"])
    claim["left"] = {"method": ["A", "worse"]}
    row = row_of(claim, tasks_of(values))
    assert row["estimate"] == pytest.approx(((-0.1 - 0.3) / 2 + 0.1) / 2)
    assert row["relative"] == pytest.approx(-0.05 / 2)
    assert (row["verdict"], verdict_of({**claim, "tie": 0.01}, tasks_of(values))) == ("tie", "holds")
    assert row_of({**claim, "over": ["task"]}, tasks_of(values))["estimate"] == pytest.approx((-0.1 - 0.3 + 0.1) / 3)
    assert "above 0 on f, t" in row_of(claim, tasks_of(values | {("f", "t", "R"): -(NOISE**2)}))["note"]
    again = {**claim, "reference": {"method": ["R", "B"]}}
    assert "several experiments are the reference on f, t" in row_of(again, tasks_of(values))["note"]
    same = tasks_of({key: np.arange(20.0) + 1 for key in values})
    assert row_of({**claim, "left": {"method": "A"}}, same)["note"] == "both sides are identical in every repetition"


# ratio, spread


def test_ratio() -> None:
    finals = methods(A=100 + NOISE, B=200 + 2 * NOISE)
    row = row_of(compare("at_most", "ratio", threshold=0.5), finals)
    assert row["verdict"] == "holds"  # exactly one half in every repetition
    np.testing.assert_allclose([row["estimate"], row["ci_low"], row["ci_high"]], 0.5)
    verdicts = [verdict_of(compare("less", "ratio", threshold=limit), finals) for limit in (0.6, 0.4)]
    assert verdicts == ["holds", "fails"]
    assert verdict_of(compare("greater", "ratio"), finals) == "fails"
    assert verdict_of(compare("less", "ratio"), methods(A=100 + NOISE, B=102 + NOISE)) == "tie"
    row = row_of(compare("less", "ratio"), methods(A=NOISE, B=NOISE * 0))
    assert (row["verdict"], math.isnan(row["estimate"])) == ("open", True)


def test_a_ratio_of_medians() -> None:
    a, b = 100 + NOISE, 200 + 2 * NOISE
    a[0], b[1] = 1e4, 1e5
    claim = compare("less", "ratio", statistic="median")
    row = row_of(claim, methods(A=a, B=b))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(np.median(a) / np.median(b)), "holds")
    assert "not positive" in row_of(claim, methods(A=a, B=0 * b))["note"]


def test_a_median_of_paired_ratios() -> None:
    """What changes from pair to pair, by far more than left and right differ, does not count."""
    level = np.exp(50 * NOISE / np.abs(NOISE).max())
    a, b = level * (0.95 + 0.0001 * NOISE), level.copy()
    a[0] *= 1e4
    claim = compare("less", "ratio", tie=0.01, statistic="paired_median")
    row = row_of(claim, methods(A=a, B=b))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(np.median(a / b)), "holds")
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"] < 1
    assert verdict_of({**claim, "statistic": "median"}, methods(A=a, B=b)) == "open"
    assert "not positive" in row_of(claim, methods(A=a, B=0 * b))["note"]


def test_spread() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, 40), rng.normal(50, 5, 40)
    claim = compare("less", "spread")
    row = row_of(claim, methods(A=a, B=b))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(a.std() / b.std()), "holds")
    # By Miller's definition: the logarithm's pseudo-values, judged by Student's test
    logs = [math.log(np.delete(a, i).std(ddof=1) / np.delete(b, i).std(ddof=1)) for i in range(40)]
    expected = mean_interval(40 * math.log(a.std() / b.std()) - 39 * np.array(logs))
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(np.exp(expected[1:3]), rel=0.02)
    assert verdict_of(claim, methods(A=b, B=a)) == "fails"
    assert verdict_of(claim, methods(A=a, B=a[::-1])) == "open"
    # The smallest of all, although less than the average of the others' spreads.
    several = {**claim, "right": {"method": ["B", "C"]}}
    assert verdict_of({**several, "combine": {"right": "lowest"}}, methods(A=3 * a, B=b, C=a)) == "fails"
    assert verdict_of(several, methods(A=a, B=b, C=a + 0 * b)) == "holds"
    assert verdict_of(claim, methods(A=[1, 2, 3], B=[1, 5, 9])) == "open"
    assert "3 repetitions" in row_of(claim, methods(A=[1, 2], B=[1, 3]))["note"]


# bound


def bound_finals(tuner: float, candidates: list[float], rounds: int = 10_000) -> pd.DataFrame:
    experiments: dict[Labels, Any] = {(("method", "TL"),): tuner + NOISE}
    for i, mean in enumerate(candidates):
        experiments[(("alpha", i),)] = mean + NOISE[::-1] * (1 + i)
    return finals_of(experiments, rounds)


BOUND = {"kind": "bound", "measured": {"method": "TL"}, "over": {"alpha": "*"}}


def price(rounds: int, *candidates: int) -> float:
    return sum(2 * math.sqrt((math.e - 1) * n * rounds * math.log(n)) for n in candidates)


def test_bound_of_one_or_several_hyper_parameters() -> None:
    finals = bound_finals(400, [900, 300, 500])
    lowest, tuner = 300 + 2 * NOISE.mean(), 400 + NOISE.mean()
    row = row_of({**BOUND, "candidates": [3]}, finals)
    assert row["estimate"] == pytest.approx(tuner / (lowest + price(10_000, 3)), rel=1e-12)
    assert (row["verdict"], row["expect"]) == ("holds", "less")
    for regret, verdict in ((900, "fails"), (lowest + price(10_000, 3), "open")):
        assert verdict_of({**BOUND, "candidates": [3]}, bound_finals(regret, [900, 300, 500])) == verdict
    row = row_of({**BOUND, "candidates": [3, 2]}, bound_finals(400, [900, 300, 500, 600, 700, 800], rounds=500))
    assert row["estimate"] == pytest.approx(tuner / (lowest + price(500, 3, 2)), rel=1e-12)


def test_bound_is_tested_against_each_candidate() -> None:
    """Below: below 1 against every candidate, each at 2.5 %; above: above 1 against one, each at 1.25 %."""
    values = np.random.default_rng(5).normal(1000, 100, size=(10, 3))
    labels = ((("method", "TL"),), (("alpha", 0),), (("alpha", 1),))
    row = row_of({**BOUND, "candidates": [2]}, finals_of(dict(zip(labels, values.T, strict=True)), 40))

    def p(ratio: float, candidate: int) -> float:
        return float(reference.ttest_1samp(values[:, 0] - ratio * (values[:, candidate] + price(40, 2)), 0).pvalue)

    highs, lows = ([p(row[end], candidate) for candidate in (1, 2)] for end in ("ci_high", "ci_low"))
    assert pytest.approx(0.05, rel=1e-6) in (min(highs), max(highs))
    assert any(value == pytest.approx(0.025, rel=1e-6) for value in lows)
    best = min(values[:, 1].mean(), values[:, 2].mean())
    assert row["estimate"] == pytest.approx(values[:, 0].mean() / (best + price(40, 2)))


def test_bound_needs_all_candidates_and_one_length() -> None:
    finals = bound_finals(400, [900, 300])
    row = row_of({**BOUND, "candidates": [3]}, finals)
    assert (row["verdict"], row["note"]) == ("open", "'over' selects 2 runs, the candidates make 3")
    finals.loc[0, "rounds"] = 9_000
    assert "from 9000 to 10000 rounds" in row_of({**BOUND, "candidates": [2]}, finals)["note"]
    with pytest.raises(ConfigError, match="'measured' selects 2 experiments in case 'all', expected one;"):
        row_of({**BOUND, "measured": {"alpha": "*"}, "candidates": [2]}, finals)


# slope


SLOPE = {"kind": "slope", "axis": "horizon", "expect": "at_most", "threshold": 0.75}
ALONG_ROUNDS = {"kind": "slope", "measured": {"method": "A"}, "expect": "less", "threshold": 1}


def horizons(values: Mapping[Any, Any]) -> pd.DataFrame:
    return finals_of({(("horizon", f"{rounds:g}"),): numbers for rounds, numbers in values.items()})


@pytest.mark.parametrize(("power", "verdict"), [(0.5, "holds"), (0.75, "open"), (1.0, "fails")])
def test_slope_along_an_axis(power: float, verdict: str) -> None:
    rng = np.random.default_rng(6)
    factors = {T: 1 + rng.normal(0, 0.05, size=20) for T in (1000, 10_000, 100_000)}
    row = row_of(SLOPE, horizons({T: 3 * T**power * factors[T] / factors[T].mean() for T in factors}))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(power, abs=1e-9), verdict)
    assert row["ci_low"] < power < row["ci_high"]


def test_slope_is_that_of_least_squares_with_the_interval_of_its_linearisation() -> None:
    values = {100: 20.0, 1000: 30.0, 5000: 90.0}
    row = row_of(SLOPE, horizons({T: [v] * 5 for T, v in values.items()}))
    expected = np.polyfit(np.log(list(values)), np.log(list(values.values())), 1)[0]
    np.testing.assert_allclose([row["estimate"], row["ci_low"], row["ci_high"]], expected)
    # Of small deviations: the slopes of the single repetitions, judged by Student's test
    noisy = {T: v * (1 + 1e-4 * np.roll(NOISE, int(v))) for T, v in values.items()}
    row = row_of(SLOPE, horizons(noisy))
    slopes = np.polyfit(np.log(list(values)), np.log(np.array(list(noisy.values()))), 1)[0]
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(mean_interval(slopes)[1:3], abs=1e-7)


@pytest.mark.parametrize(("exponent", "verdict"), [(0.78, "holds"), (0.9, "fails")])
def test_a_slope_is_allowed_the_logarithm_of_its_theorem(exponent: float, verdict: str) -> None:
    """0.78 is more than 3/4, and less than T^(3/4) ln T grows from 10^3 to 10^7, by NumPy's fit."""
    rounds = 10.0 ** np.arange(3, 8)
    finals = horizons({t: t**exponent * (1 + 0.01 * NOISE) for t in rounds})
    plain, row = row_of(SLOPE, finals), row_of({**SLOPE, "log_power": 1}, finals)
    assert (plain["verdict"], plain["note"], row["verdict"]) == ("fails", "", verdict)
    assert plain["estimate"] == row["estimate"]
    allowed = np.polyfit(np.log(rounds), np.log(rounds**0.75 * np.log(rounds)), 1)[0]
    assert row["note"] == f"allowed over these values: {allowed:.3f}" == "allowed over these values: 0.841"
    root = row_of({**SLOPE, "log_power": 0.5}, finals)
    assert root["note"] == f"allowed over these values: {(allowed + 0.75) / 2:.3f}"


def test_what_has_no_slope_is_open() -> None:
    for values, note in (
        ({10: -1 - NOISE**2, 100: 5 + NOISE}, "no logarithm"),
        ({10: 0 * NOISE, 100: 5 + NOISE}, "no logarithm"),
        ({0: 1 + NOISE, 100: 5 + NOISE}, "axis 'horizon' has labels that are not positive numbers"),
        ({10: 5 + NOISE}, "a slope needs at least two values of 'horizon'"),
    ):
        row = row_of(SLOPE, horizons(values))
        assert (row["verdict"], note in row["note"]) == ("open", True)
    assert "not positive numbers" in row_of(SLOPE, finals_of({(("horizon", x),): NOISE for x in ("10", "x")}))["note"]
    row = row_of({**SLOPE, "log_power": 1}, horizons({1: 5 + NOISE / 9, 10: 6 + NOISE / 9}))
    assert row["note"] == "horizon is not above 1 everywhere, its logarithm has none"
    row = row_of({**SLOPE, "expect": "less"}, horizons({10: 5 + NOISE[:19], 100: 6 + NOISE[:19]}))
    assert (row["verdict"], "at least 20 repetitions" in row["note"]) == ("open", True)


def curve(power: float, width: float, n: int = 20) -> pd.DataFrame:
    """A curve whose band at n = 20 is mean -+ a share ``width``: Student's t with 19 degrees of freedom is 2.093024."""
    rounds = np.arange(10, 1001, 10)
    mean = 5.0 * rounds**power
    std = mean * width * math.sqrt(20) / 2.093024
    return pd.DataFrame({"method": "A", "column": "regret", "round": rounds, "mean": mean, "std": std, "n": n})


@pytest.mark.parametrize(
    ("power", "width", "verdict"), [(0.5, 0.01, "holds"), (1.5, 0.01, "fails"), (0.9, 0.5, "open")]
)
def test_slope_along_rounds(power: float, width: float, verdict: str) -> None:
    row = row_of(ALONG_ROUNDS, methods(A=NOISE), curve(power, width))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(power), verdict)
    assert row["ci_low"] < power < row["ci_high"]


def test_a_slope_reads_its_own_curve_from_a_round_on() -> None:
    bent = curve(0.5, 0.01)
    bent.loc[bent["round"] < 100, "mean"] = 1.0
    both = pd.concat([bent, bent.assign(method="B", mean=2.0 * bent["round"] ** 3)])
    row = row_of(ALONG_ROUNDS, methods(A=NOISE, B=NOISE), both)
    assert row["estimate"] == pytest.approx(0.5)  # round 100 is in, too
    assert row["unit"].startswith("log-log slope of mean regret against round")
    short = curve(0.5, 0.001).iloc[[9, 15, 99]].assign(n=[15, 12, 15])
    row = row_of(ALONG_ROUNDS, methods(A=NOISE), short)
    assert (row["n"], row["estimate"]) == (12, pytest.approx(0.5))  # n is the fewest repetitions of any round
    for curves, note in (
        (curve(0.5, 0.01, n=9), "at least 10 repetitions"),
        (short.iloc[:1], "no curve of regret for A"),
        (NO_CURVES, "no curve of regret for A"),
        (short.assign(mean=[1.0, 0.0, 1.0]), "no logarithm"),
    ):
        row = row_of(ALONG_ROUNDS, methods(A=NOISE), curves)
        assert (row["verdict"], note in row["note"]) == ("open", True)


# steepness


def probed(slopes: list[float], noise: float, n: int = 12) -> pd.DataFrame:
    """Sums over 100 rounds of rewards at 0.5, 1 and 2 whose slopes between them are given, with the same noise."""
    rng = np.random.default_rng(4)
    heights = np.cumsum([0.0, 0.5 * slopes[0], 1.0 * slopes[1]])
    shared, own = rng.normal(0, 5, (n, 1)), rng.normal(0, noise, (n, 3))
    frame = methods(A=np.ones(n)).assign(rounds=100)
    return frame.assign(**dict(zip(("probe_0.5", "probe_1", "probe_2"), 100 * (heights + shared + own).T, strict=True)))


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
    kind = {"kind": "bench.papers.lipschitz.Lipschitz", "blocks": 2}
    row = row_of(claim, probed(slopes, 0.003), **kind)
    assert (row["verdict"], row["estimate"]) == (verdict, pytest.approx(estimate, abs=0.02))
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
    row = row_of(claim, methods(A=range(10)), **kind)
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


ON_GRID = {"kind": "best_on_grid", "axis": "alpha", "expect": "at_least", "threshold": 2}
DIFFERS = {"kind": "best_on_grid", "axis": "alpha", "differs": {"panel": ["Y", "Z"]}}


@pytest.mark.parametrize(
    ("z", "noise", "verdict"), [(1.0, 1.0, "holds"), (4.0, 0.1, "fails"), (4.0, 100.0, "open"), (3.9, 5.0, "open")]
)
def test_best_on_grid_differs(z: float, noise: float, verdict: str) -> None:
    row = row_of(DIFFERS, grid_finals({"Y": 4.0, "Z": z}, noise))
    assert (row["verdict"], row["expect"]) == (verdict, "differs")
    if noise <= 1:
        assert row["estimate"] == 4.0 - z


def test_best_on_grid_per_case() -> None:
    finals = grid_finals({"Y": 4.0, "Z": 1.0}, 1.0)
    claim = {**ON_GRID, "per": ["panel"]}
    rows = judged(claim, of=finals)
    assert (rows["estimate"].tolist(), rows["verdict"].tolist()) == ([4.0, 1.0], ["holds", "fails"])
    assert judged({**claim, "best": "highest"}, of=finals)["estimate"].tolist() == [0.0, 5.0]
    with pytest.raises(ConfigError, match="several experiments share one value of 'alpha'"):
        row_of(ON_GRID, finals)
    with pytest.raises(ConfigError, match="axis 'panel' is not numeric"):
        row_of({**ON_GRID, "axis": "panel", "measured": {"alpha": 1}}, finals)


# count


MOSTLY = {"id": "m", "kind": "count", "of": ["1"]}


@pytest.mark.parametrize(
    ("shifts", "verdict", "interval"),
    [
        ([-1, -1, -1], "holds", (1, 1, 1)),
        ([-1, -1, 1], "holds", (2 / 3, 2 / 3, 2 / 3)),
        ([-1, -1, 1, 1], "fails", (1 / 2, 1 / 2, 1 / 2)),  # two of four are not more than half
        ([-1, -1, -1e-4, -1e-4], "open", (1 / 2, 1, 1)),
        ([-1, 1e-4, 1e-4], "open", (1 / 3, 1 / 3, 1)),
        ([-1, -1, 1, 1e-4, 1e-4], "open", (2 / 5, 2 / 5, 4 / 5)),
        ([-1, -1, -1, 1e-4], "holds", (3 / 4, 3 / 4, 1)),
        ([-1, -1e-4, 1, 1], "fails", (1 / 4, 1 / 2, 1 / 2)),
    ],
)
def test_count_is_more_than_a_share(shifts: list[float], verdict: str, interval: tuple[float, ...]) -> None:
    """Its interval runs from the share of cases that hold to that of cases that do not fail."""
    by_panel = {f"p{i}": shift for i, shift in enumerate(shifts)}
    finals = pairs(by_panel, lambda panel, method: 100 + (by_panel[panel] + 0.01 * CENTRED) * (method == "A"))
    rows = judged(MOSTLY, {"id": "1", **compare("less", per=["panel"], tie=0)}, of=finals)
    assert rows["claim"].tolist() == ["m"] + ["1"] * len(shifts)
    row = rows.iloc[0]
    assert (row["verdict"], row["n"]) == (verdict, len(shifts))
    assert (row["ci_low"], row["estimate"], row["ci_high"]) == pytest.approx(interval)


@pytest.mark.parametrize(
    ("expect", "verdict"), [("less", "fails"), ("at_most", "holds"), ("greater", "fails"), ("at_least", "holds")]
)
def test_a_tie_counts_for_no_more_and_no_less(expect: str, verdict: str) -> None:
    finals = pairs("PQR", lambda _, method: 100 + CENTRED * (method == "A"))
    rows = judged(compare(expect, per=["panel"]), MOSTLY, of=finals)
    assert rows["verdict"].tolist() == ["tie"] * 3 + [verdict]
    assert rows["note"].iloc[-1] == "0 hold, 3 tie, 0 open, 0 fail of 3 after Holm's correction"


def test_what_does_not_remain_after_holms_correction_counts_as_open() -> None:
    """Two of three cases hold by themselves, p = 0.03 each: neither at a third of the error, so nothing is decided."""
    shift = -2.2 * float(CENTRED.std(ddof=1)) / math.sqrt(len(CENTRED))
    by_panel = {"P": shift, "Q": shift, "R": 0.0}
    finals = pairs(by_panel, lambda panel, method: 100 + (by_panel[panel] + CENTRED) * (method == "A"))
    rows = judged(compare("less", per=["panel"], tie=0), MOSTLY, of=finals)
    assert rows["verdict"].tolist() == ["holds", "holds", "open", "open"]
    assert rows["holm"].tolist() == ["no", "no", "", ""]
    assert rows["note"].iloc[-1] == "0 hold, 0 tie, 3 open, 0 fail of 3 after Holm's correction"


def test_a_claim_judged_on_a_number_chosen_beforehand_pays_for_no_looks() -> None:
    """Its interval is Student's of these repetitions alone, whatever the figure looks at; with fewer it stays open."""
    shift = -2.4 * float(CENTRED.std(ddof=1)) / math.sqrt(len(CENTRED))
    values = 100 + shift + CENTRED
    finals = methods(A=[*values, *(500 + CENTRED)], B=[100.0] * (2 * len(CENTRED)))
    claim = compare("less", tie=0, judged_on=len(CENTRED))
    row = judged(claim, of=finals, sequential=True).iloc[0]
    low, high = reference.t.interval(0.95, len(CENTRED) - 1, values.mean() - 100, reference.sem(values))
    assert (row["verdict"], row["n"]) == ("holds", len(CENTRED))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
    alone = methods(A=values, B=[100.0] * len(CENTRED))
    assert judged({**claim, "judged_on": None}, of=alone, sequential=True).iloc[0]["verdict"] == "open"
    row = judged({**claim, "judged_on": len(CENTRED) + 1}, of=alone, sequential=True).iloc[0]
    assert row["verdict"] == "open"
    assert "not all there" in row["note"]


@pytest.mark.parametrize(("shifts", "agree"), [((0, 4, 20), 2 / 3), ((-20, -4, 20), 1 / 3)])
def test_open_cases_agree_by_their_estimate(shifts: tuple[float, ...], agree: float) -> None:
    by_panel = dict(zip("PQR", shifts, strict=True))
    finals = pairs(by_panel, lambda panel, method: 100 + (60 * CENTRED + by_panel[panel]) * (method == "A"))
    rows = judged(compare("similar", per=["panel"], margin=0.05), MOSTLY, of=finals)
    assert rows["verdict"].tolist() == ["open"] * 4
    assert rows["estimate"].iloc[-1] == pytest.approx(agree)


# cases, and results that are missing


RUNS = [{"panel": {"P": ["env=p"], "Q": ["env=q"]}, "method": {"A": ["tuner=a"], "B": ["tuner=b"]}}]


def test_cases_are_limited_by_only_and_by_every_axis_that_cannot_be_felt() -> None:
    finals = finals_of(
        {
            (("panel", panel), ("env", env), ("method", method)): 100 + NOISE + 50 * (method == "B")
            for panel in "QP"  # the order of the figure, not of the alphabet
            for env in "FE"
            for method in "AB"
        }
    )
    claim = compare("less", per=["panel", "env"], only={"env": "E"}, only_note="no random arms")
    rows = judged(claim, of=finals)
    assert rows["case"].tolist() == ["Q, F", "Q, E", "P, F", "P, E"]
    assert rows["verdict"].tolist() == ["says_nothing", "holds", "says_nothing", "holds"]
    assert rows["note"].tolist() == ["no random arms", "", "no random arms", ""]
    np.testing.assert_allclose(rows["estimate"], -50)
    assert judged({**claim, "only_note": ""}, of=finals)["case"].tolist() == ["Q, E", "P, E"]


@pytest.mark.parametrize("kind", ["paired_difference", "ratio", "spread"])
def test_missing_experiments_leave_their_case_open(kind: str) -> None:
    finals = pairs("PQ", lambda _, method: 100 + NOISE / 2 if method == "A" else 200 + NOISE)
    finals = finals[(finals["panel"] == "P") | (finals["method"] == "B")]
    rows = judged(compare("less", kind, per=["panel"]), of=finals, runs=RUNS)
    assert rows["case"].tolist() == ["P", "Q"]
    assert rows["verdict"].tolist() == ["holds", "open"]
    assert math.isnan(rows["estimate"][1])
    assert rows["note"][1] == "no results of Q, A"


def test_without_any_results_every_claim_is_open() -> None:
    claims = [
        compare("less", per=["panel"]),
        {"kind": "count", "of": "1"},
        {"kind": "slope", "measured": {"panel": "P", "method": "A"}, "expect": "at_most", "threshold": 1},
        {**BOUND, "measured": {"method": "A"}, "over": {"method": "B"}, "candidates": [1], "per": ["panel"]},
    ]
    for finals in (pd.DataFrame(), finals_of({(("panel", "P"), ("method", "A")): [1.0]}).iloc[:0]):
        for runs in (RUNS, []):
            rows = judged(*claims, of=finals, runs=runs)
            assert set(rows["verdict"]) == {"open"}
            assert rows["note"].str.len().gt(0).all()
    row = row_of(compare("less", column="seconds"), methods(A=NOISE, B=NOISE))
    assert (row["verdict"], row["note"]) == ("open", "the results have no column 'seconds'")


def test_too_few_repetitions_decide_nothing() -> None:
    row = row_of(compare("less"), methods(A=[1], B=[2]))
    assert (row["estimate"], row["verdict"], row["n"]) == (-1, "open", 1)
    assert np.isnan([row["ci_low"], row["ci_high"]]).all()
    few = MIN_REPETITIONS - 1
    row = row_of(compare("less"), methods(A=100 + NOISE[:few], B=200 - NOISE[:few]))
    assert (row["verdict"], row["needs"]) == ("open", MIN_REPETITIONS)
    assert f"at least {MIN_REPETITIONS} repetitions, there are {few}" in row["note"]
    enough = methods(A=100 + NOISE[: few + 1], B=200 - NOISE[: few + 1])
    assert verdict_of(compare("less"), enough) == "holds"
    row = row_of(compare("less", tie=0), methods(A=[96, 98], B=[100, 100]))  # the least number would do
    assert (row["verdict"], row["needs"]) == ("open", MIN_REPETITIONS)


def test_repetitions_that_are_not_in_all_runs_are_left_out_and_counted() -> None:
    row = row_of(compare("less"), methods(A=SHARED[:15] - 5, B=SHARED))
    assert (row["n"], row["verdict"], row["note"]) == (15, "holds", "15 of 20 repetitions are in all runs")
    finals = methods(A=SHARED - 5, B=SHARED)
    finals.loc[3, "regret"] = np.nan
    assert row_of(compare("less"), finals)["n"] == 19


def test_a_repetition_that_stands_twice_is_an_error() -> None:
    finals = methods(A=NOISE, B=NOISE)
    with pytest.raises(DataError, match="repetition 0 of A twice"):
        row_of(compare("less"), pd.concat([finals, finals.iloc[:1]]))
    with pytest.raises(DataError, match="lack the column 'repetition'"):
        row_of(compare("less"), finals.drop(columns="repetition"))


def test_labels_that_look_like_numbers_survive_csv(tmp_path: Any) -> None:
    runs = [{"arms": {"60": ["k=60"], "120": ["k=120"]}, "width": {"values": [0.1, 1.0], "override": "w={}"}}]
    finals = finals_of({(("arms", a), ("width", w)): NOISE + float(a) for a in ("60", "120") for w in (0.1, 1.0)})
    finals.to_csv(tmp_path / "finals.csv", index=False)
    claim = compare("less", left={"arms": 60}, right={"arms": "120"}, per=["width"])
    rows = judged(claim, of=pd.read_csv(tmp_path / "finals.csv"), runs=runs)
    assert rows["case"].tolist() == ["width 0.1", "width 1"]
    assert rows["verdict"].tolist() == ["holds", "holds"]


# cases that say nothing


def test_cases_that_say_nothing_are_not_counted() -> None:
    finals = pairs(("p0", "p1", "p2"), lambda panel, m: 100 + NOISE - 50 * (m == "A" and panel != "p0"))
    claims = compare("less", per=["panel"]), MOSTLY
    rows = judged(*claims, of=finals)
    assert rows["verdict"].tolist() == ["says_nothing", "holds", "holds", "holds"]
    assert rows["note"].iloc[-1] == "2 hold, 0 tie, 0 open, 0 fail of 2 after Holm's correction; 1 no evidence"
    for data, note in (("surrogate", "generated in place"), ("packaged", "packaged sample"), ("altered", "altered")):
        rows = judged(*claims, of=finals, **{data: True})
        assert (set(rows["verdict"]), note in rows["note"].iloc[1]) == ({"says_nothing"}, True)
    genuine = [{"panel": "p1", "method": "A"}, {"panel": "p1", "method": "B"}, {"panel": "p2", "method": "A"}]
    rows = judged(*claims, of=finals, surrogate=True, genuine=genuine)
    assert rows["verdict"].tolist() == ["says_nothing", "holds", "says_nothing", "holds"]


@pytest.mark.parametrize("kind", ["paired_difference", "ratio", "spread"])
@pytest.mark.parametrize("expect", ["less", "at_most"])
def test_identical_sides_say_nothing(kind: str, expect: str) -> None:
    row = row_of(compare(expect, kind), methods(A=SHARED + 300, B=SHARED + 300))
    assert (row["verdict"], row["note"]) == ("says_nothing", "both sides are identical in every repetition")
    assert (math.isnan(row["p"]), row["holm"]) == (True, "")
    almost = SHARED + 300
    almost[7] += 1e-9
    assert verdict_of(compare(expect, kind), methods(A=SHARED + 300, B=almost)) != "says_nothing"


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
    row = row_of(compare("less", tie=0.01), finals)
    assert (row["verdict"], "random arms" in row["note"]) == (verdict, verdict == "says_nothing")
    renamed = finals.rename(columns={"regret": "reward"})
    assert verdict_of(compare("less", column="reward"), renamed) != "says_nothing"
    few, enough = (finals[finals["repetition"] < n] for n in (MIN_REPETITIONS - 1, MIN_REPETITIONS))
    assert verdict_of(compare("less"), few) == "open"
    assert verdict != "says_nothing" or verdict_of(compare("less"), enough) == verdict


@pytest.mark.parametrize(
    ("random", "n", "verdict"),
    [(200.0, 20, "says_nothing"), (200.0, 2, "says_nothing"), (2000.0, 20, "holds"), (500.0, 20, "holds")],
)
def test_a_bound_that_random_arms_satisfy_says_nothing(random: float, n: int, verdict: str) -> None:
    finals = bound_finals(100, [120, 90], rounds=2500)  # the bound is 90 + 309 = 199 to 399
    finals["random_regret"] = random + 1e-6 * finals["repetition"]
    assert verdict_of({**BOUND, "candidates": [2]}, finals[finals["repetition"] < n]) == verdict
    # A repetition that one candidate lacks: random arms of the others are not paired with these.
    lacking = finals.drop(index=finals[(finals["alpha"] == 1) & (finals["repetition"] == 3)].index)
    assert verdict_of({**BOUND, "candidates": [2]}, lacking) == "holds" or n == 2


EXP3 = {"kind": "bound", "measured": {"method": "A"}, "formula": {"name": "exp3", "n_arms": 5}}


def test_a_bound_above_the_largest_regret_says_nothing() -> None:
    regret = {(("method", "A"),): 10 + NOISE}
    row = row_of(EXP3, finals_of(regret, rounds=30))  # 2 sqrt(5 * 30 * ln 5) = 31.08
    assert row["note"] == "the bound, 31.08 or more, is not below the largest regret possible, 30"
    assert (row["verdict"], verdict_of(EXP3, finals_of(regret, rounds=40))) == ("says_nothing", "holds")
    gaps = {**EXP3, "formula": {"name": "ucb1", "gaps": [0, 0.1]}}
    assert verdict_of(gaps, finals_of(regret, rounds=1000)) == "says_nothing"  # 8 ln 1000 / 0.1 = 553, at most 100
    assert largest_regret({"name": "ucb1", "gaps": [0, 0.1, 0.5]}, 100) == 50


@pytest.mark.parametrize(("share", "verdict"), [(0.64, "says_nothing"), (9.7, "holds"), (1.0, "holds")])
def test_a_bound_that_a_tuner_satisfies_which_does_not_learn_says_nothing(share: float, verdict: str) -> None:
    idle = share * 2 * math.sqrt(5 * 900 * math.log(5)) + NOISE
    row = row_of({**EXP3, "against": {"method": "B"}}, methods(A=10 + NOISE, B=idle).assign(rounds=900))
    assert row["verdict"] == verdict
    assert (row["note"] == "B stays below the bound, too") == (verdict == "says_nothing")


# Holm, repetitions needed, looking repeatedly


def panels(shifts: Mapping[str, float]) -> pd.DataFrame:
    rng = np.random.default_rng(10)
    return pairs(shifts, lambda panel, m: 1000 + 10 * rng.normal(size=20) + shifts[panel] * (m == "A"))


LESS = compare("less", per=["panel"], tie=0)


def test_holm_counts_all_tested_cases_of_a_figure() -> None:
    finals = panels({"far": -100, "near": -7.5, "none": 0.0})
    rows = judged(LESS, of=finals).set_index("case")
    assert rows["verdict"].to_dict() == {"far": "holds", "near": "holds", "none": "open"}
    assert 0.025 < rows["p"]["near"] <= 0.05  # of the two smallest p-values of three tests
    assert rows["holm"].to_dict() == {"far": "yes", "near": "no", "none": ""}
    assert judged(LESS, of=finals[finals["panel"] == "near"])["holm"].tolist() == ["yes"]


def test_needed_repetitions_decide_in_four_of_five_cases() -> None:
    rng, values = np.random.default_rng(11), np.resize([-8.0, 12, -28], 12)
    row = row_of(compare("less", tie=0), methods(A=1000 + values, B=np.full(12, 1000.0)))
    needs = int(row["needs"])
    assert (row["verdict"], 12 < needs < 200) == ("open", True)
    draws = rng.normal(-8, values.std(ddof=1), (2000, needs))
    decided = reference.ttest_1samp(draws, 0, axis=1).pvalue <= 0.05
    assert decided.mean() == pytest.approx(0.8, abs=0.05)
    row = row_of(compare("less", tie=0), methods(A=1000 + CENTRED, B=np.full(20, 1000.0)))
    assert (row["verdict"], math.isnan(row["needs"])) == ("open", True)  # no number decides it
    row = row_of(compare("less"), methods(A=1000 + 400 * CENTRED, B=np.full(20, 1000.0)))
    assert (row["verdict"], 100 < row["needs"] < 2000) == ("open", True)  # a tie


def test_looking_repeatedly_needs_more() -> None:
    finals = panels({"far": -100, "near": -8})
    fixed, sequential = (judged(LESS, of=finals, sequential=looks).set_index("case") for looks in (False, True))
    assert fixed["verdict"].tolist() == ["holds", "holds"]
    assert sequential["verdict"].tolist() == ["holds", "open"]
    assert (sequential["ci_high"] > fixed["ci_high"]).all()
    assert sequential["p"]["far"] > fixed["p"]["far"]
    for n, verdict in ((9, "open"), (10, "holds")):
        (row,) = judged(compare("less"), of=methods(A=NOISE[:n], B=1000 + SHARED[:n]), sequential=True).to_dict(
            "records"
        )
        assert (row["verdict"], "at least 10 repetitions" in row["note"]) == (verdict, n < 10)
    # What is still open names experiments and repetitions
    figure = {"claims": [{"id": "1", "text": "t", **LESS}]}
    found = still_open(figure, finals)
    assert list(found) == [("1", "near")]
    experiments, repetitions = found["1", "near"]
    assert experiments == [{"panel": "near", "method": "A"}, {"panel": "near", "method": "B"}]
    assert repetitions == sequential["needs"]["near"] > 20
    assert still_open(figure, finals, sequential=False) == {}


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
        (compare("less", left={"method": "a"}), r"1', key 'left': axis 'method' has no label 'a', valid ones: A, B"),
        (compare("less", left="A"), r", key 'left': found 'A', expected axes with their labels"),
        (compare("less", per=["panle"]), r"claim '1', key 'per': the figure has no axis 'panle'"),
        (compare("less", per=["method"]), r"claim '1', key 'left': axis 'method' is also in 'per'"),
        (compare("less", right={"method": "A"}), r"claim '1': 'left' and 'right' select the same runs: A"),
        (compare("less", combine={"left": "min"}), r", key 'combine.left': found 'min', expected 'mean'"),
        (compare("less", combine={"lft": "mean"}), r": unknown key 'combine.lft', valid ones: left, right$"),
        (compare("at_most", margin=0.1, tie=0.1), r": expected either 'margin' or 'tie'"),
        (compare("less", tie=-1), r", key 'tie'"),
        (compare("less", "ratio", threshold=0.5, tie=0.1), r"'tie' goes with the threshold 1 only"),
        (
            compare("less", only={"panel": "P"}, only_note="w"),
            r"claim '1', key 'only': axis 'panel' is not in 'per', which is: empty",
        ),
        (
            compare("less", "relative_difference", reference={"method": "A"}, over=["task"]),
            r"claim '1', key 'over': the figure has no axis 'task'",
        ),
        ({**BOUND, "over": {"method": "B"}, "candidates": []}, r", key 'candidates'"),
        ({**BOUND, "over": {"method": "B"}, "measured": {"method": "A"}, "candidates": [0]}, r"key 'candidates.0'"),
        ({**BOUND, "candidates": [2], "against": {"method": "B"}}, r"'against' goes with 'formula'"),
        ({**SLOPE, "axis": "T"}, r"key 'axis': the figure has no axis 'T'"),
        (
            {"kind": "best_on_grid", "axis": "panel", "differs": {"method": ["A"]}},
            r"found .*, expected one axis with two labels",
        ),
        (
            {"kind": "best_on_grid", "axis": "panel", "differs": {"arm": ["A", "B"]}},
            r"key 'differs': the figure has no axis 'arm'",
        ),
        ({**ON_GRID, "axis": "panel", "threshold": None}, r"a threshold goes with expect"),
        ({"kind": "count", "of": "7"}, r"claim '1', key 'of': no claim '7' to count, choose from none"),
        ({"kind": "count", "of": []}, r"'1' of kind 'count', key 'of'"),
    ],
)
def test_a_bad_claim_names_figure_claim_key_and_choices(claim: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        judged({"id": 1, **claim}, of=pd.DataFrame(), runs=RUNS)
    assert str(caught.value).startswith("figure 'f', claim '1'")
    assert "\n" not in str(caught.value)


def test_ids_differ_and_claims_are_mappings() -> None:
    with pytest.raises(ConfigError, match="this id is used twice"):
        judged({"id": 1, **LESS}, {"id": "1", **LESS}, of=pd.DataFrame())
    with pytest.raises(ConfigError, match="expected a list of mappings"):
        check({"claims": ["TL wins"]}, pd.DataFrame())
    rows = check({}, pd.DataFrame())
    assert (rows.empty, {"claim", "verdict", "note"} <= set(rows.columns)) == (True, True)
