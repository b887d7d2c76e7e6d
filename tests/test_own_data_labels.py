"""Labels in a user's files, such as actions and classes: no two are merged, and none is split, silently."""

from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from own_log import COLUMNS, N_ARMS, frame

from bench.envs.classification import Classification
from bench.envs.log_replay import LogReplay
from bench.errors import BenchError

ROWS = 400
FIRST = 2**53
"""From here on floats no longer tell whole numbers apart."""


def log(folder, labels, name="rows.csv"):
    """Write a log of uniform actions with other labels, by action or by row, and return it as it is read."""
    table = frame(ROWS).assign(item=np.arange(ROWS) % N_ARMS)
    table["item"] = labels(table["item"]) if callable(labels) else [labels[item] for item in table["item"]]
    if name.endswith(".csv"):
        table.to_csv(folder / name, index=False)
    else:
        table.to_parquet(folder / name)
    return LogReplay(path=str(folder / name), **COLUMNS | {"propensity": "uniform"})


def once(text):
    """Return labels in which row 5, action 1 like row 1, has another spelling."""
    return lambda items: items.astype(str).where(items.index != 5, text)


@pytest.mark.parametrize("spelling", ["01", "001", "1.0", "+1", "1e0", "1 ", "\uff11"])
def test_two_spellings_of_a_number_are_one_label_or_two_as_the_user_says(spelling, tmp_path):
    with pytest.raises(BenchError) as error:
        log(tmp_path, once(spelling))._load()
    found, first = f"rows.csv, line 7, item: found {spelling!r}, and '1' in ", "rows.csv, line 3, expected one spelling"
    assert found in str(error.value)
    assert first in str(error.value)


@pytest.mark.parametrize("word", ["NA", "None", "nan"])
def test_a_label_that_may_mean_a_missing_value_is_refused_by_its_name(word, tmp_path):
    with pytest.raises(BenchError, match=f"rows.csv, line 7, item: found '{word}', expected a label: this text means"):
        log(tmp_path, once(word))._load()


LONG = [str(FIRST + place) for place in range(N_ARMS)]
APART = {
    "leading zeros": (["007", "008", "009", "010"], ["007", "008", "009", "010"]),
    "by size": (["10", "9", "8", "2.5"], ["2.5", "8", "9", "10"]),
    "long": (LONG, LONG),
    "beyond 64 bits": ([f"{2**64 + place}" for place in range(4)], [f"{2**64 + place}" for place in range(4)]),
    "words": (["7", "007", "a", "b"], ["007", "7", "a", "b"]),
    "dates": (["2026-01-02", "2026-1-1", "2026-01-01", "x"], ["2026-01-01", "2026-01-02", "2026-1-1", "x"]),
}


@pytest.mark.parametrize("case", APART)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_labels_stay_apart_and_as_they_are_spelled(case, ending, tmp_path):
    labels, expected = APART[case]
    found = log(tmp_path, labels, f"rows.{ending}")._load()
    assert list(found.names) == expected
    assert [found.names[action] for action in found.actions] == labels * (ROWS // N_ARMS)


def days(items):
    return [date(2026, 1, 1) + timedelta(int(item)) for item in items]


TYPED = {
    "whole numbers": (lambda items: items + FIRST, LONG),
    "floats": (lambda items: items.astype(float), ["0", "1", "2", "3"]),
    "decimals": (lambda items: [Decimal(f"{item}.50") for item in items], ["0.50", "1.50", "2.50", "3.50"]),
    "days": (days, ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]),
}


@pytest.mark.parametrize("case", TYPED)
def test_typed_labels_are_exact(case, tmp_path):
    typed, expected = TYPED[case]
    found = log(tmp_path, typed, "rows.parquet")._load()
    assert list(found.names) == expected
    assert found.actions.tolist() == [*range(N_ARMS)] * (ROWS // N_ARMS)


def test_labels_that_floats_cannot_tell_apart_are_refused(tmp_path):
    with pytest.raises(BenchError, match=r"row 1, item: found 9007199254740992.0, expected whole numbers or words"):
        log(tmp_path, lambda items: (items + FIRST).astype(float), "rows.parquet")._load()


def test_files_that_follow_each_other_agree_in_their_labels(tmp_path):
    log(tmp_path, ["0", "1", "2", "3"], "a.csv")
    log(tmp_path, ["0.0", "1.0", "2.0", "3.0"], "b.csv")
    log(tmp_path, lambda items: items.astype(float), "c.parquet")
    columns = COLUMNS | {"propensity": "uniform"}
    together = LogReplay(path=[str(tmp_path / name) for name in ("a.csv", "c.parquet")], **columns)._load()
    assert together.names == ("0", "1", "2", "3")
    with pytest.raises(BenchError, match=r"b\.csv, line 2, item: found '0\.0', and '0' in .*a\.csv, line 2, expected"):
        LogReplay(path=[str(tmp_path / name) for name in ("a.csv", "b.csv")], **columns)._load()


@pytest.mark.parametrize(
    ("logged", "name"), [(["0", "1", "2", "3"], "rows.csv"), (["00", "01", "02", "03"], "rows.csv"),
                         (lambda items: items.astype(float), "rows.parquet")],
)  # fmt: skip
def test_an_arm_is_found_by_its_number(logged, name, tmp_path):
    (tmp_path / "arms.csv").write_text("item,price\n3,30\n1,10\n2,20\n0,0\n")
    env = log(tmp_path, logged, name)
    found = LogReplay(**{**vars_of(env), "arms": str(tmp_path / "arms.csv")})._load()
    assert found.names == ("3", "1", "2", "0")
    assert found.actions[:4].tolist() == [3, 1, 2, 0]
    assert np.argsort(found.arms[:, 0]).tolist() == [3, 1, 2, 0]  # by price


def vars_of(env):
    return {name: getattr(env, name) for name in ("path", "context", "action", "reward", "propensity")}


def labelled(folder, target, rows=120, **columns):
    table = pd.DataFrame({"a": np.arange(rows) % 7, **columns})
    table["y"] = [target[row % len(target)] for row in range(rows)]
    table.to_csv(folder / "rows.csv", index=False)
    return Classification(path=str(folder / "rows.csv"), target="y")


@pytest.mark.parametrize(("first", "second"), [("True", "true"), ("1", "1.0"), ("a", "a "), ("07", "7")])
def test_two_spellings_of_a_class(first, second, tmp_path):
    other = {"True": "False", "a": "b"}.get(first, "2")
    with pytest.raises(BenchError, match=rf"line 3, y: found '{second}', and '{first}' in .*line 2, expected one"):
        labelled(tmp_path, [first, second, other])._load()


HOURS = np.random.default_rng(5).permutation(ROWS)
TIMES = pd.Timestamp("2026-01-01") + pd.to_timedelta(HOURS, "h")
ELSEWHERE = [
    stamp.tz_localize("UTC").tz_convert(("Asia/Tokyo", "Europe/Berlin")[row % 2]) for row, stamp in enumerate(TIMES)
]
IN_TIME = {
    "numbers": [str(hour) for hour in HOURS],
    "times": TIMES,
    "times of several zones": [stamp.isoformat() for stamp in ELSEWHERE],
    "times in a zone": TIMES.tz_localize("Europe/Berlin"),
    "decimals": [Decimal(int(hour)) for hour in HOURS],
}
NO_ORDER = {
    "day first": (TIMES.strftime("%d.%m.%Y %H:%M"), 0, "a number, or a date and time such as 2026-01-31"),
    "a word among numbers": ([*map(str, HOURS[:-1]), "x"], ROWS - 1, "a number, or a date"),
}


def in_order(folder, times):
    table = frame(ROWS).assign(time=times, item=np.arange(ROWS) % N_ARMS)
    table.to_parquet(folder / "rows.parquet")
    columns = COLUMNS | {"propensity": "uniform"}
    return LogReplay(path=str(folder / "rows.parquet"), time="time", order="time", **columns)._load().order


@pytest.mark.parametrize("case", IN_TIME)
def test_rows_are_sorted_by_time(case, tmp_path):
    assert in_order(tmp_path, IN_TIME[case]).tolist() == np.argsort(HOURS).tolist()


@pytest.mark.parametrize("case", NO_ORDER)
def test_times_that_would_be_sorted_as_words_are_refused(case, tmp_path):
    times, row, expected = NO_ORDER[case]
    with pytest.raises(BenchError) as error:
        in_order(tmp_path, times)
    assert f"row {row + 1}, time: found {times[row]!r}, expected {expected}" in str(error.value)
