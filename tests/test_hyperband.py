"""Hyperband: its published schedule, and the order of pulls against a literal run of the algorithm."""

import math
from collections import Counter

import numpy as np
import pytest
from tuning import LINE, play

from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.hyperband import Hyperband, ResourceHyperband, brackets


def test_schedule_is_the_published_one():
    """Li et al. 2017, table 1: (n_i, r_i) for R = 81 and eta = 3."""
    assert brackets(81, 3) == [
        [(81, 1), (27, 3), (9, 9), (3, 27), (1, 81)],
        [(34, 3), (11, 9), (3, 27), (1, 81)],
        [(15, 9), (5, 27), (1, 81)],
        [(8, 27), (2, 81)],
        [(5, 81)],
    ]


def literal(draws, reward, eta, resource, rounds):
    """Run the algorithm as its pseudo-code stands, rung by rung on lists, and return all pulls."""
    pulls = []
    totals: Counter[int] = Counter()
    counts: Counter[int] = Counter()
    fresh = iter(range(len(draws)))
    s_max = max(s for s in range(40) if eta**s <= resource + 1e-9)
    budget = (s_max + 1) * resource
    while len(pulls) < rounds:
        for s in reversed(range(s_max + 1)):
            n = math.ceil(budget / resource * eta**s / (s + 1) - 1e-9)
            r = resource * eta**-s
            alive = [next(fresh) for _ in range(n)]
            for i in range(s + 1):
                r_i = math.floor(r * eta**i + 0.5)
                for trial in alive:
                    for _ in range(r_i - counts[trial]):
                        totals[trial] += reward(draws[trial], len(pulls))
                        counts[trial] += 1
                        pulls.append(trial)
                n_next = math.floor(n * eta ** -(i + 1) + 1e-9)
                alive = sorted(alive, key=lambda trial: -totals[trial] / counts[trial])[:n_next]
    counts, totals = Counter(pulls[:rounds]), Counter()
    for t, trial in enumerate(pulls[:rounds]):
        totals[trial] += reward(draws[trial], t)
    most = max(counts.values())
    best = max((trial for trial in counts if counts[trial] == most), key=lambda trial: totals[trial] / most)
    return [draws[trial] for trial in pulls[:rounds]], draws[best]


@pytest.mark.parametrize(
    ("eta", "resource", "horizon"), [(3, 27, 3_000), (1.5, 20, 3_000), (2, 16, 700), (3, 81, 60), (3, 243, 9_000)]
)
def test_pulls_are_those_of_the_algorithm(eta, resource, horizon):
    noise = np.random.default_rng(3).standard_normal(20_000)

    def reward(x, t):
        return 1 - abs(x - 0.3) + 0.3 * noise[t]

    tuner = Hyperband(eta=eta, max_resource=resource)
    asked = [c["x"] for c in play(tuner, lambda c, t: reward(c["x"], t), horizon, seed=8)]
    rng = Seeds(8).generator("configurations")
    draws = [LINE.sample(rng)["x"] for _ in range(3_000)]
    pulls, best = literal(draws, reward, eta, resource, horizon // 2)
    assert asked[: horizon // 2] == pulls
    assert asked[horizon // 2 :] == [best] * (horizon - horizon // 2)


def test_largest_resource_is_the_papers():
    """T = 10,000: 5,000 / (ln 10,000 + 1)^2 = 47.96."""
    asked = play(Hyperband(), lambda c, t: c["x"], 10_000)
    assert max(Counter(c["x"] for c in asked[:5_000]).values()) == 47


def test_runs_of_a_few_rounds_stay_within_the_space():
    for horizon in (1, 2, 3, 10):
        asked = play(Hyperband(), lambda c, t: 1.0, horizon)
        assert all(0 <= c["x"] <= 1 for c in asked)


FOREST = Space.of(trees=[50, 100, 150, 300], depth=[1, 2, 3, 4, 5, 6, 7, 8, 9])


def test_few_trees_are_tried_first_and_the_best_third_gets_all():
    """300 / 50 = 6 units, eta = 3: three with 100 trees, the best with 300, then two with 300."""
    for sign, best in ((-1, min), (1, max)):
        asked = play(ResourceHyperband(resource="trees"), lambda c, t, sign=sign: sign * c["depth"], 12, FOREST)
        assert [configuration["trees"] for configuration in asked] == 2 * [100, 100, 100, 300, 300, 300]
        for loop in (asked[:6], asked[6:]):
            assert loop[3]["depth"] == best(configuration["depth"] for configuration in loop[:3])


def test_a_rung_of_an_interval_is_rounded_to_whole_numbers():
    """The first hyper-parameter with numbers above 0 is the resource; a third of 320 is 107."""
    space = Space.of(zero=[0, 1], trees={"low": 50, "high": 320, "integer": True})
    (asked,) = play(ResourceHyperband(), lambda c, t: 0.0, 1, space)
    assert (asked["trees"], type(asked["trees"])) == (107, int)


@pytest.mark.parametrize(
    ("resource", "found"), [("leaves", "'leaves'"), ("depth", r"'depth' with the values \['deep', 1\]")]
)
def test_a_resource_must_be_a_hyper_parameter_of_numbers(resource, found):
    space = Space.of(trees=[50, 100], depth=["deep", 1])
    with pytest.raises(ConfigError, match=rf"tuner\.resource: found {found}, expected"):
        ResourceHyperband(resource=resource).start(Problem(space, 10), Seeds(4))


def test_rounding_of_a_ratio_costs_no_bracket():
    """0.3 / 0.1 is just below 3 in floating point."""
    whole, parts = (play(ResourceHyperband(), lambda c, t: 0.0, 8, Space.of(x=x)) for x in ([1, 3], [0.1, 0.3]))
    assert [c["x"] for c in whole] == [1, 1, 1, 3, 3, 3, 1, 1]
    assert [c["x"] for c in parts] == pytest.approx([c["x"] / 10 for c in whole])
