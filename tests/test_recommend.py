"""Recommended configurations, against normal probabilities by hand and the share of right ones."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from bench.errors import TunerError
from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.cdt import CDT
from bench.tuners.changepoint_gp import ChangepointGP
from bench.tuners.gaussian_ts import GaussianTS
from bench.tuners.ucb import UCB1

TWO = Space.of(rate=[0.1, 1.0])


def test_two_candidates_by_hand():
    """90 rewards of mean .6, 10 of mean .5: another is better by more than .05 with the probability of a normal."""
    tuner = UCB1()
    tuner.start(Problem(TWO, 1_000, noise_std=0.5), Seeds(0))
    tuner.learn([({"rate": 0.1}, 0.6)] * 90 + [({"rate": 1.0}, 0.5)] * 10)
    found = tuner.recommend(margin=0.05)
    assert found.configuration == {"rate": 0.1}
    assert found.reward == pytest.approx(0.6, abs=0.003)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 0.5 / math.sqrt(90), rel=0.05)
    expected = norm.sf(0.15, scale=0.5 * math.sqrt(1 / 90 + 1 / 10))
    assert found.another_is_better == pytest.approx(expected, abs=0.02)
    assert tuner.recommend(0.05) == found
    assert tuner.recommend(1.0).another_is_better < found.another_is_better < tuner.recommend().another_is_better


@pytest.mark.parametrize("tuner", [GaussianTS(), ChangepointGP()], ids=lambda tuner: type(tuner).__name__)
def test_a_belief_is_calibrated(tuner):
    """In 40 runs with a small gap: intervals cover the truth, and stated probabilities match frequencies."""
    space, means = Space.of(rate={"candidates": [0.0, 1.0], "low": 0.0, "high": 1.0}), (0.45, 0.5)
    space = TWO if isinstance(tuner, GaussianTS) else space
    covered, wrong, feared = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        tuner.start(Problem(space, 400, noise_std=0.3), Seeds(seed))
        for _ in range(120):
            rate = tuner.ask()["rate"]
            mean = means[0] + (means[1] - means[0]) * (rate if rate in (0.0, 1.0) or rate > 0.1 else 0.0)
            tuner.tell(mean + 0.3 * rng.standard_normal())
        found = tuner.recommend()
        rate = found.configuration["rate"]
        mean = means[0] + (means[1] - means[0]) * (rate if rate in (0.0, 1.0) or rate > 0.1 else 0.0)
        covered.append(found.low <= mean <= found.high)
        wrong.append(mean < means[1])
        feared.append(found.another_is_better)
    assert np.mean(covered) >= 0.8
    assert abs(np.mean(wrong) - np.mean(feared)) < 0.3


def test_the_mean_is_that_of_the_posterior():
    tuner = ChangepointGP()
    tuner.start(Problem(Space.of(rate={"low": 0.0, "high": 1.0}), 300), Seeds(4))
    rng = np.random.default_rng(4)
    with pytest.raises(TunerError, match="no belief yet"):
        tuner.recommend()
    for _ in range(200):
        rate = tuner.ask()["rate"]
        tuner.tell(rate * (1.0 - rate) + 0.05 * rng.standard_normal())
    found, best = tuner.recommend(), max(tuner.posterior(), key=lambda point: point[1])
    assert found.reward == pytest.approx(best[1], abs=0.005)
    assert abs(found.configuration["rate"] - 0.5) < 0.2
    assert found.low < best[1] < found.high
    assert (found.high - found.low) / 4 < 1.3 * best[2]


def test_tuners_without_a_belief_refuse_to_recommend():
    tuner = CDT()
    tuner.start(Problem(Space.of(rate={"low": 0.0, "high": 1.0}), 100), Seeds(1))
    with pytest.raises(TunerError, match="no belief about the rewards of configurations"):
        tuner.recommend()
    one = UCB1()
    one.start(Problem(TWO, 100), Seeds(1))
    one.learn([({"rate": 0.1}, 0.6)])
    with pytest.raises(TunerError, match="1 of 2 candidates"):
        one.recommend()
    with pytest.raises(TunerError, match="margin"):
        one.recommend(-1.0)
