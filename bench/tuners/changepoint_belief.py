from typing import Any

import numpy as np

from bench.jit import kernel

_FIRST = 8
"""Values before the belief is formed, at the least."""

_MOST = 1000
"""Values kept until then, where all are equal."""

_TRUST = 4.0
"""Observations that the first estimate of the noise variance is worth."""

LARGEST = 1e100
"""Values beyond it, of either sign, count as this one, so that squares cannot overflow."""

_ROUNDS, _MEAN, _FREEDOM, _VARIANCE, _HYPOTHESES = range(5)
"""Places in the vector of scalars: values seen since the belief was formed and before, their mean, degrees of freedom
and value of the noise variance, and the number of hypotheses."""


class ChangepointBelief:
    """Hypotheses "nothing has changed since round b", each with a Gaussian belief, weighted by their likelihood.

    The belief is about the values of some points, all of which may change at once. It is formed at the first value that
    is at least the eighth and differs from an earlier one: mean and variance of the values so far are the prior mean
    and the first noise variance, and the values are then learnt under a single hypothesis.

    Every value y of point k updates all hypotheses: with prior covariance S (in units of the noise variance s2) and
    mean m, v = S_kk + 1 and e = y - m_k, the weight is multiplied by the density of Student's t, v^(-1/2) (1 + e^2 / (v
    nu s2))^(-(nu + 1)/2); m += S_k e / v and S -= S_k S_k' / v. s2 is the mean of e^2 / v under the hypothesis that is
    the likeliest at the time, nu the number of its terms.

    Every ``every`` values a hypothesis is born: mean of all values, covariance ``prior``, shape (points, points), in
    units of s2, weight ``chance`` < 1, that of a change since the last birth; with 0 nothing is ever born. Where there
    are ``hypotheses`` >= 4 already, two neighbours in order of birth become one first, those of the least common
    weight, which keeps the belief of the likelier; the two youngest are spared, as they had no time to prove
    themselves.
    Source: Adams and MacKay 2007 for the weights; Mellor and Shapiro 2013 for their use in bandits.
    """

    def __init__(self, prior: np.ndarray, hypotheses: int, every: int, chance: float) -> None:
        n = len(prior)
        self._prior = prior
        self._every = every
        self._chance = chance
        self._first: list[tuple[int, float]] = []
        self._differ = False
        self.means = np.zeros((hypotheses, n))
        self.covariances = np.zeros((hypotheses, n, n))
        self.log_weights = np.zeros(hypotheses)
        self._scalars = np.zeros(5)

    @property
    def formed(self) -> bool:
        return bool(self._scalars[_HYPOTHESES])

    @property
    def n_seen(self) -> int:
        """The number of values learnt; while they are all equal, counted up to 1000."""
        return int(self._scalars[_ROUNDS]) if self.formed else len(self._first)

    @property
    def n_hypotheses(self) -> int:
        """The number of hypotheses at present, in order of birth in ``means``, ``covariances`` and ``log_weights``."""
        return int(self._scalars[_HYPOTHESES])

    @property
    def noise_variance(self) -> float:
        return float(self._scalars[_VARIANCE])

    def largest_bound(self, beta: float, uniform: float) -> int:
        """Draw a hypothesis by its weight; return the point of the largest mean + beta standard deviations under it.

        ``uniform``, in [0, 1), is what it is drawn with. Of equal bounds the first counts.
        """
        return int(_choose(self.means, self.covariances, self.log_weights, self._scalars, beta, uniform))

    def learn(self, place: int, value: float) -> float:
        """Learn a point's value, clipped to +-1e100; return its error under the likeliest hypothesis, 0 without any."""
        value = min(max(value, -LARGEST), LARGEST)
        if not self._scalars[_HYPOTHESES]:
            self._begin(place, value)
            return 0.0
        arrays = self.means, self.covariances, self.log_weights, self._scalars, self._prior
        return float(_learn(*arrays, place, value, self._every, self._chance))

    def _begin(self, place: int, value: float) -> None:
        if len(self._first) < _MOST or value != self._first[0][1]:
            self._first.append((place, value))
        self._differ = self._differ or value != self._first[0][1]
        if len(self._first) < _FIRST or not self._differ:
            return
        values = np.array([value for _, value in self._first])
        variance = max(float(values.var(ddof=1)), 1e-300)
        self._scalars[:] = (len(values), values.mean(), _TRUST, variance, 1.0)
        self.means[0], self.covariances[0] = values.mean(), self._prior
        for earlier, known in self._first:
            _observe(self.means, self.covariances, self.log_weights, self._scalars, earlier, known)
        self._first.clear()

    def save(self) -> dict[str, Any]:
        n = self.n_hypotheses
        return {
            "first": [list(pair) for pair in self._first],
            "scalars": self._scalars.tolist(),
            "means": self.means[:n].tolist(),
            "covariances": self.covariances[:n].tolist(),
            "log_weights": self.log_weights[:n].tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._first = [(int(place), float(value)) for place, value in state["first"]]
        self._differ = any(value != self._first[0][1] for _, value in self._first)
        self._scalars[:] = state["scalars"]
        n = self.n_hypotheses
        if n:
            self.means[:n] = state["means"]
            self.covariances[:n] = state["covariances"]
        self.log_weights[:n] = state["log_weights"]


@kernel
def _choose(
    means: np.ndarray,
    covariances: np.ndarray,
    log_weights: np.ndarray,
    scalars: np.ndarray,
    beta: float,
    uniform: float,
) -> int:
    n = int(scalars[_HYPOTHESES])
    top = log_weights[:n].max()
    total = 0.0
    for h in range(n):
        total += np.exp(log_weights[h] - top)
    drawn = n - 1
    cumulated = 0.0
    for h in range(n):
        cumulated += np.exp(log_weights[h] - top)
        if cumulated >= uniform * total:
            drawn = h
            break
    width = beta * np.sqrt(scalars[_VARIANCE])
    best = 0
    largest = -np.inf
    for k in range(means.shape[1]):
        bound = means[drawn, k] + width * np.sqrt(max(covariances[drawn, k, k], 0.0))
        if bound > largest:
            best, largest = k, bound
    return best


@kernel
def _observe(
    means: np.ndarray, covariances: np.ndarray, log_weights: np.ndarray, scalars: np.ndarray, place: int, value: float
) -> float:
    n, m = int(scalars[_HYPOTHESES]), means.shape[1]
    freedom, variance = scalars[_FREEDOM], scalars[_VARIANCE]
    likeliest = 0
    for h in range(n):
        if log_weights[h] > log_weights[likeliest]:
            likeliest = h
    surprise = 0.0
    square = 0.0
    column = np.empty(m)
    for h in range(n):
        spread = covariances[h, place, place] + 1.0
        error = value - means[h, place]
        scaled = error * error / spread
        if h == likeliest:
            surprise, square = error, scaled
        log_weights[h] -= 0.5 * np.log(spread) + 0.5 * (freedom + 1.0) * np.log1p(scaled / (freedom * variance))
        for i in range(m):
            column[i] = covariances[h, place, i]
        for i in range(m):
            share = column[i] / spread
            means[h, i] += share * error
            for j in range(m):
                covariances[h, i, j] -= share * column[j]
    scalars[_FREEDOM] += 1.0
    scalars[_VARIANCE] = max(variance + (square - variance) / scalars[_FREEDOM], 1e-300)
    return surprise


@kernel
def _learn(
    means: np.ndarray,
    covariances: np.ndarray,
    log_weights: np.ndarray,
    scalars: np.ndarray,
    prior: np.ndarray,
    place: int,
    value: float,
    every: int,
    chance: float,
) -> float:
    """Observe a value and return its error; every few of them, merge two hypotheses if need be and let one be born."""
    scalars[_ROUNDS] += 1.0
    scalars[_MEAN] += (value - scalars[_MEAN]) / scalars[_ROUNDS]
    surprise = _observe(means, covariances, log_weights, scalars, place, value)
    if int(scalars[_ROUNDS]) % every != 0 or chance == 0.0:
        return surprise
    n = int(scalars[_HYPOTHESES])
    top = log_weights[:n].max()
    total = 0.0
    for h in range(n):
        total += np.exp(log_weights[h] - top)
    for h in range(n):
        log_weights[h] -= top + np.log(total)
    if n == log_weights.size:
        n = _merge(means, covariances, log_weights)
    for h in range(n):
        log_weights[h] += np.log1p(-chance)
    means[n] = scalars[_MEAN]
    covariances[n] = prior
    log_weights[n] = np.log(chance)
    scalars[_HYPOTHESES] = n + 1.0
    return surprise


@kernel
def _merge(means: np.ndarray, covariances: np.ndarray, log_weights: np.ndarray) -> int:
    """Make one of the two neighbours of the least common weight, the two youngest exempt; return how many are left."""
    n = log_weights.size
    first = 0
    least = np.inf
    for h in range(n - 3):
        common = np.exp(log_weights[h]) + np.exp(log_weights[h + 1])
        if common < least:
            first, least = h, common
    high = max(log_weights[first], log_weights[first + 1])
    low = min(log_weights[first], log_weights[first + 1])
    dropped = first + 1 if log_weights[first] > log_weights[first + 1] else first
    log_weights[first] = log_weights[first + 1] = high + np.log1p(np.exp(low - high))
    for h in range(dropped, n - 1):
        means[h] = means[h + 1]
        covariances[h] = covariances[h + 1]
        log_weights[h] = log_weights[h + 1]
    return n - 1
