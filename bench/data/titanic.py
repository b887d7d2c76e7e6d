"""Titanic: who of the passengers survived."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from bench.data.catalogue import TITANIC
from bench.data.files import data_in_use
from bench.data.tabular import Columns, Table, encoded

FEATURES = ("Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked")
_CATEGORIES = ("Sex", "Embarked")
_TARGET = "Survived"


def fingerprint() -> str:
    """Return which data is in use: the sha256 of the data file, or ``surrogate`` where there is none."""
    return data_in_use(TITANIC)[1]


def load_titanic() -> Table:
    """Return the passengers if the file is at hand, else scikit-learn's breast-cancer data in their place.

    Raises
    ------
    DataError
        If the file is there but damaged; the substitute never hides that.
    """
    return _load(*data_in_use(TITANIC))


def read_titanic(path: Path) -> Table:
    """Read Kaggle's ``train.csv``: seven features, of passengers without a missing value (712 of 891).

    Cabin, Ticket, Name and PassengerId are left out; Sex and Embarked are coded in alphabetical order.

    Raises
    ------
    DataError
        If the file is not such a table; the message names file and line or column.

    Source: habo; what is left out, and the coding, from the authors' code.
    """
    columns = Columns(path, (_TARGET, *FEATURES))
    whole = ~np.any([columns.missing(name) for name in (_TARGET, *FEATURES)], axis=0)
    target = columns.numbers(_TARGET)
    for row in np.flatnonzero(whole & (target != 0) & (target != 1)):
        raise columns.error(_TARGET, int(row), "0 or 1")
    if not whole.any():
        raise columns.error(FEATURES[0], 0, "at least one passenger without a missing value in the whole file")
    features = []
    for name in FEATURES:
        if name in _CATEGORIES:
            features.append(encoded([text for text, kept in zip(columns.texts(name), whole, strict=True) if kept]))
        else:
            features.append(columns.numbers(name)[whole])
    return Table(np.column_stack(features), target[whole].astype(np.int64), FEATURES)


@lru_cache(maxsize=4)
def _load(path: Path | None, identity: str) -> Table:
    if path is not None:
        return read_titanic(path)
    from sklearn.datasets import load_breast_cancer

    cells = load_breast_cancer()
    return Table(cells.data, cells.target.astype(np.int64), tuple(map(str, cells.feature_names)))
