"""When the ratings of MovieLens 100K were given: which users were there in each part of the log."""

import numpy as np

from bench.data.catalogue import MOVIELENS
from bench.data.files import data_in_use
from bench.data.movielens import load_ratings
from bench.seeding import Seeds


def users_by_period(periods: int) -> list[np.ndarray]:
    """Return the users, from 0 and in order, who rated in each of ``periods`` parts of the log, equal in ratings.

    The stand-in for the data has no times: there its ratings are in a random order.
    """
    user = load_ratings().user
    order = np.argsort(_times(len(user)), kind="stable")
    return [np.unique(part) for part in np.array_split(user[order], periods)]


def _times(n_ratings: int) -> np.ndarray:
    path = data_in_use(MOVIELENS)[0]
    if path is None:
        return Seeds(0, 0, ("data", "movielens")).generator("times").random(n_ratings)
    return np.array([int(line.split(b"\t")[3]) for line in path.read_bytes().splitlines()])
