"""Claims on how fast a number grows."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from claim_cases import NOISE, SLOPE, methods, row_of
from rendered import NO_CURVES, finals_of

from bench.errors import ConfigError
from bench.stats import mean_interval

ALONG_ROUNDS = {"kind": "slope", "measured": {"method": "A"}, "expect": "less", "threshold": 1}


def horizons(values: Mapping[Any, Any]) -> pd.DataFrame:
    return finals_of({f"{rounds:g}": numbers for rounds, numbers in values.items()}, "horizon")


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


def test_a_case_without_a_slope_is_open() -> None:
    for values, note in (
        ({10: -1 - NOISE**2, 100: 5 + NOISE}, "no logarithm"),
        ({10: 0 * NOISE, 100: 5 + NOISE}, "no logarithm"),
        ({0: 1 + NOISE, 100: 5 + NOISE}, "axis 'horizon' has labels that are not positive numbers"),
        ({10: 5 + NOISE}, "a slope needs at least two values of 'horizon'"),
    ):
        row = row_of(SLOPE, horizons(values))
        assert (row["verdict"], note in row["note"]) == ("open", True)
    assert "not positive numbers" in row_of(SLOPE, finals_of(dict.fromkeys(("10", "x"), NOISE), "horizon"))["note"]
    row = row_of({**SLOPE, "log_power": 1}, horizons({1: 5 + NOISE / 9, 10: 6 + NOISE / 9}))
    assert "horizon is not above 1 everywhere" in row["note"]
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


def near_random(regret: Mapping[Any, float], random: float = 1.0) -> pd.DataFrame:
    """Regret at each horizon as a share of that of random arms, which is ``random`` in each round."""
    finals = horizons({t: random * t * share * (1 + 0.01 * NOISE) for t, share in regret.items()})
    return finals.assign(random_regret=random * finals["horizon"].astype(float))


def test_values_near_random_play_do_not_count() -> None:
    """Random play has slope 1: of 5 horizons the 2 with at least half of its regret are left out."""
    shares = {1000: 0.9, 10_000: 0.51, 100_000: 0.4, 1_000_000: 0.1, 10_000_000: 0.025}
    row = row_of(SLOPE, near_random(shares))
    left = list(shares)[2:]
    expected = np.polyfit(np.log(left), np.log([t * shares[t] for t in left]), 1)[0]
    assert (row["estimate"], row["verdict"]) == (pytest.approx(expected), "holds")
    assert row["note"] == "left out, as regret is near that of random play: horizon 1000, 10000"
    assert row_of(SLOPE, near_random(shares).drop(columns="random_regret"))["estimate"] != row["estimate"]
    assert row_of(SLOPE, near_random(dict.fromkeys(shares, 0.49)))["note"] == ""


@pytest.mark.parametrize(
    ("power", "expect", "verdict"),
    [
        (0.95, "at_most", "no evidence"), (0.7, "at_most", "holds"), (0.95, "greater", "no evidence"),
        (0.7, "greater", "fails"),
    ],
)  # fmt: skip
def test_fewer_than_three_values_give_no_verdict_that_random_play_would_get(
    power: float, expect: str, verdict: str
) -> None:
    """A slope below the threshold stays: near random play slopes are steeper than they would be."""
    shares = {10.0**k: 0.9 * 10 ** ((k - 3) * (power - 1)) for k in (3, 4)}
    row = row_of({**SLOPE, "expect": expect}, near_random(shares))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(power), verdict)
    note = "no value of 'horizon' has less than half of the regret of random arms"
    assert (note in row["note"]) == (verdict == "no evidence" and power > 0.9)


def test_two_values_far_from_random_play_are_enough() -> None:
    assert row_of(SLOPE, near_random({1000: 0.2, 10_000: 0.19}))["verdict"] == "fails"


def test_along_rounds_a_tuner_that_does_not_learn_replaces_random_play() -> None:
    """A's regret falls below half of B's at round 400; B's grows with the rounds."""
    learns = curve(0.5, 0.01)
    idle = learns.assign(method="B", mean=learns["round"] * 5.0 * 2 / 20)
    claim = {**ALONG_ROUNDS, "measured": {}, "per": ["method"], "only": {"method": "A"}, "against": {"method": "B"}}
    both = methods(A=NOISE, B=NOISE)
    row = row_of(claim, both, pd.concat([learns, idle]))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(0.5), "holds")
    assert "left out, as regret is near that of random play: round 100 to 400" in row["note"]
    row = row_of({**claim, "expect": "greater"}, both, pd.concat([learns.assign(mean=idle["mean"]), idle]))
    assert row["note"].startswith("no value of 'round' has less than half of the regret of B")
    assert row["verdict"] == "no evidence"
    complaint = "'against' goes with axis: round"
    with pytest.raises(ConfigError, match=complaint):
        row_of({**SLOPE, "against": {"horizon": "10"}}, near_random({10: 0.1, 100: 0.1}))
