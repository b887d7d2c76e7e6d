"""What a column is taken for: an index, a number that is written otherwise, a time of two kinds, a word twice."""

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
def test_a_column_that_pandas_calls_an_index_is_no_feature_unless_it_is_named(name, tmp_path):
    env = labelled(tmp_path, **{name: np.arange(ROWS)})
    assert features(env) == 1
    assert f"{name}: left out, as it is the index that pandas wrote; name it in env.features to use it" in env.notes()
    assert features(Classification(path=env.path, target="label", features=["*", name])) == 2
    assert list(read(env.path)) == ["size", "label"]
    assert list(read(env.path, [name])) == [name]


def test_the_index_of_a_parquet_file_is_no_feature_unless_it_is_named(tmp_path):
    assert features(labelled(tmp_path, "rows.parquet")) == 1
    env = labelled(tmp_path, "rows.parquet", index=True)
    assert features(env) == 1
    assert any(note.startswith("__index_level_0__: left out") for note in env.notes())
    frame(ROWS).set_index("user_b").to_parquet(tmp_path / "log.parquet")
    log = LogReplay(path=str(tmp_path / "log.parquet"), **COLUMNS | {"propensity": "p"})
    assert any(note.startswith("user_b: left out, as it is the index") for note in log.notes())
    named = LogReplay(path=str(tmp_path / "log.parquet"), **COLUMNS | {"context": ["user_a", "user_b"]})
    assert named._load().contexts.shape[1] == log._load().contexts.shape[1] + 1


def test_numbers_of_rows_with_a_name_of_their_own_are_said(tmp_path):
    def said(row):
        return [note for note in labelled(tmp_path, row=row).notes() if "number the rows" in note]

    (line,) = said(np.arange(1, ROWS + 1))
    assert line.startswith("row: whole numbers from 1 to 400, all different")
    (line,) = said(np.random.default_rng(0).permutation(4 * ROWS)[:ROWS])  # of a part of a table, in another order
    assert line.startswith("row: whole numbers from")
    assert not any(map(said, [np.arange(ROWS) * 1000, np.arange(ROWS) // 2, np.arange(ROWS) / 2]))


OTHERWISE = {
    "decimal comma": "{0:.1f}",
    "thousands": "{1:,}",
    "blanks between thousands": "1 {2:03d}",
    "apostrophes": "1'{2:03d}",
    "underscores": "1_{2:03d}",
    "dollars": "${0:.1f}",
    "a code before": "EUR {0:.1f}",
    "percent": "{0:.1f}%",
    "negative in brackets": "({0:.1f})",
    "another minus": "\u2212{0:.1f}",
    "wide digits": "\uff11\uff12{2:03d}",
}


@pytest.mark.parametrize(("case", "name"), [*((case, "rows.csv") for case in OTHERWISE), ("thousands", "rows.parquet")])
def test_a_number_that_is_written_otherwise_is_refused_with_its_row_and_the_cure(case, name, tmp_path):
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
def test_words_that_may_be_numbers_with_units_are_said(text, tmp_path):
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
    "the zone first": ["2026-01-31T11:00:00.5+0200", "2026-01-31"],
    "numbers and dates": ["1700000000", "2026-01-31"],
    "truth values": [True, False],
    "infinite": [1.0, np.inf],
    "infinite texts": ["1", "inf"],
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


def test_dates_of_arrow_with_and_without_a_zone_are_refused_across_files(tmp_path):
    naive = pd.date_range("2026-01-01", periods=9)
    in_time(tmp_path, naive, naive.tz_localize("Europe/Berlin"))
    with pytest.raises(
        BenchError, match=r"1.parquet, row 1, time: found .*, expected a date without a time zone, as in"
    ):
        in_time(tmp_path, naive, naive.tz_localize("Europe/Berlin")).notes()
    both = in_time(tmp_path, naive.tz_localize("UTC"), (naive + pd.Timedelta("12h")).tz_localize("Europe/Berlin"))
    order = both._load().order
    assert order[:170].max() >= 2 * ROWS > order[:80].max()  # instants alternate between the files


WORDS = {
    "Unicode forms": ("K\u00f6ln", "Ko\u0308ln", "'Ko\\u0308ln' and 'K\\xf6ln'"),
    "a blank at the end": ("Köln", "Köln ", "'Köln' and 'Köln '"),
    "a mark of width 0": ("Bonn", "Bonn\u200b", "'Bonn' and 'Bonn\\u200b'"),
    "letter case": ("Bonn", "bonn", "'Bonn' and 'bonn'"),
}


@pytest.mark.parametrize("case", WORDS)
def test_words_that_look_alike_are_said(case, tmp_path):
    first, second, pair = WORDS[case]
    env = labelled(tmp_path, city=[first, second, "other", "more"] * (ROWS // 4))
    assert features(env) == 5
    assert any(pair in note and "are two words" in note for note in env.notes())
    if case != "letter case":  # as labels they are an arm twice
        table = frame(ROWS).assign(item=[first, second, "c", "d"] * (ROWS // 4))
        table.to_csv(tmp_path / "log.csv", index=False)
        with pytest.raises(BenchError, match=r"line 3, item: found .*, and .*line 2, expected one spelling"):
            LogReplay(path=str(tmp_path / "log.csv"), **COLUMNS | {"propensity": "uniform"}).notes()


@pytest.mark.parametrize(("columns", "pattern"), [(["x[0]", "x0"], "x[0]"), (["a*", "ab"], "a*"), (["?", "b"], "?")])
def test_a_pattern_that_is_also_a_name_is_refused_with_both_cures(columns, pattern, tmp_path):
    env = labelled(tmp_path, **{name: np.arange(ROWS) % (3 + place) for place, name in enumerate(columns)})
    with pytest.raises(BenchError, match=r"env.features: found .*, the name of a column and a pattern of") as error:
        Classification(path=env.path, target="label", features=[pattern]).notes()
    (alone,) = re.findall(r"'([^']*)' is the column alone", str(error.value))
    assert features(Classification(path=env.path, target="label", features=[alone])) == 1
