from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Factors:
    """A low-rank factorisation of a table of ratings: ``users @ items.T`` approximates it.

    ``users``, shape (n_users, rank), and ``items``, shape (n_items, rank), are zero where there are no ratings.
    ``objective`` has its value after each half sweep (users, items, users, ...), shape (2 * sweeps,); ``fingerprint``
    names the data: the sha256 of the file, ``surrogate``, or empty.
    """

    users: np.ndarray
    items: np.ndarray
    objective: np.ndarray
    fingerprint: str = ""
