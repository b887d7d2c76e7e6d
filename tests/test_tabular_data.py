"""Tables for supervised learning: Titanic and House Prices."""

import os
from pathlib import Path

import numpy as np
import pytest

from bench.data.tabular import read_house_prices, read_titanic
from bench.envs.tabular import HousePrices, Titanic
from bench.errors import ConfigError
from bench.seeding import Seeds

DATA = Path(os.environ.get("BENCH_DATA_DIR", "nowhere"))
TITANIC, HOUSES = DATA / "titanic" / "train.csv", DATA / "house-prices" / "train.csv"
real = pytest.mark.skipif(
    not (TITANIC.is_file() and HOUSES.is_file()),
    reason="BENCH_DATA_DIR names no folder with titanic/train.csv and house-prices/train.csv",
)

PASSENGERS = """PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Parch,Ticket,Fare,Cabin,Embarked
1,0,3,"Berg, ""Ole"" Mr.",male,22,1,0,A/5,7.25,,S
2,1,1,"Dale, Mrs.
Ada",female,38,1,0,PC,71.5,C85,C
3,1,3,"Eide, Miss",female,,0,0,STON,7.9,,Q
4,0,2,"Fjell, Mr.",male,54.5,0,2,1,51,E46,Q
5,1,1,"Haug, Mrs.",female,30,0,0,2,80,B28,
"""


@pytest.fixture(autouse=True)
def nothing_cached(tmp_path_factory, monkeypatch, altered_data):
    """Files that were fetched earlier on this machine don't count."""
    monkeypatch.setattr("bench.data.files.cache_folder", lambda: tmp_path_factory.getbasetemp() / "no cache")


def write(folder, text, name="train.csv"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def houses(rows=6, **changes):
    """Return the text of a file with 75 features; the given columns replace made-up numbers."""
    columns = {name: [f"0.{row}" for row in range(rows)] for name in [f"f{i}" for i in range(73)]}
    columns |= {"LotArea": ["1"] * rows, "Kind": ["P"] * rows, "Alley": ["NA"] * rows, "SalePrice": ["9"] * rows}
    columns = {name: values for name, values in (columns | changes).items() if values is not None}
    return "\n".join([",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]) + "\n"


def test_passengers_become_numbers(tmp_path):
    table = read_titanic(write(tmp_path, PASSENGERS))
    assert table.names == ("Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked")
    # Without the third (no age) and the fifth (no port); female, male and C, Q, S in alphabetical order
    assert table.features.tolist() == [[3, 1, 22, 1, 0, 7.25, 2], [1, 0, 38, 1, 0, 71.5, 0], [2, 1, 54.5, 0, 2, 51, 1]]
    assert table.target.tolist() == [0, 1, 0]


def test_missing_values_of_houses_are_filled(tmp_path):
    frontage = ["10", "NA", "30", "", "70", "100"]
    kind = ["Stone", "None", "Brick", "Brick", "Stone", "NA"]
    table = read_house_prices(write(tmp_path, houses(LotArea=frontage, Kind=kind)))
    assert table.features.shape == (6, 75)
    by_name = dict(zip(table.names, table.features.T.tolist(), strict=True))
    assert by_name["LotArea"] == [10, 50, 30, 50, 70, 100]  # the median of four
    assert by_name["Kind"] == [1, 0, 0, 0, 1, 0]  # Brick, first in order of two that are equally frequent
    assert by_name["f7"] == [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert "Alley" not in by_name


@pytest.mark.parametrize(("env", "shape"), [(Titanic(), (569, 30)), (HousePrices(), (442, 10))])
def test_without_the_file_another_data_set_replaces_it(monkeypatch, tmp_path, env, shape):
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    assert env.fingerprint == "surrogate"
    env.start(10, Seeds(0))
    assert (len(env.train_target) + len(env.test_target), env.train_features.shape[1]) == shape


def test_split_is_the_same_in_every_run_and_another_for_another_seed(monkeypatch):
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)
    env, other, third = Titanic(), Titanic(), Titanic(split_seed=7)
    env.start(10, Seeds(0))
    other.start(10, Seeds(5, 3))
    third.start(10, Seeds(0))
    assert (env.test_features == other.test_features).all()
    assert (env.test_features != third.test_features).any()
    assert len(env.test_target) == 114  # a fifth of 569, rounded up
    rows = {tuple(row) for row in env.train_features} & {tuple(row) for row in env.test_features}
    assert not rows


def test_share_must_leave_rows_on_both_sides(monkeypatch):
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)
    with pytest.raises(ConfigError, match=r"env\.test_share: found 0\.999 of 569 rows"):
        Titanic(test_share=0.999).start(10, Seeds(0))
    with pytest.raises(ConfigError, match=r"Titanic\.test_share: found 1\.0"):
        Titanic(test_share=1.0)
    with pytest.raises(ConfigError, match=r"env\.held_out_share: found 0\.8, expected at least two rows each"):
        Titanic(held_out_share=0.8).start(10, Seeds(0))


def test_scores_by_hand():
    env, regression = Titanic(), HousePrices()
    assert env.score(np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0])) == 0.5
    target = np.array([1.0, 2.0, 6.0])  # about its mean 3: 4 + 1 + 9
    assert regression.score(np.array([1.0, 3.0, 4.0]), target) == pytest.approx(1 - 5 / 14)
    assert regression.score(np.array([6.0, 6.0, 1.0]), target) < 0


@real
def test_real_files_are_read_as_pandas_reads_them():
    import pandas as pd

    frame = pd.read_csv(TITANIC).drop(columns=["Cabin", "Ticket", "Name", "PassengerId"]).dropna()
    for name in ("Sex", "Embarked"):
        frame[name] = frame[name].astype("category").cat.codes
    assert (read_titanic(TITANIC).features == frame.drop(columns="Survived").to_numpy(float)).all()

    frame = pd.read_csv(HOUSES).drop(columns=["Alley", "PoolQC", "Fence", "MiscFeature", "FireplaceQu"])
    for name in frame:
        if pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].fillna(frame[name].median())
        else:
            frame[name] = frame[name].fillna(frame[name].mode()[0]).astype("category").cat.codes
    table = read_house_prices(HOUSES)
    assert list(table.names) == list(frame.columns[:-1])
    assert (table.features == frame.drop(columns="SalePrice").to_numpy(float)).all()
    assert (table.target == frame["SalePrice"]).all()
