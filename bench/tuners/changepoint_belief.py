from collections.abc import Sequence

import numpy as np

from bench.errors import TunerError
from bench.rewards import LARGEST
from bench.tuners.changepoint_kernels import BORN, OUTLIER, PRIORS, Array, Arrays, choose, learn, observe

_MOST = 1000
"""Values kept before the belief is formed, if all are equal."""

_TRUST = 4.0
"""Weight of the first estimate of a noise variance, in observations."""


class ChangepointBelief:
    """Hypotheses that nothing has changed since round b and the values have prior j, weighted by their likelihood.

    The belief is about the values of some points, which may all change at once. It is formed at the first value that
    differs from an earlier one, but not before value number ``first`` (at least 2). The mean of the values so far is
    the prior mean. Their variance times 1.3 / (1 + signal) is the first noise variance of a prior, so that all priors
    expect the same variance of values. The values are then learnt under one hypothesis for each prior.

    Every value y of point k updates all hypotheses. Let S be the covariance of a hypothesis, in units of the noise
    variance s2 of its prior, and m its mean, v = S_kk + 1 and e = y - m_k. The weight is multiplied by the density of
    Student's t, (v s2)^(-1/2) (1 + e^2 / (v nu s2))^(-(nu + 1)/2); then m += S_k e / v and S -= S_k S_k' / v. s2 is the
    mean of e^2 / v under the prior's likeliest hypothesis at the time, and nu is the number of terms of this mean.

    After every ``every`` values a hypothesis is born for each prior. It has the mean of all values and the covariance
    of the prior, and its share of the prior's weight is the probability of a change since the last birth. With
    ``every`` = 0 no hypothesis is born. If a prior already has ``hypotheses`` >= 4, the pair of neighbours in order of
    birth with the least common weight is first replaced by the likelier of the two. The two youngest hypotheses are
    exempt, because they have few observations. At the same times, priors whose weight is below exp(-7) of the largest
    are dropped for good. Source: Adams and MacKay 2007 for the weights; Mellor and Shapiro 2013 for their use in
    bandits.

    A ``robust`` belief, whose constants are ours, treats an e beyond 4 sqrt(v s2) as an outlier: its noise is assumed
    to have had the variance under which e is 4 standard deviations. This variance replaces v s2 in the update and, with
    16 for e^2 / (v s2), in the weight. In s2 and the mean of all values, the outlier's squared error is limited so that
    it at most doubles s2 (quadruples it at first), and its deviation to 4 standard deviations. nu is at most 300, so
    that s2 follows a changing noise. Before the belief is formed, outliers are clipped to 4 times 1.4826 median
    absolute deviations.

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
        priors: Array,
        signals: Sequence[float],
        log_weights: Array,
        first: int,
        hypotheses: int,
        every: int,
        robust: bool = False,
    ) -> None:
        n_priors, n, _ = priors.shape
        self._shares = 1.3 / (1.0 + np.array(signals))
        self._at_least, self._every, self._robust = first, every, robust
        self._first: list[tuple[int, float]] = []
        shape = (n_priors, hypotheses, n)
        variances, left, scalars = np.ones(n_priors), np.arange(n_priors), np.zeros(5)
        self.arrays = Arrays(
            priors, np.zeros(shape), np.zeros((*shape, n)), np.zeros(shape[:2]), variances, left, scalars
        )
        self.arrays.log_weights[:, 0] = log_weights
        self.arrays.scalars[PRIORS] = n_priors

    @property
    def n_hypotheses(self) -> int:
        """The current number of hypotheses of each prior, 0 until the belief is formed."""
        return int(self.arrays.scalars[BORN])

    @property
    def left(self) -> Array:
        """The indices of the remaining priors."""
        return self.arrays.left[: int(self.arrays.scalars[PRIORS])]

    @property
    def noise_variance(self) -> float:
        """The noise variance of the prior with the likeliest hypothesis."""
        weights = self.arrays.log_weights[self.left, : self.n_hypotheses].max(axis=1)
        return float(self.arrays.variances[self.left[weights.argmax()]])

    def largest_bound(self, beta: float, uniform: float) -> int:
        """Draw a hypothesis by its weight, and return its first point with the largest mean + beta deviations.

        ``uniform``, in [0, 1), decides the draw.
        """
        return int(choose(self.arrays, beta, uniform))

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """Draw the current expected values of all points, shape (n, points), or (0, points) without hypotheses."""
        born, left = self.n_hypotheses, self.left
        if not born:
            return np.empty((0, self.arrays.means.shape[2]))
        _, means, covariances, log_weights, variances = (array[left] for array in self.arrays[:5])
        weights = np.exp(log_weights[:, :born] - log_weights[:, :born].max()).ravel()
        parts = []
        for place, number in enumerate(rng.multinomial(n, weights / weights.sum())):
            prior, hypothesis = divmod(place, born)
            values, vectors = np.linalg.eigh(covariances[prior, hypothesis] * variances[prior])
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            parts.append(means[prior, hypothesis] + rng.standard_normal((number, len(values))) @ root.T)
        return np.concatenate(parts)

    def learn(self, place: int, value: float, chance: float) -> float:
        """Learn the value of the point ``place`` and return its error under the likeliest hypothesis.

        The value is clipped to +-1e100. The error is 0 if there is no hypothesis yet. ``chance`` < 1 is the probability
        of a change per round; a hypothesis born now receives ``every`` times this probability.
        """
        value = min(max(value, -LARGEST), LARGEST)
        if not self.n_hypotheses:
            self._begin(place, value)
            return 0.0
        return float(learn(self.arrays, place, value, self._every, min(chance * self._every, 0.5), self._robust))

    def _begin(self, place: int, value: float) -> None:
        if len(self._first) < _MOST or value != self._first[0][1]:
            self._first.append((place, value))
        if len(self._first) < self._at_least or all(earlier == value for _, earlier in self._first):
            return
        values = np.array([value for _, value in self._first])
        if self._robust:
            center = np.median(values)
            reach = OUTLIER * 1.4826 * np.median(np.abs(values - center))
            values = np.clip(values, center - reach, center + reach) if reach > 0.0 else values
        arrays = self.arrays
        arrays.scalars[:PRIORS] = (len(values), values.mean(), _TRUST, 1.0)
        arrays.variances[:] = np.maximum(values.var(ddof=1) * self._shares, 1e-300)
        arrays.means[:, 0], arrays.covariances[:, 0] = values.mean(), arrays.priors
        for earlier in self._first:
            observe(arrays, *earlier, self._robust)
        self._first.clear()

    def check(self, n_points: int) -> None:
        """Raise TunerError if a restored belief is impossible for ``n_points`` points."""
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
