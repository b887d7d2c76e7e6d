"""python -m runners.verify: correct committed values are found equal, a wrong one is named."""

import csv
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pytest
import registry
import yaml
from commands import ROOT
from test_committed import FIGURE

from bench.algorithms.base import Algorithm
from bench.data_kind import DataKind
from bench.errors import ConfigError
from bench.report.figure import read_figure
from bench.report.folder import REPETITIONS as FILE
from bench.report.pictures import content, draw
from bench.tuners.cdt import CDT
from runners import verify
from runners.config.experiment import Experiment
from runners.config.figures import figure_names, load_figure
from runners.config.folders import look_again
from runners.config.runner import Runner
from runners.execute import sample
from runners.execute import verify as verification
from runners.execute.asked_figure import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.results import checksums, replay
from runners.results.derive import derive_committed, thinning
from runners.results.folder import CommittedRepetitions, ResultFolder, write_repetitions

SAMPLED = 12
"""Number of sampled repetitions."""
FEW_BYTES = 32_000
"""Figures with less in repetitions are derived again in every session."""
COMMAND = "python -m runners.reproduce figure=mine/small scale=paper"


CLAIM = {"id": "1", "text": "CDT beats TL", "kind": "paired_difference", "left": {"method": "CDT"},
         "right": {"method": "TL"}, "expect": "less"}  # fmt: skip
READINGS = [
    {"name": "as printed", "source": ["assumed", "made up"], "text": "as it is"},
    {"name": "loud", "source": ["assumed", "made up"], "text": "much noise", "overrides": ["env.noise_std=1"]},
]
WHOLE = {key: value for key, value in FIGURE.items() if key not in ("name", "paper")}
WHOLE |= {"claims": [CLAIM], "readings": READINGS, "published": {"table": "table1", "what": "mean"}}
"""A figure with all kinds of files: two methods under two readings, each with three repetitions."""


def write_figures(conf: Path, *names: str, **changes: Any) -> None:
    """Write the figure into a folder of configuration, under some names, as one of a user's own papers."""
    for name in names:
        paper, _, figure = name.partition("/")
        folder = conf / "papers" / paper
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        (folder / "settings.yaml").write_text(f"name: {paper}\nsettings: [{{source: [assumed, here], horizon: 50}}]\n")
        (folder / "published.yaml").write_text("table1: {axes: [method], values: {TL: 3.2}}\n")
        (folder / "figures" / f"{figure}.yaml").write_text(yaml.safe_dump(WHOLE | changes, sort_keys=False))
    look_again()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of results with that figure."""
    root = tmp_path_factory.mktemp("made") / "results"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_RESULTS_DIR", str(root))
        patch.setenv("BENCH_CONF_DIR", str(root.parent / "conf"))
        write_figures(root.parent / "conf", "mine/small")
        run = AskedFigure(load_figure("mine/small"), "mine/small/paper", "paper", [], COMMAND, True)
        reproduce_figure(run, jobs=1, runner=Runner(progress=False))
    return root


@pytest.fixture
def conf(tmp_path, monkeypatch):
    """The folder of configuration with the figure, which a test may write again."""
    monkeypatch.setenv("BENCH_CONF_DIR", str(tmp_path / "conf"))
    write_figures(tmp_path / "conf", "mine/small")
    return tmp_path / "conf"


@pytest.fixture
def folder(made, tmp_path, monkeypatch, conf):
    """The committed result of the figure."""
    shutil.copytree(made, tmp_path / "results", ignore=shutil.ignore_patterns("raw"))
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    return tmp_path / "results" / "mine" / "small" / "paper"


def change(path: Path, **values: Any) -> dict[str, Any]:
    """Change a JSON file; return its former content."""
    before = json.loads(path.read_text())
    path.write_text(json.dumps(before | values))
    checksums.note(path.parents[3], [path])  # as if it had been written so
    return before


def tamper(folder: Path, by: float) -> None:
    """Move one point of the curve of the third repetition of CDT."""
    runs = json.loads((folder / "manifest.json").read_text())["runs"]
    stored = CommittedRepetitions([folder], thinning(read_figure(FIGURE)), {run["key"] for run in runs}).runs
    curves = stored[runs[1]["key"]][2].curves
    curves["regret"] = curves["regret"] * np.where(np.arange(len(curves["regret"])) == 4, 1 + by, 1)
    write_repetitions(folder, thinning(read_figure(FIGURE)), stored)
    checksums.note(folder.parents[2], [folder])


@pytest.mark.parametrize("jobs", [1, 2])
def test_correct_results_are_found_equal(folder, capsys, jobs):
    assert verify.verify([f"jobs={jobs}", "figure=mine/small"])
    tables, seconds, drawn, played = capsys.readouterr().out.splitlines()
    assert tables == "4 tables derived again: 0 differ"
    assert seconds.endswith("which repetitions cannot confirm: seconds.csv of 1 result")
    assert drawn.startswith("12 repetitions, all 12: about ")
    assert played.startswith("12 repetitions played again, ")
    assert played.endswith(" values: 0 differ")
    assert int(played.split()[-4].replace(",", "")) > 12 * 2 * 40


def test_each_value_that_differs_is_named(folder, capsys):
    tamper(folder, 1e-9)
    assert not verify.verify(["jobs=1"])
    out = capsys.readouterr().out
    assert " values: 1 differ\ndiffers: mine/small, CDT, repetition 2, regret at round " in out


def test_a_sample_states_its_seed_and_its_conclusion(folder, capsys):
    assert verify.verify(["jobs=1", "sample=4", "seed=7"])
    out = capsys.readouterr().out
    assert "4 repetitions, drawn at random with SEED=7, out of 12: " in out
    assert "at most 75.0% of the 12 can still differ: 3/n, n = 4" in out
    assert verify.verify(["jobs=1", "sample=1"])
    today, tomorrow = (datetime.now(UTC) + timedelta(days) for days in (0, 1))
    out = capsys.readouterr().out
    assert any(f"SEED={day:%Y%m%d}" in out for day in (today, tomorrow))


@pytest.mark.parametrize("file", ["claims.csv", "numbers.csv"])
def test_one_digit_changed_in_a_derived_file_is_named(folder, capsys, file):
    text = (folder / file).read_text()
    place = next(i for i, letter in reversed(list(enumerate(text))) if letter.isdigit())
    (folder / file).write_text(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :])
    assert not verify.verify(["jobs=1", "sample=1"])
    out = capsys.readouterr().out
    line = text[:place].count("\n") + 1
    assert "derived again: 1 differ\n" in out
    head, row = (next(csv.reader([part])) for part in (text.splitlines()[0], text[:place].splitlines()[-1]))
    assert f"differs: mine/small/paper/{file}, line {line}, {head[len(row) - 1]}: committed '" in out


EQUAL = " 0 differ\n11 are equal to the last bit; 1 differ by up to a relative 1e-09\n"


@pytest.mark.parametrize(
    ("by", "end"), [(1e-9, EQUAL), (1e-4, " 1 differ\n"), (0.0, " 0 differ\n12 are equal to the last bit\n")]
)
@pytest.mark.parametrize(
    "kind",
    [{"cpu": "another"}, {"adopted_from": [{"cpu": "another"}]}],
    ids=lambda kind: next(iter(kind)),
)
def test_another_machine_is_compared_to_a_stated_tolerance(folder, capsys, kind, by, end):
    """Also where repetitions were adopted from another machine."""
    tamper(folder, by)
    change(folder / "environment.json", **kind)
    verify.verify(["jobs=1"])
    out = capsys.readouterr().out
    stated, played = out.index("12 of them were made on another processor"), out.index("repetitions played again")
    assert stated < out.index("tolerance of 1e-06") < played
    assert end in out[played:]


def test_tuners_that_follow_last_digits_are_compared_only_on_the_same_kind_of_machine(folder, capsys, monkeypatch):
    monkeypatch.setattr(CDT, "follows_last_digits", True)
    assert verify.verify(["jobs=1"])
    assert "12 repetitions played again" in capsys.readouterr().out
    tamper(folder, 1e-4)
    change(folder / "environment.json", cpu="another")
    verify.verify(["jobs=1"])
    out = capsys.readouterr().out
    assert "6 repetitions played again" in out
    assert " values: 0 differ" in out
    assert "depend on the last digits: 6 of mine/small\n" in out


def test_changed_settings_are_outdated_and_the_command_renews_them(folder, conf, capsys):
    write_figures(conf, "mine/small", common=[*WHOLE["common"], "env.noise_std=0.3"])
    assert not verify.verify(["jobs=1"])
    out = capsys.readouterr().out
    assert f"outdated: mine/small/paper: settings or data of 2 of 4 runs changed; to renew it: {COMMAND}\n" in out


def some_run(name: str = "a/b", number: int = 50, seconds: float = 2.0, **changes: Any) -> replay.CommittedRun:
    """A committed run of a tuner whose choices do not depend on last digits."""
    experiment: Any = SimpleNamespace(run_id=name, key=name, classes={})
    values: dict[str, Any] = dict.fromkeys(replay.CommittedRun._fields)
    values |= {"result": f"{name}/paper", "folder": Path(name), "key": name, "experiment": experiment}
    return replay.CommittedRun(**(values | {"numbers": range(number), "seconds": seconds} | changes))


def test_the_sample_follows_the_seed():
    every = sample.population([some_run()], None, is_named=False)[0]
    draws = [[n for _, n in sample.draw(every, 10, random.Random(seed))] for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
    assert [len(set(draw)) for draw in draws] == [10] * 3
    assert len(sample.draw(every, "all", random.Random(0))) == 50


def test_the_usual_sample_fits_the_time_and_leaves_out_long_repetitions(capsys):
    usual, slow = some_run(seconds=5.0), some_run("a/slow", seconds=60.0)
    among, _ = sample.population([usual, slow], None, is_named=False)
    assert {run.name for run, _ in among} == {"a/b"}
    assert "50 of 100 repetitions (50.0%) of more than 10 s" in capsys.readouterr().out
    assert len(sample.draw(among, None, random.Random(0))) == sample.BUDGET / 5.0
    assert len(sample.population([usual, slow], 20, is_named=False)[0]) == 100
    assert len(sample.population([slow], None, is_named=False)[0]) == 50


def test_each_repetition_is_as_likely_as_any_other():
    """A figure's number of repetitions makes no difference; a run shared by several readings counts once."""
    few, many = some_run("a/few", 10), some_run("a/many", 30)
    every = sample.population([few, many, many, few], None, is_named=False)[0]
    assert len(every) == 40
    names = [sample.draw(every, 1, random.Random(seed))[0][0].name for seed in range(400)]
    assert abs(names.count("a/few") - 100) < 52  # six standard deviations


def test_runs_that_train_an_encoder_are_drawn_only_where_they_are_asked_for(folder, capsys, monkeypatch):
    monkeypatch.setattr(Algorithm, "trains_first", True)
    with pytest.raises(ConfigError, match="train an encoder first"):
        verify.verify(["jobs=1"])
    assert verify.verify(["jobs=1", "figure=mine/small"])
    assert verify.verify(["jobs=1", "sample=1"])


def test_missing_committed_results_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    with pytest.raises(ConfigError, match=r"^found no results of cdt at .*, expected .* paper=cdt scale=paper"):
        verify.verify(["paper=cdt"])


def test_runs_whose_data_is_missing_are_counted_and_not_compared(folder, capsys, monkeypatch):
    runs = json.loads((folder / "manifest.json").read_text())["runs"]
    for run in runs:
        run["data"] = "surrogate" if run is runs[1] else "0123"
    change(folder / "manifest.json", runs=runs)
    monkeypatch.setattr(Experiment, "data_kind", DataKind.SURROGATE)
    verify.verify(["jobs=1", "figure=mine/small"])
    out = capsys.readouterr().out
    assert "not drawn: runs whose data is missing here: 3 of mine/small/paper\n" in out
    assert "3 repetitions played again" in out
    runs[1]["data"] = "0123"
    change(folder / "manifest.json", runs=runs)
    assert not verify.verify(["jobs=1", "figure=mine/small"])
    assert "found no data for any of the committed runs" in capsys.readouterr().out


MANIFEST, ENVIRONMENT, PICTURE = "manifest.json", "environment.json", "small.svg"
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no repetitions": (lambda folder: (folder / FILE).unlink(), f"{FILE}: found no such file"),
    "no manifest": (lambda folder: (folder / MANIFEST).unlink(), "manifest.json: found no such file"),
    "edited picture": (lambda folder: edit(folder / PICTURE, "CDT", "CDX"), "small.svg: found content that differs"),
    "torn": (lambda folder: edit_bytes(folder / FILE, lambda content: content[:-9]), f"{FILE}: cannot be read"),
    "stray file": (lambda folder: (folder / "more.csv").write_text("a"), "more.csv: found a file that SHA256SUMS"),
    "empty table": (lambda folder: (folder / "table.csv").write_text(""), "differs: mine/empty_table/paper/table.csv"),
}


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def edit_bytes(path: Path, changed: Callable[[bytes], bytes]) -> None:
    path.write_bytes(changed(path.read_bytes()))


def test_each_damaged_file_is_named_and_the_other_results_are_verified(folder, conf, capsys):
    """Many results, copies of one figure under other names, all but one damaged."""
    root = folder.parents[2]
    places = {name: "mine/" + name.replace(" ", "_") for name in (*DAMAGES, "whole")}
    write_figures(conf, *places.values())
    for place in places.values():
        shutil.copytree(folder.parent, root / place)
    shutil.rmtree(folder.parent)
    checksums.note(root, [root])
    assert verify.verify(["jobs=1", "sample=1"]), capsys.readouterr().out
    capsys.readouterr()
    for name, (do_damage, _) in DAMAGES.items():
        do_damage(root / places[name] / "paper")
    assert not verify.verify(["jobs=1", "sample=1"])
    lines = capsys.readouterr().out.splitlines()
    said = [line for line in lines if line.startswith(("damaged", "differs", "outdated"))]
    of = {name: [line for line in said if f"{place}/" in line or f"{place}," in line] for name, place in places.items()}
    assert {name: of[name] for name, (_, sentence) in DAMAGES.items() if sentence not in "\n".join(of[name])} == {}
    assert of["whole"] == []
    assert sorted(line for lines in of.values() for line in lines) == sorted(said)  # each is of one result
    assert "1 repetitions played again" in "\n".join(lines)


HARMS: dict[str, Callable[[bytes, bytes], bytes | None]] = {
    "gone": lambda content, other: None,
    "empty": lambda content, other: b"",
    "one byte": lambda content, other: content[:40] + bytes([content[40] ^ 1]) + content[41:],
    "torn": lambda content, other: content[:-2],
    "more": lambda content, other: content + content[-2:],
    "exchanged": lambda content, other: other,
}


@pytest.mark.parametrize("harm", HARMS)
def test_every_file_of_a_result_is_watched(folder, harm):
    root = folder.parents[2]
    whole = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    assert {Path(name).suffix for name in whole} == {".json", ".csv", ".svg", ".parquet"}
    names = sorted(whole)
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        harmed = HARMS[harm](whole[name], whole[following])
        assert harmed != whole[name]
        if harmed is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(harmed)
        assert list(checksums.damage(root)) == [f"mine/small/paper/{name}"]
        (folder / name).write_bytes(whole[name])
    assert checksums.damage(root) == {}


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="there is no sha256sum here")
def test_sha256sum_checks_results_from_the_folder_above(folder):
    root = folder.parents[2]

    def check() -> int:
        words = ["sha256sum", "-c", "--quiet", f"{root.name}/SHA256SUMS"]
        return subprocess.run(words, cwd=root.parent, check=False, capture_output=True).returncode

    assert check() == 0
    edit(folder / PICTURE, "CDT", "CDX")
    assert check() == 1


def test_the_committed_files_are_those_that_are_listed(reference_results):
    """By git, and by the digests beside them, which are right."""
    words = ["git", "ls-files", "-z", "results"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tracked = {name.removeprefix("results/") for name in listed.split("\0") if name and (ROOT / name).exists()}
    assert checksums.read(reference_results).keys() == tracked - {checksums.FILE}
    assert checksums.damage(reference_results) == {}


def test_every_committed_result_is_of_a_clean_commit(reference_results):
    made = {path: json.loads(path.read_text())["git"] for path in reference_results.glob("*/*/*/environment.json")}
    assert made
    for path, git in made.items():
        assert git["dirty"] is False, path
        assert re.fullmatch("[0-9a-f]{40}", git["commit"]), path


def committed(results: Path) -> list[str]:
    """Return the figures with committed results."""
    return [name for name in figure_names() if any(results.glob(f"{name}/*/manifest.json"))]


def assert_tables_are_what_repetitions_say(results: Path, names: list[str]) -> None:
    compared = verification.compare_committed(results, names)
    assert [one for result in compared for one in (*result.differences.values(), *result.problems)] == []
    assert sum(len(result.compared) for result in compared) >= len(names)


def assert_pictures_are_what_repetitions_say(results: Path, names: list[str]) -> None:
    pinned = re.search(r"^matplotlib==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned
    if matplotlib.__version__ != pinned[1]:
        pytest.skip(f"another version of Matplotlib than {pinned[1]} draws other pictures")
    for name in names:
        for result in ResultFolder.of(results, name):
            figure = load_figure(name)
            plot = derive_committed(figure, result.path).plot if result.is_backed(figure) else None
            if plot:
                drawn = content(draw(plot), "svg")
                assert (result.path / f"{figure.name}.svg").read_bytes() == drawn, f"python -m tools.derive {name}"


def few(results: Path, paper: str) -> list[str]:
    """Return the figures of a paper with few committed repetitions."""
    sizes = {name: sum(path.stat().st_size for path in (results / name).rglob("*.parquet"))
             for name in committed(results) if name.startswith(f"{paper}/")}  # fmt: skip
    return [name for name in sizes if sizes[name] < FEW_BYTES]


BOTH = pytest.mark.parametrize(
    "check",
    [assert_tables_are_what_repetitions_say, assert_pictures_are_what_repetitions_say],
    ids=["tables", "pictures"],
)


@BOTH
@pytest.mark.parametrize("paper", registry.names("paper"))
def test_a_papers_files_follow_from_their_repetitions(reference_results, paper, check):
    """Checked for figures with few repetitions, before a release for all; ``make verify`` checks tables at any time."""
    check(reference_results, few(reference_results, paper))


@BOTH
@pytest.mark.release
def test_every_committed_file_follows_from_its_repetitions(reference_results, check):
    check(reference_results, committed(reference_results))


def test_a_figure_of_formulas_is_sound_without_repetitions(reference_results, monkeypatch, capsys):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(reference_results))
    assert verify.verify(["figure=habo/worked_examples"])
    assert capsys.readouterr().out.splitlines()[-1].startswith("nothing to play again")


def test_overviews_follow_from_the_figures_tables(reference_results):
    assert verification.compare_overviews(reference_results).differences == {}


def test_todays_code_reproduces_a_sample_of_the_committed_results(reference_results, monkeypatch):
    """A change that moves a committed number fails here; one that only renews run ids doesn't."""
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(reference_results))
    known = sorted({path.parts[-4] + "/" + path.parts[-3] for path in reference_results.glob("*/*/*/" + FILE)})
    if not known:
        pytest.skip("there are no committed repetitions")
    names = random.Random(0).sample(known, min(6, len(known)))
    runs = [run for name in names for path in (reference_results / name).glob(f"*/{FILE}")
            for run in replay.committed_runs(name, path.parent)]  # fmt: skip
    every = [item for item in sample.population(runs, None, is_named=False)[0] if item[0].seconds < 0.2]
    compared = sample.play(sample.draw(every, SAMPLED, random.Random(0)), 1)
    assert [one.difference for one in compared if one.difference] == []
    assert sum(one.values for one in compared) > SAMPLED


@pytest.mark.parametrize(
    ("wrong", "words"), [({"paper": "nope"}, "paper: found 'nope'"), ({"figure": 5}, "figure: found '5'")]
)
def test_an_unknown_name_is_refused_in_python_too(wrong, words):
    with pytest.raises(ConfigError, match=f"^{words}, .*expected one of: cdt"):
        verification.verify(**wrong)
