"""Grid and random search: the configurations of the first phase, their trials, and the one kept."""

import math

import numpy as np
import pytest
from scipy.stats import kstest
from tuning import SQUARE, play

from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.first_phase import GridThenBest, RandomThenBest
from bench.tuners.gp_ucb import GPUCB
from bench.tuners.hyperband import Hyperband

ALL = [GridThenBest, RandomThenBest, Hyperband, GPUCB]


@pytest.mark.parametrize("tuner_class", ALL)
@pytest.mark.parametrize(
    ("share", "horizon", "n_train"), [(0.5, 301, 150), (0.29, 100, 29), (0.1, 5, 1), (1.0, 40, 40)]
)
def test_training_takes_its_share_of_the_horizon_and_not_a_round_more(tuner_class, share, horizon, n_train):
    tuner = tuner_class(train_share=share)
    calm = play(tuner, lambda configuration, t: math.sin(9 * configuration["x"]), horizon)
    # Afterwards rewards of any kind change nothing; the last one of training may change everything.
    turned = play(tuner, lambda c, t: math.sin(9 * c["x"]) if t < n_train else -1e6 * (-1) ** t, horizon)
    assert calm == turned
    assert all(configuration == calm[-1] for configuration in calm[n_train:])
    shocked = play(tuner, lambda c, t: math.sin(9 * c["x"]) if t < n_train - 1 else -1e6, horizon)
    assert shocked[:n_train] == calm[:n_train]
    if 2 < n_train < horizon and tuner_class is not Hyperband:
        flattered = play(tuner, lambda c, t: math.sin(9 * c["x"]) if t < n_train - 1 else 1e6, horizon)
        assert flattered[-1] != shocked[-1]


def test_grid_tries_ten_even_points_with_both_ends_in_turn():
    asked = [c["x"] for c in play(GridThenBest(), lambda c, t: 1 - abs(c["x"] - 0.4), 10_000)]
    np.testing.assert_allclose(asked[:10], [k / 9 for k in range(10)], atol=1e-15)
    assert asked[:5_000] == asked[:10] * 500
    assert asked[5_000:] == [asked[4]] * 5_000  # 4/9 is closest to 0.4


def test_grid_keeps_the_highest_mean_not_the_highest_sum_or_reward():
    # Seven rounds on three points: the first is pulled three times; means by hand 0.4, 0.5, 0.45.
    rewards = [1.0, 0.4, 0.9, 0.1, 0.6, 0.0, 0.1]
    asked = play(GridThenBest(n_points=3), lambda c, t: rewards[t] if t < 7 else 0.0, 14)
    assert asked[-1] == {"x": 0.5}


def test_of_equal_means_the_first_point_wins():
    assert play(GridThenBest(n_points=3), lambda c, t: 0.5, 14)[-1] == {"x": 0.0}
    assert play(GridThenBest(n_points=3), lambda c, t: 0.5 * (c["x"] > 0.2), 14)[-1] == {"x": 0.5}


def test_grid_of_several_hyper_parameters_is_their_product():
    space = Space.of(
        rate={"low": 0.01, "high": 1.0, "log": True}, depth={"low": 1, "high": 3, "integer": True}, kind=["a", "b"]
    )
    asked = play(GridThenBest(n_points=5), lambda c, t: 0.0, 60, space)
    expected = [(r, d, k) for r in np.geomspace(0.01, 1, 5) for d in (1, 2, 3) for k in "ab"]
    assert [(c["depth"], c["kind"]) for c in asked[:30]] == [e[1:] for e in expected]
    np.testing.assert_allclose([c["rate"] for c in asked[:30]], [e[0] for e in expected], rtol=1e-12)
    assert len({tuple(c.values()) for c in asked}) == 30


def test_grid_that_does_not_fit_gets_fewer_points_on_every_axis():
    asked = play(GridThenBest(), lambda c, t: 0.0, 38, SQUARE)
    assert sorted({c["x"] for c in asked}) == sorted({c["y"] for c in asked}) == [0.0, 1 / 3, 2 / 3, 1.0]
    assert play(GridThenBest(), lambda c, t: 0.0, 7, SQUARE) == [{"x": 0.5, "y": 0.5}] * 7


def test_grid_of_more_candidates_than_rounds_is_an_error():
    tuner = GridThenBest()
    space = Space.of(a=[1, 2, 3], b=[1, 2, 3])
    tuner.start(Problem(space, 18), Seeds(1))
    with pytest.raises(ConfigError, match=r"^GridThenBest: found a grid of 3 x 3 .*, expected at most 8"):
        tuner.start(Problem(space, 17), Seeds(1))


def test_random_tries_ten_uniform_points_in_turn():
    points = []
    for seed in range(100):
        asked = [c["x"] for c in play(RandomThenBest(), lambda c, t: -((c["x"] - 0.6) ** 2), 60, seed=seed)]
        assert asked[:30] == asked[:10] * 3
        best = min(asked[:10], key=lambda x: abs(x - 0.6))
        assert asked[30:] == [best] * 30
        points += asked[:10]
    assert len(set(points)) == 1_000
    assert kstest(points, "uniform").pvalue > 1e-3


def test_random_draws_candidates_where_there_is_no_interval():
    space = Space.of(kind=["a", "b", "c"], x={"low": 2.0, "high": 3.0})
    asked = play(RandomThenBest(n_points=50), lambda c, t: (c["kind"] == "b") + c["x"], 400, space)
    assert {c["kind"] for c in asked} == {"a", "b", "c"}
    assert asked[-1]["kind"] == "b"
    assert asked[-1]["x"] == max(c["x"] for c in asked if c["kind"] == "b") <= 3.0


def test_points_that_training_did_not_reach_are_not_chosen():
    for tuner in (RandomThenBest(), GridThenBest()):
        asked = play(tuner, lambda c, t: -1.0, 12)
        assert asked[-1] == asked[0]
