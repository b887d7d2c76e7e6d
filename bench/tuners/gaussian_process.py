import math
from typing import Literal

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize

from bench.jit import kernel

CovarianceName = Literal["squared_exponential", "matern"]

_SIGNAL_BOUNDS = (math.log(1e-3), math.log(1e2))
_LENGTH_BOUNDS = (math.log(1e-2), math.log(1e1))
_NOISE_BOUNDS = (math.log(1e-6), math.log(1e1))


class GaussianProcess:
    """The posterior, given noisy values, of a function on ``points`` of the unit cube, shape (n_points, dim).

    The values so far are standardised to mean 0 and standard deviation 1, so the prior mean is 0. The covariance is the
    signal variance times a squared exponential or Matern (nu = 5/2) function with one length per axis, and the noise is
    independent and normal. ``parameters`` are the logarithms of the signal variance, of the dim lengths and of the
    noise variance, for standardised values. ``observe`` adds one row to L^-1 K, where L L' is the Cholesky
    decomposition of the values' covariance and K the covariance between the values and all points. Because the values
    belong to some of the points, the new row of L is a column of L^-1 K. A value therefore costs O(n_values n_points),
    and no system is solved. Source: Rasmussen and Williams 2006, algorithm 2.1 and equations 4.9, 4.17, 5.8 and 5.9.
    """

    def __init__(self, points: np.ndarray, covariance: CovarianceName) -> None:
        self._points = points
        self._covariance: CovarianceName = covariance
        # A function with a few bumps and a noise of about a third of its deviation.
        self._initial = np.log([1.0, *[0.25] * points.shape[1], 0.1])
        self.parameters = self._initial
        self._indices: list[int] = []
        self._values: list[float] = []
        self._rows = np.zeros((16, len(points)))
        self._reset()

    def _reset(self) -> None:
        self._n_rows = 0
        self._of_values = np.zeros(len(self._points))
        self._of_ones = np.zeros(len(self._points))
        self._variance = np.full(len(self._points), math.exp(self.parameters[0]))

    def observe(self, index: int, value: float) -> None:
        self._indices.append(index)
        self._values.append(value)
        self._condition(index, value)

    def _condition(self, index: int, value: float) -> None:
        if self._n_rows == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        row = self._rows[self._n_rows]
        row[:] = covariances(self._covariance, self.parameters[:-1], (self._points[index] - self._points) ** 2)
        _eliminate(self._rows, self._n_rows, index)
        noise = math.exp(self.parameters[-1])
        pivot = math.sqrt(max(self._variance[index], 0.0) + noise)
        row /= pivot
        # Values and ones separately, because the standardising mean and deviation change with each value.
        self._of_values += row * ((value - self._of_values[index]) / pivot)
        self._of_ones += row * ((1.0 - self._of_ones[index]) / pivot)
        self._variance -= row**2
        self._n_rows += 1

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the posterior mean and standard deviation of the function at all points, in units of the values."""
        center, scale = self._standard()
        mean = center + (self._of_values - center * self._of_ones)
        return mean, scale * np.sqrt(np.maximum(self._variance, 0.0))

    def _standard(self) -> tuple[float, float]:
        """Return the mean and the standard deviation of the values, with 1 in place of a deviation of 0."""
        if not self._values:
            return 0.0, 1.0
        values = np.array(self._values)
        scale = float(values.std())
        return float(values.mean()), scale if scale > 1e-12 * np.abs(values).max() else 1.0

    def fit(self) -> None:
        """Maximise the marginal likelihood, starting from the current parameters and from the initial parameters."""
        bounds = [_SIGNAL_BOUNDS, *[_LENGTH_BOUNDS] * self._points.shape[1], _NOISE_BOUNDS]
        center, scale = self._standard()
        targets = (np.array(self._values) - center) / scale
        x = self._points[self._indices]
        gaps = (x[:, None, :] - x[None, :, :]) ** 2

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = log_marginal_likelihood(self._covariance, parameters, gaps, targets)
            return -value, -gradient

        starts = (self.parameters, self._initial)
        results = [minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in starts]
        self.parameters = min(results, key=lambda result: float(result.fun)).x
        self._reset()
        for index, value in zip(self._indices, self._values, strict=True):
            self._condition(index, value)


def covariances(name: CovarianceName, parameters: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Return the covariances of pairs of points with squared differences ``gaps``, shape (..., dim).

    ``parameters`` begins with the logarithms of the signal variance and of the dim lengths.
    """
    squares = gaps @ np.exp(-2.0 * parameters[1:])
    if name == "squared_exponential":
        return np.exp(parameters[0] - 0.5 * squares)
    roots = np.sqrt(5.0 * squares)
    return (1.0 + roots + 5.0 / 3.0 * squares) * np.exp(parameters[0] - roots)


def log_marginal_likelihood(
    name: CovarianceName, parameters: np.ndarray, gaps: np.ndarray, targets: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the log density of the targets, shape (n,), with prior mean 0, and its gradient in the parameters.

    See `GaussianProcess` for ``parameters``. ``gaps`` has the points' squared differences, shape (n, n, dim).
    """
    n = len(targets)
    signal = covariances(name, parameters[:-1], gaps)
    noise = math.exp(parameters[-1])
    lower = cholesky(signal + noise * np.eye(n), lower=True, check_finite=False)
    weights = cho_solve((lower, True), targets, check_finite=False)
    value = -0.5 * targets @ weights - np.log(np.diag(lower)).sum() - 0.5 * n * math.log(2.0 * math.pi)
    # The gradient is half the trace of this matrix times the derivative of the covariance.
    inner = np.outer(weights, weights) - cho_solve((lower, True), np.eye(n), check_finite=False)
    if name == "squared_exponential":
        by_square = inner * signal
    else:
        roots = np.sqrt(5.0 * (gaps @ np.exp(-2.0 * parameters[1:-1])))
        by_square = inner * (5.0 / 3.0 * (1.0 + roots) * np.exp(parameters[0] - roots))
    lengths = np.einsum("ij,ija->a", by_square, gaps) * np.exp(-2.0 * parameters[1:-1])
    gradient = 0.5 * np.array([np.sum(inner * signal), *lengths, noise * np.trace(inner)])
    return float(value), gradient


@kernel
def _eliminate(rows: np.ndarray, last: int, index: int) -> None:
    row = rows[last]
    for i in range(last):
        factor = rows[i, index]
        for j in range(row.size):
            row[j] -= factor * rows[i, j]
