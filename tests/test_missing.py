"""Missing repetitions of figures: shares for several commands, and estimates of the work."""

import json
import re

import pandas as pd
from commands import Commands

from runners.execute.missing import committed_seconds, expected_seconds

SMALL = ("tuner=tl,random", "env.dim=2", "env.n_arms=3", "horizon=40", "repetitions=5", "name=shared")


def made(commands: Commands) -> dict[str, bytes]:
    return {str(path.relative_to(commands.results)): path.read_bytes() for path in commands.results.rglob("*.parquet")}


def test_shares_of_a_comparison_are_all_of_it_and_none_is_run_twice(commands, monkeypatch, capsys, tmp_path):
    """In any order; the collecting command runs nothing, and makes the same result as a single command."""
    seen: dict[str, bytes] = {}
    for index in (3, 1, 2):
        answer = commands.here(monkeypatch, capsys, "compare", *SMALL, f"shard={index}/3")
        assert answer.code == 0, answer.err
        assert not list(commands.results.glob("compare/shared"))
        after = made(commands)
        assert {name: after[name] for name in seen} == seen
        assert len(after) - len(seen) in (3, 4)
        seen = after
    assert len(seen) == 10
    again = commands.here(monkeypatch, capsys, "compare", *SMALL, "shard=2/3")
    assert " 0 new" in again.out
    whole = commands.here(monkeypatch, capsys, "compare", *SMALL)
    assert "10 repetitions, 0 new" in whole.out
    assert made(commands) == seen
    alone = Commands(tmp_path / "alone")
    assert alone.here(monkeypatch, capsys, "compare", *SMALL).code == 0
    tables = [pd.read_csv(one.results / "compare" / "shared" / "table.csv") for one in (commands, alone)]
    pd.testing.assert_frame_equal(*tables)


def test_a_share_of_a_figure_and_its_missing_repetitions(commands, monkeypatch, capsys):
    words = ("figure=syndicated/figure3", "scale=smoke", "only={panel: [Simulation]}")
    labels = commands.here(monkeypatch, capsys, "reproduce", *words[:2], "only={panel: nothing}").err
    panel = labels.partition("several in a list: ")[2].partition(";")[0].strip()
    words = (*words[:2], f"only={{panel: '{panel}'}}")
    first = commands.here(monkeypatch, capsys, "reproduce", *words, "dry_run=true", "jobs=2")
    assert first.code == 0, first.err
    number = int(first.out.split()[0])
    assert first.out.startswith(f"{number} of {number} repetitions are missing: about ")
    assert not made(commands)
    assert commands.here(monkeypatch, capsys, "reproduce", *words, "shard=1/2").code == 0
    assert len(made(commands)) == (number + 1) // 2
    second = commands.here(monkeypatch, capsys, "reproduce", *words, "dry_run=true")
    assert second.out.startswith(f"{number // 2} of {number} repetitions are missing: about ")
    assert commands.here(monkeypatch, capsys, "reproduce", *words, "shard=2/2").code == 0
    assert commands.here(monkeypatch, capsys, "reproduce", *words, "dry_run=true").out.startswith(f"0 of {number} ")
    assert not list(commands.results.glob("syndicated"))


def test_each_command_of_a_share_names_the_reason_for_unequal_lines(commands, monkeypatch, capsys):
    """Once the shares have run all repetitions, the collecting command checks nothing."""
    words = ("tuner=tl,cdt", *SMALL[1:])
    for own in ("dry_run=true", "shard=1/2"):
        answer = commands.here(monkeypatch, capsys, "compare", *words, own)
        assert "exploration_rate: the candidates are " in answer.out
        assert answer.out.count("paper=tournament") == 1


def test_an_estimate_counts_failures_and_says_where(commands, monkeypatch, capsys):
    """The other tuner's time is in it; the command that runs them reports the same line."""
    words = ("tuner=my_module.Raises,random", "env.dim=2", "env.n_arms=3", "horizon=40", "repetitions=2")
    for command, asked in (("compare", words), ("tournament", ("tuner=my_module.Raises", "only={task: triangle}"))):
        answer = commands.here(monkeypatch, capsys, command, *asked, "dry_run=true")
        assert answer.code == 0, answer.err
        assert "1 of these failed, the first with " in answer.out
        assert re.search(r"RuntimeError: no luck today \(my_module\.py:\d+ in _ask\)", answer.out)


def test_seconds_are_committed_or_measured_on_some_rounds(reference_results):
    """Every run of a committed figure has some."""
    from runners.config.compose import from_overrides

    manifest = json.loads((reference_results / "cdt" / "figure4" / "paper" / "manifest.json").read_text())
    seconds = committed_seconds()
    assert {run["key"] for run in manifest["runs"]} <= seconds.keys()
    assert all(value > 0 for value in seconds.values())
    run = from_overrides(["env=switching_sine", "algorithm=none", "tuner=random", "horizon=400", "repetitions=1"])
    expected, how = expected_seconds([run.experiment])
    assert 0 < expected[run.experiment.run_id] < 60
    assert "200 rounds of 1 runs played here" in how
