"""Table 1 of the syndicated paper with the random numbers of the authors' script: its printed LinUCB cells."""

import numpy as np
import pytest

from bench.algorithms.linucb import LinUCB
from bench.envs.synthetic_linear import SyntheticLinearLegacy
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.baselines import Fixed, Theory

GRID = np.arange(0, 10.1, 0.5)
PRINTED = {
    "fixed": {"best": (4.0, 357.21, 188.72), "theory": (364.99, 151.54)},
    "changing": {"best": (1.5, 312.69, 42.53), "theory": (582.59, 523.60)},
}


def regrets(features, tuner):
    """Final regrets of the script's five repetitions."""
    finals = []
    for repetition in range(5):
        environment = SyntheticLinearLegacy(dim=5, n_arms=100, noise_std=0.5, mean="shifted", features=features)
        task = ContextualBandit(environment, LinUCB(tune=["exploration_rate"], first_round=0))
        trace = run(task, tuner(), rounds=10_000, seeds=Seeds(0, repetition))
        finals.append(trace.columns()["regret"][-1])
    return np.array(finals)


def printed(finals):
    """Mean and deviation with divisor n, rounded as printed."""
    return round(finals.mean(), 2), round(finals.std(), 2)


def best_cell(features, grid):
    on_grid = [regrets(features, lambda rate=rate: Fixed(configuration={"exploration_rate": rate})) for rate in grid]
    best = int(np.argmin([finals.mean() for finals in on_grid]))
    return grid[best], *printed(on_grid[best])


@pytest.mark.parametrize("features", PRINTED)
def test_the_best_cell_beside_its_neighbours(features):
    best = PRINTED[features]["best"][0]
    assert best_cell(features, np.array([best - 0.5, best, best + 0.5])) == PRINTED[features]["best"]


@pytest.mark.release
@pytest.mark.parametrize("features", PRINTED)
def test_the_best_cell_of_the_whole_grid(features):
    assert best_cell(features, GRID) == PRINTED[features]["best"]


@pytest.mark.parametrize("features", PRINTED)
def test_the_theoretical_exploration_rate(features):
    assert printed(regrets(features, Theory)) == PRINTED[features]["theory"]


def test_the_legacy_stream_is_that_of_the_script():
    environment = SyntheticLinearLegacy(dim=3, n_arms=4, noise_std=0.5, features="changing")
    environment.start(5, Seeds(0, 6))
    rng = np.random.RandomState(7)
    bound = 1 / np.sqrt(3)
    np.testing.assert_array_equal(environment.theta, rng.uniform(-bound, bound, 3))
    features = rng.uniform(-bound, bound, (5, 4, 3))
    for t in range(5):
        np.testing.assert_array_equal(environment.observe(), features[t])
        np.testing.assert_allclose(environment.means, features[t] @ environment.theta, atol=1e-15)
        assert environment.pull(2) == pytest.approx(features[t, 2] @ environment.theta + 0.5 * rng.standard_normal())
