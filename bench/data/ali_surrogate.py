from pathlib import Path

import numpy as np

from bench.data.ali_log import USER_FEATURES
from bench.seeding import Seeds

_RANK = 6
_MIDNIGHT = 1_494_000_000  # in Beijing, on the first of the original's eight days
_SEGMENTS, _GROUPS, _AGES = 97, 13, 7
_OTHERS = (range(1, 4), range(1, 4), range(2), range(1, 5))
_WEIGHTS = (0.8, 1.0, 0.5, 0.6, 0.5, 0.4, 0.3, 0.4)


def write_surrogate(folder: Path, n_users: int = 20_000, n_ads: int = 5_000, days: int = 8, seed: int = 0) -> None:
    """Write a substitute for Ali-Display-Ad, with the same three files and content generated from ``seed``.

    Users and ads have latent vectors that are mostly sums of vectors of their features. A user clicks on an ad if the
    cosine of the two vectors, with some noise, is above a threshold that drifts over the hours of the day: in the
    afternoon clicks are frequent, even on less relevant ads; at night they are rare. Most users have most of their
    displays in a favourite hour. Displays per user are long-tailed, with a mean of 25, and so is the popularity of ads.
    As in the original, some features are empty or NULL, and some users and ads of the log are missing from their
    tables; both are rarer than in the original, so that a small log keeps most of its users.
    """
    import pandas as pd

    rng = Seeds(seed, 0, ("data", "ali_display_ad")).generator("surrogate")
    users, user_vectors = _users(n_users, rng)
    ads, ad_vectors = _ads(n_ads, rng)

    shows = 1 + rng.negative_binomial(1.2, 1.2 / (1.2 + 24.0), n_users)
    user = np.repeat(np.arange(n_users), shows)
    popularity = rng.lognormal(0.0, 1.2, n_ads)
    ad = rng.choice(n_ads, len(user), p=popularity / popularity.sum())
    hours = 0.15 + np.exp(-(((np.arange(24) - 20.0) / 5.0) ** 2)) + 0.6 * np.exp(-(((np.arange(24) - 12.0) / 4.0) ** 2))
    hours /= hours.sum()
    favourite = rng.choice(24, n_users, p=hours)
    hour = np.where(rng.random(len(user)) < 0.65, favourite[user], rng.choice(24, len(user), p=hours))
    stamp = _MIDNIGHT + rng.integers(days, size=len(user)) * 86_400 + hour * 3600 + rng.integers(3600, size=len(user))
    relevance = np.einsum("ij,ij->i", user_vectors[user], ad_vectors[ad]) + rng.normal(0.0, 0.1, len(user))
    click = (relevance > 0.5 - 0.25 * np.cos(2.0 * np.pi * (hour - 15.0) / 24.0)).astype(np.int64)

    order = np.argsort(stamp, kind="stable")
    log = pd.DataFrame(
        {
            "user": users[0][user],
            "time_stamp": stamp,
            "adgroup_id": ads[0][ad],
            "pid": rng.choice(["430539_1007", "430548_1007"], len(user)),
            "nonclk": 1 - click,
            "clk": click,
        }
    ).iloc[order]
    folder.mkdir(parents=True, exist_ok=True)
    log.to_csv(folder / "raw_sample.csv", index=False)
    _write_ads(folder / "ad_feature.csv", *ads, rng)
    _write_users(folder / "user_profile.csv", *users, rng)


def _users(n: int, rng: np.random.Generator) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    segment = rng.choice(_SEGMENTS, n, p=rng.dirichlet(np.full(_SEGMENTS, 2.0)))
    group = rng.integers(_GROUPS, size=_SEGMENTS)[segment]  # determined by the segment, as in the original
    features = [segment, group, 1 + group // _AGES, group % _AGES]
    for values in _OTHERS:
        features.append(rng.choice(values, n, p=rng.dirichlet(np.full(len(values), 2.0))))
    vectors = rng.normal(0.0, 0.3, (n, _RANK))
    for codes, weight in zip(features, _WEIGHTS, strict=True):
        vectors += weight * rng.standard_normal((codes.max() + 1, _RANK))[codes]
    ids = rng.choice(2 * n, n, replace=False) + 1
    return (ids, np.stack(features, axis=1)), _unit(vectors)


def _ads(n: int, rng: np.random.Generator) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return ids, features and latent vectors of the ads; a campaign has one customer, and a customer one category."""
    n_categories, n_brands, n_customers, n_campaigns = n // 50 + 1, n // 20 + 1, n // 5 + 1, n // 2 + 1
    campaign = rng.integers(n_campaigns, size=n)
    customer = rng.integers(n_customers, size=n_campaigns)[campaign]
    category = rng.integers(n_categories, size=n_customers)[customer]
    brand = rng.integers(n_brands, size=n_customers)[customer]
    codes = np.stack([category, campaign, customer, brand], axis=1)
    vectors = rng.normal(0.0, 0.2, (n, _RANK))
    for column, (count, weight) in enumerate(
        ((n_categories, 1.0), (n_campaigns, 0.3), (n_customers, 0.5), (n_brands, 0.6))
    ):
        vectors += weight * rng.standard_normal((count, _RANK))[codes[:, column]]
    price = np.round(rng.lognormal(5.0, 1.3, n), 1)
    ids = rng.choice(2 * n, n, replace=False) + 1
    return (ids, np.column_stack([codes + 1, price])), _unit(vectors)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _write_users(path: Path, ids: np.ndarray, features: np.ndarray, rng: np.random.Generator) -> None:
    import pandas as pd

    table = pd.DataFrame({"userid": ids} | dict(zip(USER_FEATURES, features.T, strict=True)))
    for name in ("pvalue_level", "new_user_class_level"):
        table[name] = table[name].astype("Int64").mask(rng.random(len(ids)) < 0.03)
    table = table.rename(columns={"new_user_class_level": "new_user_class_level "})  # as in the original
    table[rng.random(len(ids)) >= 0.01].to_csv(path, index=False)


def _write_ads(path: Path, ids: np.ndarray, features: np.ndarray, rng: np.random.Generator) -> None:
    import pandas as pd

    category, campaign, customer, brand = features[:, :4].astype(np.int64).T
    table = pd.DataFrame(
        {
            "adgroup_id": ids,
            "cate_id": category,
            "campaign_id": campaign,
            "customer": customer,
            "brand": pd.Series(brand, dtype="Int64").mask(rng.random(len(ids)) < 0.02),
            "price": features[:, 4],
        }
    )
    table[rng.random(len(ids)) >= 0.005].to_csv(path, index=False, na_rep="NULL")
