"""Columns that no run has are refused; columns that only some runs have, or that first appear late, are not."""

from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parent.parent
FIGURE = """kind: dots
column: regret
horizon: 30
repetitions: 2
common: [env=synthetic_linear, tuner=random]
runs:
  - method:
      LinUCB: [algorithm=linucb, "algorithm.tune=[exploration_rate,ridge]"]
"""
WHISKERS = "whiskers: {low: ridge, high: exploration_rate, only: {method: LinUCB}}\n"
LATE = """
from bandit_bench import component
from bench.envs.moving_peak import SwitchingSine


@component
class Audited(SwitchingSine):
    n = 0

    def values(self, *arguments):
        self.n += 1
        return super().values(*arguments) | ({"audit": 1.0} if self.n % 10 == 0 else {})
"""


@pytest.fixture
def make(commands, monkeypatch, capsys):
    folder = commands.cwd / "conf" / "papers" / "mine" / "figures"
    folder.mkdir(parents=True)
    folder.with_name("settings.yaml").write_text("name: mine\n")

    def made(name, text):
        (folder / f"{name}.yaml").write_text(text)
        return commands.here(monkeypatch, capsys, "reproduce", f"figure=mine/{name}", "scale=quick")

    return made


def test_a_method_without_the_column_may_be_added_to_a_finished_figure(make):
    assert make("one", FIGURE + WHISKERS).code == 0
    assert make("two", FIGURE + "      Greedy: [algorithm=epsilon_greedy]\n" + WHISKERS).code == 0


def test_a_misspelt_column_is_refused_when_all_runs_are_finished_too(make):
    assert make("one", FIGURE + WHISKERS).code == 0
    answer = make("two", FIGURE + WHISKERS.replace("ridge", "rigde"))
    assert answer.code == 1
    assert "two.yaml: figure 'two', key 'whiskers.low': found 'rigde', did you mean 'ridge'" in answer.err


def test_a_comparison_refuses_a_misspelt_column_in_the_same_words_when_all_runs_are_finished(
    commands, monkeypatch, capsys
):
    words = ("tuner=tl,random", "env.dim=2", "horizon=20", "repetitions=1")
    first, made, again = (
        commands.here(monkeypatch, capsys, "compare", *words, *column)
        for column in (["column=regrett"], [], ["column=regrett"])
    )
    assert first.err.startswith("error: column: found 'regrett', did you mean 'regret'")
    assert [first.code, made.code, again] == [1, 0, first]


def test_a_column_of_an_own_environment_may_first_appear_in_a_later_round(make, commands):
    (commands.cwd / "audited.py").write_text(LATE)
    text = "kind: dots\ncolumn: audit\nhorizon: 30\nrepetitions: 2\ncommon: [env=audited.Audited, algorithm=none]\n"
    answer = make("late", text + "runs: [{method: {A: [tuner=random]}}]\n")
    assert answer.code == 0, answer.err
    (finals,) = answer.results.glob("mine/late/*/finals.csv")
    assert pd.read_csv(finals)["audit"].tolist() == [1.0, 1.0]


def test_a_figure_without_runs_has_no_columns_to_misspell(make):
    text = (ROOT / "conf" / "papers" / "habo" / "figures" / "worked_examples.yaml").read_text()
    assert make("worked", text.replace("paper: habo", "").replace("name: worked_examples", "")).code == 0
