"""ET-GP-UCB: its event by hand and against one system of all rewards of a block, and GP-UCB where there is none."""

import math

import numpy as np
import pytest
from tuning import LINE

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.event_triggered_gp import EventTriggeredGPUCB
from bench.tuners.space_points import points
from bench.tuners.time_varying_gp import TVGPUCB

NOISE = 0.2


def play(tuner, rounds, reward, space=LINE, noise=NOISE):
    """Return the points asked for and whether the tuner restarted at each reward."""
    tuner.start(Problem(space, rounds, noise_std=noise), Seeds(4))
    configurations = points(space, 20, 0.4, np.random.default_rng(0))[0]
    asked, restarted = [], []
    for t in range(rounds):
        asked.append(configurations.index(tuner.ask()))
        before = getattr(tuner, "restarts", 0)
        tuner.tell(reward(asked[-1], t))
        restarted.append(getattr(tuner, "restarts", 0) > before)
    return asked, restarted


def noisy_peak(asked, t):
    peak, height = (4, 1) if t < 60 else (15, 3)
    return height - abs(asked - peak) / 20 + NOISE * math.sin(12.9898 * t)


@pytest.mark.parametrize(("reward", "restarts"), [(5.6, 0), (-5.6, 0), (5.8, 1), (-5.8, 1)])
def test_the_event_by_hand(reward, restarts):
    """Two unrelated words, signal 3 and noise 0.5; the first reward is 0, so that the mean of the process is 0, too.

    The second word is asked for next. Its reward differs from the first by two functions and one noise, 3 + 3 + 1 in
    units of the noise variance; c = sqrt(2 ln(2 (4 pi^2 / 6) / 0.1)) = 3.124, and 3.124 * 0.5 (sqrt(7) + 1) = 5.695.
    """
    tuner = EventTriggeredGPUCB(delta=0.1)
    rewards = [0.0, reward]
    play(tuner, 2, lambda _, t: rewards[t], Space.of(x=["a", "b"]), noise=0.5)
    assert tuner.restarts == restarts


def test_events_are_those_of_all_rewards_of_the_block_at_once():
    """The bound from one system: prior covariance with a mean of nearly unknown level, all rewards since the event."""
    asked, restarted = play(EventTriggeredGPUCB(), 120, noisy_peak)
    correlations = points(LINE, 20, 0.4, np.random.default_rng(0))[1]
    prior = (3.0 * correlations + 1e7) * NOISE**2
    begin, events = 0, []
    for t, point in enumerate(asked):
        before, event = asked[begin:t], False
        if before:
            among = prior[np.ix_(before, before)] + NOISE**2 * np.eye(len(before))
            solved = np.linalg.solve(among, prior[before, point])
            rewards = np.array([noisy_peak(asked[i], i) for i in range(begin, t)])
            deviation = math.sqrt(prior[point, point] - solved @ prior[before, point])
            n = t - begin + 1
            width = math.sqrt(2 * math.log(2 * (math.pi**2 * n**2 / 6) / 0.1))
            event = abs(noisy_peak(point, t) - solved @ rewards) > width * (deviation + NOISE)
        if event:
            begin = t
        events.append(event)
    assert restarted == events
    assert [t for t, event in enumerate(events) if event] == [60]


def test_without_an_event_it_is_gp_ucb():
    still = EventTriggeredGPUCB(delta=1e-300)
    asked, restarted = play(still, 150, noisy_peak)
    assert not any(restarted)
    assert asked == play(TVGPUCB(eps=0.0), 150, noisy_peak)[0]


def test_noise_and_scale_are_estimated_from_all_blocks():
    """The process draws a new function every 200 rounds, far from the last; no block alone would do.

    The tuner then asks as one that is told the true scale and has learnt the same rewards; one told another does not.
    """
    rng = np.random.default_rng(9)
    configurations, correlations = points(LINE, 20, 0.4, np.random.default_rng(0))
    root = np.linalg.cholesky(30.0 * correlations + 1e-9 * np.eye(len(correlations)))

    def started(signal):
        tuner = EventTriggeredGPUCB(signal=signal, noise="estimated")
        tuner.start(Problem(LINE, 2_000, noise_std=0.01), Seeds(2))
        return tuner

    tuner, pairs, equal = started("estimated"), [], {0.3: 0, 30.0: 0}
    for t in range(2_000):
        if t % 200 == 0:
            f = root @ rng.standard_normal(len(correlations)) + (200.0 if t % 400 else 0.0)
        asked = tuner.ask()
        if t in (1_801, 1_802, 1_803, 1_805, 1_808):
            for signal in equal:
                told = started(signal)
                told.learn(pairs)
                equal[signal] += told.ask() == asked
        pairs.append((asked, f[configurations.index(asked)] + rng.standard_normal()))
        tuner.tell(pairs[-1][1])
    assert tuner.restarts == 9
    assert tuner.noise_std == pytest.approx(1.0, rel=0.05)
    assert equal[30.0] == 5 > equal[0.3]
