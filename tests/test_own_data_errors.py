"""Damaged logs and labelled tables: one sentence for each, which names the place."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from own_log import COLUMNS, frame

from bench.data.labelled import load_packaged
from bench.envs.classification import Classification
from bench.envs.log_replay import LogReplay
from bench.errors import BenchError
from bench.seeding import Seeds

ROWS = 2_000


def changed(**columns):
    """Return the log with other columns: None drops one, a dict changes the rows that it names."""
    table = frame(ROWS).astype({"time": object, "item": object, "click": object, "p": object, "user_a": object})
    for name, value in columns.items():
        if value is None:
            table = table.drop(columns=name)
        elif isinstance(value, dict):
            for row, entry in value.items():
                table.loc[row, name] = entry
        else:
            table[name] = value
    return table


def as_csv(table, **options):
    return table.to_csv(index=False, **options).encode()


def line(number, text):
    """Return the log with another line, counted from 1."""
    lines = as_csv(frame(ROWS)).split(b"\n")
    lines[number - 1] = text
    return b"\n".join(lines)


TIMES = pd.date_range("2026-01-01", periods=ROWS).to_numpy()
CASES = {
    "no path": ({"path": ""}, None, "env.path: found '', a folder in"),
    "no file fits the pattern": ({"path": "part-*.csv"}, None, "env.path: found 'part-*.csv', no such file in"),
    "empty": ({}, b"", "rows.csv: found no first line, expected names of columns"),
    "semicolons": ({}, as_csv(frame(9), sep=";"), "rows.csv, line 1: found semicolons between the columns"),
    "a column without a name": (
        {}, line(1, b"time,user_a,,item,click,p"), "between them; if it is the index that pandas writes"
    ),
    "not UTF-8": ({}, line(7, b"\xff\xfe,1,1,1,1,1"), "rows.csv: found an invalid file ("),
    "too few fields": ({}, line(7, b"1,2,3,1"), "rows.csv, line 7, click: found no value, expected a finite number"),
    "cut gzip": ({"path": "rows.csv.gz"}, gzip.compress(as_csv(frame(ROWS)))[:9_000], "rows.csv.gz: found an invalid"),
    "no reward column": ({}, changed(click=None), "env.reward: found 'click', expected a column"),
    "no context": ({"context": "ctx_*"}, changed(), "env.context: found 'ctx_*', expected a column or a pattern of"),
    "no propensities": ({"propensity": ""}, changed(), "env.propensity: found none, expected the column with"),
    "a word among rewards": ({}, changed(click={4: "yes"}), "rows.csv, line 6, click: found 'yes', expected a finite"),
    "one reward": ({}, changed(click=1), "rows.csv, click: found the reward 1 in all rows, expected several"),
    "a missing action": ({}, changed(item={4: None}), "rows.csv, line 6, item: found no value, expected an action"),
    "propensity 0": ({}, changed(p={8: 0.0}), "rows.csv, line 10, p: found 0.0, expected a probability above 0"),
    "too small a propensity": ({}, changed(p={8: 1e-7}), "found a smallest propensity of 1e-07 in 200 rows"),
    "propensities of another policy": ({}, changed(p=0.9), "env.propensity: found propensities that give the action"),
    "infinite context": ({}, changed(user_a={4: "inf"}), "rows.csv, line 6, user_a: found inf, expected a finite"),
    "a huge context": ({}, changed(user_a={4: "1e200"}), "rows.csv, line 6, user_a: found 1e+200, expected a number"),
    "more parts than rows": ({"n_parts": ROWS + 1}, changed(), "in 0 rows per repetition, so that about 0 rounds"),
    "times in the context": ({"path": "rows.parquet"}, frame(ROWS).assign(user_a=TIMES), "user_a: found the time"),
    "too many words": ({}, changed(user_a=[f"user {i}" for i in range(ROWS)]), "user_a: found 2,000 different words"),
}  # fmt: skip
ARMS = {
    "no column of the action": (b"name,price\n0,1\n", "env.arms: the column of the action: found 'item'"),
    "an arm twice": (
        b"item,price\n0,1\n1,2\n2,3\n3,1\n3,2\n",
        "arms.csv, line 6, item: found '3', expected each arm once",
    ),
    "an arm never logged": (b"item,price\n0,1\n1,2\n2,3\n3,1\n9,2\n", "the action '9' a chance in only about 0%"),
}


def write(folder, name, content):
    if isinstance(content, bytes):
        (folder / name).write_bytes(content)
    elif name.endswith(".parquet"):
        content.to_parquet(folder / name)
    elif content is not None:
        content.to_csv(folder / name, index=False)


def sentence(environment):
    """Return the sentence with which a run on it is refused."""
    with pytest.raises(BenchError) as error:
        environment.notes()
    text = str(error.value)
    assert "\n" not in text
    assert ", expected " in text
    with pytest.raises(BenchError):
        environment.start(10, Seeds(0).child("env"))
    return text


@pytest.mark.parametrize("case", CASES | ARMS)
def test_a_damaged_log_or_table_of_arms_is_refused(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if case in ARMS:
        (content, expected), settings = ARMS[case], {"path": "rows.csv", "arms": "arms.csv"}
        write(tmp_path, "rows.csv", frame(ROWS))
    else:
        settings, content, expected = CASES[case]
    settings = {"path": "rows.csv"} | COLUMNS | settings
    write(tmp_path, settings.get("arms", settings["path"]), content)
    assert expected in sentence(LogReplay(**settings))


def test_support_in_half_of_the_contexts_is_found_from_the_propensities(tmp_path):
    """The policy draws from all four arms where a > 0 and from the first two elsewhere; its propensities are right."""
    table, rng = frame(ROWS), np.random.default_rng(2)
    few = (table["user_a"] < 0).to_numpy()
    table["item"] = np.where(few, rng.integers(2, size=ROWS), rng.integers(4, size=ROWS))
    table["p"] = np.where(few, 0.5, 0.25)
    write(tmp_path, "rows.csv", table)
    found = sentence(LogReplay(path=str(tmp_path / "rows.csv"), **COLUMNS))
    assert re.search("and 1 more a chance in only about [45].% of the rows", found)


LABELLED = {
    "no target": ({"target": ""}, "env.target: found none, expected the column with the class"),
    "a class for each row": ({"target": "d"}, "rows.csv, d: found 150 classes, expected at most 100: each is an arm"),
}


@pytest.mark.parametrize("case", LABELLED)
def test_a_damaged_labelled_table_is_refused(case, tmp_path):
    settings, expected = LABELLED[case]
    table = pd.DataFrame({"a": np.arange(150) % 7, "b": "x", "label": ["p", "q", "r"] * 50})
    table["d"] = [f"w{i}" for i in range(150)]
    table.to_csv(tmp_path / "rows.csv", index=False)
    assert expected in sentence(Classification(path=str(tmp_path / "rows.csv"), **{"target": "label"} | settings))


def test_missing_values_and_constant_columns_are_noted(tmp_path):
    table = pd.DataFrame(
        {"size": [1.0, None, 3.0, 5.0], "kind": ["a", None, "b", "a"], "same": 7, "label": [0, 1, 0, 1]}
    )
    table.to_csv(tmp_path / "rows.csv", index=False)
    env = Classification(path=str(tmp_path / "rows.csv"), target="label")
    assert env.notes()[1:] == (
        "label: the class, 2 labels, 0, 1",
        "size: numbers from 1 to 5",
        "kind: words, each a feature: (missing), a, b",
        "same: left out, as all its values are 7",
        "size: 1 missing value, replaced by the mean 3",
        "kind: 1 missing value, treated as one more word",
    )
    std = np.sqrt(8 / 3)
    kinds = {"a": [0, 1, 0], "b": [0, 0, 1], None: [1, 0, 0]}
    expected = np.array(
        [[x, *kinds[kind], 1] for x, kind in zip([-2 / std, 0, 0, 2 / std], ["a", None, "b", "a"], strict=True)]
    )
    found = env._load()
    np.testing.assert_allclose(found.features, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert found.classes.tolist() == [0, 1, 0, 1]


def test_packaged_tables_are_those_of_scikit_learn():
    datasets = pytest.importorskip("sklearn.datasets")
    scale = pytest.importorskip("sklearn.preprocessing").StandardScaler()
    wine = datasets.load_wine()
    ours = load_packaged("wine")
    whole = np.column_stack([scale.fit_transform(wine.data), np.ones(len(wine.data))])
    np.testing.assert_allclose(ours.features, whole / np.linalg.norm(whole, axis=1, keepdims=True), atol=1e-12)
    assert ours.classes.tolist() == wine.target.tolist()
