import numpy as np

from bench.data.open_bandit_log import OpenBanditLog


def probabilities(log: OpenBanditLog, n_items: int, timestamps: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the probabilities of all items under a policy at other times, estimated from its log.

    The result has shape (m, n_items). The policy ignores the user but changes all the time, and the log has only the
    propensities of the shown items. The probability of an item at a position is therefore interpolated between the
    item's last display at the position before the time and its first display after. It is the harmonic mean of both
    propensities, that is, their mean weighted by 1 / propensity, because an item is more likely to be shown when its
    probability is high. The probabilities of a row are then scaled to sum to 1. An item that was never shown at a
    position has probability 0 there. Log entries of the same microsecond are ignored.
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
            # Padded with a weight of 0 at both ends, for times before the first or after the last display
            inverse = np.concatenate(([0.0], 1.0 / log.propensities[shown], [0.0]))
            before = np.searchsorted(log.timestamps[shown], times, side="left")
            after = np.searchsorted(log.timestamps[shown], times, side="right") + 1
            count = (before > 0).astype(np.int64) + (after <= len(shown))
            total = inverse[before] + inverse[after]
            found[rows, item] = np.divide(count, total, out=np.zeros(len(rows)), where=count > 0)
    totals = found.sum(axis=1, keepdims=True)
    return np.divide(found, totals, out=np.full_like(found, 1.0 / n_items), where=totals > 0)


def probabilities_of_log(log: OpenBanditLog, n_items: int, rows: np.ndarray) -> np.ndarray:
    """Return the probabilities of all items, shape (m, n_items), in the ``rows`` of the log itself, shape (m,).

    The shown item has its logged probability. The other items have their `probabilities`, scaled to sum to the rest.
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
