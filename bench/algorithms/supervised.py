from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from pydantic import NonNegativeInt

from bench.algorithms.base import Algorithm
from bench.component import component
from bench.errors import ConfigError
from bench.space import Configuration


@component
class SupervisedAlgorithm(Algorithm):
    """An algorithm that learns from examples, with deterministic training given the examples and the configuration."""

    @abstractmethod
    def predict(
        self, configuration: Configuration, features: np.ndarray, target: np.ndarray, queries: np.ndarray, classes: bool
    ) -> np.ndarray:
        """Train on ``features``, shape (rows, features), and return predictions for ``queries``, shape (queries,).

        ``classes`` states whether the targets are classes instead of numbers.
        """


@component
class RandomForest(SupervisedAlgorithm):
    """scikit-learn's random forest, on one core.

    Source: habo, section 26; the start (the defaults) and all but n_estimators and max_features from the authors' code.

    Parameters
    ----------
    random_state
        Seed of bootstrap samples and splits, the same for every training.
    """

    requires: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "n_estimators": {
            "candidates": tuple(range(50, 301, 10)),
            "low": 50,
            "high": 300,
            "integer": True,
            "default": 50,
        },
        "max_depth": {"candidates": (None, *range(5, 96, 10)), "low": 5, "high": 100, "integer": True, "default": None},
        "min_samples_split": {
            "candidates": tuple(range(2, 51, 2)),
            "low": 2,
            "high": 50,
            "integer": True,
            "default": 2,
        },
        "max_features": {"candidates": ("sqrt", "log2", None), "default": "sqrt"},
    }

    tune: list[str] = field(default_factory=lambda: list(RandomForest.spaces))
    random_state: NonNegativeInt = 42

    def predict(
        self, configuration: Configuration, features: np.ndarray, target: np.ndarray, queries: np.ndarray, classes: bool
    ) -> np.ndarray:
        """Train a forest and predict. Raises ConfigError if scikit-learn rejects a value."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        kind = RandomForestClassifier if classes else RandomForestRegressor
        forest = kind(**configuration, random_state=self.random_state, n_jobs=1)
        try:
            predictions: np.ndarray = forest.fit(features, target).predict(queries)
        except ValueError as error:
            text = " ".join(str(error).split()).removesuffix(".")
            raise ConfigError(f"algorithm: found {configuration}, expected valid values ({text})") from None
        return predictions
