"""Piecewise stationary Lipschitz functions: what the theory of the tuners asks of them, and exact means."""

import numpy as np
import pytest

from bench.envs.piecewise_lipschitz import PiecewiseLipschitz
from bench.errors import ConfigError
from bench.seeding import Seeds

GRID = np.linspace(0.0, 1.0, 201)


def started(rounds, seed=1, **settings):
    environment = PiecewiseLipschitz(**settings)
    environment.start(rounds, Seeds(seed))
    return environment


@pytest.mark.parametrize("height", [0.9, 0.3])
def test_every_piece_is_lipschitz_and_its_best_and_average_are_exact(height):
    means = np.empty((len(GRID), 200))
    for row, x in zip(means, GRID.tolist(), strict=True):
        environment = started(200, height=height)
        for t in range(200):
            environment.play({"x": x})
            row[t] = environment.mean
    assert (np.abs(np.diff(means, axis=0)) <= GRID[1] + 1e-12).all()
    assert means.min() >= 0.0
    assert means.max() <= height
    environment = started(200, height=height)
    for t in range(200):
        environment.play({"x": 0.0})
        assert environment.best_mean == pytest.approx(means[:, t].max(), abs=0.5 * GRID[1] + 1e-12)
        assert environment.average_mean == pytest.approx(np.trapezoid(means[:, t], GRID), abs=1e-4)
    assert len(set(means.argmax(axis=0))) > 8


def test_means_change_at_the_change_points_only():
    environment = started(100_000)
    assert len(environment.change_points) == 10
    seen = []
    for _ in range(100_000):
        environment.play({"x": 0.5})
        seen.append(environment.mean)
    changed = 1 + np.flatnonzero(np.diff(seen))
    assert changed.tolist() == list(environment.change_points)


def test_runs_of_all_lengths_change_at_the_same_shares_to_the_same_functions():
    short, long = started(1000), started(1_000_000)
    shares = np.array(short.change_points) / 1000, np.array(long.change_points) / 1_000_000
    np.testing.assert_allclose(*shares, atol=2e-3)
    for environment in (short, long):
        environment.play({"x": 0.5})
    assert short.mean == long.mean
    assert long.change_points != started(1_000_000, seed=2).change_points


def test_change_points_are_spread_over_the_whole_run():
    shares = np.concatenate([started(10_000, seed=seed).change_points for seed in range(300)]) / 10_000
    assert abs(shares.mean() - 0.5) < 4 * np.sqrt(1 / 12 / len(shares))
    assert abs(shares.std() - np.sqrt(1 / 12)) < 0.02


@pytest.mark.parametrize("rounds", [1, 2, 3, 12])
def test_short_runs_have_fewer_changes(rounds):
    environment = started(rounds)
    points = environment.change_points
    assert len(points) <= rounds - 1
    assert all(1 <= point < rounds for point in points)
    assert len(set(points)) == len(points)
    for _ in range(rounds + 5):
        environment.play({"x": 0.1})


def test_without_changes_the_function_stays():
    environment = started(500, changes=0)
    assert environment.change_points == ()
    means = set()
    for _ in range(600):
        environment.play({"x": 0.5})
        means.add(environment.mean)
    assert len(means) == 1


def test_rewards_are_bernoulli_and_shared_by_all_arms():
    """A round's noise is the same whatever is played: an arm with the higher mean never earns less."""
    left, right = started(5000, changes=0), started(5000, changes=0)
    pairs = [(left.play({"x": 0.2}), right.play({"x": 0.8})) for _ in range(5000)]
    rewards = np.array(pairs)
    assert set(np.unique(rewards)) == {0.0, 1.0}
    assert np.abs(rewards.mean(axis=0) - [left.mean, right.mean]).max() < 4 * 0.5 / np.sqrt(5000)
    better = int(right.mean > left.mean)
    assert (rewards[:, better] >= rewards[:, 1 - better]).all()


@pytest.mark.parametrize("settings", [{"height": 0.0}, {"height": 1.1}, {"changes": -1}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ConfigError, match=r"PiecewiseLipschitz\.\w+: found"):
        PiecewiseLipschitz(**settings)
