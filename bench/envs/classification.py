from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bench.component import component
from bench.data.encode import counted
from bench.data.labelled import Labelled, Packaged, load_labelled, load_packaged
from bench.data.read import digest, files_of
from bench.envs.contextual import ContextualEnvironment, Link
from bench.seeding import Seeds


@component
class Classification(ContextualEnvironment):
    """Labelled data as a bandit, in which a round is a row and the arms are the classes.

    The right class earns 1, and any other class earns 0. All arms share the features of the row, so algorithms have
    coefficients for each arm. Numbers are standardised, strings are one-hot encoded, a constant is added, and rows have
    norm 1. Each repetition plays the rows in a random order. Source: Dudik et al. 2014, section 5.1; Bietti et al.
    2021.

    Parameters
    ----------
    data
        A data set of scikit-learn: ``digits`` (1,797 rows, 10 classes), ``wine`` (178, 3), ``breast_cancer`` (569, 2)
        or ``iris`` (150, 3); ignored if there is a ``path``.
    path
        Your own Parquet (.parquet) or CSV (.csv, .csv.gz) files, or a pattern of their names.
    target
        The column with the classes.
    features
        The feature columns, or patterns.
    label_noise
        Probability with which a reward is flipped.
    past_end
        Behaviour after the last row: ``again`` plays the rows in another random order, ``stop`` ends the run.
    """

    data: Packaged = "digits"
    path: str | list[str] = ""
    target: str = ""
    features: str | list[str] = "*"
    label_noise: Annotated[float, Field(ge=0, lt=0.5)] = 0.0
    past_end: Literal["again", "stop"] = "again"

    @property
    def link(self) -> Link:
        return "logistic"

    @property
    def shared_context(self) -> bool:
        return True

    @property
    def fingerprint(self) -> str:
        return digest(files_of(self.path, "env.path")) if self.path else load_packaged(self.data).fingerprint()

    def _load(self) -> Labelled:
        if not self.path:
            return load_packaged(self.data)
        features = (self.features,) if isinstance(self.features, str) else tuple(self.features)
        return load_labelled(self.path, self.target, features)

    def notes(self) -> tuple[str, ...]:
        table = self._load()
        shares = np.bincount(table.classes) / len(table)
        features = counted(table.features.shape[1], "feature")
        size = f"{len(table):,} rows, {features}, {len(table.names)} classes"
        return (f"{self.path or self.data}: {size}, the most frequent in {shares.max():.1%}", *table.notes)

    def start(self, rounds: int, seeds: Seeds) -> None:
        table = self._load()
        self._features, self._classes = table.features, table.classes.tolist()
        self.n_arms, self.dim = len(table.names), table.features.shape[1]
        self.sub_gaussian, self.feature_norm = 0.5, 1.0
        self.expected_rounds = len(table) if self.past_end == "stop" else None
        self._order_rng, self._noise_rng = seeds.generator("order"), seeds.generator("noise")
        self._order: list[int] = []
        self._round = 0
        self._memory = np.empty((self.dim, self.n_arms))
        self.means = np.empty(self.n_arms)
        self.best_mean = 1.0 - self.label_noise
        self.average_mean = (self.best_mean + (self.n_arms - 1) * self.label_noise) / self.n_arms

    def observe(self) -> np.ndarray | None:
        if not self._order:
            if self._round and self.past_end == "stop":
                return None
            self._order = self._order_rng.permutation(len(self._classes)).tolist()
        row = self._order.pop()
        self._round += 1
        self._memory[:] = self._features[row][:, None]
        self.means[:] = self.label_noise
        self.means[self._classes[row]] = self.best_mean
        return self._memory.T

    def pull(self, arm: int) -> float:
        return float(self._noise_rng.random() < self.means[arm])
