import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveFloat

from bench.algorithms.base import positive
from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm, rate
from bench.algorithms.kernels import (
    REFRESH_EVERY,
    add_to_inverse,
    best_upper_bound,
    dot,
    ridge_inverse,
    solve_upper,
    solve_upper_transposed,
)
from bench.component import component
from bench.jit import Array, kernel
from bench.seeding import Seeds
from bench.space import Configuration


@component
class GLOC(ContextualAlgorithm):
    """Generalized linear bandit with online Newton steps, and least squares on their predictions with a confidence set.

    Let V = ridge I + sum x x', the chosen x included, and let theta be the learner's parameter before the reward. The
    Newton step gives theta' = theta - (mu(x'theta) - y) / kappa V^-1 x, and the new theta is the point of the ball
    |theta| <= theta_norm that is nearest to theta' in the norm of V. Least squares give theta_hat = V^-1 sum_s z_s x_s
    with z_s = x_s'theta. The arm pulled is argmax x'theta_hat + exploration_rate |x|_{V^-1}. The projection is exact
    (one-dimensional dual). The ridge of the Newton step, epsilon, and that of least squares, lambda, are equal (1 in
    cdt's experiments) and share the matrix V.

    In the theory, kappa = mu'(S L) is the least possible slope of the logistic function. exploration_rate = sqrt(beta)
    with beta = lambda S^2 + 1 + 4 B / kappa + 8 (R / kappa)^2 ln(2/delta sqrt(1 + 2 B / kappa + 4 (R / kappa)^4 /
    delta^2)), where B = 1 / (2 kappa) sum_s (mu(x_s'theta_s) - y_s)^2 |x_s|^2_{V_s^-1} + 2 kappa S^2 lambda bounds the
    learner's regret over the rounds so far; S = theta_norm, and R is the noise constant. Assumed: cdt's text does not
    state its values; the values above are Jun et al.'s with the constants of the logistic function, and the residual
    sum of squares that their beta subtracts is omitted, so the set is slightly too large. Rewards of a warm-up, before
    the first decision, are learnt with the theoretical kappa. Source: Jun, Bhargava, Nowak and Willett 2017, algorithms
    1 and 2, theorems 1 and 3; cdt, section 5.

    Parameters
    ----------
    ridge
        Both lambda and epsilon.
    theta_norm
        Radius S of the ball that contains theta.
    delta
        Probability with which the theoretical confidence set may fail.
    feature_norm
        Bound L of the features' norms in the theory: 1 (``one``), or the largest in the environment (``largest``).
    prediction
        Whether z is the prediction ``before`` the Newton step, as in Jun et al., or ``after`` it, as in the code.
    theory_kappa
        The theoretical kappa; null: mu'(S L). Without tuning, cdt's code uses 0.1 (gloc_op in GLOC.py at d67bc02).
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "exploration_rate": rate(0.1, 1.0, 2.0, 3.0, 4.0, 5.0),
        "kappa": rate(0.1, 1.0, 2.0, 3.0, 4.0, 5.0),
    }
    links: ClassVar[tuple[str, ...]] = ("logistic",)

    ridge: PositiveFloat = 1.0
    theta_norm: PositiveFloat = 1.0
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.05
    feature_norm: Literal["one", "largest"] = "one"
    prediction: Literal["before", "after"] = "before"
    theory_kappa: PositiveFloat | None = None

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        kappa = self._least_slope
        regret = self._newton_sum / (2.0 * kappa) + 2.0 * kappa * self.theta_norm**2 * self.ridge
        noise = (self._info.sub_gaussian / kappa) ** 2
        inside = 1.0 + 2.0 * regret / kappa + 4.0 * noise**2 / self.delta**2
        beta = (
            self.ridge * self.theta_norm**2
            + 1.0
            + 4.0 * regret / kappa
            + 8.0 * noise * (math.log(2.0 / self.delta) + 0.5 * math.log(inside))
        )
        return {"exploration_rate": math.sqrt(beta), "kappa": kappa}

    @property
    def estimate(self) -> np.ndarray:
        return self.theta_hat

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        self._info = info
        reach = self.theta_norm * (1.0 if self.feature_norm == "one" else info.feature_norm)
        self._least_slope = self.theory_kappa or math.exp(-reach) / (1.0 + math.exp(-reach)) ** 2
        self._kappa = self._least_slope
        self._gram = np.zeros((info.dim, info.dim))
        self._inverse = np.eye(info.dim) / self.ridge
        self._moment = np.zeros(info.dim)
        self.theta = np.zeros(info.dim)
        self.theta_hat = np.zeros(info.dim)
        self._newton_sum = 0.0
        self._updates = 0

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._kappa = positive("kappa", configuration["kappa"])
        return int(best_upper_bound(contexts, self._inverse, self.theta_hat, configuration["exploration_rate"]))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        self._learn(contexts, arm, reward, self.theta_norm, self.prediction == "after")
        self._updates += 1
        if self._updates % REFRESH_EVERY == 0:
            ridge_inverse(self._gram, self._moment, self.ridge, self._inverse, self.theta_hat)

    def _learn(self, contexts: np.ndarray, arm: int, reward: float, radius: float, after: bool) -> None:
        """Add one observation.

        With ``after``, least squares learn the prediction after the Newton step.
        """
        matrices = self._gram, self._inverse
        vectors = self._moment, self.theta, self.theta_hat
        self._newton_sum += _learn(contexts, arm, reward, self._kappa, self.ridge, radius, after, *matrices, *vectors)


_STEPS = 1000
_STEPS_PER_HALVING = 100
_FLAT = 1e-4


@component
class GLOCCode(GLOC):
    """GLOC whose learner is projected by gradient descent instead of exactly.

    If theta' lies outside the ball, theta starts at 0 and takes up to 1,000 steps against 2 V (theta - theta'), of
    length 1/2 at first, halved after each 100 steps, and each followed by a projection onto the ball; the descent ends
    early once the gradient is shorter than 1e-4. The last steps have length 2^-10, so the descent does not converge if
    V has an eigenvalue above 1,024: theta then ends near the ball's boundary in the direction of that eigenvector, for
    any theta'. Source: the public code of cdt, argm in GLOC.py at commits 4711c87 (2023-01-25) and d67bc02
    (2023-03-22).
    """

    def _learn(self, contexts: np.ndarray, arm: int, reward: float, radius: float, after: bool) -> None:
        x = contexts[arm]
        before = float(x @ self.theta)
        super()._learn(contexts, arm, reward, math.inf, False)
        descend(self._gram, self.ridge, radius, self.theta)
        if after:
            change = float(x @ self.theta) - before
            self._moment += change * x
            self.theta_hat += change * (self._inverse @ x)


@kernel
def _learn(
    contexts: Array,
    arm: int,
    reward: float,
    kappa: float,
    ridge: float,
    radius: float,
    after: bool,
    gram: Array,
    inverse: Array,
    moment: Array,
    theta: Array,
    theta_hat: Array,
) -> float:
    """Add one observation and return (mu(x'theta) - y)^2 |x|^2 in the norm of V^-1, for the bound of the regret."""
    x = contexts[arm].copy()
    gain = np.empty(x.size)
    prediction = dot(x, theta)
    fitted = dot(x, theta_hat)
    square = add_to_inverse(x, gram, inverse, gain)

    slope = 1.0 / (1.0 + np.exp(-prediction)) - reward
    for i in range(x.size):
        theta[i] -= slope / kappa * gain[i]
    project(gram, ridge, radius, theta)

    if after:
        prediction = dot(x, theta)
    for i in range(x.size):
        moment[i] += prediction * x[i]
        theta_hat[i] += (prediction - fitted) * gain[i]
    return slope * slope * square / (1.0 + square)


@kernel
def project(gram: Array, ridge: float, radius: float, theta: Array) -> None:
    """Replace ``theta`` by the nearest point of the ball of ``radius`` in the norm of A = gram + ridge I.

    Outside the ball, this point is (A + nu I)^-1 A theta for the nu > 0 at which its length is the radius. The
    reciprocal of the point's length is concave and increasing in nu, so Newton's method from nu = 0 approaches the
    solution from one side.
    """
    dim = theta.size
    square = dot(theta, theta)
    if square <= radius * radius:
        return
    length = np.sqrt(square)
    right = np.empty(dim)
    for i in range(dim):
        right[i] = ridge * theta[i]
        for j in range(dim):
            right[i] += gram[i, j] * theta[j]
    nu = 0.0
    for _ in range(100):
        # the Newton step needs the solution p of (A + nu I) p = right, here theta, and U'^-1 p with A + nu I = U' U
        shifted = gram.copy()
        for i in range(dim):
            shifted[i, i] += ridge + nu
        upper = np.ascontiguousarray(np.linalg.cholesky(shifted).T)
        if nu > 0.0:
            for i in range(right.size):
                theta[i] = right[i]
            solve_upper_transposed(upper, theta)
            solve_upper(upper, theta)
            length = np.sqrt(dot(theta, theta))
        if length <= radius * (1.0 + 1e-15):
            break
        half = theta.copy()
        solve_upper_transposed(upper, half)
        following = nu + length * length / dot(half, half) * (length - radius) / radius
        if following <= nu:
            break
        nu = following
    for i in range(dim):  # the rest is rounding
        theta[i] *= min(1.0, radius / length)


@kernel
def descend(gram: Array, ridge: float, radius: float, theta: Array) -> None:
    """Replace a ``theta`` outside the ball of ``radius`` by the last point of the descent in the authors' code."""
    dim = theta.size
    if np.sqrt(dot(theta, theta)) <= radius:
        return
    target = theta.copy()
    gradient = np.empty(dim)
    theta[:] = 0.0
    step = 1.0
    for number in range(_STEPS):
        for i in range(dim):
            slope = ridge * (theta[i] - target[i])
            for j in range(dim):
                slope += gram[i, j] * (theta[j] - target[j])
            gradient[i] = 2.0 * slope
        if np.sqrt(dot(gradient, gradient)) <= _FLAT:
            return
        if number % _STEPS_PER_HALVING == 0:
            step /= 2.0
        for i in range(dim):
            theta[i] -= step * gradient[i]
        length = np.sqrt(dot(theta, theta))
        if length > radius:
            for i in range(dim):
                theta[i] *= radius / length
