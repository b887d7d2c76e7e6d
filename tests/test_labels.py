import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import figure_of

from bench.errors import ConfigError
from bench.report.labels import canonical, describe, matches, selection
from bench.report.results import Results
from bench.report.tables import from_csv, to_csv


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (0.5, "0.5"),
        (4.0, "4"),
        ("0.50", "0.50"),
        (1e-3, "0.001"),
        (20261127001.0, "20261127001"),
        (0.1 + 1e-11, "0.10000000001"),
        ("mine ", "mine "),
        (np.nan, ""),
        (None, ""),
        (True, "True"),
    ],
)
def test_labels_stay_as_written(value: Any, label: str) -> None:
    assert canonical(value) == label


def test_a_selection_matches_labels_that_are_listed_or_missing() -> None:
    labels = {"method": "TL", "alpha": ""}
    assert matches(labels, selection({"method": ["OP", "TL"]}))
    assert not matches(labels, selection({"method": "OP"}))
    assert matches(labels, selection({"alpha": None}))
    assert not matches(labels, selection({"alpha": "*"}))
    assert matches(labels, selection({}))
    assert describe(selection({"method": ["TL", "OP"], "alpha": 0.5})) == "TL/OP, alpha 0.5"


def test_experiments_are_those_the_figure_declares() -> None:
    finals = pd.DataFrame({"method": ["TL", "old"], "repetition": 0, "rounds": 5, "regret": 1.0})
    runs = [{"method": {"TL": []}, "alpha": {"values": [0, 1], "override": "a={}"}}, {"method": {"OP": []}}]
    declared = Results(figure_of({"runs": runs}), finals=finals)
    assert declared.experiments == [("TL", "0"), ("TL", "1"), ("OP", "")]
    assert declared.labels("method") == ["TL", "OP"]
    assert Results(figure_of({}), finals=finals).experiments == [("TL",), ("old",)]


def test_experiments_are_selected_as_their_labels_match() -> None:
    runs = [{"method": {"TL": []}, "alpha": {"values": [0, 1], "override": "a={}"}}, {"method": {"OP": []}}]
    finals = pd.DataFrame({"method": ["TL", "old"], "repetition": 0, "rounds": 5, "regret": 1.0})
    results = Results(figure_of({"runs": runs}), finals=finals)
    words: list[Any] = ["TL", "OP", "old", 0, None, "*", ["OP", None], ["*", None], ["TL", 1]]
    for method, alpha, missing in itertools.product(words, repeat=3):
        for asked in ({"method": method, "alpha": alpha}, {"alpha": alpha, "panel": missing}, {"panel": missing}):
            chosen = selection(asked)
            declared, others = (
                [key for key in keys if matches(results.as_dict(key), chosen)]
                for keys in (results.experiments, [("TL", ""), ("old", "")])
            )
            assert results.select(chosen) == declared, chosen
            assert results.undeclared(chosen) == others, chosen


LOOK_ALIKE = ["1.1", "1.10", "007", "7", "mine", "mine ", "20261127001", "20261127002", "=1+1", "'=1+1", "@mine", "-x"]


def test_labels_that_look_alike_stay_apart_in_files() -> None:
    """Written to CSV and read again, as final values, as curves and as a table."""
    for labels in (LOOK_ALIKE, ["1.1", "1.10"], ["007", "7"], ["0.1", "0.10000000001"]):
        for first in ("repetition", "column", "n"):
            table = pd.DataFrame({"method": labels, first: 0, "regret": 1.5})
            again = from_csv(to_csv(table))
            assert [canonical(label) for label in again["method"]] == labels
            assert again["regret"].tolist() == [1.5] * len(labels)


def test_a_spreadsheet_takes_no_label_for_a_formula() -> None:
    lines = to_csv(pd.DataFrame({"method": LOOK_ALIKE, "n": 1})).splitlines()[1:]
    assert not [line for line in lines if line[0] in "=+@-"]


def test_two_labels_that_are_one_are_refused() -> None:
    with pytest.raises(ConfigError, match="two are '1'"):
        figure_of({"runs": [{"alpha": {"values": [1, 1.0], "override": "a={}"}}]})
