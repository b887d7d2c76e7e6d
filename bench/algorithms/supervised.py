"""The contract of every algorithm that learns to predict."""

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
        """Train and predict.

        Parameters
        ----------
        configuration
            A value for every hyper-parameter.
        features, target
            Examples, shapes (rows, features) and (rows,).
        queries
            Features to predict for, shape (queries, features).
        classes
            Whether the targets are classes rather than numbers.

        Returns
        -------
        ndarray
            The predictions, shape (queries,).
        """
