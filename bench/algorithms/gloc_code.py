import math

import numpy as np

from bench.algorithms.gloc import GLOC, learn
from bench.algorithms.linear import REFRESH_EVERY, ridge_inverse
from bench.component import component
from bench.jit import kernel

_STEPS = 1000
_STEPS_PER_HALVING = 100
_FLAT = 1e-4


@component
class GLOCCode(GLOC):
    """GLOC whose learner is projected by gradient descent in place of exactly.

    Where theta' lies outside the ball, theta starts at 0 and takes up to 1,000 steps against 2 V (theta - theta'), cut
    to the ball after each, of length 1/2 at first and half of that after each 100 steps; it ends early where the
    gradient is shorter than 1e-4. The last steps have length 2^-10, so that the descent does not converge where V has
    an eigenvalue above 1,024: theta then ends near the ball's boundary in the direction of that eigenvector, wherever
    theta' is.
    Source: the public code of cdt, argm in GLOC.py at commits 4711c87 (2023-01-25) and d67bc02 (2023-03-22).
    """

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        x = contexts[arm]
        before = float(x @ self.theta)
        self._newton_sum += learn(
            contexts,
            arm,
            reward,
            self._kappa,
            self.ridge,
            math.inf,
            False,
            self._gram,
            self._inverse,
            self._moment,
            self.theta,
            self.theta_hat,
        )
        descend(self._gram, self.ridge, self.theta_norm, self.theta)
        if self.prediction == "after":
            change = float(x @ self.theta) - before
            self._moment += change * x
            self.theta_hat += change * (self._inverse @ x)
        self._updates += 1
        if self._updates % REFRESH_EVERY == 0:
            ridge_inverse(self._gram, self._moment, self.ridge, self._inverse, self.theta_hat)


@kernel
def descend(gram: np.ndarray, ridge: float, radius: float, theta: np.ndarray) -> None:
    """Replace a ``theta`` outside the ball of ``radius`` by the last point of the descent, A = gram + ridge I."""
    dim = theta.size
    if np.sqrt(np.sum(theta * theta)) <= radius:
        return
    target = theta.copy()
    gradient = np.empty(dim)
    theta[:] = 0.0
    step = 1.0
    for number in range(_STEPS):
        steepness = 0.0
        for i in range(dim):
            slope = ridge * (theta[i] - target[i])
            for j in range(dim):
                slope += gram[i, j] * (theta[j] - target[j])
            gradient[i] = 2.0 * slope
            steepness += gradient[i] * gradient[i]
        if np.sqrt(steepness) <= _FLAT:
            return
        if number % _STEPS_PER_HALVING == 0:
            step /= 2.0
        length = 0.0
        for i in range(dim):
            theta[i] -= step * gradient[i]
            length += theta[i] * theta[i]
        length = np.sqrt(length)
        if length > radius:
            for i in range(dim):
                theta[i] *= radius / length
