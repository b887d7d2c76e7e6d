from abc import abstractmethod

import numpy as np

from bench.algorithms.base import Algorithm
from bench.component import component
from bench.space import Configuration


@component
class SupervisedAlgorithm(Algorithm):
    """Learns from examples; training is deterministic, given the examples and the configuration."""

    @abstractmethod
    def predict(
        self,
        configuration: Configuration,
        features: np.ndarray,
        target: np.ndarray,
        queries: np.ndarray,
        classes: bool,
    ) -> np.ndarray:
        """Train on ``features``, shape (rows, features), and predict for ``queries``; return shape (queries,).

        ``classes``: whether the targets are classes rather than numbers.
        """
