"""Detected types of columns: an index, a number in another notation, times of two kinds, a word in two spellings."""

import re

import numpy as np
import pandas as pd
import pytest
from own_log import COLUMNS, frame

from bench.data.read import read
from bench.envs.classification import Classification
from bench.envs.log_replay import LogReplay
from bench.errors import BenchError

ROWS = 400


def labelled(folder, name="rows.csv", index=False, **columns):
    """Return an environment of a table of two classes; ``index``: whether the file gets the index of the frame."""
    table = pd.DataFrame({"size": np.linspace(1, 9, ROWS), **columns, "label": ["a", "b"] * (ROWS // 2)})
    shuffled = table.sample(frac=1, random_state=0)
    if name.endswith(".parquet"):
        shuffled.to_parquet(folder / name, index=index)
    else:
        shuffled.to_csv(folder / name, index=False)
    return Classification(path=str(folder / name), target="label")


def features(environment):
    return environment._load().features.shape[1] - 1


@pytest.mark.parametrize("name", ["Unnamed: 0", "Unnamed: 0.1", "__index_level_0__"])
def test_a_column_that_pandas_calls_an_index_is_not_a_feature_unless_named(name, tmp_path):
    env = labelled(tmp_path, **{name: np.arange(ROWS)})
    assert features(env) == 1
    assert f"{name}: left out, as it is the index that pandas wrote; name it in env.features to use it" in env.notes()
    assert features(Classification(path=env.path, target="label", features=["*", name])) == 2
    assert list(read(env.path)) == ["size", "label"]
    assert list(read(env.path, [name])) == [name]


def test_the_index_of_a_parquet_file_is_not_a_feature_unless_named(tmp_path):
    assert features(labelled(tmp_path, "rows.parquet")) == 1
    env = labelled(tmp_path, "rows.parquet", index=True)
    assert features(env) == 1
    assert any(note.startswith("__index_level_0__: left out") for note in env.notes())
    frame(ROWS).set_index("user_b").to_parquet(tmp_path / "log.parquet")
    log = LogReplay(path=str(tmp_path / "log.parquet"), **COLUMNS | {"propensity": "p"})
    assert any(note.startswith("user_b: left out, as it is the index") for note in log.notes())
    named = LogReplay(path=str(tmp_path / "log.parquet"), **COLUMNS | {"context": ["user_a", "user_b"]})
    assert named._load().contexts.shape[1] == log._load().contexts.shape[1] + 1


OTHERWISE = {
    "decimal comma": "{0:.1f}",
    "thousands": "{1:,}",
    "dollars": "${0:.1f}",
    "percent": "{0:.1f}%",
    "negative in brackets": "({0:.1f})",
}


@pytest.mark.parametrize(("case", "name"), [*((case, "rows.csv") for case in OTHERWISE), ("thousands", "rows.parquet")])
def test_a_number_in_another_notation_is_refused_with_its_row_and_the_cure(case, name, tmp_path):
    values = [OTHERWISE[case].format(row / 7, 1000 * (row + 1), row) for row in range(60)] * (ROWS // 60 + 1)
    if case == "decimal comma":
        values = [value.replace(".", ",") for value in values]
    env = labelled(tmp_path, name, income=values[:ROWS])
    with pytest.raises(BenchError, match=r"(line|row) \d+, income: found [^\n]*, expected a number such as 1234.5"):
        env.notes()


@pytest.mark.parametrize(
    "words", [["18-24", "25-34"], ["A1", "A2"], ["v1.2.3", "v1.2.4"], ["plan 5", "plan 6"], ["a,b", "c"]]
)
def test_words_with_numbers_in_them_are_words(words, tmp_path):
    env = labelled(tmp_path, plan=words * (ROWS // 2))
    assert features(env) == 3
    assert f"plan: words, each a feature: {', '.join(words)}" in env.notes()


@pytest.mark.parametrize("text", ["{0:#x}", "{0} kg", "{0}k", "{0}/10", "{0:02d}.02.2026", "12:{0:02d}", "{0}-{1}"])
def test_words_that_may_be_numbers_with_units_are_noted(text, tmp_path):
    def said(n):
        values = [text.format(row % n + 10, row % n + 11) for row in range(ROWS)]
        return [note for note in labelled(tmp_path, weight=values).notes() if "begin with a digit" in note]

    assert len(said(30)) == 1
    assert not said(5)


@pytest.mark.parametrize("spread", [1e-3, 1.0, 100.0])
def test_different_numbers_that_floats_hardly_tell_apart_are_not_called_equal(spread, tmp_path):
    (line,) = [note for note in labelled(tmp_path, id=1e16 + spread * np.arange(ROWS)).notes() if note[:3] == "id:"]
    assert ("left out" in line) == (spread <= 1.0)
    assert ("as all its values are 1e+16" in line) == (spread < 1.0)


ZONES = {
    "texts": ["2026-01-31 10:00:00", "2026-01-31T11:00:00Z"],
    "with an offset": ["2026-01-31 10:00", "2026-01-31 11:00+02:00"],
    "numbers and dates": ["1700000000", "2026-01-31"],
    "infinite": [1.0, np.inf],
}


def in_time(folder, *parts):
    """Return a log of one file for each list of times, with as many rows each."""
    for place, times in enumerate(parts):
        table = frame(2 * ROWS).assign(time=[times[row % len(times)] for row in range(2 * ROWS)])
        table.to_parquet(folder / f"{place}.parquet")
    return LogReplay(path=str(folder / "*.parquet"), **COLUMNS, order="time", time="time")


@pytest.mark.parametrize("case", ZONES)
def test_times_of_two_kinds_are_refused_in_a_file_and_across_files(case, tmp_path):
    first, second = ZONES[case]
    refused = r"row \d+, time: found [^\n]*, expected a (date with|number|finite)"
    with pytest.raises(BenchError, match=refused):
        in_time(tmp_path, [first, second]).notes()
    with pytest.raises(BenchError, match=refused):
        in_time(tmp_path, [first], [second]).notes()


@pytest.mark.parametrize(("columns", "pattern"), [(["x[0]", "x0"], "x[0]"), (["a*", "ab"], "a*"), (["?", "b"], "?")])
def test_a_pattern_that_is_also_a_name_is_refused_with_both_cures(columns, pattern, tmp_path):
    env = labelled(tmp_path, **{name: np.arange(ROWS) % (3 + place) for place, name in enumerate(columns)})
    with pytest.raises(BenchError, match=r"env.features: found .*, the name of a column and a pattern of") as error:
        Classification(path=env.path, target="label", features=[pattern]).notes()
    (alone,) = re.findall(r"'([^']*)' is the column alone", str(error.value))
    assert features(Classification(path=env.path, target="label", features=[alone])) == 1
