import numpy as np

from bench.algorithms.kernels import add_outer, dot, solve_upper, solve_upper_transposed
from bench.errors import ConfigError
from bench.jit import Array, kernel

TOLERANCE = 1e-7
"""Largest Euclidean distance of an estimate from the exact one."""

HESSIAN_TOLERANCE = 1e-3
"""Largest relative error of the Hessian."""

_STALE = 0.9
"""Share of the Hessian's tolerance for stale weights; the last step may use half of the rest."""

_BLOCK = 128
"""Observations per block of the history: with 25 features, a block fits into a processor's first-level cache."""

_QUARTER = _BLOCK // 4

_MAX_PASSES = 1000
"""Maximum number of passes over the observations in a fit."""


class LogisticRegression:
    """Minimises the sum of logistic losses + penalty/2 |theta|^2, with a new fit after every observation.

    After every `fit` the estimate ``theta``, shape (dim,), is within `TOLERANCE` of the exact estimate. The Hessian
    U'U, with the upper triangular matrix U in ``upper`` and the penalty included, is within `HESSIAN_TOLERANCE` of the
    exact Hessian. Both bounds are proven below. There is no intercept, and both arrays are updated in place.

    The estimate is found by Newton's method from the last estimate. The first step needs no pass over the history,
    because the gradient at the last estimate is known except for the observations added since. Each further step is
    preceded by a pass over all observations that computes the gradient exactly; usually one pass suffices. Steps are
    damped as in Sun and Tran-Dinh 2019 (generalized self-concordance), so that every start leads to the minimum. Let g
    be the exact gradient at theta, B the Hessian in use, L the largest norm of the features and r = L |g| / penalty. On
    the way from theta to the minimum no x'theta moves by more than r (strong convexity), and |d ln mu'(z) / dz| <= 1,
    so all Hessians on this way lie between exp(-r) and exp(r) times the Hessian at theta. The latter lies between
    exp(-q) and exp(q) times B, where q follows from the tolerance of B. A full Newton step therefore ends within (exp(r
    + q) - 1) sqrt(g' B^-1 g) / sqrt(penalty) of the minimum; a step is the last if this bound is at most the tolerance.

    The exact Hessian is H = penalty I + sum_s w_s x_s x_s' with w_s = mu'(x_s'theta). The weight v_s of each
    observation in the stored Hessian is kept. With the tolerance e, a pass corrects exactly the weights with |v_s -
    w_s| > 0.9 e w_s. The last step, after the last pass, must be so short that L |step| <= 0.05 e, which bounds the
    change of ln w_s; as (1 + 0.9 e) exp(0.05 e) <= 1 + e, |v_s - w_s| <= e w_s holds after this step for all s. Then -e
    H <= B
    - H <= e H in the order of positive semi-definite matrices, and the relative error in the Frobenius norm is at most
    e too: for symmetric A with -C <= A <= C, |C|^2 - |A|^2 = trace((C - A)(C + A)) >= 0.
    """

    def __init__(self, dim: int) -> None:
        self.count = 0
        self.theta = np.zeros(dim)
        self.upper = np.zeros((dim, dim))
        self._rows = np.zeros((8, dim, _BLOCK))
        self._labels = np.zeros((8, _BLOCK))
        self._weights = np.zeros((8, _BLOCK))
        self._gradient = np.zeros(dim)
        self._hessian = np.zeros((dim, dim))
        self._largest_norm = 0.0
        self._fitted: tuple[int, float] | None = None

    @property
    def _history(self) -> tuple[Array, ...]:
        return self._rows, self._labels, self._weights, self.theta, self._gradient, self._hessian

    def add(self, features: np.ndarray, label: float) -> None:
        """Add an observation with ``features``, shape (dim,), and a label in [0, 1]; `fit` updates the estimate."""
        if self.count == self._labels.size:
            self._rows, self._labels, self._weights = (
                np.concatenate((array, np.zeros_like(array))) for array in (self._rows, self._labels, self._weights)
            )
        norm = _add(features, label, self.count, *self._history)
        self._largest_norm = max(self._largest_norm, norm)
        self.count += 1

    def fit(self, penalty: float) -> None:
        """Fit ``theta`` and ``upper`` to all observations with ``penalty`` > 0.

        Raises ConfigError if the tolerance cannot be reached, because the penalty is too small or the features are not
        finite.
        """
        if self._fitted == (self.count, penalty):
            return
        if not _fit(penalty, self.count, self._largest_norm, self.upper, *self._history):
            raise ConfigError(
                f"logistic regression: found no estimate within {TOLERANCE} for the penalty {penalty} and "
                f"{self.count} observations, expected finite features and a larger penalty"
            )
        self._fitted = (self.count, penalty)


@kernel
def _add(
    features: Array,
    label: float,
    index: int,
    rows: Array,
    labels: Array,
    weights: Array,
    theta: Array,
    gradient: Array,
    hessian: Array,
) -> float:
    """Store an observation, add its terms at ``theta`` to the gradient and the Hessian, and return its norm."""
    block, place = index // _BLOCK, index % _BLOCK
    x = features.copy()
    value = dot(theta, x)
    small = np.exp(-abs(value))
    large = 1.0 / (1.0 + small)
    mean = large if value >= 0.0 else small * large
    weight = small * large * large
    labels[block, place] = label
    weights[block, place] = weight
    for i in range(x.size):
        rows[block, i, place] = x[i]
        gradient[i] += (mean - label) * x[i]
    add_outer(x, weight, hessian)
    return np.sqrt(dot(x, x))


@kernel
def _fit(
    penalty: float,
    count: int,
    largest_norm: float,
    upper: Array,
    rows: Array,
    labels: Array,
    weights: Array,
    theta: Array,
    gradient: Array,
    hessian: Array,
) -> bool:
    """Minimise from ``theta``, and return whether the number of passes sufficed.

    ``gradient`` is the gradient of the losses at ``theta``.
    """
    dim = theta.size
    step = np.empty(dim)
    drift = -np.log1p(-_STALE * HESSIAN_TOLERANCE)
    for passes in range(_MAX_PASSES):
        _factorise(hessian, penalty, upper)
        for i in range(dim):
            step[i] = -gradient[i] - penalty * theta[i]
        steepness = dot(step, step)
        solve_upper_transposed(upper, step)
        decrement = dot(step, step)
        solve_upper(upper, step)

        reach = largest_norm * np.sqrt(dot(step, step))
        away = largest_norm * np.sqrt(steepness) / penalty
        error = np.expm1(away + drift) * np.sqrt(decrement / penalty)
        last = passes > 0 and error <= TOLERANCE and reach <= 0.5 * (1.0 - _STALE) * HESSIAN_TOLERANCE
        damping = 1.0
        if not last and reach > 0.01:
            damping = np.log1p(reach / (1.0 + HESSIAN_TOLERANCE)) / reach
        for i in range(dim):
            theta[i] += damping * step[i]
        if last:
            # at the minimum the losses' gradient is minus the penalty's
            for i in range(dim):
                gradient[i] = -penalty * theta[i]
            return True
        _pass(count, rows, labels, weights, theta, gradient, hessian)
    return False


@kernel
def _pass(
    count: int, rows: Array, labels: Array, weights: Array, theta: Array, gradient: Array, hessian: Array
) -> None:
    """Compute the gradient of the losses at ``theta`` exactly, and correct stale weights in the Hessian.

    The loops run along the observations of a block, which is padded with zeros, so that memory is contiguous and no sum
    is split.
    """
    dim = theta.size
    value, residual, weight = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    partial = np.zeros((dim, _QUARTER))
    for block in range((count + _BLOCK - 1) // _BLOCK):
        x = rows[block]
        value[:] = 0.0
        for i in range(dim):
            entry = theta[i]
            for s in range(_BLOCK):
                value[s] += entry * x[i, s]
        for s in range(_BLOCK):
            small = np.exp(-abs(value[s]))
            large = 1.0 / (1.0 + small)
            residual[s] = (large if value[s] >= 0.0 else small * large) - labels[block, s]
            weight[s] = small * large * large
        for i in range(dim):
            for s in range(_QUARTER):
                partial[i, s] += (residual[s] * x[i, s] + residual[s + _QUARTER] * x[i, s + _QUARTER]) + (
                    residual[s + 2 * _QUARTER] * x[i, s + 2 * _QUARTER]
                    + residual[s + 3 * _QUARTER] * x[i, s + 3 * _QUARTER]
                )
        for s in range(min(_BLOCK, count - block * _BLOCK)):
            change = weight[s] - weights[block, s]
            if abs(change) > _STALE * HESSIAN_TOLERANCE * weight[s]:
                weights[block, s] = weight[s]
                add_outer(x[:, s].copy(), change, hessian)
    for i in range(dim):
        gradient[i] = np.sum(partial[i])


@kernel
def _factorise(matrix: Array, penalty: float, upper: Array) -> None:
    """Write the upper triangular U with U'U = matrix + penalty I into ``upper``."""
    dim = upper.shape[0]
    for i in range(dim):
        for j in range(dim):
            upper[i, j] = matrix[i, j] if j >= i else 0.0
        upper[i, i] += penalty
    for k in range(dim):
        pivot = 1.0 / np.sqrt(upper[k, k])
        for j in range(k, dim):
            upper[k, j] *= pivot
        for i in range(k + 1, dim):
            entry = upper[k, i]
            for j in range(i, dim):
                upper[i, j] -= entry * upper[k, j]
