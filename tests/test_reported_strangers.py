"""Results made by others: they cause no import, and no read outside their folder."""

import json
import os
import shutil
from pathlib import Path

import pytest
from commands import ROOT

import bandit_bench as bb
from bench.report.folder import ResultFiles
from runners.results import checksums

RESULT = "cdt/corral"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    shutil.copytree(ROOT / "results" / RESULT / "paper", tmp_path / "results" / RESULT / "paper")
    return tmp_path / "results"


@pytest.mark.parametrize(
    "word",
    ["tuner=theirs.K", "env.path=/etc/hosts"],
)
def test_a_command_in_a_manifest_names_no_class_and_no_file(
    results: Path, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = results.parent / "imported"
    (results.parent / "theirs.py").write_text(f"open({str(mark)!r}, 'w')\nclass K: pass\n")
    path = results / RESULT / "paper" / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"command": f"{manifest['command']} {word}"}))
    assert not bb.verify(figure=RESULT, sample=1)
    assert not mark.exists()
    assert "manifest.json, command: found" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_a_result_is_not_waited_for(results: Path) -> None:
    table = results / RESULT / "paper" / "table.csv"
    table.unlink()
    os.mkfifo(table)
    with pytest.raises(bb.BenchError, match=r"table\.csv"):
        _ = bb.load(RESULT, scale="paper").table


def test_repetitions_are_not_read_through_a_link(results: Path) -> None:
    outside = results.parent / "outside"
    shutil.copytree(results / RESULT / "paper", outside / "paper")
    path = results / RESULT / "paper" / "manifest.json"
    path.write_text(json.dumps({"repetitions_of": "linked"}))
    (results / "cdt" / "linked").symlink_to(outside)
    assert ResultFiles(path.parent).with_runs.path == path.parent
    (results / "cdt" / "linked").unlink()
    (results / "cdt" / "linked").mkdir()
    (results / "cdt" / "linked" / "paper").symlink_to(outside / "paper")
    assert ResultFiles(path.parent).with_runs.path == path.parent


@pytest.mark.parametrize("runs", [3, [3], [{"labels": 3}], [{"key": "a", "labels": {}, "repetitions": 1}]])
def test_a_damaged_manifest_is_one_sentence(results: Path, runs: object) -> None:
    (results / RESULT / "paper" / "manifest.json").write_text(json.dumps({"runs": runs}))
    with pytest.raises(bb.BenchError, match=r"^[^\n]*(manifest\.json|repetitions\.parquet)[^\n]*$"):
        _ = bb.load(RESULT, scale="paper").finals


def test_digests_are_of_no_file_behind_a_link(results: Path) -> None:
    outside = results.parent / "outside"
    shutil.copytree(results / RESULT, outside)
    (results / "cdt" / "linked").symlink_to(outside)
    (results / "cdt" / "one").mkdir()
    (results / "cdt" / "one" / "paper").symlink_to(outside / "paper")
    (results / "overview.csv").symlink_to(outside / "paper" / "table.csv")
    checksums.note(results, [results])
    assert {name.rpartition("/")[0] for name in checksums.read(results)} == {f"{RESULT}/paper"}
