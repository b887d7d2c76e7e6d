"""python -m runners.verify: committed values that are right are found equal, one that is not is named."""

import copy
import csv
import functools
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import registry
from test_committed import FIGURE

from bench.algorithms.base import Algorithm
from bench.data_kind import DataKind
from bench.errors import ConfigError
from bench.report.claims.check import KINDS
from bench.report.figure import read_figure
from bench.tuners.cdt import CDT
from runners import verify
from runners.config.experiment import Experiment
from runners.config.figures import figure_names, load_figure
from runners.config.runner import Runner
from runners.execute import verify as execute
from runners.execute.figure_run import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.execute.sample import draw
from runners.results import golden, replay
from runners.results.aggregate import Kept
from runners.results.capture import kind_of_machine
from runners.results.committed import FILE, CommittedRepetitions, write_repetitions
from runners.results.derive import thinning
from runners.results.stamps import damage, read_stamps, write_stamps

SAMPLED, SECONDS = 6, 1.0
"""How many of the figures with committed repetitions are sampled, and how long these took together when committed."""
COMMAND = "python -m runners.reproduce figure=mine/small scale=paper"


CLAIM = {"id": "1", "text": "CDT beats TL", "kind": "paired_difference", "left": {"method": "CDT"},
         "right": {"method": "TL"}, "expect": "less"}  # fmt: skip
READINGS = [
    {"name": "as printed", "source": ["assumed", "made up"], "text": "as it is"},
    {"name": "loud", "source": ["assumed", "made up"], "text": "much noise", "overrides": ["env.noise_std=1"]},
]
NUMBER = {"method": "TL", "what": "mean", "value": 3.2}
WHOLE = FIGURE | {"claims": [CLAIM], "readings": READINGS, "published": [NUMBER]}
"""A figure with all kinds of files: two methods under two readings, each with three repetitions."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of results where that figure is."""
    root = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_RESULTS_DIR", str(root))
        run = AskedFigure(copy.deepcopy(WHOLE), "mine/small/paper", "paper", [], COMMAND, True)
        reproduce_figure(run, jobs=1, runner=Runner(progress=False))
    environment = root / "mine/small/paper/environment.json"
    keys = json.loads(environment.read_text())["seconds_per_repetition"]
    change(environment, seconds_per_repetition=dict.fromkeys(keys, 0.01))  # how many are drawn follows from them
    return root


@pytest.fixture
def figure():
    """The configuration of the figure, which a test may change."""
    return copy.deepcopy(WHOLE)


@pytest.fixture
def folder(made, tmp_path, monkeypatch, figure):
    """The committed result of the figure, which the command finds among the suite's."""
    shutil.copytree(made, tmp_path / "results", ignore=shutil.ignore_patterns("raw"))
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    for module in (verify, execute):
        monkeypatch.setattr(module, "choices", lambda _: ["mine/small"])
    for module in (replay, golden):
        monkeypatch.setattr(module, "load_figure", lambda _: read_figure(figure))
    return tmp_path / "results" / "mine" / "small" / "paper"


def change(path: Path, **values: Any) -> dict[str, Any]:
    """Change a JSON file; return what it said before."""
    before = json.loads(path.read_text())
    path.write_text(json.dumps(before | values))
    write_stamps(path.parent, read_stamps(path.parent))  # as if it had been written so
    return before


def tamper(folder: Path, by: float) -> None:
    """Move one point of the curve of the third repetition of CDT."""
    runs = json.loads((folder / "manifest.json").read_text())["runs"]
    stored = CommittedRepetitions([folder], thinning(read_figure(FIGURE)), {run["key"] for run in runs}).runs
    curves = stored[runs[1]["key"]][2].curves
    curves["regret"] = curves["regret"] * np.where(np.arange(len(curves["regret"])) == 4, 1 + by, 1)
    write_repetitions(folder, thinning(read_figure(FIGURE)), stored)
    write_stamps(folder, read_stamps(folder))


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_right_is_found_equal(folder, capsys, jobs):
    assert verify.verify([f"jobs={jobs}", "figure=mine/small"])
    tables, seconds, first, second = capsys.readouterr().out.splitlines()
    assert tables == "4 tables derived again: 0 differ"
    assert seconds.endswith("which repetitions cannot confirm: seconds.csv of 1 result")
    assert first.startswith("12 repetitions of 1 figure run anew: ")
    assert second.endswith(" equal, 0 differ")
    compared = int(first.split()[-2].replace(",", ""))
    assert compared == int(second.split()[0].replace(",", "")) > 12 * 2 * 40


def test_a_value_that_differs_is_named(folder, capsys):
    tamper(folder, 1e-9)
    assert not verify.verify(["jobs=1"])
    assert " equal, 1 differ: first mine/small, CDT, repetition 2, regret at round " in capsys.readouterr().out


@pytest.mark.parametrize("file", ["table.csv", "claims.csv", "readings.csv", "numbers.csv"])
def test_one_digit_changed_in_a_derived_file_is_named(folder, capsys, file):
    text = (folder / file).read_text()
    place = next(i for i, letter in reversed(list(enumerate(text))) if letter.isdigit())
    (folder / file).write_text(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :])
    assert not verify.verify(["jobs=1", "seconds=1"])
    out = capsys.readouterr().out
    line = text[:place].count("\n") + 1
    assert "derived again: 1 differ\n" in out
    head, row = (next(csv.reader([part])) for part in (text.splitlines()[0], text[:place].splitlines()[-1]))
    assert f"differs: mine/small/paper/{file}, line {line}, {head[len(row) - 1]}: committed '" in out


@pytest.mark.parametrize("words", [[], ["paper=own"], ["figure=own/first"]])
def test_a_paper_of_ones_own_is_verified_as_the_suites_are(monkeypatch, tmp_path, capsys, words):
    """In a folder that has no result of the suite, and beside a figure of which there is none yet."""
    folder = tmp_path / "conf" / "papers" / "own"
    (folder / "figures").mkdir(parents=True)
    (folder / "settings.yaml").write_text("name: own\nsettings: [{source: [assumed, here], horizon: 50}]\n")
    runs = "runs: [{method: {Random: [tuner=random], TL: [tuner=tl]}}]"
    for name in ("first", "unmade"):
        text = f"kind: curves\ncolumn: regret\nrepetitions: 2\ncommon: [env=switching_sine, algorithm=none]\n{runs}\n"
        (folder / "figures" / f"{name}.yaml").write_text(text)
    monkeypatch.setenv("BENCH_CONF_DIR", str(tmp_path / "conf"))
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    run = AskedFigure(load_figure("own/first"), "own/first/paper", "paper", [], COMMAND, True)
    reproduce_figure(run, jobs=1, runner=Runner(progress=False))
    assert verify.verify(["jobs=1", *words])
    out = capsys.readouterr().out
    assert "4 repetitions of 1 figure run anew" in out
    assert out.endswith(" equal, 0 differ\n")
    (tmp_path / "results" / "own" / "first" / "paper" / "table.csv").write_text("")
    assert not verify.verify(["jobs=1", *words])
    assert "differs: own/first/paper/table.csv, line 1" in capsys.readouterr().out


ANOTHER = {"internal_api": "openblas", "architecture": "another"}


@pytest.mark.parametrize(("by", "is_equal"), [(1e-9, True), (1e-4, False)])
@pytest.mark.parametrize(
    "kind",
    [{"cpu": "another"}, {"libraries": [ANOTHER]}, {"adopted_from": [{"cpu": "another"}]}],
    ids=lambda kind: next(iter(kind)),
)
def test_on_another_machine_there_is_a_tolerance_that_is_stated(folder, figure, capsys, kind, by, is_equal):
    """Also on one that calls its processor the same, and where repetitions were adopted from another."""
    tamper(folder, by)
    change(folder / "environment.json", **kind)
    verify.verify(["jobs=1"])
    out = capsys.readouterr().out
    assert (" 0 differ\nsome" in out) == is_equal
    assert "equal to a relative 1e-06" in out


def test_a_package_that_computes_nothing_makes_no_other_kind_of_machine(folder, capsys):
    then = json.loads((folder / "environment.json").read_text())
    then["packages"].pop("pyyaml")
    change(folder / "environment.json", packages=then["packages"], adopted_from=[kind_of_machine(then)])
    assert verify.verify(["jobs=1"])
    assert "equal to a relative" not in capsys.readouterr().out


def test_where_last_digits_decide_what_is_tried_only_the_same_kind_of_machine_is_compared(folder, capsys, monkeypatch):
    monkeypatch.setattr(CDT, "follows_last_digits", True)
    assert verify.verify(["jobs=1"])
    assert "12 repetitions of 1 figure run anew" in capsys.readouterr().out
    tamper(folder, 1e-4)
    change(folder / "environment.json", cpu="another")
    verify.verify(["jobs=1"])
    out = capsys.readouterr().out
    assert "equal, 0 differ" in out
    assert "not drawn: mine/small, runs of gp_minimize from another kind of machine" in out
    assert "6 repetitions of 1 figure run anew" in out


def test_what_has_changed_is_outdated_and_the_command_renews_it(folder, figure, capsys):
    figure["common"] = [*figure["common"], "env.noise_std=0.3"]
    assert not verify.verify(["jobs=1"])
    out = capsys.readouterr().out
    assert "equal, 0 differ" not in out
    assert "outdated: mine/small/paper: settings or data of 2 of 4 runs changed (if only a name did" in out
    assert "conf/renamed.yaml says which); to renew it: " in out
    assert out.endswith(f"{COMMAND}\n")


def test_the_sample_fits_the_time_and_follows_the_seed():
    kept = dict.fromkeys(range(50))
    experiment: Any = type("E", (), {"run_id": "x"})()
    values: dict[str, Any] = dict.fromkeys(replay.CommittedRun._fields)
    run = replay.CommittedRun(**values)._replace(result="a/b/paper", experiment=experiment, committed=kept, seconds=2.0)
    draws = [[n for _, n in draw([run], 20.0, random.Random(seed))] for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
    assert [len(draw) for draw in draws] == [10] * 3
    slow = run._replace(result="a/c/paper", seconds=100.0)
    assert {one.name for one, _ in draw([slow, run], 20.0, random.Random(0))} == {"a/b"}
    assert draw([slow, run], 1.0, random.Random(0)) == [(run, 0)]


def test_a_figure_with_few_repetitions_is_drawn_as_often_as_one_with_many():
    values: dict[str, Any] = dict.fromkeys(replay.CommittedRun._fields)
    few, many = (
        replay.CommittedRun(**values)._replace(
            result=f"a/{name}/paper",
            experiment=type("E", (), {"run_id": name}),
            committed=dict.fromkeys(range(number)),
            seconds=2.0,
        )
        for name, number in (("few", 3), ("many", 60))
    )
    first = [draw([few, many], 2.0, random.Random(seed))[0][0].name for seed in range(400)]
    assert abs(first.count("a/few") - 200) < 60  # six standard deviations of 400 tosses of a coin


def test_runs_that_train_an_encoder_are_drawn_only_of_the_figure_that_is_named(folder, capsys, monkeypatch):
    monkeypatch.setattr(Algorithm, "trains_first", True)
    with pytest.raises(ConfigError, match="found no committed repetitions"):
        verify.verify(["jobs=1"])
    assert "not drawn: mine/small, whose runs train an encoder first; figure=mine/small verifies it" in (
        capsys.readouterr().out
    )
    assert verify.verify(["jobs=1", "figure=mine/small"])
    assert "not drawn" not in capsys.readouterr().out


def test_what_no_repetition_backs_is_counted_and_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    unbacked = (["p/f/paper/seconds.csv"], ["p/g/paper/finals.csv", "p/g/paper/seconds.csv"])
    results = [golden.Rederived(unbacked=files) for files in unbacked]
    monkeypatch.setattr(execute, "compare_committed", lambda *_: results)
    assert execute._derive([], 1, overviews=False)[0] == []
    words = "measured seconds, which repetitions cannot confirm: seconds.csv of 2 results; p/g/paper/finals.csv"
    assert words in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("jobs", "cost"), [(1, "4 min"), (2, "2 min"), (7, "34.3 s")])
def test_the_time_to_confirm_is_that_of_three_repetitions_of_each_run_shared_by_the_workers(
    monkeypatch, tmp_path, capsys, jobs, cost
):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    monkeypatch.setattr(execute, "packages_then", lambda folder: {})

    def run(key: str, seconds: float, kept: int = 5, **changes: bool) -> SimpleNamespace:
        says = {"is_asked": True, "is_confirmed": False, "trains_first": False} | changes
        return SimpleNamespace(key=key, seconds=seconds, committed=range(kept), **says)

    results = {
        tmp_path / "p/f/paper": [run("a", 40.0), run("two", 45.0, kept=2), run("done", 999.0, is_confirmed=True)],
        tmp_path / "p/g/paper": [run("a", 50.0), run("encoder", 999.0, trains_first=True)],
    }
    execute._say_what_is_to_be_confirmed(results, " PAPER=p", jobs)  # 3 times 50 s, twice 45 s, and those that train
    *_, last = capsys.readouterr().out.splitlines()
    assert last == f"to confirm them by 3 repetitions of each: make verify ACCEPT=1 PAPER=p, about {cost}"


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("foo=1", "foo: found an unknown key"),
        ("seed=x", "seed: found 'x'"),
        ("seconds=0", "seconds: found '0'"),
        ("figure=no", "figure: found 'no'"),
        ("figure=figure3", "figure: found 'figure3' without a paper, expected one of: cdt/figure3, habo/figure3, "),
        ("figure=cdt/figure22", "figure: found 'cdt/figure22', did you mean 'cdt/figure2'"),
    ],
)
def test_wrong_words_are_named(word, sentence):
    with pytest.raises(ConfigError, match=sentence):
        verify.verify([word])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], r"found no results of any figure at scale paper below .*, expected .* paper=<paper> scale=paper"),
        (["paper=cdt"], r"found no results of cdt at .*, expected .* -m runners.reproduce paper=cdt scale=paper"),
        (["figure=cdt/figure2"], r"found no results of cdt/figure2 at .*, expected .* figure=cdt/figure2 scale=paper"),
    ],
)
def test_where_nothing_is_committed_it_says_so(tmp_path, monkeypatch, words, sentence):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    with pytest.raises(ConfigError, match=sentence):
        verify.verify(words)


def test_runs_whose_data_is_missing_are_counted_and_not_compared(folder, capsys, monkeypatch):
    runs = json.loads((folder / "manifest.json").read_text())["runs"]
    for run in runs:
        run["data"] = "surrogate" if run is runs[1] else "0123"
    change(folder / "manifest.json", runs=runs)
    monkeypatch.setattr(Experiment, "data_kind", DataKind.SURROGATE)
    verify.verify(["jobs=1", "figure=mine/small"])
    out = capsys.readouterr().out
    assert "not verified: mine/small/paper: the data of 3 runs is missing here" in out
    assert "3 repetitions of 1 figure run anew" in out
    runs[1]["data"] = "0123"
    change(folder / "manifest.json", runs=runs)
    with pytest.raises(ConfigError, match="found no data for any of the committed runs"):
        verify.verify(["jobs=1", "figure=mine/small"])


MANIFEST, ENVIRONMENT, PICTURE = "manifest.json", "environment.json", "small.svg"
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no repetitions": (lambda folder: (folder / FILE).unlink(), f"{FILE}: found no such file"),
    "no seconds": (lambda folder: (folder / "seconds.csv").unlink(), "seconds.csv: found no such file"),
    "no manifest": (lambda folder: (folder / MANIFEST).unlink(), "manifest.json: found no such file"),
    "no picture": (lambda folder: (folder / PICTURE).unlink(), "small.svg: found no such file"),
    "edited picture": (lambda folder: edit(folder / PICTURE, "CDT", "CDX"), "small.svg: found content that differs"),
    "empty picture": (lambda folder: (folder / PICTURE).write_text(""), "small.svg: found content that differs"),
    "title": (lambda folder: edit(folder / MANIFEST, "Regret", "Reward"), "manifest.json: found content that differs"),
    "horizon": (lambda folder: edit(folder / MANIFEST, "90", "91"), "manifest.json: found content that differs"),
    "no runs": (lambda folder: (folder / MANIFEST).write_text("{}"), "manifest.json: found content that differs"),
    "a list": (lambda folder: (folder / MANIFEST).write_text("[]"), "manifest.json: found content that differs"),
    "no JSON": (lambda folder: (folder / ENVIRONMENT).write_text("{"), "environment.json: found content that differs"),
    "processor": (lambda folder: edit(folder / ENVIRONMENT, '"cpu": "', '"cpu": "x'), "environment.json: found"),
    "curves": (lambda folder: rewrite(folder, enlarge), f"{FILE}: found content that differs"),
    "torn": (lambda folder: edit_bytes(folder / FILE, lambda content: content[:-9]), f"{FILE}: cannot be read"),
    "empty table": (lambda folder: (folder / "table.csv").write_text(""), "differs: mine/empty_table/paper/table.csv"),
    "no claims": (lambda folder: (folder / "claims.csv").unlink(), "line 1: committed '(no such file)'"),
    "stray file": (lambda folder: (folder / "more.csv").write_text("a"), "more.csv: found a file that does not belong"),
    "stray beside": (
        lambda folder: (folder.parent / "x.csv").write_text("a"),
        "x.csv: found a file that belongs to",
    ),
    "stray below": (lambda folder: write(folder / "old" / "table.csv"), "old/table.csv: found a file that does not"),
    "twice": (lambda folder: rewrite(folder, None), f"{FILE}: found content that differs"),
    "no digests": (lambda folder: (folder / "stamp.json").unlink(), "stamp.json: found no digests in it"),
    "another stamp": (lambda folder: forge(folder / "stamp.json"), "stamp.json: found content that differs"),
    "another day": (
        lambda folder: edit(folder / "stamp.json", '"confirmed": null', '"confirmed": {"day": "2026-01-01"}'),
        "stamp.json: found content that differs",
    ),
    "torn digests": (lambda folder: (folder / "stamp.json").write_text('{"fi'), "stamp.json: found no digests in it"),
}


def write(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("a")


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def forge(path: Path) -> None:
    """Give the runs of a result another stamp, by hand."""
    stamp, *_ = json.loads(path.read_text())["stamps"]
    edit(path, stamp, "0" * len(stamp))


def edit_bytes(path: Path, changed: Callable[[bytes], bytes]) -> None:
    path.write_bytes(changed(path.read_bytes()))


def enlarge(kept: Kept) -> None:
    kept.curves["regret"] = kept.curves["regret"] * 1.5


def rewrite(folder: Path, changed: Callable[[Kept], None] | None) -> None:
    """Write the repetitions changed, or the rows of the last one twice."""
    if changed is None:
        table = pq.ParquetFile(folder / FILE).read()
        pq.write_table(pa.concat_tables([table, table.slice(len(table) - 40)]), folder / FILE)
        return
    keys = {run["key"] for run in json.loads((folder / MANIFEST).read_text())["runs"]}
    stored = CommittedRepetitions([folder], thinning(read_figure(FIGURE)), keys).runs
    for of_run in stored.values():
        for kept in of_run.values():
            changed(kept)
    write_repetitions(folder, thinning(read_figure(FIGURE)), stored)


@pytest.fixture
def two(folder, monkeypatch):
    """The folder of one of two results, the same figure's under two names."""
    shutil.copytree(folder, folder.parents[1] / "other" / "paper")
    for module in (verify, execute):
        monkeypatch.setattr(module, "choices", lambda _: ["mine/small", "mine/other"])
    return folder


def test_two_results_without_damage_are_found_equal(two, capsys):
    assert verify.verify(["jobs=1", "seconds=1"]), capsys.readouterr().out


def test_each_damaged_file_is_named_and_the_other_results_are_verified(folder, monkeypatch, capsys):
    """Many results, the same figure's under as many names, of which all but one are damaged."""
    root = folder.parents[2]
    places = {name: "mine/" + name.replace(" ", "_") for name in (*DAMAGES, "whole")}
    for place in places.values():
        shutil.copytree(folder.parent, root / place)
    for module in (verify, execute):
        monkeypatch.setattr(module, "choices", lambda _: list(places.values()))
    for name, (do_damage, _) in DAMAGES.items():
        do_damage(root / places[name] / "paper")
    shutil.rmtree(folder.parent)
    assert not verify.verify(["jobs=1", "seconds=1"])
    lines = capsys.readouterr().out.splitlines()
    said = [line for line in lines if line.startswith(("damaged", "differs", "outdated"))]
    of = {name: [line for line in said if f"{place}/" in line] for name, place in places.items()}
    assert {name: of[name] for name, (_, sentence) in DAMAGES.items() if sentence not in "\n".join(of[name])} == {}
    assert of["whole"] == []
    assert sorted(line for lines in of.values() for line in lines) == sorted(said)  # each is of one result
    assert any(" repetition" in line.partition("run anew")[0] for line in lines)


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
    whole = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    kinds = {".json", ".csv", ".svg", ".parquet"}
    assert {Path(name).suffix for name in whole} == kinds
    names = sorted(whole)
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        harmed = HARMS[harm](whole[name], whole[following])
        assert harmed != whole[name]
        if harmed is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(harmed)
        problems = damage(folder)
        assert len(problems) == 1, (name, problems)
        assert problems[0].startswith(f"{folder / name}: found "), name
        (folder / name).write_bytes(whole[name])
    assert damage(folder) == []


@pytest.mark.parametrize("file", [MANIFEST, ENVIRONMENT, "stamp.json"])
def test_every_key_of_a_result_is_watched(folder, file):
    """Changed or removed, at the top, in a run, or in what is noted of a file."""
    text = (folder / file).read_text()
    whole = json.loads(text)
    places = [[key] for key in whole]
    places += [[key, *inner] for key, value in whole.items() for inner in inside(value)]
    for place in places:
        for new in ("x", None):
            changed = json.loads(text)
            at = changed
            for key in place[:-1]:
                at = at[key]
            if new is None:
                del at[place[-1]]
            else:
                at[place[-1]] = new
            (folder / file).write_text(json.dumps(changed, indent=1))
            assert str(folder / file) in [line.partition(": found ")[0] for line in damage(folder)], place
    (folder / file).write_text(text)
    assert damage(folder) == []


def inside(value: Any) -> list[list[Any]]:
    """Return the keys of a mapping, and those of the first of several."""
    if isinstance(value, dict):
        return [[key] for key in value]
    return [[0, *inner] for inner in inside(value[0])] if isinstance(value, list) and value else []


def test_files_beside_results_are_named(folder, capsys):
    """In the folder of all results, of a paper or of a figure; pages and what is hidden may lie there."""
    root = folder.parents[2]
    strays = [root / "old.csv", root / "mine" / "notes.txt", root / "mine" / "small" / "table.csv"]
    for path in [*strays, root / "index.html", root / "mine" / "index.html", root / ".hidden"]:
        path.write_text("a")
    assert not verify.verify(["jobs=1", "seconds=1"])
    named = [line for line in capsys.readouterr().out.splitlines() if line.startswith("damaged")]
    assert set(named) == {f"damaged: {path}: found a file that belongs to no result" for path in strays}


def test_every_committed_result_is_of_a_clean_commit(reference_results):
    made = {path: json.loads(path.read_text())["git"] for path in reference_results.glob("*/*/*/environment.json")}
    assert made
    for path, git in made.items():
        assert git["dirty"] is False, path
        assert re.fullmatch("[0-9a-f]{40}", git["commit"]), path


def committed(results: Path) -> list[str]:
    """Return the figures that there are committed results of."""
    return [name for name in figure_names() if any(results.glob(f"{name}/*/manifest.json"))]


def features(name: str) -> set[tuple[str, ...]]:
    """Return what a figure's configuration has: its kind, its keys, and the kinds and keys of its claims.

    A key that several kinds of claims have counts once, for the class that declares it.
    """
    figure = registry.figure(name)
    given, kinds = figure.given(), KINDS | figure.claim_kinds
    found = {("kind", given["kind"]), *((key,) for key in given if given[key])}
    for claim in given.get("claims", ()):
        classes = kinds[claim["kind"]].__mro__[::-1]
        found.add(("claim", claim["kind"]))
        found |= {(next(cls.__name__ for cls in classes if key in vars(cls).get("__annotations__", ())), key)
                  for key in claim}  # fmt: skip
    return found


@functools.cache
def covering(results: Path) -> list[str]:
    """Return figures that together have every feature that any has, with few repetitions to read."""
    left = {name: features(name) for name in committed(results)}
    size = {name: 20_000 + sum(path.stat().st_size for path in (results / name).rglob("*.parquet")) for name in left}
    found = []
    while any(left.values()):
        found.append(max(left, key=lambda name: len(left[name]) / size[name]))
        left = {name: has - features(found[-1]) for name, has in left.items()}
    return found


def assert_tables_are_what_repetitions_say(results: Path, names: list[str]) -> None:
    compared = golden.compare_committed(results, names)
    assert [str(one) for result in compared for one in (*result.differences, *result.problems)] == []
    assert sum(len(result.compared) for result in compared) >= len(names)


@pytest.mark.parametrize("paper", registry.names("paper"))
def test_tables_are_what_their_repetitions_say(reference_results, paper):
    """Whatever comes after the runs, from the repetitions to the verdicts, moves no committed number.

    Of figures that have all that is tried anywhere; before a release of all, as ``make verify`` does at any time.
    """
    names = [name for name in covering(reference_results) if name.startswith(f"{paper}/")]
    assert_tables_are_what_repetitions_say(reference_results, names)


@pytest.mark.release
def test_every_committed_table_is_what_its_repetitions_say(reference_results):
    names = committed(reference_results)
    assert set(covering(reference_results)) < set(names)
    assert_tables_are_what_repetitions_say(reference_results, names)


def test_overviews_are_what_the_figures_tables_say(reference_results):
    assert golden.compare_overviews(reference_results).differences == []


def test_a_sample_of_the_committed_results_is_what_the_code_gives_today(reference_results, monkeypatch, capsys):
    """A change that moves a committed number fails here; one that only renews run ids doesn't."""
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(reference_results))
    known = sorted({path.parts[-4] + "/" + path.parts[-3] for path in reference_results.glob("*/*/*/" + FILE)})
    if not known:
        pytest.skip("there are no committed repetitions")
    names = random.Random(0).sample(known, min(SAMPLED, len(known)))
    results, problems = execute._read(names)
    assert not problems
    assert execute._sample(results, SECONDS, 0, 1, False, False), capsys.readouterr().out
    out = capsys.readouterr().out
    assert int(out.split(" repetitions of ")[0].split()[-1]) > 1
    assert " equal, 0 differ" in out
