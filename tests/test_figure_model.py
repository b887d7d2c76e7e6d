"""A figure file is checked before anything is run, and a new kind is one file."""

from typing import Any

import pandas as pd
import pytest
from rendered import draw, numbers_of, render, tables

import bench.report.kinds
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
        ({"kind": "timing", "reference": {"panel": "Q"}, "runs": SOME},
         "key 'reference': fits 2 experiments of a panel, expected one"),
        (RANKING | {"reference": {"method": ["A", "B"]}}, "key 'reference'"),
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


def test_a_new_kind_is_one_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of this test, put beside the others, is a kind that is drawn, tabulated and read off."""
    (tmp_path / "lasts.py").write_text("""
import numpy as np
from bench.report.figure import Figure
from bench.report.plot import Mark, Panel
from bench.report.tables import summary

class Lasts(Figure):
    size: float = 5.0

    def tables(self, results):
        return {"table": summary(results)}

    def plot(self, results, tables):
        rows = tables["table"].to_dict("records")
        plot = self.blank(row["method"] for row in rows)
        marks = [
            Mark(part="line", name=row["method"], case="", x=np.array([i]), y=np.array([row["mean"]]),
                 look=plot.look(row["method"], size=self.size))
            for i, row in enumerate(rows)
        ]
        plot.panels.append(Panel(marks=marks))
        return plot
""")
    monkeypatch.setattr(bench.report.kinds, "__path__", [*bench.report.kinds.__path__, str(tmp_path)])
    figure = {**FIGURE, "kind": "lasts", "size": 9}
    finals = pd.DataFrame(
        {"method": ["A", "A", "B", "B"], "repetition": [0, 1, 0, 1], "rounds": 5, "regret": [1, 3, 2, 6]}
    )
    numbers = numbers_of(render(figure, pd.DataFrame(), finals).plot)
    assert numbers[["name", "y"]].to_numpy().tolist() == [["A", 2.0], ["B", 4.0]]
    assert len(draw(figure, pd.DataFrame(), finals).axes[0].lines) == 2


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
