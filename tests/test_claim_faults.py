"""Wrong claims: one sentence names figure, claim, key and choices."""

from typing import Any

import pandas as pd
import pytest
from claim_cases import BOUND, LESS, ON_GRID, RUNS, SLOPE, compare, judged
from rendered import check

from bench.errors import ConfigError


@pytest.mark.parametrize(
    ("claim", "place"),
    [
        ({"kind": "paird"}, "key 'kind': .*'paird'.* paired_difference"),
        (compare("less", exepct="x"), "'exepct'"),
        (compare("lower"), "key 'expect': .*'less'"),
        ({"kind": "ratio", "left": {"method": "A"}, "expect": "less"}, "key 'right'"),
        (compare("similar"), "expect: .* margin"),
        (compare("less", left={"methd": "A"}), "key 'left': .*'methd'"),
        (compare("less", left={"method": "a"}), "key 'left': .*'a', .* A, B"),
        (compare("less", per=["method"]), "key 'left': .*'per'"),
        (compare("less", right={"method": "A"}), "'left' and 'right' select the same runs: A"),
        (compare("less", combine={"lft": "mean"}), "'combine.lft'.* left, right"),
        (compare("at_most", margin=0.1, tie=0.1), "'margin' or 'tie'"),
        (compare("less", "ratio", threshold=0.5, tie=0.1), "'tie' .* threshold 1"),
        (compare("less", only={"panel": "P"}, only_note="w"), "key 'only': .*'panel'"),
        ({**BOUND, "over": {"method": "B"}, "measured": {"method": "A"}, "candidates": [0]}, "key 'candidates.0'"),
        ({**BOUND, "candidates": [2], "against": {"method": "B"}}, "'against' goes with 'formula'"),
        ({**SLOPE, "axis": "T"}, "key 'axis': .*'T'"),
        ({"kind": "best_on_grid", "axis": "panel", "differs": {"method": ["A"]}}, "one axis with two labels"),
        ({**ON_GRID, "axis": "panel", "threshold": None}, "a threshold goes with expect"),
        ({"kind": "count", "of": "7"}, "key 'of': .*'7'"),
    ],
)
def test_a_bad_claim_names_figure_claim_key_and_choices(claim: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError, match=rf"^figure 'f', claim '1'.*{place}") as caught:
        judged({"id": 1, **claim}, of=pd.DataFrame(), runs=RUNS)
    assert "\n" not in str(caught.value)


def test_ids_differ_and_claims_are_mappings() -> None:
    with pytest.raises(ConfigError, match="this id is used twice"):
        judged({"id": 1, **LESS}, {"id": "1", **LESS}, of=pd.DataFrame())
    with pytest.raises(ConfigError, match="expected a list of mappings"):
        check({"claims": ["TL wins"]}, pd.DataFrame())
    rows = check({}, pd.DataFrame())
    assert (rows.empty, {"claim", "verdict", "note"} <= set(rows.columns)) == (True, True)
