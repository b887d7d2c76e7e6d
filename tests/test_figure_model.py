"""A figure file is checked before anything is run."""

from typing import Any

import pandas as pd
import pytest
from rendered import tables

from bench.errors import ConfigError
from bench.report.figure import read_figure
from bench.report.provenance import commands

FIGURE: dict[str, Any] = {
    "name": "mine",
    "kind": "curves",
    "column": "regret",
    "runs": [{"method": {"A": [], "B": []}}],
}
CLAIM = {"id": "1", "text": "t", "kind": "paired_difference", "left": {"method": "A"}, "right": {"method": "B"},
         "expect": "less"}  # fmt: skip
SLOPE = {"id": "2", "text": "t", "kind": "slope", "measured": {"method": "A"}, "expect": "less", "threshold": 1,
         "column": "reward"}  # fmt: skip
ENTRY = {"method": "A", "what": "mean", "value": 1}
SOME = [{"panel": {"P": []}, "method": {"A": []}}, {"panel": {"Q": []}, "method": {"A": [], "B": []}}]
RANKING = {"kind": "ranking", "reference": {"method": "A"}, "runs": [{"task": {"one": []}, **FIGURE["runs"][0]}]}
LIMITED = {"repetitions": 15, "runs": SOME[:1]}
RATE = {"values": [1], "override": "+tuner.configuration.exploration_rate={}"}
CANDIDATES = [{"panel": {"P": []}, "exploration_rate": RATE}]
FIRST = {"name": "as printed", "source": ["stated", "section 6"], "text": "as it is"}
OTHER = {"name": "other", "source": ["code", "run.py"], "text": "less noise", "overrides": ["env.noise_std=0.01"]}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "pie"}, "figure 'mine': unknown kind 'pie', choose from curves, dots, grid"),
        ({"column": None}, "figure 'mine', key 'column': found None, expected a valid string"),
        ({"panels": ["where"]}, "key 'panels': the figure has no axis 'where', its axes are: method"),
        ({"claims": [{**CLAIM, "right": {"tuner": "B"}}]}, "claim '1', key 'right': the figure has no axis 'tuner'"),
        ({"runs": [{"n": {"1": [], "2": []}}]}, "figure 'mine': an axis is called 'n', like a column of its tables"),
        # published numbers
        ({"published": [ENTRY | {"method": "XX"}]}, "axis 'method' has no label 'XX'"),
        ({"published": [{"what": "mean", "value": 1}]}, "fits 2 experiments"),
        # kinds
        ({"kind": "timing", "column": "seconds", "reference": {"panel": "Q"}, "runs": SOME},
         "key 'reference': fits 2 experiments of a panel, expected one"),
        (RANKING | {"reference": {"method": ["A", "B"]}}, "key 'reference'"),
        ({"kind": "timing", "column": "second", "reference": {"method": "A"}},
         "key 'column': found 'second', expected seconds or cpu_seconds"),
        ({"kind": "dots", "whiskers": {"low": "a", "high": "b", "only": {"metod": "A"}}}, "'whiskers.only': .*'metod'"),
        # columns that could never be drawn or judged
        ({"column": "rounds"}, "key 'column': found 'rounds', .* kind: dots"),
        ({"column": "seconds_total"}, "key 'column': found 'seconds_total', .* kind: dots"),
        ({"unfold": {"axis": "of", "column": "value", "labels": {"a": "regret"}}},
         "key 'unfold.column': found 'value', expected 'regret'"),
        ({"kind": "dots", "column": "gain", "better": {"method": "A"}, "in_column": "regret", "claims": [CLAIM]},
         "claim '1', key 'column': found 'gain', .* regret"),
        ({"claims": [SLOPE]}, "claim '2', key 'column': found 'reward', .* regret"),
        # bounds and claims
        ({"bounds": [{"measured": {}, "formula": {"name": "pi"}}]},
         r"bound 1, formula\.name: found 'pi', expected one of"),
        ({"claims": [CLAIM | {"origin": "stated"}]}, "claim '1'.*origin: stated or theorem needs a place"),
        # limits
        (LIMITED | {"limits": {"candidates": CANDIDATES, "stretches": {"C": 2}}},
         "key 'limits.stretches': no panel 'C', valid ones: P"),
        # readings
        ({"readings": [FIRST, OTHER | {"source": ["guessed", "somewhere"]}]},
         "found 'guessed', expected 'stated', 'code' or"),
        ({"readings": [OTHER]}, "found overrides, expected none: the first reading is the figure unchanged"),
        ({"readings": [FIRST, OTHER | {"overrides": [{"only": {"method": ["C"]}, "overrides": []}]}]},
         "reading 'other', key 'overrides': axis 'method' has no label 'C', valid ones: A, B"),
    ],
)  # fmt: skip
def test_each_error_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence) as raised:
        tables({**FIGURE, **changes}, pd.DataFrame())
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("axis", [{"1": ["x=1"], "0.50": ["x=0.5"]}, {"values": [1, "0.50"], "override": "x={}"}])
def test_the_content_of_a_figure_can_be_read_again(axis: dict[str, Any]) -> None:
    figure = read_figure({**FIGURE, "runs": [{"x": axis}], "scales": {"quick": {"max_horizon": None}}})
    assert list(figure.runs[0]["x"]) == ["1", "0.50"]
    assert figure.paper == "none"
    assert read_figure(figure) is figure
    assert read_figure(figure.given()) == figure
    assert read_figure(FIGURE).given() == FIGURE


def test_a_command_has_quotes_where_a_shell_needs_them() -> None:
    runs = [{"labels": {}, "overrides": ["+tuner.note=two words"], "horizon": 5}]
    assert commands({"runs": runs}) == ["python -m runners.run '+tuner.note=two words' horizon=5"]


def test_nothing_is_imported_because_a_result_names_it(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_look.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"unknown kind 'their_look\.K'"):
        read_figure({**FIGURE, "kind": "their_look.K"})
    with pytest.raises(SystemExit):
        read_figure({**FIGURE, "kind": "their_look.K"}, is_own=True)
