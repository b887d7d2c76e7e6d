"""Held-out prediction error of the factors, compared with a predictor based on means."""

from pathlib import Path

import numpy as np
import pandas as pd

from bench.data.factorisation import SWEEPS, Ratings, factorise
from bench.data.files import write_whole
from bench.data_kind import DataKind
from bench.errors import ConfigError, DataError
from bench.seeding import Seeds

SPECIFIED = 0.05
"""The regularisation of the Syndicated authors' code."""
REGULARISATIONS = (0.01, 0.02, SPECIFIED, 0.075, 0.1, 0.125, 0.15, 0.2, 0.3, 0.5)
MEANS = "user + item means"
FACTORS = "factors"


def held_out_error(
    ratings: Ratings,
    rank: int = 20,
    regularisations: tuple[float, ...] = REGULARISATIONS,
    fraction: float = 0.1,
    sweeps: int = SWEEPS,
    seed: int = 0,
) -> pd.DataFrame:
    """Hold out some ratings at random, fit on the remaining ratings, and compute root mean squared errors on both.

    All predictions are clipped to the range of stars, 1 to 5. For a held-out rating whose user or item has no ratings
    left, every predictor falls back on the means. ``fraction`` is the held-out share, in (0, 1); all rows share
    ``seed``, which determines the split and the factors' starting values.

    The table has the columns ``predictor``, ``regularisation`` (NaN for the means), ``train_rmse``, ``heldout_rmse``.
    The predictor of the first row is user mean + item mean - global mean of the training ratings.
    """
    n_held = round(fraction * len(ratings))
    if not 0 < n_held < len(ratings):
        raise ConfigError(f"fraction: found {fraction}, expected one that leaves ratings in both parts")
    seeds = Seeds(seed, 0, ("data", "heldout"))
    held = np.zeros(len(ratings), dtype=bool)
    held[seeds.generator("split").permutation(len(ratings))[:n_held]] = True
    train, test = ratings.select(~held), ratings.select(held)

    overall = float(train.rating.mean())
    user_means = _means(train.user, train.rating, train.n_users, overall)
    item_means = _means(train.item, train.rating, train.n_items, overall)
    seen_users = np.bincount(train.user, minlength=train.n_users) > 0
    seen_items = np.bincount(train.item, minlength=train.n_items) > 0

    def by_means(part: Ratings) -> np.ndarray:
        return user_means[part.user] + item_means[part.item] - overall

    rows: list[tuple[str, float, float, float]] = [
        (MEANS, np.nan, _rmse(by_means(train), train), _rmse(by_means(test), test))
    ]
    seen = seen_users[test.user] & seen_items[test.item]
    for regularisation in regularisations:
        fit = factorise(train, rank, regularisation, sweeps, rng=seeds.generator("factors"))
        on_train, on_test = (np.einsum("nk,nk->n", fit.users[p.user], fit.items[p.item]) for p in (train, test))
        on_test = np.where(seen, on_test, by_means(test))
        rows.append((FACTORS, regularisation, _rmse(on_train, train), _rmse(on_test, test)))
    return pd.DataFrame(rows, columns=["predictor", "regularisation", "train_rmse", "heldout_rmse"])


def _means(group: np.ndarray, rating: np.ndarray, n_groups: int, default: float) -> np.ndarray:
    counts = np.bincount(group, minlength=n_groups)
    sums = np.bincount(group, weights=rating, minlength=n_groups)
    return np.where(counts > 0, sums / np.maximum(counts, 1), default)


def _rmse(predicted: np.ndarray, part: Ratings) -> float:
    return float(np.sqrt(np.mean((np.clip(predicted, 1.0, 5.0) - part.rating) ** 2)))


def describe(table: pd.DataFrame, fingerprint: str) -> str:
    fits = table[table["predictor"] == FACTORS]
    best = fits.sort_values("heldout_rmse").iloc[0]
    data = (
        "generated surrogate ratings"
        if fingerprint == DataKind.SURROGATE
        else f"MovieLens 100K, sha256 {fingerprint[:12]}"
    )
    means = table.loc[table["predictor"] == MEANS, "heldout_rmse"].iloc[0]
    sentences = [f"Smallest held-out error: {best['heldout_rmse']:.4f}, at regularisation {best['regularisation']:g}."]
    for error in fits.loc[fits["regularisation"] == SPECIFIED, "heldout_rmse"]:
        sentences.append(f"Regularisation {SPECIFIED:g}, as in the authors' code: {error:.4f}.")
    sentences.append(f"User mean + item mean - global mean: {means:.4f}.")
    lines = ["# Held-out error of the factors", "", f"Data: {data}.", "", " ".join(sentences), ""]
    lines += ["| predictor | regularisation | RMSE fitted | RMSE held out |", "|---|---:|---:|---:|"]
    for predictor, regularisation, train_rmse, heldout_rmse in table.itertuples(index=False, name=None):
        setting = "" if np.isnan(regularisation) else f"{regularisation:g}"
        lines.append(f"| {predictor} | {setting} | {train_rmse:.4f} | {heldout_rmse:.4f} |")
    return "\n".join(lines) + "\n"


def write_tables(table: pd.DataFrame, fingerprint: str, folder: Path) -> None:
    """Write ``heldout.csv`` and ``heldout.md`` into a folder, which is created if necessary.

    Raises DataError if the files cannot be written.
    """
    try:
        content = table.to_csv(index=False, float_format="%.6g", lineterminator="\n")
        write_whole(folder / "heldout.csv", content.encode())
        write_whole(folder / "heldout.md", describe(table, fingerprint).encode())
    except OSError as error:
        raise DataError(f"{folder}: cannot be written to ({error.strerror}), expected a folder") from None
