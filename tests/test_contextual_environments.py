"""Synthetic environments and MovieLens: features, means, noise and offers, against their definitions."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit as logistic
from scipy.stats import chisquare, kstest

import bench.envs.movielens
from bench.envs.movielens import Movielens
from bench.envs.synthetic_linear import SyntheticLinear
from bench.envs.synthetic_logistic import SyntheticLogistic
from bench.seeding import Seeds


def started(env, seed=1, rounds=1_000):
    env.start(rounds, Seeds(seed).child("env"))
    return env


SYNTHETIC = [SyntheticLinear, SyntheticLogistic]


@pytest.mark.parametrize("kind", SYNTHETIC)
@pytest.mark.parametrize(("feature_range", "bound"), [("inverse_sqrt_dim", 0.5), ("one", 1.0)])
def test_features_are_uniform(kind, feature_range, bound):
    """In (-1/sqrt(d), 1/sqrt(d)), here with d = 4, or in (-1, 1)."""
    env = started(kind(dim=4, n_arms=5, feature_range=feature_range))
    values = np.array([env.observe().copy() for _ in range(1_000)])
    assert values.shape == (1_000, 5, 4)
    assert kstest(values.ravel(), "uniform", (-bound, 2 * bound)).pvalue > 1e-3
    assert 0.999 * bound < values.max() <= bound
    assert -bound <= values.min() < -0.999 * bound
    # Arms, entries and successive rounds are independent: no correlation beyond chance
    flat = values.reshape(1_000, 20)
    pairs = np.corrcoef(np.hstack([flat[:-1], flat[1:]]).T)
    assert np.abs(pairs - np.eye(40)).max() < 5 / math.sqrt(1_000)
    assert env.feature_norm == pytest.approx(bound * 2)


@pytest.mark.parametrize("kind", SYNTHETIC)
@pytest.mark.parametrize("feature_range", ["inverse_sqrt_dim", "one"])
def test_theta_is_uniform(kind, feature_range):
    """In (-1/sqrt(d), 1/sqrt(d)) for any range of the features."""
    env = kind(dim=4, n_arms=2, feature_range=feature_range)
    thetas = np.array([started(env, seed).theta for seed in range(1_000)])
    assert kstest(thetas.ravel(), "uniform", (-0.5, 1.0)).pvalue > 1e-3
    assert np.abs(thetas).max() <= 0.5


MAPS = [
    (SyntheticLinear(dim=3, n_arms=4, mean="raw"), lambda v: v),
    (SyntheticLinear(dim=3, n_arms=4, mean="halved"), lambda v: v / 2),
    (SyntheticLinear(dim=3, n_arms=4, mean="shifted"), lambda v: (v + 1) / 2),
    (SyntheticLogistic(dim=3, n_arms=4), logistic),
    (SyntheticLogistic(dim=3, n_arms=4, feature_range="one"), logistic),
]


@pytest.mark.parametrize(("env", "expected"), MAPS)
def test_the_mean_of_an_arm_is_the_link_of_its_context_and_theta(env, expected):
    started(env)
    for _ in range(50):
        contexts = env.observe()
        means = [expected(sum(float(a) * float(b) for a, b in zip(x, env.theta, strict=True))) for x in contexts]
        np.testing.assert_allclose(env.means, means, rtol=0, atol=1e-14)


@pytest.mark.parametrize("noise_std", [0.1, math.sqrt(0.1), 2.0, 0.0])
@pytest.mark.parametrize("kind", ["synthetic", "movielens"])
def test_gaussian_noise(kind, noise_std, small_catalogue):
    """Standard deviation ``noise_std``, not its square; normal; independent from round to round."""
    cls, users = (SyntheticLinear, {}) if kind == "synthetic" else (Movielens, {"n_users": 5})
    env = started(cls(dim=3, n_arms=4, noise_std=noise_std, **users))
    noise = np.empty(5_000)
    for t in range(len(noise)):
        env.observe()
        noise[t] = env.pull(t % 4) - env.means[t % 4]
    assert env.sub_gaussian == noise_std
    if noise_std == 0.0:
        assert not noise.any()
        return
    assert kstest(noise, "norm", (0.0, noise_std)).pvalue > 1e-3
    assert noise.std() == pytest.approx(noise_std, rel=0.04)
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 4 / math.sqrt(len(noise))


@pytest.mark.parametrize("kind", ["synthetic", "movielens"])
def test_binary_rewards(kind, small_catalogue):
    """0 or 1, and calibrated: within each band of means, as many ones as the means say."""
    if kind == "synthetic":
        env = SyntheticLogistic(dim=3, n_arms=4, feature_range="one")
    else:
        env = Movielens(dim=3, n_arms=4, n_users=5, reward_link="logistic")
    started(env)
    means, rewards = np.empty(12_000), np.empty(12_000)
    for t in range(len(means)):
        env.observe()
        means[t], rewards[t] = env.means[t % 4], env.pull(t % 4)
    assert set(rewards) == {0.0, 1.0}
    assert env.sub_gaussian == 0.5
    order = np.argsort(means)
    for band in np.array_split(order, 4):
        error = math.sqrt((means[band] * (1 - means[band])).sum())
        assert abs((rewards[band] - means[band]).sum()) < 4 * error
    assert np.ptp(means) > 0.1


@pytest.mark.parametrize("kind", SYNTHETIC)
def test_features_fixed_or_changing(kind):
    fixed = started(kind(dim=3, n_arms=4, features="fixed"))
    first, means = fixed.observe().copy(), fixed.means.copy()
    noise = []
    for _ in range(20):
        noise.append(fixed.pull(0))
        assert np.array_equal(fixed.observe(), first)
        assert np.array_equal(fixed.means, means)
    assert len(set(noise)) > 1
    fixed.start(10, Seeds(2).child("env"))
    assert not np.array_equal(fixed.observe(), first)
    changing = started(kind(dim=3, n_arms=4, features="changing"))
    assert len({changing.observe().tobytes() for _ in range(20)}) == 20


def test_noise_is_the_same_for_other_means():
    runs = []
    for mean in ("raw", "halved", "shifted"):
        env = started(SyntheticLinear(dim=3, n_arms=4, mean=mean))
        runs.append([(env.observe().copy(), env.pull(2) - env.means[2]) for _ in range(20)])
    for a, b in itertools.combinations(runs, 2):
        for (x, noise), (y, other) in zip(a, b, strict=True):
            assert np.array_equal(x, y)
            assert noise == pytest.approx(other, abs=1e-14)


# MovieLens, on a made-up catalogue of 6 users and 9 films


@pytest.fixture
def small_catalogue(monkeypatch):
    rng = np.random.default_rng(0)
    factors = SimpleNamespace(users=rng.normal(0.5, 1, (6, 3)), items=rng.normal(0.5, 1, (9, 3)))
    asked = []

    def movielens_factors(rank, regularisation):
        asked.append((rank, regularisation))
        return factors

    monkeypatch.setattr(bench.envs.movielens, "movielens_factors", movielens_factors)
    factors.asked = asked
    return factors


def films_of(contexts, items):
    """Return the indices of the films in the rows."""
    distances = np.abs(contexts[:, None, :] - items[None, :, :]).max(axis=2)
    assert distances.min(axis=1).max() < 1e-12
    return distances.argmin(axis=1)


def test_films_are_distinct_and_uniformly_chosen(small_catalogue):
    """Each ordered choice of three out of nine is equally likely, and independent of the round before."""
    env = started(Movielens(dim=3, n_arms=3, n_users=6), rounds=40_000)
    triples = np.zeros((9, 9, 9))
    successive = np.zeros((9, 9))
    before = None
    for _ in range(40_000):
        films = films_of(env.observe(), small_catalogue.items)
        assert len(set(films.tolist())) == 3
        triples[tuple(films)] += 1
        if before is not None:
            successive[before[0], films[0]] += 1
        before = films
    allowed = [triples[choice] for choice in itertools.permutations(range(9), 3)]
    assert sum(allowed) == 40_000
    assert chisquare(allowed).pvalue > 1e-3
    assert chisquare(successive.ravel()).pvalue > 1e-3


def test_theta_is_the_mean_of_a_random_set_of_users(small_catalogue):
    subsets = list(itertools.combinations(range(6), 3))
    means = np.array([small_catalogue.users[list(subset)].mean(axis=0) for subset in subsets])
    counts = np.zeros(len(subsets))
    env = Movielens(dim=3, n_arms=3, n_users=3)
    for seed in range(2_000):
        distances = np.abs(means - started(env, seed).theta).max(axis=1)
        assert distances.min() < 1e-12
        counts[distances.argmin()] += 1
    assert chisquare(counts).pvalue > 1e-3
    started(env := Movielens(dim=3, n_arms=3, n_users=6))
    np.testing.assert_allclose(env.theta, small_catalogue.users.mean(axis=0), atol=1e-12)


def test_theta_has_norm_one(small_catalogue):
    plain = started(Movielens(dim=3, n_arms=3, n_users=4, mean="raw"))
    unit = started(Movielens(dim=3, n_arms=3, n_users=4, mean="raw", normalise_theta=True))
    np.testing.assert_allclose(unit.theta, plain.theta / math.sqrt((plain.theta**2).sum()), atol=1e-14)
    np.testing.assert_allclose(unit.observe() @ unit.theta, unit.means, atol=1e-14)


@pytest.mark.parametrize("normalise_theta", [False, True])
@pytest.mark.parametrize("feature_scaling", ["none", "unit_ball"])
def test_min_max_maps_all_films_onto_the_unit_interval(small_catalogue, feature_scaling, normalise_theta):
    """One map over all films, the same in every round, not one for each round's films."""
    settings = {"dim": 3, "n_users": 4, "feature_scaling": feature_scaling, "normalise_theta": normalise_theta}
    everything = started(Movielens(n_arms=9, **settings))
    films = films_of(everything.observe() * scale_of(small_catalogue, feature_scaling), small_catalogue.items)
    mean_of = dict(zip(films.tolist(), everything.means, strict=True))
    assert sorted(mean_of) == list(range(9))
    assert min(mean_of.values()) == pytest.approx(0.0, abs=1e-12)
    assert max(mean_of.values()) == pytest.approx(1.0, abs=1e-12)
    values = [float(item @ everything.theta) for item in small_catalogue.items]
    for film, value in enumerate(values):
        expected = (value - min(values)) / (max(values) - min(values))
        assert mean_of[film] == pytest.approx(expected, abs=1e-12)
    few = started(Movielens(n_arms=2, **settings))
    for _ in range(30):
        films = films_of(few.observe() * scale_of(small_catalogue, feature_scaling), small_catalogue.items)
        np.testing.assert_allclose(few.means, [mean_of[film] for film in films.tolist()], atol=1e-12)


def scale_of(factors, feature_scaling):
    return max(math.sqrt((item**2).sum()) for item in factors.items) if feature_scaling == "unit_ball" else 1.0


@pytest.mark.parametrize("link", ["linear", "logistic"])
@pytest.mark.parametrize("feature_scaling", ["none", "unit_ball", "round"])
def test_feature_scaling(small_catalogue, feature_scaling, link):
    """Divided by nothing, by the largest norm of all films, or by the largest of the round; means follow."""
    settings = {"dim": 3, "n_arms": 3, "n_users": 4, "mean": "raw", "reward_link": link}
    plain = started(Movielens(**settings))
    scaled = started(Movielens(feature_scaling=feature_scaling, **settings))
    norms = np.linalg.norm(small_catalogue.items, axis=1)
    scales = set()
    for _ in range(60):
        original = plain.observe().copy()
        contexts = scaled.observe()
        largest = np.linalg.norm(original, axis=1).max()
        divisor = {"none": 1.0, "unit_ball": max(norms), "round": largest}[feature_scaling]
        scales.add(divisor)
        np.testing.assert_allclose(contexts, original / divisor, atol=1e-14)
        values = [float(x @ plain.theta) / divisor for x in original]
        means = [logistic(value) for value in values] if link == "logistic" else values
        np.testing.assert_allclose(scaled.means, means, atol=1e-14)
    assert (len(scales) > 1) == (feature_scaling == "round")
    expected = max(norms) if feature_scaling == "none" else 1.0
    assert scaled.feature_norm == pytest.approx(expected, rel=1e-14)


def test_the_factorisation_asked_for(small_catalogue):
    started(Movielens(dim=3, n_arms=3, n_users=4, regularisation=0.2))
    assert small_catalogue.asked == [(3, 0.2)]
    assert Movielens().regularisation == 0.05
