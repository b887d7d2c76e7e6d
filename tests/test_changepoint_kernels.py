"""The robust belief of changepoint GP against a slow reading of its mathematics, and its purpose."""

import math

import numpy as np
import pytest
from scipy.stats import median_abs_deviation
from scipy.stats import t as student

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.changepoint_belief import ChangepointBelief
from bench.tuners.changepoint_gp import ChangepointGP

NOISE = 0.7


def prior_of(n, signal, length=0.3):
    x = np.linspace(0, 1, n)
    distance = math.sqrt(3) * abs(x[:, None] - x) / length
    return signal * (1 + (1 + distance) * np.exp(-distance))


class Hypothesis:
    """All values since a round, each with a noise variance of its own; the posterior is solved anew, densely."""

    def __init__(self, prior, level, weight):
        self.prior, self.level, self.weight = prior, level, weight
        self.places, self.values, self.noises = [], [], []

    def posterior(self):
        cross = self.prior[:, self.places]
        gain = np.linalg.solve(self.prior[np.ix_(self.places, self.places)] + np.diag(self.noises), cross.T).T
        return self.level + gain @ (np.array(self.values) - self.level), self.prior - gain @ cross.T

    def observe(self, place, value, variance, freedom):
        """Return e^2 / v."""
        mean, covariance = self.posterior()
        error, spread = value - mean[place], covariance[place, place] + 1
        deviations = error / math.sqrt(spread * variance)
        scale, noise = math.sqrt(spread * variance), 1.0
        if abs(deviations) > 4:
            scale, noise = abs(error) / 4, error**2 / (16 * variance) - covariance[place, place]
        self.weight *= student.pdf(error / scale, freedom) / scale
        self.places.append(place)
        self.values.append(value)
        self.noises.append(noise)
        return error**2 / spread


class Slow:
    """The robust belief of one prior, in which nothing is merged."""

    def __init__(self, prior, signal, chance):
        self.prior, self.chance, self.shrink = prior, chance, 1.3 / (1 + signal)
        self.hypotheses, self.first, self.freedom = [], [], 4

    def learn(self, place, value):
        if not self.hypotheses:
            self.first.append((place, value))
            if len(self.first) == 8:
                values = np.array([value for _, value in self.first])
                reach = 4 * median_abs_deviation(values) * 1.4826
                values = np.clip(values, np.median(values) - reach, np.median(values) + reach)
                self.mean, self.rounds, self.variance = values.mean(), 8, np.var(values, ddof=1) * self.shrink
                self.hypotheses = [Hypothesis(self.prior, self.mean, 1.0)]
                for one in self.first:
                    self.observe(*one)
            return
        self.rounds += 1
        reach = 4 * math.sqrt((self.prior[place, place] + 1) * self.variance)
        self.mean += np.clip(value - self.mean, -reach, reach) / self.rounds
        self.observe(place, value)
        if self.rounds % 8 == 0:
            for h in self.hypotheses:
                h.weight *= 1 - self.chance
            self.hypotheses.append(Hypothesis(self.prior, self.mean, self.chance))

    def observe(self, place, value):
        likeliest = max(self.hypotheses, key=lambda h: h.weight)
        squares = {h: h.observe(place, value, self.variance, self.freedom) for h in self.hypotheses}
        square = min(squares[likeliest], max(16, self.freedom + 1) * self.variance)
        self.variance += (square - self.variance) / (self.freedom + 1)
        self.freedom = min(self.freedom + 1, 300)
        total = sum(h.weight for h in self.hypotheses)
        for h in self.hypotheses:
            h.weight /= total


def outlying(rng, t):
    """Normal noise with one value in ten far off, and the third one certainly."""
    return NOISE * rng.normal() * (200 if t == 2 or rng.random() < 0.1 else 1)


@pytest.mark.parametrize(("rounds", "births"), [(100, 1 / 80), (400, 0.0)])
def test_robust_belief_equals_a_dense_solution(rounds, births):
    """400 rounds are more than the noise variance remembers."""
    prior, rng = prior_of(5, 3.0), np.random.default_rng(4)
    fast = ChangepointBelief(prior[None], [3.0], np.zeros(1), 8, 20, 8, robust=True)
    slow = Slow(prior, 3.0, 8 * births)
    level = rng.normal(size=5)
    for t in range(rounds):
        place = int(rng.integers(5))
        value = 5 + level[place] + outlying(rng, t)
        fast.learn(place, value, births)
        if births or t < 8 or not slow.hypotheses:
            slow.learn(place, value)
        else:
            slow.rounds += 1
            slow.observe(place, value)
    assert fast.noise_variance == pytest.approx(slow.variance, rel=1e-8)
    n = fast.n_hypotheses
    assert n == len(slow.hypotheses)
    for h, slow_one in enumerate(slow.hypotheses):
        mean, covariance = slow_one.posterior()
        np.testing.assert_allclose(fast.arrays.means[0, h], mean, atol=1e-7)
        np.testing.assert_allclose(fast.arrays.covariances[0, h], covariance, atol=1e-7)
    logs = fast.arrays.log_weights[0, :n]
    weights = np.array([h.weight for h in slow.hypotheses])
    np.testing.assert_allclose(np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum(), weights / weights.sum())


def regret_after(robust, seed, noises, start=0):
    """Regret from a round on, relative to that of random configurations, on a peak that stands still."""
    tuner = ChangepointGP(robust=robust)
    tuner.start(Problem(Space.of(x={"low": 0.0, "high": 1.0}), 10_000), Seeds(seed))
    losses = []
    for noise in noises:
        losses.append(abs(tuner.ask()["x"] - 0.3))
        tuner.tell(-losses[-1] + 0.2 * float(noise))
    return np.mean(losses[start:]) / 0.29


@pytest.mark.parametrize("deviations", [50, 500, 5_000, -5_000])
def test_one_outlier_costs_a_robust_tuner_little(deviations):
    shares = []
    for seed in range(4):
        noises = np.random.default_rng(seed).normal(size=1_500)
        noises[1_000] += deviations
        shares.append(regret_after(True, seed, noises, 1_001))
    assert np.mean(shares) < 0.2


def test_noise_that_rises_is_no_change():
    """Ten times the noise after the first thousand rounds: a tuner that expects the old noise finds changes in it."""
    plain, robust = [], []
    for seed in range(6):
        noises = np.random.default_rng(seed).normal(size=2_000) * np.repeat([0.5, 5.0], 1_000)
        plain.append(regret_after(False, seed, noises, 1_000))
        robust.append(regret_after(True, seed, noises, 1_000))
    assert np.mean(robust) < 0.7 * np.mean(plain)


@pytest.mark.parametrize("far", [1e30, 1e99, 1e150])
def test_no_reward_however_far_off_makes_a_robust_belief_void(far):
    belief = ChangepointBelief(np.array([prior_of(4, 0.3), prior_of(4, 30.0)]), (0.3, 30.0), np.zeros(2), 8, 6, 8, True)
    rng = np.random.default_rng(0)
    for t in range(600):
        exact = float(t % 4)  # so that the estimate of the noise variance falls as far as it can
        belief.learn(t % 4, far * float(rng.choice([-1, 1])) if t > 200 and t % 50 == 0 else exact, 0.001)
    belief.check(4)
    n = belief.n_hypotheses
    likeliest = belief.arrays.means[belief.left, :n].reshape(-1, 4)[belief.arrays.log_weights[belief.left, :n].argmax()]
    np.testing.assert_allclose(likeliest, [0, 1, 2, 3], atol=0.2)
