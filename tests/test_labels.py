import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import figure_of

from bench.report.labels import canonical, describe, matches, selection
from bench.report.results import Results


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (0.5, "0.5"),
        ("0.50", "0.5"),
        ("1e-3", "0.001"),
        (4.0, "4"),
        ("12345.678", "12345.678"),
        (np.int64(60), "60"),
        (" TL ", "TL"),
        ("1_000", "1_000"),
        ("nan", "nan"),
        (np.nan, ""),
        (None, ""),
        (pd.NA, "<NA>"),
        (True, "True"),
        (np.True_, "True"),
    ],
)
def test_labels_read_alike_from_yaml_and_csv(value: Any, label: str) -> None:
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
