"""MovieLens: the parser's complaints, fingerprints, and factors kept between runs."""

import hashlib
import os

import numpy as np
import pytest

from bench.data import movielens
from bench.data.catalogue import MOVIELENS
from bench.data.factorisation import factorise
from bench.data.files import locate
from bench.data.movielens import fingerprint, load_ratings, movielens_factors, read_ratings

GIVEN = os.environ.get("BENCH_DATA_DIR")
GOOD = b"196\t242\t3\t881250949\n943\t1682\t5\t891717742\n1\t1\t1\t878887116\n"


@pytest.fixture(autouse=True)
def empty_cache(no_data, monkeypatch, altered_data):
    monkeypatch.setattr(movielens, "SWEEPS", 3)
    movielens._cache.forget()


@pytest.fixture
def factorised(monkeypatch):
    """The arguments of the factorisations that were computed, not read from the cache."""
    calls = []
    monkeypatch.setattr(movielens, "factorise", lambda *args, rng: calls.append(args) or factorise(*args, rng=rng))
    return calls


def written(tmp_path, content, monkeypatch=None):
    path = tmp_path / "movielens-100k" / "u.data"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    if monkeypatch is not None:
        monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    return path


@pytest.mark.parametrize("content", [GOOD, GOOD.rstrip(b"\n"), GOOD.replace(b"\n", b"\r\n")])
def test_users_items_and_ratings_are_read_from_lines(tmp_path, content):
    ratings = read_ratings(written(tmp_path, content))
    assert ratings.user.tolist() == [195, 942, 0]
    assert ratings.item.tolist() == [241, 1681, 0]
    assert ratings.rating.tolist() == [3.0, 5.0, 1.0]
    assert (ratings.n_users, ratings.n_items) == (943, 1682)
    assert ratings.user.dtype == ratings.item.dtype == np.int32
    assert ratings.rating.dtype == np.float64


def test_factors_of_the_file_in_use(tmp_path, monkeypatch, factorised):
    written(tmp_path, GOOD, monkeypatch)
    factors = movielens_factors(2, 0.05)
    assert factors.fingerprint == f"altered-{hashlib.sha256(GOOD).hexdigest()}"
    assert np.flatnonzero(factors.users.any(axis=1)).tolist() == [0, 195, 942]
    monkeypatch.delenv("BENCH_DATA_DIR")
    assert movielens_factors(2, 0.05).fingerprint == "surrogate"
    assert len(load_ratings()) == 100_000


def test_kept_factors_equal_fresh_ones(factorised):
    fresh = movielens_factors(4, 0.05)
    assert movielens_factors(4, 0.05) is fresh, "kept in memory"
    movielens._cache.forget()
    kept = movielens_factors(4, 0.05)
    assert len(factorised) == 1, "kept on disk"
    assert kept is not fresh
    for name in ("users", "items"):
        assert np.array_equal(getattr(kept, name), getattr(fresh, name))
        assert not getattr(kept, name).flags.writeable
        assert not getattr(fresh, name).flags.writeable
    assert kept.fingerprint == fresh.fingerprint == "surrogate"
    movielens_factors(4, 0.06)
    movielens_factors(3, 0.05)
    assert len(factorised) == 3, "other settings are other factors"


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path, factorised):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="cannot be written"):
        assert movielens_factors(2, 0.05).users.shape == (943, 2)


def test_the_real_data(monkeypatch):
    if not GIVEN:
        pytest.skip("BENCH_DATA_DIR is not set, so there is no real data to read")
    monkeypatch.setenv("BENCH_DATA_DIR", GIVEN)
    path = locate(MOVIELENS)
    if path is None:
        pytest.skip("BENCH_DATA_DIR has no movielens-100k/u.data")
    ratings = read_ratings(path)
    assert len(ratings) == 100_000
    assert (ratings.n_users, ratings.n_items) == (943, 1682)
    assert np.bincount(ratings.user).min() >= 20
    assert f"sha256:{fingerprint()}" == MOVIELENS.checksums["u.data"]
    factors = factorise(ratings, 20, 0.05, 15, rng=np.random.default_rng(0))
    predicted = np.sum(factors.users[ratings.user] * factors.items[ratings.item], axis=1)
    penalty = np.bincount(ratings.user) @ np.sum(factors.users**2, axis=1)
    penalty += np.bincount(ratings.item) @ np.sum(factors.items**2, axis=1)
    assert np.sum((ratings.rating - predicted) ** 2) + 0.05 * penalty < 93_000
