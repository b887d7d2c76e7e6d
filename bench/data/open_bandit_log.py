from dataclasses import dataclass

import numpy as np

from bench.data.log import Log

N_POSITIONS = 3
"""Places of an item on the page, side by side."""


@dataclass(frozen=True, eq=False)
class OpenBanditLog(Log):
    """What one logging policy showed to whom, and whether it was clicked: one row for each item shown, by time.

    Parameters
    ----------
    timestamps
        Microseconds since 1970, non-decreasing, int64, shape (n,).
    items, positions
        Item shown, from 0, and its position, 0 to 2, int64, shape (n,).
    clicks
        0 or 1, float64, shape (n,).
    propensities
        The policy's probability of showing that item at that position, float64 in (0, 1], shape (n,).
    users
        The user's four categorical features as codes, int64, shape (n, 4).
    affinity_rows, affinity_items, affinities
        The non-zero user-item affinities, sorted by row and item: int64, int64, float64.
    names
        What the codes of the four features stand for: four arrays of str.
    """

    timestamps: np.ndarray
    items: np.ndarray
    positions: np.ndarray
    clicks: np.ndarray
    propensities: np.ndarray
    users: np.ndarray
    affinity_rows: np.ndarray
    affinity_items: np.ndarray
    affinities: np.ndarray
    names: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.items)

    def arrays(self) -> dict[str, np.ndarray]:
        return super().arrays() | {f"names_{number}": names for number, names in enumerate(self.names)}

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> "OpenBanditLog":
        names = tuple(array for name, array in sorted(arrays.items()) if name.startswith("names_"))
        return cls(**{name: array for name, array in arrays.items() if not name.startswith("names_")}, names=names)
