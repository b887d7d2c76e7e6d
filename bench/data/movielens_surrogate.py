import numpy as np

from bench.data.ratings import Ratings
from bench.seeding import Seeds

MIN_PER_USER = 20
_LATENT_RANK = 10


def surrogate_ratings(n_users: int = 943, n_items: int = 1682, n_ratings: int = 100_000) -> Ratings:
    """A stand-in for MovieLens 100K: generated ratings, always the same ones, sorted by user and item.

    A few users rate very often and a few items are rated very often; every user has at least 20 ratings and every item
    at least one, as in the original. A rating is a rounded sum of a mean, a user's and an item's bias, a product of
    latent factors, and noise, with variances chosen so that the stars are about as frequent as in the original.
    """
    rng = Seeds(0, 0, ("data", "movielens")).generator("surrogate")
    counts = _activity(n_users, n_ratings, rng)

    # A user's items have the largest keys: popularity with Gumbel noise samples without replacement
    keys = rng.normal(0.0, 1.45, n_items) + rng.gumbel(size=(n_users, n_items))
    keys[rng.choice(n_users, n_items, p=counts / n_ratings), np.arange(n_items)] = np.inf  # every item is rated
    ranks = np.argsort(np.argsort(-keys, axis=1), axis=1)
    user, item = np.nonzero(ranks < counts[:, None])

    latent_users = rng.standard_normal((n_users, _LATENT_RANK))
    latent_items = rng.standard_normal((n_items, _LATENT_RANK))
    interaction = 0.5 / np.sqrt(_LATENT_RANK) * np.sum(latent_users[user] * latent_items[item], axis=1)
    inclination = rng.normal(0.0, 0.42, n_users)[user] + rng.normal(0.0, 0.48, n_items)[item]
    score = 3.55 + inclination + interaction + rng.normal(0.0, 0.85, n_ratings)
    rating = np.clip(np.rint(score), 1.0, 5.0)
    return Ratings(user.astype(np.int32), item.astype(np.int32), rating, n_users, n_items)


def _activity(n_users: int, n_ratings: int, rng: np.random.Generator) -> np.ndarray:
    """Return each user's number of ratings, shape (n_users,): long-tailed, with the sum ``n_ratings``."""
    weights = rng.gamma(0.7, size=n_users)
    shares = weights / weights.sum() * (n_ratings - MIN_PER_USER * n_users)
    counts = np.floor(shares).astype(np.int64)
    left = n_ratings - MIN_PER_USER * n_users - counts.sum()
    counts[np.argsort(counts - shares, kind="stable")[:left]] += 1  # the largest remainders
    return counts + MIN_PER_USER
