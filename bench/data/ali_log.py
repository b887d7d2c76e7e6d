"""The log of shown and clicked ads of Ali-Display-Ad, and its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.data.files import read_table, refuse
from bench.data.log import Log
from bench.errors import DataError

if TYPE_CHECKING:  # slow to import
    import pandas as pd

USER_FEATURES = (
    "cms_segid",
    "cms_group_id",
    "final_gender_code",
    "age_level",
    "pvalue_level",
    "shopping_level",
    "occupation",
    "new_user_class_level",
)
AD_FEATURES = ("cate_id", "campaign_id", "customer", "brand", "price")


@dataclass(frozen=True, eq=False)
class AdLog(Log):
    """The users and ads of a log with their features, and for every user the shown ads, clicked or not.

    The ads of user u are at the places ``starts[u]`` to ``starts[u + 1] - 1`` of ``shown`` and ``clicked``; an ad that
    was shown several times occurs once. ``identity`` changes with the files and the code that reads them.

    Parameters
    ----------
    user_ids, ad_ids
        Ids in the files, ascending, int32, shapes (users,) and (ads,), for users and ads of the rows kept.
    user_features, ad_features
        Categories, int32, shapes (users, 8) and (ads, 5), in the order of ``USER_FEATURES`` and ``AD_FEATURES``; values
        as in the files, except that the price is its bin, 0 to 4.
    user_hour
        Hour of the day with most of the user's rows of the log, displays included, 0 to 23, uint8.
    starts
        First place of each user, and the number of places, int64, shape (users + 1,).
    shown
        Row of the ad in ``ad_ids``, int32, shape (places,), ascending for each user.
    clicked
        Whether the user clicked on the ad at least once, bool, shape (places,).
    """

    user_ids: np.ndarray
    user_features: np.ndarray
    user_hour: np.ndarray
    ad_ids: np.ndarray
    ad_features: np.ndarray
    starts: np.ndarray
    shown: np.ndarray
    clicked: np.ndarray
    identity: str = ""

    def clicks(self) -> np.ndarray:
        sums = np.concatenate(([0], np.cumsum(self.clicked, dtype=np.int64)))
        return np.diff(sums[self.starts])


FILES = ("raw_sample.csv", "ad_feature.csv", "user_profile.csv")
PRICE_BINS = 5

_LARGEST = 2**31 - 1
_BEIJING = 8 * 3600
_DAY, _HOUR = 24 * 3600, 3600


def read_log(folder: Path) -> AdLog:
    """Read ``raw_sample.csv``, ``ad_feature.csv`` and ``user_profile.csv``.

    Rows of the log are dropped and counted if a value is missing (empty, or the word NULL), or if the user or ad is
    missing from its table or has a missing value there. Prices become five bins with equal numbers of ads. The hour of
    a row is in the time of Beijing, where the log was recorded. On a tie, a user's main hour is the earliest hour.

    Raises DataError if a file is missing, is empty or lacks a column, if a field is not a number from 0 to 2^31 - 1, if
    an id occurs twice in a table, or if no row is left. The message names file and column.
    """
    ads = _read(folder / "ad_feature.csv", ("adgroup_id", *AD_FEATURES), key="adgroup_id")
    users = _read(folder / "user_profile.csv", ("userid", *USER_FEATURES), key="userid")
    path = folder / "raw_sample.csv"
    rows = _read(path, ("user", "time_stamp", "adgroup_id", "clk"))
    whole_ads, whole_users = ads.dropna(), users.dropna()
    counts = {
        "users in user_profile.csv": len(users),
        "ads in ad_feature.csv": len(ads),
        "rows of the log": len(rows),
    }
    whole = rows.dropna()
    counts["rows dropped: a missing value"] = len(rows) - len(whole)
    rows = whole
    for reason, column, ids in (
        ("user not in user_profile.csv", "user", users.index),
        ("user with a missing value", "user", whole_users.index),
        ("ad not in ad_feature.csv", "adgroup_id", ads.index),
        ("ad with a missing value", "adgroup_id", whole_ads.index),
    ):
        kept = rows[rows[column].isin(ids)]
        counts[f"rows dropped: {reason}"] = len(rows) - len(kept)
        rows = kept
    if rows.empty:
        raise DataError(
            f"{path}: found no row whose user and ad are known and have all their features, expected at least one"
        )
    return _aggregated(rows.astype(np.int64), whole_users, whole_ads, counts)


def _aggregated(rows: "pd.DataFrame", users: "pd.DataFrame", ads: "pd.DataFrame", counts: dict[str, int]) -> AdLog:
    user_ids, user = np.unique(rows["user"], return_inverse=True)
    ad_ids, ad = np.unique(rows["adgroup_id"], return_inverse=True)
    hour = (rows["time_stamp"].to_numpy() + _BEIJING) % _DAY // _HOUR
    by_hour = np.bincount(user * 24 + hour, minlength=24 * len(user_ids)).reshape(-1, 24)
    pairs, place = np.unique(user * len(ad_ids) + ad, return_inverse=True)
    clicked = np.bincount(place, weights=rows["clk"]) > 0
    features = ads.loc[ad_ids].to_numpy()
    edges = np.quantile(ads["price"], np.arange(1, PRICE_BINS) / PRICE_BINS)
    features[:, -1] = np.searchsorted(edges, features[:, -1], side="left")  # equal prices share a bin
    log = AdLog(
        user_ids=user_ids.astype(np.int32),
        user_features=users.loc[user_ids].to_numpy().astype(np.int32),
        user_hour=by_hour.argmax(axis=1).astype(np.uint8),
        ad_ids=ad_ids.astype(np.int32),
        ad_features=features.astype(np.int32),
        starts=np.searchsorted(pairs, np.arange(len(user_ids) + 1) * len(ad_ids)).astype(np.int64),
        shown=(pairs % len(ad_ids)).astype(np.int32),
        clicked=clicked,
    )
    log.counts.update(counts)
    return log


def _read(path: Path, names: Sequence[str], key: str = "") -> "pd.DataFrame":
    """Return the columns as float64 with NaN for a missing value; the column ``key`` becomes the index."""
    # The original has a blank after a column's name
    table = read_table(path, names, ["", "NULL"], usecols=lambda name: name.strip() in names, dtype=np.float64)
    for name in names:
        largest = 1 if name == "clk" else _LARGEST
        refuse(path, name, table[name], (table[name] < 0) | (table[name] > largest), f"a number from 0 to {largest}")
    if not key:
        return table
    refuse(path, key, table[key], table[key].isna() | table[key].duplicated(), "every id once")
    return table.set_index(key)[list(names[1:])]
