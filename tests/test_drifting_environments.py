"""Environments that change: equal to the ones without drift if nothing drifts, else as documented."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest, kstest

import bench.envs.movielens
from bench.data.movielens import users_by_period
from bench.envs.drifting import DriftingLinear, DriftingLogistic
from bench.envs.movielens import DriftingMovielens, Movielens
from bench.envs.moving_peak import WanderingTriangle
from bench.envs.synthetic_linear import SyntheticLinear
from bench.envs.synthetic_logistic import SyntheticLogistic
from bench.seeding import Seeds
from runners.config.compose import from_overrides
from runners.config.experiment import build

PAIRS = [(DriftingLinear, SyntheticLinear), (DriftingLogistic, SyntheticLogistic)]


def started(env, rounds, seed=1):
    env.start(rounds, Seeds(seed).child("env"))
    return env


def played(env, rounds, seed=1):
    """Return every round: contexts, means, the largest and the average, the reward of an arm, and theta."""
    started(env, rounds, seed)
    seen = []
    for t in range(rounds):
        contexts = env.observe().copy()
        row = SimpleNamespace(x=contexts, means=env.means.copy(), theta=env.theta.copy())
        row.best, row.average, row.reward = env.best_mean, env.average_mean, env.pull(t % len(contexts))
        seen.append(row)
    return seen


def assert_identical(some, others):
    for a, b in zip(some, others, strict=True):
        assert all(np.array_equal(vars(a)[name], vars(b)[name]) for name in vars(a))


@pytest.mark.parametrize("features", ["changing", "fixed"])
@pytest.mark.parametrize(("drifting", "still"), PAIRS)
def test_without_drift_it_is_the_environment_without_drift_bit_by_bit(drifting, still, features):
    settings = {"dim": 4, "n_arms": 6, "features": features}
    expected = played(still(**settings), 80)
    assert_identical(played(drifting(**settings), 80), expected)
    assert_identical(played(drifting(changes=3, redrawn=False, **settings), 80), expected)


@pytest.mark.parametrize(("drifting", "still"), PAIRS)
def test_contexts_and_noise_do_not_depend_on_the_drift(drifting, still):
    moving = played(drifting(dim=4, n_arms=6, changes=2, rotation=0.5, popularity=0.3), 60)
    standing = played(still(dim=4, n_arms=6), 60)
    assert all(np.array_equal(a.x, b.x) for a, b in zip(moving, standing, strict=True))
    assert np.array_equal(moving[0].theta, standing[0].theta)
    if drifting is DriftingLinear:
        noise = [[row.reward - row.means[t % 6] for t, row in enumerate(rows)] for rows in (moving, standing)]
        np.testing.assert_allclose(noise[0], noise[1], atol=1e-12)


@pytest.mark.parametrize(("changes", "ends"), [(3, [25, 50, 75]), ([0.1, 0.45], [10, 45]), (0, [])])
def test_theta_changes_after_the_rounds_asked_for(changes, ends):
    thetas = [row.theta for row in played(DriftingLinear(dim=3, n_arms=2, changes=changes), 100)]
    assert [t for t in range(1, 100) if not np.array_equal(thetas[t], thetas[t - 1])] == ends


def test_new_thetas_are_uniform_and_independent():
    thetas = np.array(
        [[row.theta for row in played(DriftingLinear(dim=4, n_arms=1, changes=2), 3, seed)] for seed in range(400)]
    )
    assert kstest(thetas.ravel(), "uniform", (-0.5, 1.0)).pvalue > 1e-3
    pairs = np.corrcoef(thetas.reshape(400, 12).T)
    assert np.abs(pairs - np.eye(12)).max() < 5 / math.sqrt(400)


@pytest.mark.parametrize("dim", [2, 5])
def test_theta_turns_at_a_steady_angle_and_keeps_its_norm(dim):
    rows = played(DriftingLinear(dim=dim, n_arms=2, rotation=0.5), 180)
    norm = np.linalg.norm(rows[0].theta)
    for t, row in enumerate(rows):
        assert np.linalg.norm(row.theta) == pytest.approx(norm)
        angle = math.degrees(math.acos(np.clip(row.theta @ rows[0].theta / norm**2, -1, 1)))
        assert angle == pytest.approx(t, abs=1e-4)  # 180 degrees in 180 rounds
    assert np.linalg.matrix_rank(np.array([row.theta for row in rows]), tol=1e-9) == 2


@pytest.mark.parametrize("features", ["changing", "fixed"])
@pytest.mark.parametrize(("drifting", "still"), PAIRS)
def test_the_means_of_a_round_are_those_of_theta_and_a_wave_for_each_arm(drifting, still, features):
    env = drifting(dim=3, n_arms=5, features=features, changes=2, rotation=1.0, popularity=0.4, signal=[1.0, 0.2])
    rows = played(env, 90)
    values = np.array([row.means for row in rows])
    if drifting is DriftingLogistic:
        values = np.log(values / (1 - values))
    waves = values - np.array([row.x @ row.theta for row in rows])
    assert len({int(row.means.argmax()) for row in rows}) > 1
    # The waves have the amplitude 0.4
    spectrum = np.fft.rfft(waves, axis=0) / 45
    np.testing.assert_allclose(np.abs(spectrum[1]), 0.4, atol=1e-9)
    np.testing.assert_allclose(np.delete(spectrum, 1, axis=0), 0.0, atol=1e-9)


def test_phases_of_popularity_are_uniform():
    env = DriftingLinear(dim=2, n_arms=50, popularity=1.0, popularity_waves=3.0)
    phases = []
    for seed in range(20):
        row = played(env, 8, seed)[0]
        wave = row.means - row.x @ row.theta
        phases += np.arcsin(np.clip(wave, -1, 1)).tolist()  # uniform in (-pi/2, pi/2) if the phase is uniform
    assert kstest(phases, "uniform", (-math.pi / 2, math.pi)).pvalue > 1e-3


def test_scale_of_rewards_and_noise_by_stretch():
    env = DriftingLinear(
        dim=4, n_arms=3, changes=2, redrawn=False, signal=[1.0, 0.25], noise=[1.0, 3.0, 0.5], noise_std=0.2
    )
    rows = played(env, 6_000)
    assert env.sub_gaussian == pytest.approx(0.6)
    theta = rows[0].theta
    for stretch, (signal, noise) in enumerate([(1.0, 0.2), (0.25, 0.6), (1.0, 0.1)]):
        part = range(2_000 * stretch, 2_000 * (stretch + 1))
        np.testing.assert_allclose(
            [rows[t].means for t in part], [signal * rows[t].x @ theta for t in part], atol=1e-12
        )
        residuals = [rows[t].reward - rows[t].means[t % 3] for t in part]
        assert kstest(residuals, "norm", (0.0, noise)).pvalue > 1e-3


# MovieLens


@pytest.fixture
def catalogue(monkeypatch):
    """Made-up factors of 8 users and 9 films, and the users who rated in each of two parts of the log."""
    rng = np.random.default_rng(0)
    factors = SimpleNamespace(users=rng.normal(0.5, 1, (8, 3)), items=rng.normal(0.5, 1, (9, 3)))
    monkeypatch.setattr(bench.envs.movielens, "movielens_factors", lambda rank, regularisation: factors)
    parts = [np.array([0, 1, 2]), np.array([4, 5, 6, 7])]
    monkeypatch.setattr(bench.envs.movielens, "users_by_period", lambda periods: parts[:periods])
    return factors


@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_movielens_with_one_period_is_movielens_bit_by_bit(catalogue, link):
    settings = {"dim": 3, "n_arms": 4, "n_users": 3, "reward_link": link}
    assert_identical(played(DriftingMovielens(periods=1, **settings), 50), played(Movielens(**settings), 50))


def test_theta_is_the_mean_factor_of_users_of_the_period(catalogue):
    rows = played(DriftingMovielens(dim=3, n_arms=4, n_users=3, periods=2, mean="raw"), 40)
    users = catalogue.users
    fours = [users[[i for i in (4, 5, 6, 7) if i != left]].mean(axis=0) for left in (4, 5, 6, 7)]
    for t, row in enumerate(rows):
        expected = [users[:3].mean(axis=0)] if t < 20 else fours
        assert min(np.abs(row.theta - theta).max() for theta in expected) < 1e-12
        np.testing.assert_allclose(row.means, row.x @ row.theta, atol=1e-12)


def test_the_map_onto_the_unit_interval_is_that_of_the_period(catalogue):
    rows = played(DriftingMovielens(dim=3, n_arms=9, n_users=3, periods=2), 40)
    for row in rows:  # all nine films are offered
        assert (row.means.min(), row.means.max()) == (pytest.approx(0, abs=1e-12), pytest.approx(1, abs=1e-12))


@pytest.mark.usefixtures("altered_data")
def test_users_are_those_who_rated_in_each_part_of_the_log(tmp_path, monkeypatch):
    folder = tmp_path / "movielens-100k"
    folder.mkdir()
    lines = [(3, 1, 5, 100), (1, 1, 4, 400), (1, 2, 3, 300), (2, 5, 3, 50), (3, 2, 1, 200), (4, 9, 2, 350)]
    (folder / "u.data").write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    assert [part.tolist() for part in users_by_period(2)] == [[1, 2], [0, 3]]
    assert [part.tolist() for part in users_by_period(1)] == [[0, 1, 2, 3]]


def test_the_stand_in_has_every_user_in_a_random_order(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("bench.data.movielens.data_in_use", lambda data: (None, "surrogate"))
    parts = users_by_period(4)
    assert set(np.concatenate(parts).tolist()) == set(range(943))
    assert min(map(len, parts)) > 500


# A peak that walks


@pytest.mark.parametrize("first_peak", [0.015, 0.985])
def test_the_peak_walks_as_in_the_authors_code(first_peak):
    env = started(WanderingTriangle(first_peak=first_peak), 40_000)
    peaks = []
    for _ in range(40_000):
        env.play({"x": 0.5})
        peaks.append(env.peak)
    steps = np.diff(peaks)
    moves = [(peak, peak + step) for peak, step in zip(peaks, steps, strict=False) if abs(step) > 1e-12]
    assert binomtest(len(moves), 39_999, 0.05).pvalue > 1e-3
    inside = [after - before for before, after in moves if abs(abs(after - before) - 0.01) < 1e-9]
    assert binomtest(int((np.array(inside) > 0).sum()), len(inside)).pvalue > 1e-3
    assert 0.95 * len(moves) < len(inside) < len(moves)
    for before, after in moves:
        allowed = [before - 0.01, before + 0.01] + [0.02] * (before < 0.0201) + [0.98] * (before > 0.9799)
        assert min(abs(after - peak) for peak in allowed) < 1e-9
        assert 0.01 - 1e-9 < after < 0.99 + 1e-9


def test_an_environment_that_promises_drift_and_has_none_says_so():
    still = [DriftingLinear(), DriftingLogistic(signal=[1.0, 2.0]), DriftingMovielens(periods=1)]
    assert [len(environment.notes()) for environment in still] == [1, 1, 1]
    assert all("does not drift with these settings" in environment.notes()[0] for environment in still)
    moving = [DriftingLinear(changes=1), DriftingLogistic(rotation=0.5), DriftingLinear(popularity=0.1)]
    assert not any(environment.notes() for environment in (*moving, DriftingMovielens()))


@pytest.mark.parametrize("name", ["drifting_linear", "drifting_logistic", "drifting_movielens"])
def test_a_choice_that_promises_drift_drifts_without_a_setting(name):
    parts = {"drifting_logistic": ["algorithm=ucb_glm"]}.get(name, [])
    task, _ = build(from_overrides([f"env={name}", *parts]).experiment)
    assert task.environment.notes() == ()
