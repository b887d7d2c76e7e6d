from abc import abstractmethod
from dataclasses import field
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, NonNegativeInt

from bench.component import component
from bench.data.catalogue import HOUSE_PRICES, TITANIC, Dataset
from bench.data.files import data_in_use
from bench.data.tabular import Table, load_house_prices, load_titanic
from bench.envs.base import Environment
from bench.errors import ConfigError
from bench.seeding import Seeds


@component
class TabularEnvironment(Environment):
    """A table, split at random into rows for training and for testing, and optionally held-out rows.

    ``start`` sets ``train_features``, float64, shape (rows, features), with ``train_target``, ``test_features`` with
    ``test_target``, ``held_out_features`` with ``held_out_target``, and ``split``, the seed of the split in use.

    Parameters
    ----------
    test_share
        Share of the rows used for testing, on which configurations are scored and chosen.
    held_out_share
        Share of the rows held out, on which the choice can be judged.
    split_seed
        Seed of the split, the same in every run; null: each repetition has another split.
    """

    requires: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    metric: ClassVar[Literal["accuracy", "r2"]]
    """Score of predictions: accuracy for classes, R2 for numbers."""
    dataset: ClassVar[Dataset | None] = None
    """The catalogue's data set that provides the table, if any."""

    test_share: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.2
    held_out_share: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    split_seed: NonNegativeInt | None = 42
    split: int = field(init=False, repr=False)
    train_features: np.ndarray = field(init=False, repr=False)
    train_target: np.ndarray = field(init=False, repr=False)
    test_features: np.ndarray = field(init=False, repr=False)
    test_target: np.ndarray = field(init=False, repr=False)
    held_out_features: np.ndarray = field(init=False, repr=False)
    held_out_target: np.ndarray = field(init=False, repr=False)

    @property
    def fingerprint(self) -> str | None:
        return None if self.dataset is None else data_in_use(self.dataset)[1]

    @abstractmethod
    def load(self) -> Table:
        """Return the whole table."""

    def start(self, rounds: int, seeds: Seeds) -> None:
        """Load and split the table.

        Raises DataError if the table is damaged, and ConfigError if a part has fewer than two rows.
        """
        from sklearn.model_selection import train_test_split

        table = self.load()
        n = len(table.target)
        n_test, n_held_out = int(np.ceil(self.test_share * n)), int(np.ceil(self.held_out_share * n))
        if min(n_test, n - n_test - n_held_out) < 2 or n_held_out == 1:
            held_out = f", env.held_out_share: found {self.held_out_share}" if self.held_out_share else ""
            raise ConfigError(
                f"env.test_share: found {self.test_share} of {n} rows{held_out}, expected at least two rows each "
                f"for training and testing{' and in the part held out' if held_out else ''}"
            )
        drawn = self.split_seed is None
        self.split = int(seeds.generator("split").integers(2**31)) if drawn else int(self.split_seed or 0)
        features, target = table.features, table.target
        self.held_out_features, self.held_out_target = features[:0], target[:0]
        if n_held_out:
            features, self.held_out_features, target, self.held_out_target = train_test_split(
                features, target, test_size=n_held_out, random_state=self.split
            )
        self.train_features, self.test_features, self.train_target, self.test_target = train_test_split(
            features, target, test_size=n_test, random_state=self.split
        )

    def score(self, predictions: np.ndarray, target: np.ndarray) -> float:
        if self.metric == "accuracy":
            return float(np.mean(predictions == target))
        residual = np.sum((target - predictions) ** 2)
        return float(1.0 - residual / np.sum((target - target.mean()) ** 2))


@component
class Titanic(TabularEnvironment):
    """The survivors of the Titanic, from seven features of 712 passengers; without the file, breast cancer instead.

    Source: habo, section 26.2; the split from the authors' code.
    """

    reads: ClassVar[tuple[str, ...]] = ("titanic",)

    metric: ClassVar[Literal["accuracy", "r2"]] = "accuracy"
    dataset: ClassVar[Dataset | None] = TITANIC

    def load(self) -> Table:
        return load_titanic()


@component
class HousePrices(TabularEnvironment):
    """House prices, from 75 features of 1,460 houses; without the file, the progression of diabetes instead.

    Source: habo, section 26.3; the split from the authors' code.
    """

    reads: ClassVar[tuple[str, ...]] = ("house_prices",)

    metric: ClassVar[Literal["accuracy", "r2"]] = "r2"
    dataset: ClassVar[Dataset | None] = HOUSE_PRICES

    def load(self) -> Table:
        return load_house_prices()
