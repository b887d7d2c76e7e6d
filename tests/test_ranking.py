"""Methods over several tasks: ratios to a reference, and mean ranks."""

import numpy as np
import pandas as pd
import pytest
from rendered import draw, tables

from bench.errors import ConfigError

FIGURE = {
    "name": "made_up",
    "title": "Made up",
    "kind": "ranking",
    "column": "regret",
    "reference": {"method": "A"},
    "runs": [
        {"task": {"one": [], "two": [], "not run": []}, "method": {"A": [], "B": [], "C": []}},
        {"task": {"some only": []}, "method": {"A": [], "B": []}},
    ],
}
VALUES = {
    ("one", "A"): [4.0, 4.0],
    ("one", "B"): [2.0, 6.0],
    ("one", "C"): [1.0, 5.0],
    ("two", "A"): [10.0, 10.0],
    ("two", "B"): [10.0, 20.0],
    ("two", "C"): [30.0, 30.0],
    ("some only", "A"): [5.0, 5.0],
    ("some only", "B"): [1.0, 1.0],
}


def finals(values=VALUES) -> pd.DataFrame:
    rows = [
        {"task": task, "method": method, "repetition": repetition, "rounds": 10, "regret": regret}
        for (task, method), regrets in values.items()
        for repetition, regret in enumerate(regrets)
    ]
    return pd.DataFrame(rows)


def test_values_are_relative_to_the_reference_on_the_same_task():
    table = tables(FIGURE, finals())["tasks"].set_index(["task", "method"])["relative"]
    assert table["one", "A"] == table["two", "A"] == 1.0
    assert table["one", "B"] == 1.0
    assert table["one", "C"] == 0.75
    assert table["two", "C"] == 3.0
    assert table["some only", "B"] == 0.2
    assert ("some only", "C") not in table.index
    assert np.isnan(table["not run", "A"])


def test_ranks_by_hand():
    # Task one: 3 2 1, then 1 3 2; task two: 1.5 1.5 3, then 1 2 3. Means: A 2.25 and 1, B 1.75 and 2.5, C 2 and 2.5
    table = tables(FIGURE, finals())["ranks"]
    assert table["method"].tolist() == ["A", "B", "C"]
    assert table["mean_rank"].tolist() == [1.625, 2.125, 2.25]
    assert table["tasks"].tolist() == [2, 2, 2]
    assert (table["ci_low"] <= table["mean_rank"]).all()
    assert (table["mean_rank"] <= table["ci_high"]).all()


def test_only_repetitions_that_all_methods_have_count():
    short = VALUES | {("two", "B"): [10.0]}
    table = tables(FIGURE, finals(short))["ranks"].set_index("method")
    assert table["n"].tolist() == [1, 1, 1]
    assert table["mean_rank"].to_dict() == {"A": 2.25, "B": 1.75, "C": 2.0}


def test_without_results_there_are_no_ranks_and_the_page_says_so():
    nothing = pd.DataFrame(columns=["task", "method", "repetition", "rounds", "regret"])
    assert tables(FIGURE, nothing)["ranks"]["mean_rank"].isna().all()
    assert set(tables(FIGURE, nothing)) == {"table", "ranks", "tasks"}
    page = draw(FIGURE, pd.DataFrame(), nothing, note="")
    assert "no results yet" in {text.get_text() for text in page.axes[0].texts}


def test_every_cell_of_the_page_says_its_number():
    page = draw(FIGURE, pd.DataFrame(), finals(), note="")
    texts = [text.get_text() for text in page.axes[0].texts]
    assert texts.count("1.00") == 4
    assert {"0.75", "3.00", "0.20", "1.50"} <= set(texts)
    assert [text.split()[0] for text in texts[-3:]] == ["1.6", "2.1", "2.2"]


@pytest.mark.parametrize("reference", [None, {}, {"method": "D"}, {"method": ["A", "B"]}])
def test_the_reference_is_one_of_the_methods(reference):
    with pytest.raises(ConfigError, match="key 'reference'"):
        tables(FIGURE | {"reference": reference or {}}, finals())["table"]
