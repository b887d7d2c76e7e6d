from pathlib import Path

import numpy as np

from bench.data.catalogue import TITANIC
from bench.data.tabular import MISSING, Columns, Table, encoded, load_table

FEATURES = ("Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked")
_CATEGORIES = ("Sex", "Embarked")
_TARGET = "Survived"
_VALID = {_TARGET: ("0", "1"), "Pclass": ("1", "2", "3"), "Sex": ("female", "male"), "Embarked": ("C", "Q", "S")}


def load_titanic() -> Table:
    """Return the passengers if the file is available, else scikit-learn's breast-cancer data; DataError if damaged."""
    return load_table(TITANIC, read_titanic, "load_breast_cancer")


def read_titanic(path: Path) -> Table:
    """Read Kaggle's ``train.csv``: seven features of the passengers without a missing value (712 of 891).

    Cabin, Ticket, Name and PassengerId are ignored; Sex and Embarked are coded in alphabetical order. Raises DataError,
    naming the place, if it is not such a table.
    Source: habo; selection and coding from the authors' code.
    """
    columns = Columns(path, (_TARGET, *FEATURES))
    whole = ~np.any([columns.missing(name) for name in (_TARGET, *FEATURES)], axis=0)
    target = columns.numbers(_TARGET)
    for name, valid in _VALID.items():
        wrong = [text not in valid and text not in MISSING for text in columns.texts(name)]
        columns.refuse(name, np.array(wrong), f"one of {', '.join(valid)}")
    for name in ("Age", "SibSp", "Parch", "Fare"):
        columns.refuse(name, columns.numbers(name) < 0, "a number of at least 0")
    if not whole.any():
        raise columns.error(FEATURES[0], 0, "at least one passenger without a missing value in the whole file")
    features = []
    for name in FEATURES:
        if name in _CATEGORIES:
            features.append(encoded([text for text, kept in zip(columns.texts(name), whole, strict=True) if kept]))
        else:
            features.append(columns.numbers(name)[whole])
    return Table(np.column_stack(features), target[whole].astype(np.int64), FEATURES)
