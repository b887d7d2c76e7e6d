"""Labelled data, with features and a class for each row, from scikit-learn or a user's file."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np

from bench.data.encode import counted, encode, left_out, listed, match
from bench.data.files import Stamp, stamp_of
from bench.data.labels import Labels, labels_in
from bench.data.log import Log
from bench.data.read import Files, column_names, files_of, index_columns, read_files
from bench.errors import ConfigError, DataError
from bench.packages import how_to_install

Packaged = Literal["digits", "wine", "breast_cancer", "iris"]
MAX_CLASSES = 100
FEW_CLASSES = 20
"""Up to this many different whole numbers are plausible classes; more look like a measurement."""


@dataclass(frozen=True, eq=False)
class Labelled(Log):
    """Labelled data with the ``names`` of the classes.

    ``features``, shape (rows, d), have norm 1, and ``classes``, shape (rows,), count from 0.
    """

    features: np.ndarray
    classes: np.ndarray
    names: tuple[str, ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.classes)


@lru_cache(maxsize=4)
def load_packaged(name: Packaged) -> Labelled:
    """Return a data set included in scikit-learn. Raises ConfigError if scikit-learn is not installed."""
    if find_spec("sklearn") is None:
        raise ConfigError(
            f"env.data: found '{name}', a data set of scikit-learn, expected scikit-learn to be installed: "
            f"{how_to_install('scikit-learn')}, or give a file as env.path with env.target"
        )
    import pandas as pd
    import sklearn.datasets

    data = getattr(sklearn.datasets, f"load_{name}")()
    columns = [str(column) for column in data.feature_names]
    frame = pd.DataFrame(data.data, columns=columns)
    frame["class"] = data.target.astype(str)
    return _labelled(Files(frame, ((Path(name), len(frame)),)), columns, "class")


def load_labelled(path: str | list[str], target: str, features: tuple[str, ...]) -> Labelled:
    """Return a user's table. Raises ConfigError if a column is missing, DataError if a file is damaged."""
    if not target:
        raise ConfigError("env.target: found none, expected the column with the class of each row")
    return _load(tuple(map(stamp_of, files_of(path, "env.path"))), target, features)


@lru_cache(maxsize=1)
def _load(stamps: tuple[Stamp, ...], target: str, features: tuple[str, ...]) -> Labelled:
    files = [path for path, _, _ in stamps]
    names = column_names(files)
    match(target, names, "env.target")
    index = index_columns(files)
    columns = match(features, names, "env.features", [target], index)
    notes = left_out(features, index, [target, *columns], "env.features")
    return _labelled(read_files(files, [*columns, target], [target]), columns, target, notes)


def _labelled(table: Files, columns: list[str], target: str, notes: Sequence[str] = ()) -> Labelled:
    labels = labels_in(table, target, "a class", "classes", MAX_CLASSES)
    names = tuple(labels.names)
    if len(names) < 2:
        raise DataError(f"{table.parts[0][0]}, {target}: found only the class '{names[0]}', expected at least two")
    encoded = encode(table, columns)
    taken = f"{target}: the class, {counted(len(names), 'label')}, {listed(names)}"
    return Labelled(encoded.values, labels.codes, names, (taken, *_doubtful(target, labels), *notes, *encoded.notes))


def _doubtful(target: str, labels: Labels) -> list[str]:
    """Return a warning if classes look like measurements, because only the exact class counts as right."""
    number, values = len(labels.names), labels.values
    if not labels.are_numbers or (number <= FEW_CLASSES and all(value == int(value) for value in values)):
        return []
    return [
        f"{target}: its {number} different numbers, {labels.names[0]} to {labels.names[-1]}, are {number} classes, and "
        f"only the exact one is right; if {target} is a measurement, replace it by a few classes, such as low and high"
    ]
