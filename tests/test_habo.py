"""HABO."""

import itertools
import math

import numpy as np
import pytest

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.habo import HABO


def habo(space, incumbent=None, **settings):
    tuner = HABO(**settings)
    tuner.start(Problem(space, 100, incumbent=incumbent), Seeds(1))
    return tuner


def changed(before, after):
    return [name for name in before if before[name] != after[name]]


class ByHand:
    """The algorithm with weights as they are written, exact but for the exponential."""

    def __init__(self, space, divide, mix, keep_if_better, uniform, start, best):
        self.values = {name: [c[name] for c in space.restrict([name]).product()] for name in space.names}
        self.weights = dict.fromkeys(space.names, 1.0)
        self.sub = {name: [1.0] * len(values) for name, values in self.values.items()}
        self.divide, self.mix, self.keep_if_better, self.uniform = divide, mix, keep_if_better, uniform
        self.current, self.best = dict(start), best

    def p(self):
        k, total = len(self.weights), sum(self.weights.values())
        return {n: 1 / k if self.uniform else 0.9 * w / total + 0.1 / k for n, w in self.weights.items()}

    def q(self, name):
        n, total = len(self.sub[name]), sum(self.sub[name])
        return [0.9 * w / total + 0.1 / n if self.mix else w / total for w in self.sub[name]]

    def learn(self, name, value, reward):
        j = self.values[name].index(value)
        p, q = self.p()[name], self.q(name)[j]
        k, n = (len(self.weights), len(self.sub[name])) if self.divide else (1, 1)
        self.weights[name] *= math.exp(0.1 * reward / p / k)
        self.sub[name][j] *= math.exp(0.1 * reward / q / n)
        if not self.keep_if_better or reward > self.best:
            self.best = max(self.best, reward)
            self.current[name] = value


@pytest.mark.parametrize("flags", [*itertools.product([False, True], repeat=4)])
def test_it_is_the_algorithm_as_written(flags):
    space, start = Space.of(a=[1, 2, 3, 4], b=["x", "y", "z"]), {"a": 1, "b": "x"}
    names = ("divide_exponents", "mix_values", "keep_if_better", "uniform_hyper_parameter")
    tuner = habo(space, incumbent=(start, 0.5), **dict(zip(names, flags, strict=True)))
    hand = ByHand(space, *flags, start, 0.5)
    rng = np.random.default_rng(3)
    for _ in range(30):
        probabilities = tuner.probabilities()
        assert probabilities["hyper_parameter"].tolist() == pytest.approx(list(hand.p().values()), rel=1e-9)
        for name in space.names:
            assert probabilities[name].tolist() == pytest.approx(hand.q(name), rel=1e-9)
        configuration = tuner.ask()
        names = changed(hand.current, configuration)
        assert len(names) <= 1
        reward = rng.uniform(-0.2, 1.0)
        # If the drawn value equals the present one, nothing shows the drawn hyper-parameter: take it from the tuner
        name = names[0] if names else space.names[tuner._super[0]]
        tuner.tell(reward)
        hand.learn(name, configuration[name], reward)


def test_draws_follow_the_probabilities():
    tuner = habo(Space.of(a=[1, 2], b=[1, 2, 3]), mix_values=True, incumbent=({"a": 0, "b": 0}, 0.0))
    for _ in range(4):
        tuner.ask()
        tuner.tell(1.0)
    current, expected = dict(tuner._current), tuner.probabilities()
    n = 40_000
    drawn = [(tuner.ask(), tuner._super[0], tuner._sub[0])[1:] for _ in range(n)]  # asking again changes nothing
    assert tuner._current == current
    for i, name in enumerate("ab"):
        share = sum(one == i for one, _ in drawn) / n
        assert share == pytest.approx(expected["hyper_parameter"][i], abs=4 * 0.5 / math.sqrt(n))
        values = [j for one, j in drawn if one == i]
        for j, chance in enumerate(expected[name]):
            assert values.count(j) / len(values) == pytest.approx(chance, abs=4 * 0.5 / math.sqrt(len(values)))


def test_the_run_begins_with_the_incumbent_or_else_with_usual_values():
    space = Space.of(a={"candidates": (1, 2), "default": 2}, b=["x", None])
    assert len(changed({"a": 2, "b": "x"}, habo(space).ask())) <= 1
    # The incumbent may hold values that are no candidates, and hyper-parameters that are not tuned
    asked = habo(space, incumbent=({"a": 9, "b": "q", "c": 0}, 0.3)).ask()
    assert set(asked) == {"a", "b"}
    assert (asked["a"] == 9) != (asked["b"] == "q")
