"""Ratings of items by users."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Ratings:
    """A sparse table of ratings, one entry per (user, item) that was rated.

    Parameters
    ----------
    user, item
        Numbers of user and item from 0, int32, shape (n_ratings,).
    rating
        The ratings, float64, shape (n_ratings,).
    n_users, n_items
        Shape of the table.
    """

    user: np.ndarray
    item: np.ndarray
    rating: np.ndarray
    n_users: int
    n_items: int

    def __len__(self) -> int:
        return len(self.rating)

    def select(self, chosen: np.ndarray) -> "Ratings":
        """Return the ratings at the given positions, or where a mask is true, in a table of the same shape."""
        return Ratings(self.user[chosen], self.item[chosen], self.rating[chosen], self.n_users, self.n_items)
