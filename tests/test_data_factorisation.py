"""Alternating least squares against numpy's solver, the surrogate, and the held-out study."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bench.data.factorisation import Factors, Ratings, factorise
from bench.data.heldout import FACTORS, MEANS, describe, held_out_error, write_tables
from bench.data.movielens import surrogate_ratings
from bench.errors import ConfigError, DataError

RANK = 3
REGULARISATION = 0.1
EMPTY_USER, EMPTY_ITEM = 4, 7


def small_ratings() -> Ratings:
    """12 users, 15 items, ratings of about half of the pairs, one user and one item without any."""
    rng = np.random.default_rng(3)
    observed = rng.random((12, 15)) < 0.5
    observed[EMPTY_USER] = observed[:, EMPTY_ITEM] = False
    user, item = np.nonzero(observed)
    order = rng.permutation(len(user))  # ratings come in any order
    rating = rng.integers(1, 6, len(user)).astype(np.float64)
    return Ratings(user[order].astype(np.int32), item[order].astype(np.int32), rating, 12, 15)


def fit(ratings: Ratings, sweeps: int, seed: int = 0) -> Factors:
    return factorise(ratings, RANK, REGULARISATION, sweeps, rng=np.random.default_rng(seed))


def solved(
    row: np.ndarray, column: np.ndarray, rating: np.ndarray, fixed: np.ndarray, regularisation: float, n_rows: int
) -> np.ndarray:
    """One half step by numpy, row by row; a row without a rating is zero."""
    result = np.zeros((n_rows, fixed.shape[1]))
    for i in np.unique(row):
        mine = fixed[column[row == i]]
        gram = mine.T @ mine + regularisation * len(mine) * np.eye(fixed.shape[1])
        result[i] = np.linalg.solve(gram, mine.T @ rating[row == i])
    return result


def test_half_steps_solve_every_row_exactly() -> None:
    ratings = small_ratings()
    user, item, rating = ratings.user, ratings.item, ratings.rating
    before, after = fit(ratings, sweeps=4), fit(ratings, sweeps=5)
    users = solved(user, item, rating, before.items, REGULARISATION, 12)
    items = solved(item, user, rating, users, REGULARISATION, 15)
    np.testing.assert_allclose(after.users, users, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(after.items, items, rtol=1e-9, atol=1e-11)


def test_the_seed_decides_the_start_only() -> None:
    ratings = small_ratings()
    first, again, other = fit(ratings, 3), fit(ratings, 3), fit(ratings, 3, seed=1)
    assert np.array_equal(first.users, again.users)
    assert np.array_equal(first.items, again.items)
    assert not np.array_equal(first.users, other.users)


@pytest.mark.parametrize(
    ("key", "value"), [("rank", 0), ("sweeps", 0), ("regularisation", 0.0), ("regularisation", float("nan"))]
)
def test_settings_out_of_range(key: str, value: float) -> None:
    settings = {"rank": 2, "regularisation": 0.1, "sweeps": 1, key: value}
    with pytest.raises(ConfigError, match=f"{key}: found {value}"):
        factorise(small_ratings(), **settings, rng=np.random.default_rng(0))  # type: ignore[arg-type]


def test_surrogate_has_the_original_shape() -> None:
    ratings = surrogate_ratings()
    assert len(ratings) == 100_000
    assert (ratings.n_users, ratings.n_items) == (943, 1682)
    assert ratings.user.dtype == ratings.item.dtype == np.int32
    pairs = ratings.user.astype(np.int64) * ratings.n_items + ratings.item
    assert len(np.unique(pairs)) == 100_000
    assert ratings.user.min() == ratings.item.min() == 0
    per_user, per_item = np.bincount(ratings.user, minlength=943), np.bincount(ratings.item, minlength=1682)
    assert (len(per_user), len(per_item)) == (943, 1682)
    assert per_user.min() >= 20
    assert per_item.min() >= 1
    for counts in (per_user, per_item):  # long tails: the mean lies far above the median, the largest far above both
        assert np.mean(counts) > 1.3 * np.median(counts)
        assert counts.max() > 5 * np.mean(counts)
    stars, frequency = np.unique(ratings.rating, return_counts=True)
    assert stars.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert np.all(frequency > 2_000)


def test_means_predict_as_computed_by_pandas() -> None:
    ratings = surrogate_ratings().select(np.arange(0, 100_000, 5))
    table = held_out_error(ratings, rank=2, regularisations=(0.1, 10.0), sweeps=3)
    assert table["predictor"].tolist() == [MEANS, FACTORS, FACTORS]
    assert table["regularisation"].tolist()[1:] == [0.1, 10.0]
    # the same split, found in another way: the positions held out are the first tenth of the split's permutation
    from bench.seeding import Seeds

    order = Seeds(0, 0, ("data", "heldout")).generator("split").permutation(len(ratings))
    frame = pd.DataFrame({"user": ratings.user, "item": ratings.item, "rating": ratings.rating})
    test, train = frame.iloc[order[:2000]], frame.iloc[order[2000:]]
    overall = train["rating"].mean()
    user_mean = test["user"].map(train.groupby("user")["rating"].mean()).fillna(overall)
    item_mean = test["item"].map(train.groupby("item")["rating"].mean()).fillna(overall)
    error = (user_mean + item_mean - overall).clip(1, 5) - test["rating"]
    assert table["heldout_rmse"].iloc[0] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-12)
    # a huge penalty shrinks the factors to nothing, and predictions to one star
    expected = np.sqrt(np.mean((1.0 - train["rating"]) ** 2))
    assert table["train_rmse"].iloc[2] == pytest.approx(expected, rel=1e-6)
    # ... except where the user or the item has no ratings to fit on: there the means step in
    cold = ~(test["user"].isin(train["user"]) & test["item"].isin(train["item"]))
    assert 0 < cold.sum() < len(test)
    error = np.where(cold, error, 1.0 - test["rating"])
    assert table["heldout_rmse"].iloc[2] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-6)


def test_tables_are_written(tmp_path: Path) -> None:
    columns = ["predictor", "regularisation", "train_rmse", "heldout_rmse"]
    rows = [(MEANS, np.nan, 0.9, 0.95), (FACTORS, 0.05, 0.5, 0.97), (FACTORS, 0.1, 0.6, 0.92)]
    table = pd.DataFrame(rows, columns=columns)
    write_tables(table, "surrogate", tmp_path / "new")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "new" / "heldout.csv"), table)
    text = (tmp_path / "new" / "heldout.md").read_text()
    assert text == describe(table, "surrogate")
    assert "surrogate" in text
    assert "Smallest held-out error: 0.9200, at regularisation 0.1" in text
    assert "| user + item means |  | 0.9000 | 0.9500 |" in text
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file"):
        write_tables(table, "surrogate", tmp_path / "file")
