"""The compiled steps of `bench.tuners.changepoint_belief.ChangepointBelief`, whose docstring defines them."""

from typing import NamedTuple

import numpy as np

from bench.jit import kernel

Array = np.ndarray

_LEAST = -7.0
"""Log weight below the largest at which a prior is dropped."""

OUTLIER = 4.0
"""Standard deviations of a forecast beyond which a robust belief counts a value as an outlier."""

_MEMORY = 300.0
"""Largest number of degrees of freedom of a robust belief's noise variances, in rounds."""

ROUNDS, MEAN, FREEDOM, BORN, PRIORS = range(5)
"""Indices into the vector of scalars: number of values before the belief was formed and since, their mean, degrees of
freedom of the noise variances, number of hypotheses per prior, and number of remaining priors.
"""


class Arrays(NamedTuple):
    """A belief as arrays for compiled code.

    The first axis is over priors, except in ``left`` and ``scalars``. ``priors``, shape (priors, points, points), are
    fixed. Hypotheses, in order of birth, are the second axis of ``means``, ``covariances`` and ``log_weights``;
    ``variances`` are noise variances. The first entries of ``left`` are the remaining priors; ``scalars`` is indexed by
    the constants above.
    """

    priors: Array
    means: Array
    covariances: Array
    log_weights: Array
    variances: Array
    left: Array
    scalars: Array


@kernel
def choose(belief: Arrays, beta: float, uniform: float) -> int:
    _, means, covariances, log_weights, variances, left, scalars = belief
    n, n_priors = int(scalars[BORN]), int(scalars[PRIORS])
    top = -np.inf
    for p in left[:n_priors]:
        top = max(top, log_weights[p, :n].max())
    total = 0.0
    for p in left[:n_priors]:
        for h in range(n):
            total += np.exp(log_weights[p, h] - top)
    prior, drawn = left[n_priors - 1], n - 1
    cumulated = 0.0
    for i in range(n_priors * n):
        cumulated += np.exp(log_weights[left[i // n], i % n] - top)
        if cumulated >= uniform * total:
            prior, drawn = left[i // n], i % n
            break
    width = beta * np.sqrt(variances[prior])
    best, largest = 0, -np.inf
    for k in range(means.shape[2]):
        bound = means[prior, drawn, k] + width * np.sqrt(max(covariances[prior, drawn, k, k], 0.0))
        if bound > largest:
            best, largest = k, bound
    return best


@kernel
def observe(belief: Arrays, place: int, value: float, robust: bool) -> float:
    _, means, covariances, log_weights, variances, left, scalars = belief
    n, m, freedom = int(scalars[BORN]), means.shape[2], scalars[FREEDOM]
    top, surprise, most = -np.inf, 0.0, OUTLIER * OUTLIER
    column = np.empty(m)
    for p in left[: int(scalars[PRIORS])]:
        variance = variances[p]
        likeliest = np.argmax(log_weights[p, :n])
        if log_weights[p, likeliest] > top:
            top, surprise = log_weights[p, likeliest], value - means[p, likeliest, place]
        square = 0.0
        for h in range(n):
            spread = covariances[p, h, place, place] + 1.0
            error = value - means[p, h, place]
            scaled = error * error / spread
            if h == likeliest:
                square = min(scaled, max(most, freedom + 1.0) * variance) if robust else scaled
            expected = spread * variance
            if robust and scaled > most * variance:
                expected = error * error / most
                spread, scaled = expected / variance, most * variance
            density = np.log(expected) + (freedom + 1.0) * np.log1p(scaled / (freedom * variance))
            log_weights[p, h] -= 0.5 * density
            for i in range(m):
                column[i] = covariances[p, h, place, i]
            for i in range(m):
                share = column[i] / spread
                means[p, h, i] += share * error
                for j in range(m):
                    covariances[p, h, i, j] -= share * column[j]
        variances[p] = max(variance + (square - variance) / (freedom + 1.0), 1e-300)
    scalars[FREEDOM] = min(freedom + 1.0, _MEMORY) if robust else freedom + 1.0
    return surprise


@kernel
def learn(belief: Arrays, place: int, value: float, every: int, chance: float, robust: bool) -> float:
    """Learn a value and return its error; after every ``every`` values, drop priors and add hypotheses."""
    priors, means, covariances, log_weights, variances, left, scalars = belief
    scalars[ROUNDS] += 1.0
    step = value - scalars[MEAN]
    if robust:
        reach = OUTLIER * np.sqrt((priors[left[0], place, place] + 1.0) * variances[left[0]])
        step = min(max(step, -reach), reach)
    scalars[MEAN] += step / scalars[ROUNDS]
    surprise = observe(belief, place, value, robust)
    if int(scalars[ROUNDS]) % every != 0:
        return surprise
    n = int(scalars[BORN])
    totals = _totals(log_weights, left, scalars)
    if chance == 0.0:
        return surprise
    born = n
    for p in left[: int(scalars[PRIORS])]:
        born = n
        if n == log_weights.shape[1]:
            born = _merge(means[p], covariances[p], log_weights[p])
        for h in range(born):
            log_weights[p, h] += np.log1p(-chance)
        means[p, born] = scalars[MEAN]
        _copy(priors[p], covariances[p, born])
        log_weights[p, born] = np.log(chance) + totals[p]
    scalars[BORN] = born + 1.0
    return surprise


@kernel
def _totals(log_weights: Array, left: Array, scalars: Array) -> Array:
    """Normalise all weights, drop priors of little weight, and return the log weights of the remaining priors."""
    n, n_priors = int(scalars[BORN]), int(scalars[PRIORS])
    totals = np.full(len(log_weights), -np.inf)
    for p in left[:n_priors]:
        top = log_weights[p, :n].max()
        totals[p] = top + np.log(np.exp(log_weights[p, :n] - top).sum())
    largest = totals.max()
    kept = 0
    for i in range(n_priors):
        if totals[left[i]] >= largest + _LEAST:
            left[kept] = left[i]
            kept += 1
    scalars[PRIORS] = kept
    total = 0.0
    for p in left[:kept]:
        total += np.exp(totals[p] - largest)
    for p in left[:kept]:
        totals[p] -= largest + np.log(total)
        for h in range(n):
            log_weights[p, h] -= largest + np.log(total)
    return totals


@kernel
def _copy(source: Array, target: Array) -> None:
    """Copy a matrix. An assignment would make numba compile messages about shapes, which takes two seconds."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@kernel
def _merge(means: Array, covariances: Array, log_weights: Array) -> int:
    """Replace the two neighbours with the least common weight by one hypothesis, and return the new number.

    The two youngest hypotheses are exempt.
    """
    n = log_weights.size
    first, least = 0, np.inf
    for h in range(n - 3):
        high = max(log_weights[h], log_weights[h + 1])
        low = min(log_weights[h], log_weights[h + 1])
        common = high + np.log1p(np.exp(low - high))
        if common < least:
            first, least = h, common
    dropped = first + 1 if log_weights[first] > log_weights[first + 1] else first
    log_weights[first] = log_weights[first + 1] = least
    for h in range(dropped, n - 1):
        for i in range(means.shape[1]):
            means[h, i] = means[h + 1, i]
        _copy(covariances[h + 1], covariances[h])
        log_weights[h] = log_weights[h + 1]
    return n - 1
