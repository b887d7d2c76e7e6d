"""The factors that the authors of CDT published: the parser's complaints, and the environment that uses them."""

from pathlib import Path

import numpy as np
import pytest

from bench.data import cdt_factors
from bench.envs.movielens import Movielens
from bench.errors import ConfigError
from bench.seeding import Seeds

HEAD = ",".join(["", *map(str, range(20))])
FILMS = np.random.default_rng(1).normal(size=(9, 20)).round(4)
USERS = np.random.default_rng(2).normal(size=(5, 20)).round(4)
SETTINGS = {"n_arms": 4, "n_users": 5, "mean": "raw", "factors": "cdt"}


def lines_of(table: np.ndarray) -> list[str]:
    return [HEAD, *(",".join([str(i), *map(str, row)]) for i, row in enumerate(table))]


@pytest.fixture(autouse=True)
def nothing_at_hand(no_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, altered_data: None) -> Path:
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(cdt_factors, "_ROWS", {"movie.csv": len(FILMS), "user.csv": len(USERS)})
    folder = tmp_path / "cdt-factors"
    folder.mkdir()
    return folder


@pytest.fixture
def folder(nothing_at_hand: Path) -> Path:
    for name, table in (("movie.csv", FILMS), ("user.csv", USERS)):
        (nothing_at_hand / name).write_text("\n".join(lines_of(table)) + "\n")
    return nothing_at_hand


def test_the_published_factors_are_played(folder: Path) -> None:
    """All users and four of nine films: theta is the users' mean, the contexts are films as written in the file."""
    env = Movielens(**SETTINGS)
    env.start(20, Seeds(3))
    np.testing.assert_allclose(env.theta, USERS.mean(axis=0), atol=1e-15)
    seen = set()
    for _ in range(20):
        contexts = env.observe()
        distances = np.abs(contexts[:, None] - FILMS[None]).max(axis=2)
        assert distances.min(axis=1).max() == 0
        seen |= set(distances.argmin(axis=1).tolist())
        np.testing.assert_allclose(env.means, contexts @ USERS.mean(axis=0), atol=1e-14)
    assert seen == set(range(9))


def test_computed_factors_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    env = Movielens(**SETTINGS)
    assert env.fingerprint == "surrogate"
    monkeypatch.setattr("bench.envs.movielens.movielens_factors", lambda *_: cdt_factors.Factors(USERS, FILMS))
    env.start(5, Seeds(3))
    np.testing.assert_allclose(env.theta, USERS.mean(axis=0), atol=1e-15)


def test_another_rank_is_an_error(folder: Path) -> None:
    with pytest.raises(ConfigError, match="found 5 with factors 'cdt', expected 20"):
        Movielens(dim=5, **SETTINGS).start(5, Seeds(3))
