from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bench.errors import TunerError
from bench.jit import kernel

Array = np.ndarray

_MOST = 1000
"""Values kept until then, where all are equal."""

_TRUST = 4.0
"""Observations that the first estimate of a noise variance is worth."""

_LEAST = -7.0
"""A prior whose hypotheses together fall this far below the likeliest, in logarithms of weights, is dropped."""

LARGEST = 1e100
"""Values beyond it, of either sign, count as this one, so that squares cannot overflow."""

_ROUNDS, _MEAN, _FREEDOM, _BORN, _PRIORS = range(5)
"""Places in the vector of scalars: values seen since the belief was formed and before, their mean, degrees of freedom
of the noise variances, the number of hypotheses of a prior, and of priors that are left."""


class Arrays(NamedTuple):
    """A belief as compiled code sees it; in all but ``left`` and ``scalars`` the first axis is that of the priors.

    ``priors``, shape (priors, points, points), are fixed. Hypotheses, in order of birth, are the second axis of
    ``means``, ``covariances`` and ``log_weights``; ``variances`` are those of the noise. The first entries of ``left``
    are the priors that are left; ``scalars`` are named above.
    """

    priors: Array
    means: Array
    covariances: Array
    log_weights: Array
    variances: Array
    left: Array
    scalars: Array


class ChangepointBelief:
    """Hypotheses "nothing has changed since round b, and the values have prior j", weighted by their likelihood.

    The belief is about the values of some points, all of which may change at once. It is formed at the first value that
    is at least the ``first``-th >= 2 and differs from an earlier one. The mean of the values so far is the prior mean,
    their variance times 1.3 / (1 + signal) the first noise variance of a prior, so that all priors expect the same
    variance of values; the values are then learnt under one hypothesis for each prior.

    Every value y of point k updates all hypotheses: with covariance S (in units of the noise variance s2 of the prior)
    and mean m, v = S_kk + 1 and e = y - m_k, the weight is multiplied by the density of Student's t, (v s2)^(-1/2) (1 +
    e^2 / (v nu s2))^(-(nu + 1)/2); m += S_k e / v and S -= S_k S_k' / v. s2 is the mean of e^2 / v under the hypothesis
    that is the prior's likeliest at the time, nu the number of its terms.

    Every ``every`` values a hypothesis is born for each prior: mean of all values, covariance of the prior, and
    the chance of a change since the last birth as its share of the prior's weight; with 0 nothing is born. Where there
    are ``hypotheses`` >= 4 of a prior already, two neighbours in order of birth become one first, those of the least
    common weight, which keeps the belief of the likelier; the two youngest are spared, as they had no time to prove
    themselves. At the same times a prior is dropped for good whose weight is below exp(-7) of the largest.
    Source: Adams and MacKay 2007 for the weights; Mellor and Shapiro 2013 for their use in bandits.

    Parameters
    ----------
    priors
        Covariances in units of the noise variance, shape (priors, points, points).
    signals
        The variance of the function around its level that each prior expects, in units of the noise variance.
    log_weights
        Logarithms of the priors' weights, up to a constant.
    """

    def __init__(
        self, priors: Array, signals: Sequence[float], log_weights: Array, first: int, hypotheses: int, every: int
    ) -> None:
        n_priors, n, _ = priors.shape
        self._shares = 1.3 / (1.0 + np.array(signals))
        self._at_least, self._every = first, every
        self._first: list[tuple[int, float]] = []
        shape = (n_priors, hypotheses, n)
        variances, left, scalars = np.ones(n_priors), np.arange(n_priors), np.zeros(5)
        self.arrays = Arrays(
            priors, np.zeros(shape), np.zeros((*shape, n)), np.zeros(shape[:2]), variances, left, scalars
        )
        self.arrays.log_weights[:, 0] = log_weights
        self.arrays.scalars[_PRIORS] = n_priors

    @property
    def n_hypotheses(self) -> int:
        """The number of hypotheses of each prior at present, in order of birth; 0 until the belief is formed."""
        return int(self.arrays.scalars[_BORN])

    @property
    def left(self) -> Array:
        """The priors that are left."""
        return self.arrays.left[: int(self.arrays.scalars[_PRIORS])]

    @property
    def noise_variance(self) -> float:
        """The noise variance of the prior that has the likeliest hypothesis."""
        weights = self.arrays.log_weights[self.left, : self.n_hypotheses].max(axis=1)
        return float(self.arrays.variances[self.left[weights.argmax()]])

    def largest_bound(self, beta: float, uniform: float) -> int:
        """Draw a hypothesis by its weight; return the first point of the largest mean + beta deviations under it.

        ``uniform``, in [0, 1), is what it is drawn with.
        """
        return int(_choose(self.arrays, beta, uniform))

    def learn(self, place: int, value: float, chance: float) -> float:
        """Learn a point's value, clipped to +-1e100; return its error under the likeliest hypothesis, 0 without any.

        ``chance`` < 1 is that of a change in a round; a hypothesis that is born now has every times as much.
        """
        value = min(max(value, -LARGEST), LARGEST)
        if not self.n_hypotheses:
            self._begin(place, value)
            return 0.0
        return float(_learn(self.arrays, place, value, self._every, min(chance * self._every, 0.5)))

    def _begin(self, place: int, value: float) -> None:
        if len(self._first) < _MOST or value != self._first[0][1]:
            self._first.append((place, value))
        if len(self._first) < self._at_least or all(earlier == value for _, earlier in self._first):
            return
        values = np.array([value for _, value in self._first])
        arrays = self.arrays
        arrays.scalars[:_PRIORS] = (len(values), values.mean(), _TRUST, 1.0)
        arrays.variances[:] = np.maximum(values.var(ddof=1) * self._shares, 1e-300)
        arrays.means[:, 0], arrays.covariances[:, 0] = values.mean(), arrays.priors
        for earlier in self._first:
            _observe(arrays, *earlier)
        self._first.clear()

    def check(self, n_points: int) -> None:
        """Raise TunerError if a belief that was restored cannot be one about ``n_points`` points."""
        arrays = self.arrays
        n_priors, most, n = arrays.means.shape
        rounds, _, freedom, born, left = arrays.scalars.tolist()
        shapes = [array.shape for array in arrays]
        expected = [(n_priors, n, n), (n_priors, most, n), (n_priors, most, n, n), (n_priors, most)]
        covariances = arrays.covariances[:, : int(born)] if 0 <= born <= most else arrays.covariances
        diagonals = np.einsum("phkk->phk", covariances)
        scale = np.abs(covariances).max(initial=1.0)
        checks = {
            "arrays of shapes that fit each other": n == n_points and shapes == [*expected, *[(n_priors,)] * 2, (5,)],
            "finite numbers alone": all(np.isfinite(array).all() for array in arrays),
            "a number of hypotheses for which there is room": born in range(most + 1) and rounds >= 0 <= freedom,
            "at least one prior": left in range(1, n_priors + 1) and bool(np.isin(arrays.left, range(n_priors)).all()),
            "noise variances above 0": bool((arrays.variances > 0.0).all()),
            "symmetric covariances": bool((np.abs(covariances - covariances.mT) <= 1e-6 * scale).all()),
            "no variance below 0": bool((diagonals >= -1e-6 * scale).all()),
            f"points from 0 to {n_points - 1}": all(0 <= place < n_points for place, _ in self._first),
        }
        for words, right in checks.items():
            if not right:
                raise TunerError(f"found an impossible belief, expected {words}")


@kernel
def _choose(belief: Arrays, beta: float, uniform: float) -> int:
    _, means, covariances, log_weights, variances, left, scalars = belief
    n, n_priors = int(scalars[_BORN]), int(scalars[_PRIORS])
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
def _observe(belief: Arrays, place: int, value: float) -> float:
    _, means, covariances, log_weights, variances, left, scalars = belief
    n, m, freedom = int(scalars[_BORN]), means.shape[2], scalars[_FREEDOM]
    top, surprise = -np.inf, 0.0
    column = np.empty(m)
    for p in left[: int(scalars[_PRIORS])]:
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
                square = scaled
            density = np.log(spread * variance) + (freedom + 1.0) * np.log1p(scaled / (freedom * variance))
            log_weights[p, h] -= 0.5 * density
            for i in range(m):
                column[i] = covariances[p, h, place, i]
            for i in range(m):
                share = column[i] / spread
                means[p, h, i] += share * error
                for j in range(m):
                    covariances[p, h, i, j] -= share * column[j]
        variances[p] = max(variance + (square - variance) / (freedom + 1.0), 1e-300)
    scalars[_FREEDOM] += 1.0
    return surprise


@kernel
def _learn(belief: Arrays, place: int, value: float, every: int, chance: float) -> float:
    """Observe a value and return its error; every few of them, drop priors and let hypotheses be born."""
    priors, means, covariances, log_weights, _, left, scalars = belief
    scalars[_ROUNDS] += 1.0
    scalars[_MEAN] += (value - scalars[_MEAN]) / scalars[_ROUNDS]
    surprise = _observe(belief, place, value)
    if int(scalars[_ROUNDS]) % every != 0:
        return surprise
    n = int(scalars[_BORN])
    totals = _totals(log_weights, left, scalars)
    if chance == 0.0:
        return surprise
    born = n
    for p in left[: int(scalars[_PRIORS])]:
        born = n
        if n == log_weights.shape[1]:
            born = _merge(means[p], covariances[p], log_weights[p])
        for h in range(born):
            log_weights[p, h] += np.log1p(-chance)
        means[p, born] = scalars[_MEAN]
        _copy(priors[p], covariances[p, born])
        log_weights[p, born] = np.log(chance) + totals[p]
    scalars[_BORN] = born + 1.0
    return surprise


@kernel
def _totals(log_weights: Array, left: Array, scalars: Array) -> Array:
    """Scale all weights to add up to 1, drop priors of little weight, and return the logarithms of the others'."""
    n, n_priors = int(scalars[_BORN]), int(scalars[_PRIORS])
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
    scalars[_PRIORS] = kept
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
    """Copy a matrix: an assignment would compile numba's messages about shapes, for two seconds."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@kernel
def _merge(means: Array, covariances: Array, log_weights: Array) -> int:
    """Make one of the two neighbours of the least common weight, the two youngest exempt; return how many are left."""
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
