from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat

from bench.algorithms.base import positive
from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm, rate
from bench.algorithms.kernels import best_linear
from bench.arithmetic import inner_product
from bench.component import component
from bench.jit import Array, kernel
from bench.seeding import Seeds
from bench.space import Configuration

_THEORY = {"step_size": 1.0}
_ITERATIONS = 1000
_HALVING = 100
_TOLERANCE = 1e-4


@component
class LaplaceTS(ContextualAlgorithm):
    """Logistic regression with a diagonal Gaussian posterior: draw theta_i ~ N(m_i, 1/q_i) and pull argmax x'theta.

    After a reward, with y = 1, or y = -1 for a reward of 0, w = argmin 1/2 sum_i q_i (w_i - m_i)^2 + ln(1 + exp(-y
    x'w)), then m = w and q_i += p (1 - p) x_i^2 with p = 1 / (1 + exp(-x'w)).

    The paper finds w by plain gradient descent from m + U(-1, 1)^dim: at most 1000 iterations with a step of
    ``step_size``, halved after every 100 iterations, until the gradient's norm is at most 1e-4; this is implemented as
    stated. The result depends on step_size * q_i, which grows with the data. The descent converges if this product is
    below 2. If it is above 2, the first iterations diverge from w, each by a factor of step_size * q_i - 1, and from
    about 9 on the later, shorter steps cannot compensate. The mean then jumps around far from w, where p (1 - p) is
    zero, so the precision stops growing and arms are pulled nearly at random for the rest of the run. ``solver: exact``
    avoids this failure.

    Assumed: if the descent overflows (the squared norm of w is not finite), the posterior is unchanged; rewards of a
    warm-up, before the first decision, are learnt with the theoretical step size. Source: Chapelle and Li 2011,
    algorithm 3; cdt, section 5 (hyper-parameter: the step size; theory: 1).

    Parameters
    ----------
    prior_precision
        Precision q_i of the prior, whose mean is zero.
    solver
        ``gradient_descent``, as stated, or ``exact``: w to machine precision, for any step size.
    first_halving
        The iteration, from 0, before which the step is halved for the first time: 100, or 0 as in cdt's code
        (LaplaceTS.py at commit d67bc02, 2023-03-22), where every step is shorter than the step size.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {"step_size": rate(0.1, 1.0, 2.0, 3.0, 4.0, 5.0)}
    links: ClassVar[tuple[str, ...]] = ("logistic",)

    prior_precision: PositiveFloat = 1.0
    solver: Literal["gradient_descent", "exact"] = "gradient_descent"
    first_halving: Literal[0, 100] = 100

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        return dict(_THEORY)

    @property
    def estimate(self) -> np.ndarray:
        return self.mean

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        self.mean = np.zeros(info.dim)
        self.precision = np.full(info.dim, self.prior_precision)
        self._step_size = _THEORY["step_size"]
        self._posterior_rng = seeds.generator("posterior")
        self._start_rng = seeds.generator("descent")
        self._draw = np.empty(info.dim)

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._step_size = positive("step_size", configuration["step_size"])
        self._posterior_rng.standard_normal(out=self._draw)
        self._draw /= np.sqrt(self.precision)
        self._draw += self.mean
        return int(best_linear(contexts, self._draw))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        label = 1.0 if reward > 0 else -1.0
        if self.solver == "exact":
            _learn_exactly(contexts, arm, label, self.mean, self.precision)
        else:
            start = self._start_rng.random(self.mean.size)
            step = self._step_size if self.first_halving else self._step_size / 2
            _learn_by_descent(contexts, arm, label, step, start, self.mean, self.precision)


@kernel
def _learn_by_descent(
    contexts: Array, arm: int, label: float, step: float, uniform: Array, mean: Array, precision: Array
) -> None:
    """Add one observation by the descent that the paper states.

    ``uniform`` are draws from (0, 1) for the start, shape (dim,).
    """
    dim = mean.size
    x = contexts[arm].copy()
    w = np.empty(dim)
    gradient = np.empty(dim)
    for i in range(dim):
        w[i] = mean[i] + 2.0 * uniform[i] - 1.0
    for iteration in range(_ITERATIONS):
        if iteration > 0 and iteration % _HALVING == 0:
            step *= 0.5
        pull = -label / (1.0 + np.exp(label * inner_product(x, w)))
        for i in range(dim):
            gradient[i] = precision[i] * (w[i] - mean[i]) + pull * x[i]
        square = inner_product(gradient, gradient)
        # the norm may overflow temporarily; only NaN is final
        if np.sqrt(square) <= _TOLERANCE or np.isnan(square):
            break
        for i in range(dim):
            w[i] -= step * gradient[i]
    if np.isfinite(inner_product(w, w)):
        _set_posterior(x, w, mean, precision)


@kernel
def _learn_exactly(contexts: Array, arm: int, label: float, mean: Array, precision: Array) -> None:
    """Add one observation with the exact minimiser w.

    The gradient is zero where w = m + y s x / q with s = 1 / (1 + exp(v)) and v = y x'w. v is therefore the root of v -
    y x'm - h / (1 + exp(v)) with h = sum x_i^2 / q_i, a function that increases with a slope between 1 and 1 + h/4. The
    root is found by Newton's method, kept between y x'm and y x'm + h by bisection.
    """
    dim = mean.size
    x = contexts[arm].copy()
    low = 0.0
    spread = 0.0
    for i in range(dim):
        low += label * x[i] * mean[i]
        spread += x[i] * x[i] / precision[i]
    origin = low
    high = low + spread
    v = low
    for _ in range(200):
        s = 1.0 / (1.0 + np.exp(v))
        excess = v - origin - spread * s
        if excess > 0.0:
            high = v
        else:
            low = v
        following = v - excess / (1.0 + spread * s * (1.0 - s))
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - v) <= 1e-15 * (abs(v) + spread):
            break
        v = following
    w = np.empty(dim)
    s = 1.0 / (1.0 + np.exp(v))
    for i in range(dim):
        w[i] = mean[i] + label * s * x[i] / precision[i]
    _set_posterior(x, w, mean, precision)


@kernel
def _set_posterior(x: Array, w: Array, mean: Array, precision: Array) -> None:
    small = np.exp(-abs(inner_product(x, w)))
    curvature = small / (1.0 + small) ** 2
    for i in range(x.size):
        mean[i] = w[i]
        precision[i] += curvature * x[i] * x[i]
