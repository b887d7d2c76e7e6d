"""DAL over GP-UCB: its test against fits of one and two means, its forced rounds, and GP-UCB in between."""

import math

import numpy as np
import pytest
from tuning import LINE

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.dal_gp import DALGPUCB, largest_difference
from bench.tuners.event_triggered_gp import EventTriggeredGPUCB
from bench.tuners.space_points import points

ARMS = Space.of(x=["a", "b", "c"])


@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_the_statistic_is_the_gain_of_two_means_over_one(n):
    values = np.random.default_rng(n).standard_normal(n) + np.where(np.arange(n) < n // 3, 0.0, 1.0)

    def squares(part):
        return ((part - part.mean()) ** 2).sum()

    gains = [squares(values) - squares(values[:s]) - squares(values[s:]) for s in range(1, n)]
    found = largest_difference(np.concatenate(([0.0], np.cumsum(values))))
    assert found == pytest.approx(max(gains, default=0.0), rel=1e-9, abs=1e-12)


def play(tuner, rounds, reward, space, noise=0.1):
    tuner.start(Problem(space, rounds, noise_std=noise), Seeds(4))
    asked = []
    for t in range(rounds):
        asked.append(tuner.ask())
        tuner.tell(reward(asked[-1]["x"], t))
    return asked


def test_a_change_is_noticed_at_the_forced_round_at_which_the_ratio_exceeds_the_threshold():
    """Three arms, forced in rounds 0 to 2 of every ten; "c", never the best, earns 0, from round 40 on -1.2.

    With noise 0.5 and k rewards after the change beside 4 before, 4 k / (4 + k) 1.44 / 0.5 is 2.3, 3.8, 4.9, 5.8 and
    ln((4 + k)^1.5 / 0.1) 4.7, 5.0, 5.2, 5.4: noticed at the fourth reward after the change, in round 72.
    """
    tuner = DALGPUCB(alpha=0.3, delta=0.1)
    noticed = []

    def reward(arm, t):
        if tuner.restarts > len(noticed):
            noticed.append(t - 1)
        return {"a": 1.0, "b": 0.9, "c": 0.0 if t < 40 else -1.2}[arm]

    play(tuner, 130, reward, ARMS, noise=0.5)
    assert noticed == [72]


def test_forced_rounds_go_round_the_covering_set():
    asked = play(DALGPUCB(alpha=0.5, delta=1e-300), 60, lambda x, t: -abs(x - 0.5), LINE, noise=1.0)
    configurations, correlations = points(LINE, 20, 0.4, np.random.default_rng(0))
    cover = next(n for n in range(1, 60) if asked[n:] and asked[2 * n : 3 * n] == asked[:n])
    chosen = [configurations.index(each) for each in asked[:cover]]
    assert (correlations[chosen].max(axis=0) >= 0.9).all()
    among = correlations[np.ix_(chosen, chosen)]
    assert (among[~np.eye(cover, dtype=bool)] < 0.9).all()


def test_without_forced_rounds_and_changes_it_is_gp_ucb():
    """After the covering set has been played once, it asks as a GP-UCB tuner that has learnt the same rewards."""

    def reward(x, t):
        return -abs(x - 0.3) + 0.2 * math.sin(12.9898 * t)

    asked = play(DALGPUCB(alpha=1e-6, delta=1e-300), 150, reward, LINE)
    plain = EventTriggeredGPUCB(delta=1e-300)
    plain.start(Problem(LINE, 150, noise_std=0.1), Seeds(4))
    first = next(n for n in range(1, 30) if asked[n]["x"] <= asked[n - 1]["x"])
    plain.learn([(each, reward(each["x"], t)) for t, each in enumerate(asked[:first])])
    for t, each in enumerate(asked[first:], start=first):
        assert plain.ask() == each
        plain.tell(reward(each["x"], t))
