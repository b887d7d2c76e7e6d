"""Compiled parts of the replay of a log, which compute contexts and estimates of many events at once."""

import numpy as np

from bench.jit import Array, kernel

NONE = -1
"""Marks a shown arm of an event that was not pulled."""


@kernel
def products(contexts: Array, rows: Array, arms: Array, out: Array) -> None:
    """Write the products of the features of each row's context and of the ``arms``, shape (d_a, arms), into ``out``."""
    n_own = arms.shape[0]
    for at in range(rows.size):
        for i in range(contexts.shape[1]):
            for j in range(n_own):
                for k in range(arms.shape[1]):
                    out[at, i * n_own + j, k] = contexts[rows[at], i] * arms[j, k]


@kernel
def estimate(
    contexts: Array,
    rows: Array,
    pulled: Array,
    actions: Array,
    rewards: Array,
    propensities: Array,
    model: Array,
    spread: Array,
    totals: Array,
) -> None:
    """Add the terms of each event to the ``totals`` of the estimates, then update the model of the event's action."""
    gain = np.zeros(contexts.shape[1])
    for at in range(rows.size):
        arm, row = pulled[at], rows[at]
        if arm == NONE:
            continue
        x, action, reward, propensity = contexts[row], actions[row], rewards[row], propensities[row]
        predicted = logged = 0.0
        for i in range(x.size):
            predicted += x[i] * model[arm, i]
            logged += x[i] * model[action, i]
        totals[2] += predicted
        if arm == action:
            totals[0] += reward / propensity
            totals[1] += 1.0 / propensity
            totals[2] += (reward - logged) / propensity
        gain[:] = 0.0
        for j in range(x.size):
            for i in range(x.size):
                gain[i] += spread[action, j, i] * x[j]
        square = 1.0
        for i in range(x.size):
            square += x[i] * gain[i]
        for i in range(x.size):
            model[action, i] += (reward - logged) * gain[i] / square
            for j in range(x.size):
                spread[action, i, j] -= gain[i] * gain[j] / square
