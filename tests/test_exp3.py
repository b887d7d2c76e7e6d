"""EXP3 in both forms against hand computations and the formulas in decimal arithmetic."""

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

import numpy as np
import pytest

from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.exp3 import EXP3
from bench.tuners.softmax import Softmax

EXACT = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN)


def started(tuner, n_arms, horizon=1_000, seed=0):
    tuner.start(Problem(Space.of(arm=range(n_arms)), horizon), Seeds(seed))
    return tuner


class Preset:
    """A source of uniform numbers that are known beforehand."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def random(self):
        return self.numbers.pop(0)


def chances(tuner):
    return tuner.probabilities()["configuration"]


def slow_reward(rounds, eta):
    """Yield the probabilities of the reward form; send the arm and its reward."""
    estimates = [Decimal(0)] * 5
    for t in range(1, rounds + 1):
        rate = Decimal(math.sqrt(math.log(5) / (5 * t)) if eta is None else eta)
        powers = [(rate * s).exp() for s in estimates]
        p = [power / sum(powers) for power in powers]
        arm, reward = yield p
        estimates = [s + 1 for s in estimates]
        estimates[arm] -= (1 - Decimal(reward)) / p[arm]
        yield None


def slow_weight(rounds, gamma):
    """Yield the probabilities of the weight form; send the arm and its reward."""
    default = min(1.0, math.sqrt(5 * math.log(5) / ((math.e - 1) * rounds)))
    mixed = Decimal(default if gamma is None else gamma)
    weights = [Decimal(1)] * 5
    for _ in range(rounds):
        p = [(1 - mixed) * w / sum(weights) + mixed / 5 for w in weights]
        arm, reward = yield p
        weights[arm] *= (mixed * Decimal(reward) / (5 * p[arm])).exp()
        yield None


@pytest.mark.parametrize("out_of_range", [False, True])
@pytest.mark.parametrize(
    ("settings", "slow"),
    [
        ({}, lambda rounds: slow_reward(rounds, None)),
        ({"eta": 0.05}, lambda rounds: slow_reward(rounds, 0.05)),
        ({"form": "weight"}, lambda rounds: slow_weight(rounds, None)),
        ({"form": "weight", "gamma": 0.2}, lambda rounds: slow_weight(rounds, 0.2)),
    ],
)
def test_probabilities_of_every_round(settings, slow, out_of_range):
    rounds = 600
    tuner = started(EXP3(**settings), 5, rounds)
    rng = np.random.default_rng(1)
    moved = 0.0
    with localcontext(EXACT):
        direct = slow(rounds)
        expected = next(direct)
        for t in range(rounds):
            np.testing.assert_allclose(chances(tuner), np.array(expected, dtype=float), rtol=0, atol=1e-9)
            moved = max(moved, float(max(expected) - min(expected)))
            arm = tuner.ask()["arm"]
            reward = float(rng.random() < 0.3 + 0.1 * arm)
            if out_of_range and t % 20 == 7:
                reward = float(rng.choice([-3.0, 4.0]))
            tuner.tell(reward)
            direct.send((arm, reward))
            if t < rounds - 1:
                expected = next(direct)
    assert moved > 0.1


def test_a_chance_that_would_vanish_stays_positive_and_is_never_drawn():
    rng = np.random.default_rng(2)
    softmax = Softmax(4, rng)
    softmax.scores[:] = [-1e9, 0.0, -1e250, -700.5]
    p = softmax.probabilities(1.0)
    assert (p > 0).all()
    assert p[1] == 1.0
    assert {softmax.draw(1.0) for _ in range(5_000)} == {1}
    for number in (0.0, 0.5, np.nextafter(1.0, 0.0)):
        softmax._rng = Preset(number)
        assert softmax.draw(1.0) == 1


def test_a_draw_inverts_the_distribution_function():
    """Chances 0.2, 0.3, 0.5: numbers up to 0.2 draw the first, and so on; u stands for 1 - u."""
    softmax = Softmax(3, Preset(0.99, 0.81, 0.79, 0.51, 0.49, 0.0))
    softmax.scores[:] = np.log([0.2, 0.3, 0.5])
    assert [softmax.draw(1.0) for _ in range(6)] == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(softmax.drawn_from, [0.2, 0.3, 0.5], atol=1e-15)
    np.testing.assert_allclose(softmax.probabilities(2.0), np.array([4, 9, 25]) / 38, atol=1e-15)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gamma": 0.1}, r"EXP3\.gamma: found 0.1 with form: reward, expected null"),
        ({"form": "weight", "eta": 0.1}, r"EXP3\.eta: found 0.1 with form: weight, expected null"),
        ({"form": "weight", "gamma": 1.5}, r"EXP3\.gamma: found 1.5"),
        ({"eta": 0.0}, r"EXP3\.eta: found 0.0"),
        ({"form": "loss"}, r"EXP3\.form: found 'loss'"),
    ],
)
def test_bad_settings_are_one_sentence(settings, message):
    with pytest.raises(ConfigError, match=message) as caught:
        EXP3(**settings)
    assert "\n" not in str(caught.value)
