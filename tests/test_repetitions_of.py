"""A figure drawn from another's repetitions: the same tables as with its own, and no content twice in files."""

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import bandit_bench as bb
from bench.errors import BenchError
from bench.gallery.result import ResultView
from bench.report.folder import REPETITIONS as FILE
from runners import verify
from runners.config.figures import load_figure
from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.execute.write_figure import redraw
from runners.results.derive import results_in

METHODS = {"Random": ["tuner=random"], "TL": ["tuner=tl"], "OP": ["tuner=op"]}
WHOLE: dict[str, Any] = {
    "kind": "curves",
    "column": "regret",
    "repetitions": 3,
    "common": ["env=switching_sine", "algorithm=none"],
    "runs": [{"method": METHODS}],
    "readings": [
        {"name": "as printed", "source": ["assumed", "made up"], "text": "as it is"},
        {"name": "loud", "source": ["assumed", "made up"], "text": "much noise", "overrides": ["env.noise_std=1"]},
    ],
    "claims": [],
}
PART = WHOLE | {
    "kind": "dots",
    "runs": [{"method": {name: METHODS[name] for name in ("OP", "Random")}}],
    "claims": [
        {"id": "1", "text": "OP has less regret", "kind": "paired_difference", "left": {"method": "OP"},
         "right": {"method": "Random"}, "expect": "less"}
    ],
}  # fmt: skip


DRAWN = PART | {"repetitions_of": "whole"}


@pytest.fixture
def write(monkeypatch, tmp_path) -> Callable[..., None]:
    """Write figures of a user's paper, replacing earlier ones, with results in another folder."""
    numbers = itertools.count()
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))

    def call(**figures: dict[str, Any]) -> None:
        conf = tmp_path / f"conf{next(numbers)}"  # files are read once
        folder = conf / "papers" / "own"
        (folder / "figures").mkdir(parents=True)
        (folder / "settings.yaml").write_text("name: own\nsettings: [{source: [assumed, here], horizon: 50}]\n")
        for name, content in figures.items():
            (folder / "figures" / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        monkeypatch.setenv("BENCH_CONF_DIR", str(conf))

    return call


def asked(name: str) -> AskedFigure:
    command = f"python -m runners.reproduce figure=own/{name} scale=paper"
    return AskedFigure(load_figure(f"own/{name}"), f"own/{name}/paper", "paper", [], command, is_reference=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_its_tables_are_those_of_repetitions_of_its_own_and_no_run_is_played_twice(write, tmp_path, capsys):
    write(part=PART)
    alone = tmp_path / "alone"
    reproduce_figure(asked("part"), jobs=1, runner=Runner(progress=False)).folder.rename(alone)
    shutil.rmtree(tmp_path / "results")
    write(whole=WHOLE, part=DRAWN)
    assert set(bb.reproduce("own/part", scale="paper")) == {"own/whole", "own/part"}
    assert len(list((tmp_path / "results" / "raw").glob("*/*.parquet"))) == 18
    folder = tmp_path / "results" / "own" / "part" / "paper"
    expected, made = contents(alone), contents(folder)
    own, shared = {"manifest.json"}, {FILE, "seconds.csv", "environment.json"}
    assert made.keys() == expected.keys() - shared
    assert {name: made[name] for name in made.keys() - own} == {
        name: expected[name] for name in expected.keys() - shared - own
    }
    assert not {"runs", "provenance", "readings"} & json.loads(made["manifest.json"]).keys()
    before, after = (ResultView(path, load_figure("own/part")) for path in (alone, folder))
    assert not after.problems
    assert sorted(after.manifest.runs, key=repr) == sorted(before.manifest.runs, key=repr)
    assert set(after.commands) == set(before.commands)
    assert after.seconds_by_run.keys() == before.seconds_by_run.keys()
    assert sorted(bb.load("own/part").finals["regret"]) == sorted(
        results_in(load_figure("own/part"), alone).finals["regret"]
    )
    assert verify.verify(["jobs=1", "paper=own"])
    assert "18 repetitions played again" in capsys.readouterr().out  # each once
    shutil.rmtree(tmp_path / "results" / "raw")
    made_again = bb.reproduce(paper="own", scale="paper")
    assert "18 repetitions, 0 new" in capsys.readouterr().out
    assert contents(made_again["own/part"].folder) == made


@pytest.fixture
def made(write, tmp_path) -> Path:
    """The folder of a figure with another's repetitions."""
    write(whole=WHOLE, part=DRAWN)
    reproduce_figure(asked("whole"), jobs=1, runner=Runner(progress=False))
    folder = tmp_path / "results" / "own" / "part" / "paper"
    assert not redraw(asked("part"), folder).tell().error
    return folder


def test_it_is_verified_by_its_own_name(made, capsys):
    assert verify.verify(["jobs=1", "figure=own/part"])
    table = made / "table.csv"
    table.write_text(table.read_text().replace("OP", "UP"))
    assert not verify.verify(["jobs=1", "figure=own/part"])
    assert "differs: own/part/paper/table.csv" in capsys.readouterr().out


def test_other_runs_than_those_it_is_drawn_from_are_outdated(made, write, capsys):
    write(whole=WHOLE, part=DRAWN | {"runs": [{"method": METHODS | {"OP": ["tuner=op", "env.noise_std=2"]}}]})
    assert not verify.verify(["jobs=1", "figure=own/part", "sample=1"])
    words = "own/part, repetitions_of: found 'whole', whose committed runs differ"
    assert f"outdated: {words}" in capsys.readouterr().out
    assert words in redraw(asked("part"), made).error


def test_at_other_scales_it_has_runs_of_its_own(write):
    write(whole=WHOLE, part=DRAWN)
    made = bb.reproduce("own/part", scale="smoke")
    assert set(made) == {"own/part"}
    assert "finals.csv" in contents(made["own/part"].folder)


@pytest.mark.parametrize("named", ["hole", "part"])
def test_a_figure_that_has_no_repetitions_is_named(write, named):
    write(whole=WHOLE, part=PART | {"repetitions_of": named})
    with pytest.raises(BenchError, match=rf"repetitions_of: found '{named}', .*expected one of: whole$"):
        load_figure("own/part")
