from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bench.algorithms.base import Algorithm
from bench.algorithms.kernels import expected
from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration


def rate(*candidates: float) -> dict[str, Any]:
    """Return the space of an exploration rate or step size, with the usual candidates and cdt's interval."""
    return {"candidates": candidates, "low": 0.1, "high": 5.0, "log": False, "default": 1.0}


@dataclass(frozen=True)
class BanditInfo:
    """The facts about an environment that an algorithm may know (see `ContextualEnvironment`).

    ``rounds`` is the horizon T.
    """

    dim: int
    n_arms: int
    rounds: int
    sub_gaussian: float
    feature_norm: float
    shared_context: bool = False


@component
class ContextualAlgorithm(Algorithm, ABC):
    """A contextual bandit algorithm, whose untuned hyper-parameters have their theoretical values, if there are any."""

    links: ClassVar[tuple[str, ...]] = ("linear", "logistic")

    per_arm: ClassVar[bool] = False
    """Whether it keeps coefficients per arm if all arms share one context, without features of their own."""

    @property
    def random_rounds(self) -> int:
        """Number of random pulls before the algorithm's first decision."""
        return 0

    @property
    def rounds_per_decision(self) -> int:
        """Number of rounds for which the algorithm keeps one configuration."""
        return 1

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        """Return the theoretical values for round ``round_``, counted from 1, which may depend on the tuned values."""
        return {}

    @property
    def estimate(self) -> np.ndarray | None:
        """The algorithm's estimate of theta at the latest decision, or None if there is no estimate.

        The shape is (dim,), or (arms, dim) with coefficients for each arm.
        """
        return None

    def expect(self, contexts: np.ndarray, arm: int) -> dict[str, float]:
        """Return the algorithm's estimates, if any, for a round in which ``arm`` is pulled.

        This method is called before `update`. ``model_mean`` is the expected reward of the arm: x'theta, through the
        logistic function if the algorithm accepts only logistic rewards; ``model_regret`` is the largest expected
        reward of all arms minus ``model_mean``.
        """
        theta = self.estimate
        if theta is None:
            return {}
        if theta.ndim == 2:
            means = (contexts * theta).sum(axis=1)
            return {"model_mean": float(means[arm]), "model_regret": float(means.max() - means[arm])}
        mean, largest = expected(contexts, theta, arm, self.links == ("logistic",))
        return {"model_mean": mean, "model_regret": largest - mean}

    @abstractmethod
    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        """Forget everything and prepare for a run."""

    @abstractmethod
    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        """Return the arm to pull, given the contexts, shape (arms, dim), and a value for every hyper-parameter."""

    @abstractmethod
    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        """Learn the reward of ``arm``."""
