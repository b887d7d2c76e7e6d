import math
from typing import Any, ClassVar

import numpy as np
from pydantic import NonNegativeInt, PositiveFloat

from bench.algorithms.base import positive
from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.algorithms.kernels import best_sampled
from bench.algorithms.linear import LinearAlgorithm
from bench.algorithms.logistic_regression import LogisticRegression
from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration


@component
class GLMTSL(ContextualAlgorithm):
    """GLM-TSL with the logistic link: draw theta ~ N(theta_bar, exploration_rate^2 H^-1) and pull argmax x'theta.

    theta_bar minimises the sum of logistic losses + ridge/2 |theta|^2 over all data so far, and H = ridge I + sum
    mu'(x'theta_bar) x x' is the Hessian at theta_bar. In every round after the random pulls, both are computed for the
    current ridge, theta_bar with an error of at most 1e-7 and H with a relative error of at most 1e-3 in the Frobenius
    norm (see `LogisticRegression`). Source: Kveton et al. 2020, algorithm 1 (GLM-TSL); cdt, section 5.

    Parameters
    ----------
    random_pulls
        Number of random pulls tau before the first decision.
    kappa
        Smallest derivative of the link that theory assumes.
    theory_factor
        Factor on the theoretical exploration rate, as in cdt's code; 1/2 is also the root of the link's largest slope.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = LinearAlgorithm.spaces
    links: ClassVar[tuple[str, ...]] = ("logistic",)

    random_pulls: NonNegativeInt = 150
    kappa: PositiveFloat = 0.1
    theory_factor: PositiveFloat = 0.5

    @property
    def random_rounds(self) -> int:
        return self.random_pulls

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        """Return exploration_rate = sigma/kappa sqrt(d ln(T/d) + 2 ln T) theory_factor for the horizon T."""
        dim, horizon = self._info.dim, self._info.rounds
        # negative if the horizon is far smaller than the number of features, where theory does not apply
        width = math.sqrt(max(0.0, dim * math.log(horizon / dim) + 2 * math.log(horizon)))
        return {"exploration_rate": self._info.sub_gaussian / self.kappa * width * self.theory_factor}

    @property
    def estimate(self) -> np.ndarray:
        return self.theta_bar

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        self._info = info
        self._regression = LogisticRegression(info.dim)
        self.theta_bar = self._regression.theta
        self._rng = seeds.generator("posterior")
        self.theta = np.zeros(info.dim)

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        regression = self._regression
        regression.fit(positive("ridge", configuration["ridge"]))
        self._rng.standard_normal(out=self.theta)
        rate = configuration["exploration_rate"]
        return int(best_sampled(contexts, regression.upper, regression.theta, rate, self.theta))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        self._regression.add(contexts[arm], reward)
