"""The tables Titanic and House Prices for supervised learning."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.data.catalogue import HOUSE_PRICES, TITANIC
from bench.data.files import data_in_use, read_table, refuse
from bench.errors import DataError

if TYPE_CHECKING:  # slow to import
    import pandas as pd

_MISSING = ("", "NA", "None")
_TOO_LARGE = 1e150  # the squares of smaller numbers are finite

_SURVIVED = {"Survived": (0, 1), "Pclass": (1, 2, 3), "Sex": ("female", "male"), "Embarked": ("C", "Q", "S")}
_PASSENGER = ("Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked")
_PRICE = "SalePrice"
_MOSTLY_MISSING = {"Alley", "PoolQC", "Fence", "MiscFeature", "FireplaceQu"}
_HOUSE_FEATURES = 75


@dataclass(frozen=True, eq=False)
class Table:
    """Features with categories as codes, float64, shape (rows, features), and the target to predict, shape (rows,).

    The target is int64 for classes and float64 for numbers.
    """

    features: np.ndarray
    target: np.ndarray
    names: tuple[str, ...]


def load_titanic() -> Table:
    """Return the passengers if the file is available, or else scikit-learn's breast-cancer data.

    Raises DataError if the file is damaged.
    """
    return _load(*data_in_use(TITANIC), read_titanic, "load_breast_cancer")


def load_house_prices() -> Table:
    """Return the houses if the file is available, or else scikit-learn's diabetes data.

    Raises DataError if the file is damaged.
    """
    return _load(*data_in_use(HOUSE_PRICES), read_house_prices, "load_diabetes")


@lru_cache(maxsize=4)
def _load(path: Path | None, identity: str, read: Callable[[Path], Table], substitute: str) -> Table:
    if path is not None:
        return read(path)
    import sklearn.datasets

    data = getattr(sklearn.datasets, substitute)()
    return Table(data.data, data.target, tuple(map(str, data.feature_names)))


def read_titanic(path: Path) -> Table:
    """Read seven features of the passengers without a missing value (712 of 891) from Kaggle's ``train.csv``.

    Cabin, Ticket, Name and PassengerId are ignored; Sex and Embarked are coded in alphabetical order. Raises DataError
    with the file if the table has another form. Source: habo; selection and coding from the authors' code.
    """
    frame = read_table(path, ("Survived", *_PASSENGER), _MISSING)[["Survived", *_PASSENGER]]
    for name in ("Survived", "Pclass", "Age", "SibSp", "Parch", "Fare"):
        _refuse_negative(path, frame[name])
    for name, valid in _SURVIVED.items():
        wrong = frame[name].notna() & ~frame[name].isin(valid)
        refuse(path, name, frame[name], wrong, f"one of {', '.join(map(str, valid))}")
    frame = frame.dropna()
    if frame.empty:
        raise DataError(f"{path}: found no passenger without a missing value, expected at least one")
    features = [_encoded(frame[name]) if name in ("Sex", "Embarked") else frame[name] for name in _PASSENGER]
    return Table(np.column_stack(features).astype(np.float64), frame["Survived"].to_numpy(np.int64), _PASSENGER)


def read_house_prices(path: Path) -> Table:
    """Read 75 features of 1,460 houses in Ames, Iowa, from Kaggle's ``train.csv``, and fill missing values.

    The features are all columns but five that are mostly missing; the row number Id is included. A missing number
    becomes the column's median. A missing category becomes the column's most frequent category, and on a tie the
    alphabetically first. Categories are then coded in alphabetical order. Raises DataError with the file if the table
    has another form. Source: habo; selection, filling and coding from the authors' code.
    """
    frame = read_table(path, (_PRICE,), _MISSING)
    names = tuple(str(name) for name in frame if name not in {_PRICE, *_MOSTLY_MISSING})
    if len(names) != _HOUSE_FEATURES:
        raise DataError(f"{path}: found {len(names)} features of houses, expected {_HOUSE_FEATURES}")
    _refuse_text(path, frame[_PRICE])
    refuse(path, _PRICE, frame[_PRICE], ~((frame[_PRICE] > 0) & (frame[_PRICE] < _TOO_LARGE)), "a price above 0")
    features = []
    for name in names:
        column = frame[name]
        if column.isna().all():
            raise DataError(f"{path}, {name}: found no value in the whole column, expected at least one")
        if column.dtype.kind in "if":
            _refuse_negative(path, column)
            features.append(column.fillna(np.median(column.dropna())).to_numpy(np.float64))
        else:
            features.append(_encoded(column.fillna(column.mode()[0])))
    return Table(np.column_stack(features), frame[_PRICE].to_numpy(np.float64), names)


def _refuse_text(path: Path, column: "pd.Series") -> None:
    import pandas as pd

    wrong = pd.to_numeric(column, errors="coerce").isna() & column.notna()
    refuse(path, str(column.name), column, wrong, "a number")


def _refuse_negative(path: Path, column: "pd.Series") -> None:
    _refuse_text(path, column)
    wrong = column.notna() & ~((column >= 0) & (column < _TOO_LARGE))
    refuse(path, str(column.name), column, wrong, "a number of at least 0")


def _encoded(column: "pd.Series") -> np.ndarray:
    """Return texts as codes 0, 1, ... in alphabetical order, float64."""
    return np.unique(column.to_numpy(dtype=np.str_), return_inverse=True)[1].astype(np.float64)
