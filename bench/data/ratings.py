from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Ratings:
    """A sparse table of ratings, one entry per (user, item) that was rated.

    ``user`` and ``item`` count from 0, int32, ``rating`` is float64, all of shape (n_ratings,).
    """

    user: np.ndarray
    item: np.ndarray
    rating: np.ndarray
    n_users: int
    n_items: int

    def __len__(self) -> int:
        return len(self.rating)

    def select(self, chosen: np.ndarray) -> "Ratings":
        """Return the ratings at the given positions, or where a mask is true."""
        return Ratings(self.user[chosen], self.item[chosen], self.rating[chosen], self.n_users, self.n_items)
