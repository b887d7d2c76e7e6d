"""A low-rank factorisation of a table of ratings."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Factors:
    """A factorised table of ratings: ``users @ items.T`` approximates it.

    Parameters
    ----------
    users
        Shape (n_users, rank); zero for a user without ratings.
    items
        Shape (n_items, rank); zero for an item without ratings.
    objective
        The objective after each half sweep (users, items, users, ...), shape (2 * sweeps,).
    fingerprint
        The data it was computed from: the sha256 of the data file, ``surrogate``, or empty.
    """

    users: np.ndarray
    items: np.ndarray
    objective: np.ndarray
    fingerprint: str = ""
