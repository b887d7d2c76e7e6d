from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.jit import kernel
from bench.tuners.saved import Saved

_MOST = 1000
"""Values kept until then, where all are equal."""

_TRUST = 4.0
"""Observations that the first estimate of a noise variance is worth."""

_LEAST = -7.0
"""A prior whose hypotheses together fall this far below the likeliest, in logarithms of weights, is dropped."""

LARGEST = 1e100
"""Values beyond it, of either sign, count as this one, so that squares cannot overflow."""

KEYS = ("first", "scalars", "left", "variances", "means", "covariances", "log_weights")
"""Of a saved belief."""

_ROUNDS, _MEAN, _FREEDOM, _BORN, _PRIORS = range(5)
"""Places in the vector of scalars: values seen since the belief was formed and before, their mean, degrees of freedom
of the noise variances, the number of hypotheses of a prior, and of priors that are left."""


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
        self,
        priors: np.ndarray,
        signals: Sequence[float],
        log_weights: np.ndarray,
        first: int,
        hypotheses: int,
        every: int,
    ) -> None:
        n_priors, n, _ = priors.shape
        self._priors = priors
        self._shares = 1.3 / (1.0 + np.array(signals))
        self._at_least = first
        self._every = every
        self._first: list[tuple[int, float]] = []
        self._differ = False
        self.left = np.arange(n_priors)
        self.variances = np.zeros(n_priors)
        self.means = np.zeros((n_priors, hypotheses, n))
        self.covariances = np.zeros((n_priors, hypotheses, n, n))
        self.log_weights = np.zeros((n_priors, hypotheses))
        self.log_weights[:, 0] = log_weights
        self._scalars = np.zeros(5)
        self._scalars[_PRIORS] = n_priors

    @property
    def formed(self) -> bool:
        return bool(self._scalars[_BORN])

    @property
    def n_hypotheses(self) -> int:
        """The number of hypotheses of each prior at present, in order of birth."""
        return int(self._scalars[_BORN])

    @property
    def n_priors(self) -> int:
        """The number of priors that are left, the first of ``left``."""
        return int(self._scalars[_PRIORS])

    @property
    def noise_variance(self) -> float:
        """The noise variance of the prior that has the likeliest hypothesis."""
        left = self.left[: self.n_priors]
        weights = self.log_weights[left, : self.n_hypotheses].max(axis=1)
        return float(self.variances[left[weights.argmax()]])

    def largest_bound(self, beta: float, uniform: float) -> int:
        """Draw a hypothesis by its weight; return the point of the largest mean + beta standard deviations under it.

        ``uniform``, in [0, 1), is what it is drawn with. Of equal bounds the first counts.
        """
        arguments = (*self._state, beta, uniform)
        return int(_choose(*arguments))

    def learn(self, place: int, value: float, chance: float) -> float:
        """Learn a point's value, clipped to +-1e100; return its error under the likeliest hypothesis, 0 without any.

        ``chance`` < 1 is that of a change in a round; a hypothesis that is born now has every times as much.
        """
        value = min(max(value, -LARGEST), LARGEST)
        if not self.formed:
            self._begin(place, value)
            return 0.0
        per_birth = min(chance * self._every, 0.5)
        arguments = (*self._state, self._priors, place, value, self._every, per_birth)
        return float(_learn(*arguments))

    @property
    def _state(self) -> tuple[Any, ...]:
        return self.means, self.covariances, self.log_weights, self.variances, self.left, self._scalars

    def _begin(self, place: int, value: float) -> None:
        if len(self._first) < _MOST or value != self._first[0][1]:
            self._first.append((place, value))
        self._differ = self._differ or value != self._first[0][1]
        if len(self._first) < self._at_least or not self._differ:
            return
        values = np.array([value for _, value in self._first])
        self._scalars[:_PRIORS] = (len(values), values.mean(), _TRUST, 1.0)
        self.variances[:] = np.maximum(values.var(ddof=1) * self._shares, 1e-300)
        self.means[:, 0], self.covariances[:, 0] = values.mean(), self._priors
        for earlier, known in self._first:
            arguments = (*self._state, earlier, known)
            _observe(*arguments)
        self._first.clear()

    def save(self) -> dict[str, Any]:
        n, left = self.n_hypotheses, self.left[: self.n_priors]
        return {
            "first": [list(pair) for pair in self._first],
            "scalars": self._scalars.tolist(),
            "left": left.tolist(),
            "variances": self.variances[left].tolist(),
            "means": self.means[left, :n].tolist(),
            "covariances": self.covariances[left, :n].tolist(),
            "log_weights": self.log_weights[left, : max(n, 1)].tolist(),
        }

    def restore(self, saved: Saved) -> None:
        """Take over a state. Raises TunerError where it is damaged; the belief is then of no use."""
        n_priors, most, n_points = self.means.shape[:3]
        rounds, mean, freedom, born, priors = saved.array("scalars", (5,)).tolist()
        left = saved.array("left", (None,), 0, n_priors - 1, whole=True)
        n = int(born)
        if not (rounds >= 0 and freedom >= 0 and 0 <= born <= most and born == n and priors == len(left) >= 1):
            raise saved.refuse(
                "scalars",
                f"{rounds:g} values, {freedom:g} degrees of freedom, {born:g} hypotheses, {priors:g} priors",
                f"at most {most} hypotheses, and as many priors as are left, {len(left)}",
            )
        if len(set(left.tolist())) < len(left):
            raise saved.refuse("left", str(left.tolist()), "no prior twice")
        first = saved.array("first", (None, 2))
        places = first[:, 0]
        if ((places < 0) | (places >= n_points) | (places != np.round(places))).any():
            raise saved.refuse("first", "a point that is not there", f"whole numbers from 0 to {n_points - 1}")
        if n and len(first):
            raise saved.refuse("first", f"{len(first)} values beside {n} hypotheses", "values or hypotheses")
        self._first = [(int(place), value) for place, value in first.tolist()]
        self._differ = bool(len(first)) and bool((first[:, 1] != first[0, 1]).any())
        self._scalars[:] = (rounds, mean, freedom, born, priors)
        self.left[: len(left)] = left
        self.variances[left] = saved.array("variances", (len(left),), 1e-300 if n else 0.0)
        self.log_weights[left, : max(n, 1)] = saved.array("log_weights", (len(left), max(n, 1)))
        self.means[left, :n] = saved.array("means", (len(left), n, n_points))
        covariances = saved.array("covariances", (len(left), n, n_points, n_points))
        scale = np.abs(covariances).max(initial=1e-300)
        if np.abs(covariances - covariances.swapaxes(2, 3)).max(initial=0.0) > 1e-6 * scale:
            raise saved.refuse("covariances", "a matrix that is not symmetric", "symmetric ones")
        if np.diagonal(covariances, axis1=2, axis2=3).min(initial=0.0) < -1e-6 * scale:
            raise saved.refuse("covariances", "a negative variance", "variances of at least 0")
        self.covariances[left, :n] = covariances


@kernel
def _choose(
    means: np.ndarray,
    covariances: np.ndarray,
    log_weights: np.ndarray,
    variances: np.ndarray,
    left: np.ndarray,
    scalars: np.ndarray,
    beta: float,
    uniform: float,
) -> int:
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
    best = 0
    largest = -np.inf
    for k in range(means.shape[2]):
        bound = means[prior, drawn, k] + width * np.sqrt(max(covariances[prior, drawn, k, k], 0.0))
        if bound > largest:
            best, largest = k, bound
    return best


@kernel
def _observe(
    means: np.ndarray,
    covariances: np.ndarray,
    log_weights: np.ndarray,
    variances: np.ndarray,
    left: np.ndarray,
    scalars: np.ndarray,
    place: int,
    value: float,
) -> float:
    n, m = int(scalars[_BORN]), means.shape[2]
    freedom = scalars[_FREEDOM]
    top = -np.inf
    surprise = 0.0
    column = np.empty(m)
    for p in left[: int(scalars[_PRIORS])]:
        variance = variances[p]
        likeliest = 0
        for h in range(n):
            if log_weights[p, h] > log_weights[p, likeliest]:
                likeliest = h
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
def _learn(
    means: np.ndarray,
    covariances: np.ndarray,
    log_weights: np.ndarray,
    variances: np.ndarray,
    left: np.ndarray,
    scalars: np.ndarray,
    priors: np.ndarray,
    place: int,
    value: float,
    every: int,
    chance: float,
) -> float:
    """Observe a value and return its error; every few of them, drop priors and let hypotheses be born."""
    scalars[_ROUNDS] += 1.0
    scalars[_MEAN] += (value - scalars[_MEAN]) / scalars[_ROUNDS]
    surprise = _observe(means, covariances, log_weights, variances, left, scalars, place, value)
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
        covariances[p, born] = priors[p]
        log_weights[p, born] = np.log(chance) + totals[p]
    scalars[_BORN] = born + 1.0
    return surprise


@kernel
def _totals(log_weights: np.ndarray, left: np.ndarray, scalars: np.ndarray) -> np.ndarray:
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
        log_weights[p, :n] -= largest + np.log(total)
    return totals


@kernel
def _merge(means: np.ndarray, covariances: np.ndarray, log_weights: np.ndarray) -> int:
    """Make one of the two neighbours of the least common weight, the two youngest exempt; return how many are left."""
    n = log_weights.size
    first = 0
    least = np.inf
    for h in range(n - 3):
        high = max(log_weights[h], log_weights[h + 1])
        low = min(log_weights[h], log_weights[h + 1])
        common = high + np.log1p(np.exp(low - high))
        if common < least:
            first, least = h, common
    dropped = first + 1 if log_weights[first] > log_weights[first + 1] else first
    log_weights[first] = log_weights[first + 1] = least
    for h in range(dropped, n - 1):
        means[h] = means[h + 1]
        covariances[h] = covariances[h + 1]
        log_weights[h] = log_weights[h + 1]
    return n - 1
