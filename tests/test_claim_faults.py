"""Wrong claims: one sentence names figure, claim, key and choices."""

from typing import Any

import pandas as pd
import pytest
from claim_cases import BOUND, LESS, ON_GRID, RUNS, SLOPE, compare, judged
from rendered import check

from bench.errors import ConfigError


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"kind": "paird"}, r"claim '1', key 'kind': unknown kind 'paird', choose from paired_difference, relative_"),
        (
            compare("less", exepct="x"),
            r"'1' of kind 'paired_difference': unknown key 'exepct', valid ones: .*id, text,",
        ),
        (compare("lower"), r", key 'expect': found 'lower', expected 'less', 'greater'"),
        ({"kind": "ratio", "left": {"method": "A"}, "expect": "less"}, r"of kind 'ratio': key 'right' is missing"),
        (compare("similar"), r": expect: similar needs a margin"),
        (compare("less", margin=0.1), r": expect: less takes no margin"),
        (compare("less", left={"methd": "A"}), r"claim '1', key 'left': the figure has no axis 'methd', its axes are"),
        (compare("less", left={"method": "a"}), r"1', key 'left': axis 'method' has no label 'a', valid ones: A, B"),
        (compare("less", left="A"), r", key 'left': found 'A', expected axes with their labels"),
        (compare("less", per=["panle"]), r"claim '1', key 'per': the figure has no axis 'panle'"),
        (compare("less", per=["method"]), r"claim '1', key 'left': axis 'method' is also in 'per'"),
        (compare("less", right={"method": "A"}), r"claim '1': 'left' and 'right' select the same runs: A"),
        (compare("less", combine={"left": "min"}), r", key 'combine.left': found 'min', expected 'mean'"),
        (compare("less", combine={"lft": "mean"}), r": unknown key 'combine.lft', valid ones: left, right$"),
        (compare("at_most", margin=0.1, tie=0.1), r": expected either 'margin' or 'tie'"),
        (compare("less", tie=-1), r", key 'tie'"),
        (compare("less", "ratio", threshold=0.5, tie=0.1), r"'tie' goes with the threshold 1 only"),
        (
            compare("less", only={"panel": "P"}, only_note="w"),
            r"claim '1', key 'only': axis 'panel' is not in 'per', which is: empty",
        ),
        (
            compare("less", "relative_difference", reference={"method": "A"}, over=["task"]),
            r"claim '1', key 'over': the figure has no axis 'task'",
        ),
        ({**BOUND, "over": {"method": "B"}, "candidates": []}, r", key 'candidates'"),
        ({**BOUND, "over": {"method": "B"}, "measured": {"method": "A"}, "candidates": [0]}, r"key 'candidates.0'"),
        ({**BOUND, "candidates": [2], "against": {"method": "B"}}, r"'against' goes with 'formula'"),
        ({**SLOPE, "axis": "T"}, r"key 'axis': the figure has no axis 'T'"),
        (
            {"kind": "best_on_grid", "axis": "panel", "differs": {"method": ["A"]}},
            r"found .*, expected one axis with two labels",
        ),
        (
            {"kind": "best_on_grid", "axis": "panel", "differs": {"arm": ["A", "B"]}},
            r"key 'differs': the figure has no axis 'arm'",
        ),
        ({**ON_GRID, "axis": "panel", "threshold": None}, r"a threshold goes with expect"),
        ({"kind": "count", "of": "7"}, r"claim '1', key 'of': no claim '7' to count, choose from none"),
        ({"kind": "count", "of": []}, r"'1' of kind 'count', key 'of'"),
    ],
)
def test_a_bad_claim_names_figure_claim_key_and_choices(claim: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        judged({"id": 1, **claim}, of=pd.DataFrame(), runs=RUNS)
    assert str(caught.value).startswith("figure 'f', claim '1'")
    assert "\n" not in str(caught.value)


def test_ids_differ_and_claims_are_mappings() -> None:
    with pytest.raises(ConfigError, match="this id is used twice"):
        judged({"id": 1, **LESS}, {"id": "1", **LESS}, of=pd.DataFrame())
    with pytest.raises(ConfigError, match="expected a list of mappings"):
        check({"claims": ["TL wins"]}, pd.DataFrame())
    rows = check({}, pd.DataFrame())
    assert (rows.empty, {"claim", "verdict", "note"} <= set(rows.columns)) == (True, True)
