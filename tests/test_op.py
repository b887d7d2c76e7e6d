"""OP against a slow Beta-Bernoulli Thompson sampling, and against the exact chances of each candidate."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, chisquare

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.op import OP

CANDIDATES = (0.0, 0.1, 1.0, 10.0)


class SlowOP:
    """Counts from nothing; every number is drawn by itself, in the order of the candidates."""

    def __init__(self, n, rng):
        self.rng = rng
        self.successes = [0] * n
        self.failures = [0] * n

    def ask(self):
        samples = [self.rng.beta(1 + s, 1 + f) for s, f in zip(self.successes, self.failures, strict=True)]
        self.chosen = max(range(len(samples)), key=lambda i: samples[i])
        return self.chosen

    def tell(self, reward):
        chance = 0.0 if reward < 0 else 1.0 if reward > 1 else reward
        if self.rng.random() < chance:
            self.successes[self.chosen] += 1
        else:
            self.failures[self.chosen] += 1


def started(seed=3):
    tuner = OP()
    tuner.start(Problem(Space.of(alpha=CANDIDATES, ridge=[1.0, 2.0]), 2_000), Seeds(seed).child("tuner"))
    return tuner


def chances(successes, failures):
    """Integrate the density of each candidate being the largest of independent Beta draws."""

    def density(x, i):
        others = [beta.cdf(x, 1 + successes[j], 1 + failures[j]) for j in range(len(successes)) if j != i]
        return beta.pdf(x, 1 + successes[i], 1 + failures[i]) * np.prod(others)

    return np.array([quad(density, 0, 1, args=(i,), epsabs=1e-10, limit=200)[0] for i in range(len(successes))])


def test_same_draws_give_the_same_choices_and_posteriors():
    """Through 2,000 rounds with rewards inside [0, 1], on its ends, and outside."""
    tuner, slow = started(), SlowOP(4, Seeds(3).child("tuner").generator("posterior"))
    rng = np.random.default_rng(0)
    for t in range(2_000):
        configuration = tuner.ask()
        chosen = slow.ask()
        assert configuration == {"alpha": CANDIDATES[chosen]}
        reward = float(rng.choice([-1e6, -0.2, 0.0, 1.0, 1.3, 1e6])) if t % 10 == 0 else rng.normal(0.2 * chosen, 0.4)
        tuner.tell(reward)
        slow.tell(reward)
    assert sum(count > 0 for count in slow.successes) > 2
    assert min(slow.failures) > 0
    assert sum(slow.successes) + sum(slow.failures) == 2_000


def test_choices_are_as_frequent_as_the_posterior_says():
    """Asked again and again without an answer, the posterior stays as it is."""
    tuner = started()
    successes, failures = [0] * 4, [0] * 4
    for t in range(25):
        chosen = CANDIDATES.index(tuner.ask()["alpha"])
        success = (t * 7 + chosen) % 3 != 0
        tuner.tell(float(success))
        (successes if success else failures)[chosen] += 1
    exact = chances(successes, failures)
    assert exact.sum() == pytest.approx(1.0, abs=1e-8)
    assert np.ptp(exact) > 0.05
    n_draws = 20_000
    counts = np.zeros(4)
    for _ in range(n_draws):
        counts[CANDIDATES.index(tuner.ask()["alpha"])] += 1
    assert chisquare(counts, n_draws * exact / exact.sum()).pvalue > 1e-3


def test_a_sum_of_rewards_is_clipped_as_in_the_authors_code():
    """Epochs of 50 rounds with a mean reward of 0.02 or more sum to 1 or more: always a success."""
    tuner = OP(reward="sum")
    tuner.start(Problem(Space.of(alpha=CANDIDATES), 200, rounds_per_ask=50), Seeds(3))
    for _ in range(200):
        tuner.ask()
        tuner.tell(0.02)
    assert tuner._success.sum() == 4 + 200
    other = started()
    for _ in range(200):
        other.ask()
        other.tell(0.02)
    assert other._success.sum() < 4 + 20
