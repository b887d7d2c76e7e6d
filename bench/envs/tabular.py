"""The contract of environments that consist of a table to learn from."""

from abc import abstractmethod
from dataclasses import field
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, NonNegativeInt

from bench.component import component
from bench.data.dataset import Dataset
from bench.data.files import data_in_use
from bench.data.tabular import Table
from bench.envs.base import Environment
from bench.errors import ConfigError
from bench.seeding import Seeds


@component
class TabularEnvironment(Environment):
    """A table, split at random into rows for training and rows for testing; every run has the same split.

    After ``start``: ``train_features``, float64, shape (rows, features), with ``train_target``, and ``test_features``
    with ``test_target``.

    Parameters
    ----------
    test_share
        Share of the rows used for testing.
    split_seed
        Seed of the split.
    """

    metric: ClassVar[Literal["accuracy", "r2"]]
    """Score of predictions: accuracy for classes, R2 for numbers."""
    dataset: ClassVar[Dataset | None] = None
    """The data set that the table comes from, if it is one of the catalogue."""

    test_share: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.2
    split_seed: NonNegativeInt = 42
    train_features: np.ndarray = field(init=False, repr=False)
    train_target: np.ndarray = field(init=False, repr=False)
    test_features: np.ndarray = field(init=False, repr=False)
    test_target: np.ndarray = field(init=False, repr=False)

    @property
    def fingerprint(self) -> str | None:
        return None if self.dataset is None else data_in_use(self.dataset)[1]

    @abstractmethod
    def load(self) -> Table:
        """Return the whole table."""

    def start(self, rounds: int, seeds: Seeds) -> None:
        """Load and split the table.

        Raises
        ------
        DataError
            If the data file is damaged.
        ConfigError
            If one of the two parts would have fewer than two rows.
        """
        from sklearn.model_selection import train_test_split

        table = self.load()
        n_test = int(np.ceil(self.test_share * len(table.target)))
        if min(n_test, len(table.target) - n_test) < 2:
            raise ConfigError(
                f"env.test_share: found {self.test_share} of {len(table.target)} rows, expected at least two rows each "
                "for training and testing"
            )
        self.train_features, self.test_features, self.train_target, self.test_target = train_test_split(
            table.features, table.target, test_size=self.test_share, random_state=self.split_seed
        )

    def score(self, predictions: np.ndarray) -> float:
        """Return the score of predictions for ``test_features``, shape (test rows,)."""
        if self.metric == "accuracy":
            return float(np.mean(predictions == self.test_target))
        residual = np.sum((self.test_target - predictions) ** 2)
        return float(1.0 - residual / np.sum((self.test_target - self.test_target.mean()) ** 2))
