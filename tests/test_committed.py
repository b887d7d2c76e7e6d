"""Committed repetitions: reused if nothing has changed, and the figure is the same to the byte."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import numbers_of

from bench.errors import BenchError, StoreError
from bench.report.figure import Figure, read_figure
from bench.report.folder import REPETITIONS as FILE
from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.results.aggregate import Kept
from runners.results.derive import derive_committed, long_tables, results_in, thinning
from runners.results.folder import CommittedRepetitions, ResultFolder, write_repetitions

FIGURE: dict[str, Any] = {
    "name": "small",
    "paper": "none",
    "title": "Regret",
    "kind": "curves",
    "column": "regret",
    "x_label": "round",
    "y_label": "regret",
    "panels": [],
    "horizon": 90,
    "repetitions": 3,
    "common": ["env=synthetic_linear", "env.dim=2", "env.n_arms=3"],
    "runs": [{"method": {"TL": ["tuner=tl"], "CDT": ["tuner=cdt"]}}],
    "claims": [],
}
MEASURED = ("environment.json", "seconds.csv")
RUN, OTHER = "a" * 20, "b" * 20


@pytest.fixture
def make(tmp_path, monkeypatch, capsys):
    """Make the figure in a folder of results; return its line and its files."""

    def call(
        name: str, jobs: int = 1, *, is_reference: bool = True, renew: bool = False, **changes: Any
    ) -> tuple[str, dict[str, bytes]]:
        monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / name))
        figure = {**copy.deepcopy(FIGURE), **changes}
        plan = AskedFigure(figure, "mine/small/paper", "paper", [], "command", is_reference, renew=renew)
        made = reproduce_figure(plan, jobs=jobs, runner=Runner(progress=False))
        files = {path.name: path.read_bytes() for path in made.folder.iterdir() if path.name not in MEASURED}
        return capsys.readouterr().out, files

    return call


def all_tables(figure: Figure, folder: Path) -> dict[str, bytes]:
    derived = derive_committed(figure, folder)
    return derived.files()


def clone(tmp_path: Path, source: str, target: str) -> Path:
    """Copy the committed files of a folder of results."""
    shutil.copytree(tmp_path / source, tmp_path / target, ignore=shutil.ignore_patterns("raw"))
    return tmp_path / target / "mine" / "small" / "paper"


def test_a_figure_has_the_same_bytes_at_any_time_and_place(make):
    line, first = make("first")
    assert "6 repetitions" in line
    assert not [name for name in first if name.endswith(".png")]  # an SVG says the same, and takes less
    assert set(first) == {"small.svg", "table.csv", "claims.csv", "manifest.json", FILE}  # nothing that another has
    assert make("second", jobs=2)[1] == first


def test_final_values_and_curves_of_a_reference_result_are_those_of_a_users_own(make, tmp_path):
    make("first")
    _, own = make("second", is_reference=False)
    figure = read_figure(FIGURE)
    plots = []
    for name in ("first", "second"):
        folder = tmp_path / name / "mine/small/paper"
        results = results_in(figure, folder)
        assert long_tables(results) == {name: own[name] for name in ("finals.csv", "curves.csv")}
        plots.append(numbers_of(figure.plot(results, figure.tables(results))))
    pd.testing.assert_frame_equal(*plots)


def test_only_missing_repetitions_are_run_and_adopted_ones_leave_no_mark(make, tmp_path):
    make("first")
    clone(tmp_path, "first", "second")
    line, topped_up = make("second", repetitions=5)
    assert "10 repetitions, 4 new" in line
    assert len(list((tmp_path / "second" / "raw").glob("*/*.parquet"))) == 5  # one of them is played again
    assert topped_up == make("third", repetitions=5)[1]
    seconds = pd.read_csv(tmp_path / "second" / "mine/small/paper/seconds.csv")
    assert len(seconds) == 10
    assert (seconds["seconds_total"] > 0).all()  # those of the adopted repetitions have come with them
    clone(tmp_path, "second", "fourth")
    line, fewer = make("fourth")
    assert "6 repetitions, 0 new" in line
    assert fewer == make("first")[1]


def test_repetitions_of_another_figure_of_the_paper_count_under_their_own_names(make, tmp_path):
    """The other run has the labels of this figure."""
    make("first")
    folder = clone(tmp_path, "first", "second")
    folder.parent.rename(folder.parents[1] / "other")
    swapped = [{"method": {"TL": ["tuner=cdt"], "CDT": ["tuner=tl"]}}]
    line, files = make("second", runs=swapped)
    assert "6 repetitions, 0 new" in line
    assert files | {FILE: b""} == make("third", runs=swapped)[1] | {FILE: b""}  # in which columns have another order
    after, before = (
        pd.read_csv(tmp_path / path / "paper/seconds.csv").groupby("method")["seconds_total"].sum()
        for path in ("second/mine/small", "first/mine/small")
    )
    assert (after["TL"], after["CDT"]) == (before["CDT"], before["TL"])


RANKING = {
    "kind": "ranking",
    "reference": {"method": "TL"},
    "runs": [
        {
            "family": {"linear": []},
            "task": {"two arms": ["env.n_arms=2"], "three arms": ["env.n_arms=3"]},
            "method": FIGURE["runs"][0]["method"],
        }
    ],
    "common": FIGURE["common"][:2],
}


def test_a_ranking_is_drawn_and_made_again_without_a_file_of_final_values(make, tmp_path):
    _, first = make("first", **RANKING)
    assert FILE in first
    assert not {"finals.csv", "curves.csv"} & set(first)
    folder = clone(tmp_path, "first", "second")
    figure = read_figure({**copy.deepcopy(FIGURE), **RANKING})
    results = results_in(figure, folder)
    assert {mark.case for mark in figure.plot(results, figure.tables(results)).marks()} == {"linear", "mean rank"}
    line, second = make("second", **RANKING)
    assert ", 0 new" in line
    assert second == first
    before, after = (
        json.loads((tmp_path / name / "mine/small/paper/environment.json").read_text())["seconds_per_repetition"]
        for name in ("first", "second")
    )
    assert len(before) == 4
    assert after == before  # although no file has the seconds of each repetition


@pytest.mark.parametrize(
    "changes",
    [
        {"common": [*FIGURE["common"], "env.noise_std=0.3"]},  # other runs
        {"column": "reward"},  # other curves of the same runs
    ],
)
def test_changed_runs_are_run_again(make, tmp_path, changes):
    make("first")
    clone(tmp_path, "first", "second")
    line, files = make("second", **changes)
    assert "6 repetitions" in line
    assert files == make("third", **changes)[1]


SECONDS = {
    "kind": "dots",
    "column": "seconds_total",
    "claims": [{"id": "1", "text": "TL is faster", "kind": "paired_difference", "left": {"method": "TL"},
                "right": {"method": "CDT"}, "expect": "less"}],
    "readings": [{"name": name, "source": ["assumed", "made up"], "text": name, "overrides": overrides}
                 for name, overrides in (("as printed", []), ("loud", ["env.noise_std=1"]))],
}  # fmt: skip


def test_tables_of_measured_seconds_are_derived_again(make, tmp_path):
    """Under every reading, from ``seconds.csv`` alone: a claim of other seconds is found out."""
    make("first", **SECONDS)
    folder = clone(tmp_path, "first", "second")
    figure = read_figure({**copy.deepcopy(FIGURE), **SECONDS})
    assert ResultFolder(folder).is_backed(figure)
    tables = all_tables(figure, folder)
    assert set(tables) == {"table.csv", "claims.csv", "readings.csv"}
    assert {name: (folder / name).read_bytes() for name in tables} == tables
    path = folder / "seconds.csv"
    seconds = pd.read_csv(path)
    assert len(seconds) == 12
    seconds.assign(seconds_total=seconds["seconds_total"] + 1000 * (seconds["method"] == "TL")).to_csv(
        path, index=False
    )
    changed = all_tables(figure, folder)
    assert all(changed[name] != tables[name] for name in tables)
    seconds.query("reading.isna()").to_csv(path, index=False)
    with pytest.raises(StoreError, match=r"seconds\.csv: found no seconds of some repetitions of TL, loud, expected "):
        derive_committed(figure, folder)


def test_repetitions_of_another_machine_are_noted(make, tmp_path):
    """And stays noted when the figure is made again."""
    make("first", repetitions=2)
    folder = clone(tmp_path, "first", "second")
    path = folder / "environment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"cpu": "another"}))
    for _ in range(2):
        assert " new" in make("second")[0]
        made = json.loads(path.read_text())
        assert made["cpu"] != "another"
        assert [kind["cpu"] for kind in made["adopted_from"]] == ["another"]
    make("third")
    own = tmp_path / "third" / folder.relative_to(tmp_path / "second") / "environment.json"
    assert "adopted_from" not in json.loads(own.read_text())


@pytest.mark.parametrize(("own", "run"), [("same", "10 repetitions, 4 new"), ("another", "10 repetitions  ")])
def test_measured_seconds_are_kept_with_those_of_the_same_machine_alone(make, tmp_path, own, run):
    """Also where another figure has more repetitions of the same runs, from another machine."""
    one_reading = {**SECONDS, "readings": []}
    make("first", **one_reading)
    make("more", repetitions=5)
    folder = clone(tmp_path, "first", "second")
    other = clone(tmp_path, "more", "beside")
    shutil.copytree(other, folder.parents[1] / "other" / "paper")
    for path, cpu in ((folder, own), (folder.parents[1] / "other" / "paper", "another")):
        made = json.loads((path / "environment.json").read_text())
        (path / "environment.json").write_text(json.dumps(made | ({} if cpu == "same" else {"cpu": cpu})))
    assert run in make("second", repetitions=5, **one_reading)[0]


def test_a_claim_about_seconds_needs_those_of_one_machine_too(make, tmp_path):
    """In a figure about regret, whose repetitions another machine may otherwise continue."""
    claims = [{**SECONDS["claims"][0], "column": "seconds_total"}]
    make("first", claims=claims)
    folder = clone(tmp_path, "first", "second")
    made = json.loads((folder / "environment.json").read_text())
    (folder / "environment.json").write_text(json.dumps(made | {"cpu": "another"}))
    assert "10 repetitions  " in make("second", claims=claims, repetitions=5)[0]


def test_repetitions_whose_seconds_are_lost_are_run_again(make, tmp_path):
    one_reading = {**SECONDS, "readings": []}
    make("first", **one_reading)
    (clone(tmp_path, "first", "second") / "seconds.csv").unlink()
    assert "6 repetitions  " in make("second", **one_reading)[0]


def plain(kept: Kept) -> dict[str, str]:
    """Return the last values exactly; in columns of words, missing values may be left out."""
    texts = {name: value if isinstance(value, str) else repr(float(value)) for name, value in kept.finals.items()}
    return {name: text for name, text in texts.items() if (name, text) != ("kind", "nan")}


def test_numbers_words_and_missing_values_come_back_exactly(tmp_path):
    rounds = np.array([1, 40, 90])
    curve = np.array([0.1, 1 / 3, 2.0**-40])
    first = Kept(rounds, {"regret": curve}, {"regret": curve[-1], "depth": 3.0, "kind": "sqrt"}, {})
    second = Kept(rounds[:2], {"regret": curve[:2]}, {"regret": 1 / 3, "depth": np.nan, "kind": np.nan}, {})
    written = {RUN: {0: first, 4: second}, OTHER: {1: Kept(rounds, {}, {"score": -0.0}, {})}}
    write_repetitions(tmp_path, {"curves": ["regret"]}, written)
    read = CommittedRepetitions([tmp_path / "nothing", tmp_path], {"curves": ["regret"]}, {RUN, OTHER}).runs
    assert {name: list(kept) for name, kept in read.items()} == {RUN: [0, 4], OTHER: [1]}
    for name, number in ((RUN, 0), (RUN, 4), (OTHER, 1)):
        same, kept = read[name][number], written[name][number]
        assert same.rounds.tobytes() == kept.rounds.tobytes()
        assert {column: values.tobytes() for column, values in same.curves.items()} == {
            column: values.tobytes() for column, values in kept.curves.items()
        }
        assert plain(same) == plain(kept)
    assert CommittedRepetitions([tmp_path], {"curves": ["reward"]}, {RUN}).runs == {}
    assert CommittedRepetitions([tmp_path], {"curves": ["regret"]}, {OTHER}).done(RUN) == set()


def falsify(folder: Path, method: str) -> None:
    """Change the committed repetitions of a method, as if other code had made them."""
    labels = json.loads((folder / "manifest.json").read_text())["runs"]
    key = next(entry["key"] for entry in labels if entry["labels"]["method"] == method)
    figure = read_figure(FIGURE)
    runs = CommittedRepetitions([folder], thinning(figure), {entry["key"] for entry in labels}).runs
    for kept in runs[key].values():
        kept.curves["regret"] = kept.curves["regret"] * 1.001
    write_repetitions(folder, thinning(figure), runs)


@pytest.mark.parametrize(
    "changes",
    [
        {"repetitions": 4},
        {"runs": [{"method": FIGURE["runs"][0]["method"] | {"OP": ["tuner=op"]}}]},
    ],
    ids=["more repetitions", "a new run"],
)
def test_repetitions_of_other_code_are_extended_only_if_all_are_renewed(make, tmp_path, changes):
    make("first")
    folder = clone(tmp_path, "first", "second")
    for method in ("TL", "CDT"):
        falsify(folder, method)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(BenchError, match=r"repetition 0, regret.*: committed .* renew=true"):
        make("second", **changes)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    line, files = make("second", renew=True, **changes)
    assert "repetitions" in line
    assert files == make("third", **changes)[1]
