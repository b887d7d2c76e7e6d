"""Changepoint GP against slow readings of its mathematics, scikit-learn's Gaussian process, and its limits."""

import math

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem
from bench.tuners.changepoint_belief import ChangepointBelief
from bench.tuners.changepoint_gp import ChangepointGP
from bench.tuners.space_points import MAX_POINTS, points

INTERVAL = Space.of(x={"candidates": (0.1, 1.0, 2.0, 3.0, 4.0, 5.0), "low": 0.1, "high": 5.0})


def begin(horizon=1_000, space=INTERVAL, seed=1, **settings):
    tuner = ChangepointGP(**settings)
    tuner.start(Problem(space, horizon), Seeds(seed))
    return tuner


def prior_of(n, signal=0.3, length=0.2):
    x = np.linspace(0, 1, n)
    distance = math.sqrt(3) * abs(x[:, None] - x) / length
    return signal * (1 + (1 + distance) * np.exp(-distance))


def stream(n_points, rounds, seed=0, change=None, noise=0.7):
    """Yield points and noisy values, whose expectation changes once."""
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n_points)
    for t in range(rounds):
        if t == change:
            level = rng.normal(size=n_points)
        place = int(rng.integers(n_points))
        yield place, float(5 + level[place] + noise * rng.normal())


class Slow:
    """The same recursion from all data: a belief is solved anew, densely, from the values since its birth.

    If ``kept`` is None, all hypotheses are kept. A merged hypothesis becomes its survivor. A hypothesis is its prior,
    the number of values before its birth, the prior mean and its weight.
    """

    def __init__(self, priors, signals, weights, kept, every, chance):
        self.priors = dict(enumerate(priors))
        self.signals, self.begin = signals, weights
        self.kept, self.every, self.chance = kept, every, chance
        self.data, self.births = [], []
        self.variances = {}
        self.freedom = 4

    def belief(self, birth):
        prior, since, level, _ = birth
        prior = self.priors[prior]
        places = [place for place, _ in self.data[since:]]
        values = np.array([value for _, value in self.data[since:]])
        if not places:
            return np.full(len(prior), level), prior
        cross = prior[:, places]
        gain = np.linalg.solve(prior[np.ix_(places, places)] + np.eye(len(places)), cross.T).T
        return level + gain @ (values - level), prior - gain @ cross.T

    def of(self, prior):
        return [birth for birth in self.births if birth[0] == prior]

    def observe(self, place, value):
        births, squares = [], {}
        for prior, variance in self.variances.items():
            likeliest = max(self.of(prior), key=lambda birth: birth[3])
            for birth in self.of(prior):
                means, covariance = self.belief(birth)
                scale = math.sqrt(variance * (covariance[place, place] + 1))
                births.append(
                    (*birth[:3], birth[3] * student.pdf((value - means[place]) / scale, self.freedom) / scale)
                )
                if birth == likeliest:
                    squares[prior] = (value - means[place]) ** 2 / (covariance[place, place] + 1)
        self.births = births
        self.data.append((place, value))
        for prior, square in squares.items():
            self.variances[prior] += (square - self.variances[prior]) / (self.freedom + 1)
        self.freedom += 1

    def learn(self, place, value):
        if not self.births:
            self.data.append((place, value))
            values = [v for _, v in self.data]
            if len(values) < 8 or len(set(values)) == 1:
                return
            data, self.data = self.data, []
            for j, signal in enumerate(self.signals):
                self.variances[j] = np.var(values, ddof=1) * 1.3 / (1 + signal)
                self.births.append((j, 0, np.mean(values), self.begin[j]))
            for one in data:
                self.observe(*one)
            return
        self.observe(place, value)
        if len(self.data) % self.every:
            return
        totals = {prior: sum(birth[3] for birth in self.of(prior)) for prior in self.variances}
        totals = {prior: total for prior, total in totals.items() if total >= max(totals.values()) * math.exp(-7)}
        self.variances = {prior: self.variances[prior] for prior in totals}
        births = []
        for prior, total in totals.items():
            group = [(*birth[:3], birth[3] / sum(totals.values())) for birth in self.of(prior)]
            if len(group) == self.kept:
                pairs = [group[h][3] + group[h + 1][3] for h in range(self.kept - 3)]
                h = int(np.argmin(pairs))
                better = max(group[h : h + 2], key=lambda birth: birth[3])
                group[h : h + 2] = [(*better[:3], pairs[h])]
            group = [(*birth[:3], birth[3] * (1 - self.chance)) for birth in group]
            level = np.mean([v for _, v in self.data])
            births += [*group, (prior, len(self.data), level, self.chance * total / sum(totals.values()))]
        self.births = births

    def weights(self):
        weights = np.array([birth[3] for birth in self.births])
        return weights / weights.sum()


def weights(belief):
    logs = belief.arrays.log_weights[belief.left, : belief.n_hypotheses].ravel()
    exponentials = np.exp(logs - logs.max())
    return exponentials / exponentials.sum()


def priors_of(n, signals=(0.3, 3.0, 30.0)):
    """Return the tuner's priors, smooth and unrelated, and their signals."""
    smooth = [prior_of(n, signal) for signal in signals]
    return np.array(smooth + [signal * (1 + np.eye(n)) for signal in signals]), (*signals, *signals)


@pytest.mark.parametrize(
    ("kept", "rounds", "noise", "left"), [(5, 120, 0.7, {0, 1, 4}), (16, 120, 0.7, {0, 1, 4}), (12, 120, 0.05, {2, 5})]
)
def test_belief_equals_a_dense_solution_for_every_hypothesis(kept, rounds, noise, left):
    """With at most 16 hypotheses, none of the 15 is ever merged: inference over them is exact."""
    priors, signals = priors_of(6)
    begin = [1, 1, 1, 0.05, 0.05, 0.05]
    fast = ChangepointBelief(priors, signals, np.log(begin), 8, kept, 8)
    slow = Slow(priors, signals, begin, kept, 8, 0.01)
    for place, value in stream(6, rounds, change=60, noise=noise):
        fast.learn(place, value, 0.01 / 8)
        slow.learn(place, value)
    assert fast.n_hypotheses == min(kept, rounds // 8)
    assert fast.left.tolist() == list(slow.variances)
    assert set(fast.left.tolist()) == left
    np.testing.assert_allclose(fast.arrays.variances[fast.left], list(slow.variances.values()), rtol=1e-9)
    np.testing.assert_allclose(weights(fast), slow.weights(), atol=1e-9)
    likeliest = max(slow.births, key=lambda birth: birth[3])[0]
    assert fast.noise_variance == pytest.approx(slow.variances[likeliest], rel=1e-9)
    for i, birth in enumerate(slow.births):
        mean, covariance = slow.belief(birth)
        np.testing.assert_allclose(fast.arrays.means[birth[0], i % fast.n_hypotheses], mean, atol=1e-7)
        np.testing.assert_allclose(fast.arrays.covariances[birth[0], i % fast.n_hypotheses], covariance, atol=1e-7)


def test_decisions_equal_a_slow_implementation():
    tuner = begin(horizon=300, points=7, hypotheses=6, residual=None)
    names = [c["x"] for c in tuner._configurations]
    _, correlations = points(INTERVAL, 7, 0.4, np.random.default_rng())
    signals, unit = (0.3, 3.0, 30.0), np.eye(len(names))
    smooth = [signal * (0.98 * correlations + 0.02 * unit + 1) for signal in signals]
    rough = [signal * (unit + 1) for signal in signals]
    slow = Slow([*smooth, *rough], signals * 2, [1, 1, 1, 0.05, 0.05, 0.05], 6, 8, 8 / 1000)
    rng = Seeds(1).generator("hypothesis")
    plan = rng.permutation(np.linspace(0, len(names) - 1, min(8, len(names))).round().astype(int))
    noise = np.random.default_rng(3)
    for t in range(130):
        if not slow.births:
            place = plan[t % len(plan)]
        else:
            birth = slow.births[int(np.searchsorted(np.cumsum(slow.weights()), rng.random()))]
            mean, covariance = slow.belief(birth)
            place = int(np.argmax(mean + 1.5 * np.sqrt(slow.variances[birth[0]] * np.diag(covariance))))
        assert tuner.ask()["x"] == names[place]
        peak = 1.0 if t < 100 else 4.0
        reward = -abs(names[place] - peak) + 0.5 * float(noise.normal())
        tuner.tell(reward)
        slow.learn(place, reward)


def test_without_change_it_is_gp_ucb_by_scikit_learn():
    """One hypothesis: the posterior is scikit-learn's, in units of the estimated noise variance."""
    tuner = begin(changes=0, residual=None, signals=(0.3,), unrelated=0, rough=0, beta=2.0)
    names = np.array([c["x"] for c in tuner._configurations])
    rng = np.random.default_rng(2)
    told = []
    for _ in range(120):
        x = tuner.ask()["x"]
        told.append((x, math.sin(x) + 0.3 * rng.normal()))
        tuner.tell(told[-1][1])
    belief = tuner._by_rewards
    assert belief.n_hypotheses == len(belief.left) == 1
    kernel = ConstantKernel(0.3) * (Matern(length_scale=0.4 * 4.9, nu=1.5) + ConstantKernel(1.0))
    process = GaussianProcessRegressor(kernel, alpha=1.0, optimizer=None)
    x, y = np.array(told).T
    center = y[:8].mean()
    mean, deviation = process.fit(x[:, None], y - center).predict(names[:, None], return_std=True)
    np.testing.assert_allclose(belief.arrays.means[0, 0], center + mean, atol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(belief.arrays.covariances[0, 0])), deviation, atol=1e-9)
    bounds = center + mean + 2.0 * math.sqrt(belief.noise_variance) * deviation
    assert tuner.ask()["x"] == names[np.argmax(bounds)]


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1e-9, 0.0), (1e6, -3e6), (0.5, 1e3)])
def test_scale_and_sign_of_rewards_do_not_matter(scale, shift):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400)
    tuners = [begin(residual=None), begin(residual=None)]
    for t in range(400):
        asked = [tuner.ask()["x"] for tuner in tuners]
        assert asked[0] == asked[1]
        reward = -abs(asked[0] - (1.0 if t < 200 else 4.0)) + noise[t]
        tuners[0].tell(reward)
        tuners[1].tell(shift + scale * reward)


def test_equal_rewards_are_waited_through():
    tuner = begin(residual=None)
    asked = []
    for _ in range(5_000):
        asked.append(tuner.ask()["x"])
        tuner.tell(-2.0)
    assert asked[:8] * 625 == asked
    assert len(set(asked)) == 8
    tuner.ask()
    tuner.tell(1.0)
    assert tuner._by_rewards.arrays.scalars[0] == 1_001


@pytest.mark.parametrize(("horizon", "tried"), [(10, 3), (79, 3), (100, 5), (160, 8), (10_000, 8)])
def test_the_start_takes_at_most_a_twentieth_of_the_horizon_but_three_points(horizon, tried):
    tuner = begin(horizon=horizon, residual=None)
    asked = []
    for _ in range(tried):
        assert not tuner._by_rewards.n_hypotheses
        asked.append(tuner.ask()["x"])
        tuner.tell(-asked[-1])
    assert tuner._by_rewards.n_hypotheses == 1
    assert len(set(asked)) == tried
    assert {min(asked), max(asked)} == {0.1, 5.0}


# points


def test_points_are_candidates_and_even_steps():
    found, correlations = points(INTERVAL, 3, 0.4, np.random.default_rng(0))
    assert [c["x"] for c in found] == [0.1, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert correlations.shape == (6, 6)
    found, correlations = points(Space.of(x={"low": 0.01, "high": 1.0, "log": True}), 3, 0.4, np.random.default_rng(0))
    np.testing.assert_allclose([c["x"] for c in found], [0.01, 0.1, 1.0])
    s = math.sqrt(3) * 0.5 / 0.4
    assert correlations[0, 1] == pytest.approx((1 + s) * math.exp(-s))


def test_points_of_a_power_scale_are_even_on_it():
    """Of x = u^3, the candidate 1 / 8 is the middle, and as far from 0 as from 1."""
    space = Space.of(x={"candidates": [0.125], "low": 0.0, "high": 1.0, "power": 3.0})
    found, correlations = points(space, 5, 0.4, np.random.default_rng(0))
    np.testing.assert_allclose([c["x"] for c in found], [0.0, 0.25**3, 0.125, 0.75**3, 1.0])
    _, even = points(Space.of(x={"low": 0.0, "high": 1.0}), 5, 0.4, np.random.default_rng(0))
    np.testing.assert_allclose(correlations, even)


def test_points_of_words_none_zero_on_a_log_scale_and_whole_numbers():
    space = Space.of(
        rate={"candidates": (0.0, 0.1, 1.0), "low": 0.01, "high": 1.0, "log": True},
        depth={"candidates": (None, 3, 9), "low": 2, "high": 10, "integer": True},
        kind=["a", "b"],
    )
    found, correlations = points(space, 20, 0.4, np.random.default_rng(0))
    depths = {c["depth"] for c in found}
    assert {c["rate"] for c in found} == {0.0, 0.1, 1.0}
    assert {None, 3, 9} < depths
    assert all(isinstance(depth, int) for depth in depths - {None})
    index = {tuple(c.values()): i for i, c in enumerate(found)}
    assert len(index) == len(found) == len(depths) * 6
    assert correlations[index[0.1, 3, "a"], index[0.1, 3, "b"]] == 0
    assert correlations[index[0.1, None, "a"], index[0.1, 3, "a"]] == 0
    assert (
        0 < correlations[index[0.0, 9, "a"], index[0.1, 9, "a"]] < correlations[index[0.1, 9, "a"], index[1.0, 9, "a"]]
    )
    np.testing.assert_allclose(np.diag(correlations), 1)
    assert np.linalg.eigvalsh(correlations).min() > -1e-12


def test_many_hyper_parameters_get_points_spread_evenly_over_each():
    space = Space.of(**{f"x{i}": {"low": 0.0, "high": 1.0} for i in range(12)}, word=["a", "b", "c", "d"])
    found, correlations = points(space, 20, 0.4, np.random.default_rng(0))
    assert len(found) == MAX_POINTS == len({tuple(c.values()) for c in found})
    assert [sum(c["word"] == word for c in found) for word in "abcd"] == [32] * 4
    assert np.linalg.eigvalsh(correlations).min() > -1e-12
    tuner = begin(space=space, horizon=50)
    for _ in range(50):
        assert set(tuner.ask()) == set(space.names)
        tuner.tell(0.5)


# what the algorithm's estimate expects


def drive_with_model(tuner, rounds, informative, seed=0):
    """A linear peak at x = 3 under heavy noise; the model knows it, or is wrong."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        x = tuner.ask()["x"]
        context = float(rng.normal())
        gap = abs(x - 3.0) * 0.1
        reward = context - gap + float(rng.normal())
        mean = context - gap if informative else float(rng.normal())
        values = {"model_mean": mean, "model_regret": gap if informative else abs(x - 0.1) * 0.1}
        tuner.tell(reward, Outcome(reward, values))
    return tuner


def trust(tuner):
    """The probability that the algorithm's estimate predicts rewards better than the belief from rewards."""
    return 1.0 / (1.0 + math.exp(-tuner._log_odds))


def test_an_estimate_that_predicts_rewards_is_trusted_and_another_is_not():
    good, bad = drive_with_model(begin(), 800, True), drive_with_model(begin(), 800, False)
    assert trust(good) > 0.99
    assert trust(bad) < 0.01
    assert abs(good.ask()["x"] - 3.0) < 0.3


def test_trust_is_the_posterior_of_two_forecasters():
    tuner = begin(doubt=0.0, horizon=500)
    belief, rng, chance, odds = tuner._by_rewards, np.random.default_rng(0), 0.001, 0.9
    for t in range(300):
        tuner.ask()
        reward, mean = float(rng.normal()), float(rng.normal() * 0.5)
        forecast = reward  # before there is a belief its forecast counts as right
        if n := belief.n_hypotheses:
            prior, h = np.unravel_index(belief.arrays.log_weights[belief.left, :n].argmax(), (len(belief.left), n))
            forecast = belief.arrays.means[belief.left[prior], h, tuner._chosen]
        tuner.tell(reward, Outcome(reward, {"model_mean": mean, "model_regret": 0.1 + 0.01 * rng.random()}))
        if belief.n_hypotheses:
            deviation = math.sqrt(belief.noise_variance)
            first, second = (math.exp(-0.5 * ((reward - said) / deviation) ** 2) for said in (forecast, mean))
            odds = odds * second / (odds * second + (1 - odds) * first)
            odds = odds * (1 - chance) + (1 - odds) * chance
            assert trust(tuner) == pytest.approx(odds, rel=1e-9), t


def test_without_residual_or_estimates_only_rewards_count():
    tuners = [begin(residual=None), begin(residual=None), begin()]
    assert [tuner.wish.estimates for tuner in tuners] == [False, False, True]
    rng = np.random.default_rng(0)
    for _ in range(200):
        (x,) = {tuner.ask()["x"] for tuner in tuners}
        reward = float(rng.normal(x))
        for tuner, values in zip(tuners, ({}, {"model_mean": x, "model_regret": 1.0}, {}), strict=True):
            tuner.tell(reward, Outcome(reward, values))


# cost


@pytest.mark.parametrize("rounds", [100_000, pytest.param(1_000_000, marks=pytest.mark.release)])
def test_covariances_stay_positive_over_many_rounds(rounds):
    """Rounding in all updates of one belief without change does not make a variance negative or wrong."""
    belief = ChangepointBelief(prior_of(20)[None], [0.3], [0.0], 8, 4, 8)
    rng = np.random.default_rng(0)
    places = rng.integers(20, size=rounds).tolist()
    values = rng.normal(size=rounds).tolist()
    for place, value in zip(places, values, strict=True):
        belief.learn(place, value, 0.0)
    counts = np.bincount(places, minlength=20)
    exact = np.linalg.inv(np.linalg.inv(prior_of(20)) + np.diag(counts))
    np.testing.assert_allclose(belief.arrays.covariances[0, 0], exact, atol=1e-4 / counts.min())
    assert belief.noise_variance == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize(
    ("deviations", "least", "most"), [(0, 0.0, 0.3), (50, 0.0, 0.3), (500, 0.4, 1.2), (5_000, 0.7, 1.2)]
)
def test_one_outlier_costs_as_much_as_documented(deviations, least, most):
    """Regret in the thousand rounds after one reward that far off, relative to random configurations."""
    shares = []
    for seed in range(4):
        tuner, rng = begin(10_000, Space.of(x={"low": 0.0, "high": 1.0}), seed), np.random.default_rng(seed)
        losses = []
        for i in range(2_000):
            losses.append(abs(tuner.ask()["x"] - 0.3))
            tuner.tell(-losses[-1] + 0.2 * (rng.normal() + (deviations if i == 1_000 else 0)))
        shares.append(np.mean(losses[1_001:]) / 0.29)
    assert least <= np.mean(shares) <= most
