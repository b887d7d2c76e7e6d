"""TL, TL-Combined and Syndicated against EXP3 written down slowly, in decimal arithmetic, from the paper's formulas."""

import itertools
import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

import numpy as np
import pytest
from scipy.stats import chisquare

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.exponential_weights import ExponentialWeights
from bench.tuners.syndicated import Syndicated
from bench.tuners.tl import TL
from bench.tuners.tl_combined import TLCombined

RATES = (0.0, 0.01, 0.1, 1.0, 10.0)
RIDGES = (0.01, 0.1, 1.0)
SPACE = Space.of(exploration_rate=RATES, ridge=RIDGES)


EXACT = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN)


class SlowExp3:
    """The weights themselves: decimal numbers have room for exp of a billion, so nothing needs a logarithm."""

    def __init__(self, n, horizon):
        self.n = n
        self.beta = Decimal(min(1.0, math.sqrt(n * math.log(n) / ((math.e - 1.0) * horizon))))
        self.weights = [Decimal(1)] * n

    def probabilities(self):
        total = sum(self.weights)
        return [self.beta / self.n + (1 - self.beta) * w / total for w in self.weights]

    def learn(self, chosen, reward):
        self.weights[chosen] *= (self.beta / self.n * Decimal(reward) / self.probabilities()[chosen]).exp()


@pytest.mark.parametrize(
    ("n", "horizon", "expected"),
    [
        (5, 10_000, 0.0216409),  # sqrt(5 * 1.6094379 / 17182.818)
        (15, 10_000, 0.0486213),  # sqrt(15 * 2.7080502 / 17182.818)
        (15, 3, 1.0),
        (1, 10, 0.0),
    ],
)
def test_beta(n, horizon, expected):
    assert ExponentialWeights(n, horizon, np.random.default_rng()).beta == pytest.approx(expected, abs=1e-7)


def usual_rewards(rng, t, index):
    """Rewards around a mean that differs between candidates, some far outside [0, 1]."""
    if t % 50 == 7:
        return float(rng.choice([-20.0, -3.0, 4.0, 30.0]))
    return float(rng.normal(0.3 + 0.05 * index, 0.5))


def huge_rewards(rng, t, index):
    return float(rng.choice([1e6, -1e6, 0.5]))


def one_sided_rewards(rng, t, index):
    """Candidates that earn a million each time: the weights reach exp of a billion."""
    return 1e6 if index % 2 else 0.0


def rank(configuration):
    return RATES.index(configuration["exploration_rate"]) + RIDGES.index(configuration.get("ridge", 0.01))


def follow(tuner, horizon, rewards, layers, problem=None):
    """Yield each round's probabilities: the tuner's and those of slow layers fed with the same choices and rewards.

    ``layers``: by name, the slow layer and the number of the candidate in a configuration.
    """
    rng = np.random.default_rng(3)
    tuner.start(problem or Problem(SPACE, horizon), Seeds(2).child("tuner"))
    with localcontext(EXACT):
        for t in range(horizon):
            configuration = tuner.ask()
            ours = tuner.probabilities()
            assert set(ours) == set(layers)
            for name, (layer, number) in layers.items():
                yield ours[name].copy(), np.array(layer.probabilities(), dtype=float), number(configuration)
            reward = rewards(rng, t, rank(configuration))
            tuner.tell(reward)
            for layer, number in layers.values():
                layer.learn(number(configuration), reward)


def tl_layers(horizon):
    return {"configuration": (SlowExp3(5, horizon), lambda c: RATES.index(c["exploration_rate"]))}


def combined_layers(horizon):
    every = list(itertools.product(RATES, RIDGES))
    return {"configuration": (SlowExp3(15, horizon), lambda c: every.index((c["exploration_rate"], c["ridge"])))}


def syndicated_layers(horizon):
    return {
        "exploration_rate": (SlowExp3(5, horizon), lambda c: RATES.index(c["exploration_rate"])),
        "ridge": (SlowExp3(3, horizon), lambda c: RIDGES.index(c["ridge"])),
    }


TUNERS = [(TL, tl_layers), (TLCombined, combined_layers), (Syndicated, syndicated_layers)]


@pytest.mark.parametrize(
    ("rewards", "tolerance"), [(usual_rewards, 1e-11), (huge_rewards, 1e-8), (one_sided_rewards, 1e-8)]
)
@pytest.mark.parametrize(("kind", "layers"), TUNERS)
def test_distribution_of_every_round(kind, layers, rewards, tolerance):
    horizon = 2_000
    seen, moved = set(), 0.0
    for ours, slow, number in follow(kind(), horizon, rewards, layers(horizon)):
        np.testing.assert_allclose(ours, slow, rtol=0, atol=tolerance)
        assert ours[number] > 0
        seen.add(number)
        moved = max(moved, float(np.ptp(slow)))
    assert moved > 0.2
    assert len(seen) >= 3


@pytest.mark.parametrize(("kind", "layers"), TUNERS)
def test_horizon_in_asks_or_in_rounds(kind, layers):
    """Where a decision covers 25 rounds, T is the number of asks, or that of rounds as in the authors' code."""
    problem = Problem(SPACE, 40, rounds=1_000, rounds_per_ask=25)
    for unit, horizon in (("asks", 40), ("rounds", 1_000)):
        for ours, slow, _ in follow(kind(horizon_unit=unit), 40, usual_rewards, layers(horizon), problem):
            np.testing.assert_allclose(ours, slow, rtol=0, atol=1e-12)
    assert kind().horizon_unit == "asks"


@pytest.mark.parametrize(("kind", "layers"), TUNERS)
def test_probabilities_are_those_of_the_next_ask(kind, layers):
    """Also between ``tell`` and ``ask``: a distribution that is read there must contain the reward just told."""
    tuner, slow = kind(), layers(100)
    tuner.start(Problem(SPACE, 100), Seeds(2))
    for _ in range(5):
        configuration = tuner.ask()
        tuner.tell(1.0)
        for name, (layer, number) in slow.items():
            layer.learn(number(configuration), 1.0)
            expected = np.array(layer.probabilities(), dtype=float)
            np.testing.assert_allclose(tuner.probabilities()[name], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("kind", "layers"), TUNERS)
def test_draws_are_as_frequent_as_their_probabilities(kind, layers):
    tuner = kind()
    slow = layers(400)
    rounds = list(follow(tuner, 400, usual_rewards, slow))
    assert len(rounds) == 400 * len(slow)
    n_draws = 20_000
    counts = {name: np.zeros(layer.n) for name, (layer, _) in slow.items()}
    joint = np.zeros((5, 3))
    for _ in range(n_draws):
        configuration = tuner.ask()
        for name, (_, number) in slow.items():
            counts[name][number(configuration)] += 1
        if kind is Syndicated:
            joint[RATES.index(configuration["exploration_rate"]), RIDGES.index(configuration["ridge"])] += 1
    chances = {name: np.array(layer.probabilities(), dtype=float) for name, (layer, _) in slow.items()}
    for name, count in counts.items():
        assert np.ptp(chances[name]) > 0.02
        assert chisquare(count, n_draws * chances[name] / chances[name].sum()).pvalue > 1e-3
    if kind is Syndicated:  # the layers draw independently of each other
        expected = n_draws * np.outer(chances["exploration_rate"], chances["ridge"])
        assert chisquare(joint.ravel(), (expected * n_draws / expected.sum()).ravel()).pvalue > 1e-3
