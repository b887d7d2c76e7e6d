"""The contract of every algorithm that learns to predict."""

from abc import abstractmethod

import numpy as np

from bench.algorithms.base import Algorithm
from bench.component import component
from bench.space import Configuration


@component
class SupervisedAlgorithm(Algorithm):
    """Learns from examples; training it is a function of the examples and the configuration, without chance."""

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
            What to predict for, shape (queries, features).
        classes
            Whether the target is classes, else numbers.

        Returns
        -------
        ndarray
            The predictions, shape (queries,).
        """
