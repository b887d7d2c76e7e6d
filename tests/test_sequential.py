"""Looking again and again: how often a claim is decided wrongly."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import special

from bench.critical import fixed, sequential

LOOKS = np.arange(10, 401, 10)
RUNS = 1000

Array = npt.NDArray[np.float64]


def commits(rng: np.random.Generator, size: tuple[int, int]) -> Array:
    """Regret of a tuner that stays with a wrong arm in one run of ten."""
    return 10 * (rng.random(size) < 0.1) + rng.normal(size=size)


# Paired differences of sides with equal means; but for the last both sides have the same law.
LAWS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "Student's t, 3 degrees of freedom": lambda rng, size: rng.standard_t(3, size=size),
    "log-normal, sigma 1.5": lambda rng, size: rng.lognormal(0, 1.5, size) - rng.lognormal(0, 1.5, size),
    "Pareto, index 2.5": lambda rng, size: rng.pareto(2.5, size) - rng.pareto(2.5, size),
    "wrong arm in 10 %": lambda rng, size: commits(rng, size) - commits(rng, size),
    "exponential minus normal": lambda rng, size: rng.exponential(size=size) - rng.normal(1, 1, size=size),
}


def ever_decided(values: Array, rule: object) -> float:
    """Return the share of runs in which an interval excludes 0 at any look; `values` is (runs, repetitions)."""
    sums, squares = np.cumsum(values, axis=1)[:, LOOKS - 1], np.cumsum(values**2, axis=1)[:, LOOKS - 1]
    deviations = np.sqrt(np.maximum(squares - sums**2 / LOOKS, 0) / (LOOKS - 1))
    reach = np.array([rule(int(n), 0.025) for n in LOOKS])  # type: ignore[operator]
    return float((np.abs(sums) > reach * deviations * np.sqrt(LOOKS)).any(axis=1).mean())


@pytest.mark.parametrize("law", LAWS)
def test_under_equality_at_most_5_percent_are_ever_decided(law: str) -> None:
    share = ever_decided(LAWS[law](np.random.default_rng(1), (RUNS, 400)), sequential)
    assert share <= 0.05


def test_a_fixed_sample_interval_does_not_survive_looking() -> None:
    assert ever_decided(LAWS["normal"](np.random.default_rng(1), (RUNS, 400)), fixed) > 0.2


def test_a_single_look_before_the_sequence_adds_its_error() -> None:
    """The rules in docs/verdicts.md, at 20, 40, ..., 200: 0.9, 5.4 and 5.2 % there; Pocock's constant is 2.555."""
    looks = np.arange(20, 201, 20)
    values = np.random.default_rng(1).normal(size=(4000, 200))
    sums, squares = np.cumsum(values, axis=1)[:, looks - 1], np.cumsum(values**2, axis=1)[:, looks - 1]
    errors = np.sqrt((squares - sums**2 / looks) / (looks - 1) * looks)
    sequence = np.array([sequential(int(n), 0.025) for n in looks])
    single_first = np.array([fixed(20, 0.025), *sequence[1:]])
    pocock = np.array([fixed(int(n), special.ndtr(-2.555)) for n in looks])
    shares = [(np.abs(sums) > reach * errors).any(axis=1).mean() for reach in (sequence, single_first, pocock)]
    np.testing.assert_allclose(shares, [0.009, 0.054, 0.052], atol=0.012)
    assert shares[1] > 3 * shares[0]


def test_the_sequence_decides_what_is_there() -> None:
    values = np.random.default_rng(2).normal(0.5, 1, (RUNS, 400))
    assert ever_decided(values, sequential) > 0.99


def test_critical_values_by_hand() -> None:
    """Student's from a table; of the sequence sqrt(2 (n r + 1) / (n r) ln(sqrt(n r + 1) / 0.05)), r = 8.7817 / 200."""
    assert fixed(5, 0.025) == pytest.approx(2.776445, abs=1e-6)
    assert fixed(21, 0.05) == pytest.approx(1.724718, abs=1e-6)
    log = -2 * math.log(0.05)
    for n, tolerance in ((1_000_000, 1e-4), (400, 0.03)):  # Student's quantile is larger than the normal one
        m = n * (log + math.log(log) + 1) / 200
        normal = math.sqrt(2 * (m + 1) / m * math.log(math.sqrt(m + 1) / 0.05))
        assert normal * (1 - 1e-9) <= sequential(n, 0.025) <= normal * (1 + tolerance)


@pytest.mark.parametrize("rule", [fixed, sequential])
def test_intervals_are_wider_for_smaller_errors_and_fewer_repetitions(rule: object) -> None:
    values = [rule(20, error) for error in (0.05, 0.025, 0.005, 1e-6)]  # type: ignore[operator]
    assert values == sorted(values)
    widths = [rule(n, 0.025) / math.sqrt(n) for n in (3, 5, 10, 50, 400, 10_000)]  # type: ignore[operator]
    assert widths == sorted(widths, reverse=True)
    assert all(sequential(n, 0.025) > fixed(n, 0.025) for n in (5, 50, 5000))
