"""The Thompson-sampling policy of the Open Bandit Dataset: its probabilities of all items, not only of those shown."""

import numpy as np

from bench.data.open_bandit_log import OpenBanditLog


def probabilities(log: OpenBanditLog, n_items: int, timestamps: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the probabilities of all items that a policy had at other times, as far as its log tells.

    The policy does not look at the user, but changes all the time. The log holds its propensities of what was shown
    alone. So the probability of an item at a position is taken from when it was last shown there before, and when it
    was first shown there after: the harmonic mean of both propensities, for an item is more likely to be seen when
    its probability is high, and weights 1 / propensity undo that. The probabilities of a row are then scaled to sum
    to 1. An item that was never shown at a position has probability 0 there.

    Parameters
    ----------
    log
        The policy's log.
    n_items
        Number of items.
    timestamps, positions
        When and where, shape (m,); what the log holds for the same microsecond is not looked at.

    Returns
    -------
    ndarray
        Shape (m, n_items).
    """
    found = np.zeros((len(timestamps), n_items))
    for position in np.unique(positions):
        rows = np.flatnonzero(positions == position)
        times = timestamps[rows]
        there = np.flatnonzero(log.positions == position)
        there = there[np.argsort(log.items[there], kind="stable")]
        ends = np.searchsorted(log.items[there], np.arange(n_items + 1))
        for item in range(n_items):
            shown = there[ends[item] : ends[item + 1]]
            # One more at each end, whose weight of 0 says that there is nothing before the first or after the last
            inverse = np.concatenate(([0.0], 1.0 / log.propensities[shown], [0.0]))
            before = np.searchsorted(log.timestamps[shown], times, side="left")
            after = np.searchsorted(log.timestamps[shown], times, side="right") + 1
            count = (before > 0).astype(np.int64) + (after <= len(shown))
            total = inverse[before] + inverse[after]
            found[rows, item] = np.divide(count, total, out=np.zeros(len(rows)), where=count > 0)
    totals = found.sum(axis=1, keepdims=True)
    return np.divide(found, totals, out=np.full_like(found, 1.0 / n_items), where=totals > 0)


def probabilities_of_log(log: OpenBanditLog, n_items: int, rows: np.ndarray) -> np.ndarray:
    """Return the probabilities of all items in rows of the log itself: that of the item shown is the logged one.

    Those of the others are what :func:`probabilities` gives, scaled to sum to the rest.

    Parameters
    ----------
    log, n_items
        The policy's log and the number of items.
    rows
        Which rows, shape (m,).

    Returns
    -------
    ndarray
        Shape (m, n_items).
    """
    found = probabilities(log, n_items, log.timestamps[rows], log.positions[rows])
    own, shown = np.arange(len(rows)), log.items[rows]
    found[own, shown] = 0.0
    totals = found.sum(axis=1, keepdims=True)
    others = np.full_like(found, 1.0 / max(n_items - 1, 1))
    others[own, shown] = 0.0
    found = np.divide(found, totals, out=others, where=totals > 0)
    propensities = log.propensities[rows]
    found *= (1.0 - propensities)[:, None]
    found[own, shown] = propensities
    return found
