"""OP against the exact probabilities of each candidate, and the definition of success."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, chisquare

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.op import OP

CANDIDATES = (0.0, 0.1, 1.0, 10.0)


def started(per_ask=1, **settings):
    tuner = OP(**settings)
    tuner.start(Problem(Space.of(alpha=CANDIDATES, ridge=[1.0, 2.0]), 2_000, rounds_per_ask=per_ask), Seeds(3))
    return tuner


def chances(successes, failures):
    """Integrate the density of each candidate being the largest of independent Beta draws."""

    def density(x, i):
        others = [beta.cdf(x, 1 + successes[j], 1 + failures[j]) for j in range(4) if j != i]
        return beta.pdf(x, 1 + successes[i], 1 + failures[i]) * np.prod(others)

    return np.array([quad(density, 0, 1, args=(i,), epsabs=1e-10, limit=200)[0] for i in range(4)])


def play(tuner, rounds, reward):
    """Return the number of plays of each candidate."""
    counts = np.zeros(4)
    for t in range(rounds):
        (value,) = tuner.ask().values()
        chosen = CANDIDATES.index(value)
        counts[chosen] += 1
        tuner.tell(reward(t, chosen))
    return counts


def test_choices_are_as_frequent_as_the_posterior_says():
    """Rewards beyond [0, 1] are clipped. Asked again and again without an answer, the posterior stays unchanged."""
    tuner, successes, failures = started(), np.zeros(4), np.zeros(4)

    def reward(t, chosen):
        success = (t * 7 + chosen) % 3 != 0
        (successes if success else failures)[chosen] += 1
        return (1.0 if t % 2 else 1e6) if success else (0.0 if t % 2 else -0.2)

    play(tuner, 25, reward)
    exact = chances(successes, failures)
    assert exact.sum() == pytest.approx(1.0, abs=1e-8)
    assert np.ptp(exact) > 0.05
    counts = np.bincount([CANDIDATES.index(tuner.ask()["alpha"]) for _ in range(20_000)], minlength=4)
    assert chisquare(counts, 20_000 * exact / exact.sum()).pvalue > 1e-3


@pytest.mark.parametrize(("settings", "share"), [({}, 0.02), ({"reward": "sum"}, 1.0)])
def test_a_mean_or_a_sum_of_rewards_is_the_chance_of_a_success(settings, share):
    """Each decision has 50 rounds with a mean reward of 0.02, so their sum is 1."""
    tuner = started(50, **settings)
    counts = play(tuner, 2_000, lambda t, chosen: 0.02)
    assert (tuner._success - 1).sum() == pytest.approx(
        2_000 * share, abs=4 * 2_000 * np.sqrt(share * (1 - share) / 2_000)
    )
    assert (tuner._success + tuner._failure).tolist() == (counts + 2).tolist()
