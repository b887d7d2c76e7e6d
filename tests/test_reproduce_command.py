"""python -m runners.reproduce, from end to end: without real data, and with fewer and shorter runs than the papers'."""

import copy
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import registry
from commands import OWN_MODULES, ROOT

from bandit_bench import _reproduce
from bench.gallery.result import ResultView
from bench.report.figure import read_figure
from runners.config.figures import figure_names, load_figure
from runners.execute.asked_figure import WrittenFigure

FILES = {"figure2.svg", "table.md", "manifest.json", "environment.json"}
FILES |= {f"{name}.csv" for name in ("table", "claims", "curves", "finals", "seconds")}
COMMAND = "reproduce"


def _few_features(panel: str, words: list[str]) -> list[str]:
    """Return a panel's words, with few features on MovieLens: factorising generated ratings takes most of the time."""
    return [*words, "env.dim=4"] if "MovieLens" in panel else words


@pytest.fixture
def small(monkeypatch):
    """Reduce a figure with published numbers to two panels, one of which needs data; return it.

    Its picture is not drawn for its page.
    """
    figure = load_figure("cdt/table5").given()
    del figure["readings"], figure["scales"]
    panels = ("LinUCB, simulation", "LinUCB, MovieLens")
    figure["runs"][0]["panel"] = {panel: _few_features(panel, figure["runs"][0]["panel"][panel]) for panel in panels}
    figure["published"] = [entry for entry in figure["published"] if entry["panel"] in panels]
    figure["claims"] = [
        {key: value for key, value in claim.items() if key not in ("only", "only_note")} for claim in figure["claims"]
    ]
    monkeypatch.setattr(_reproduce, "load_figure", lambda _: read_figure(copy.deepcopy(figure)))
    monkeypatch.setattr(ResultView, "picture", None)
    return figure


@pytest.fixture
def of_linear_algorithms(monkeypatch):
    """Cut a figure down to the panels of two of its three algorithms."""
    figure = load_figure("syndicated/figure2").given()
    panels = figure["runs"][0]["panel"]
    figure["runs"][0]["panel"] = {
        panel: _few_features(panel, panels[panel]) for panel in panels if not panel.startswith("UCB-GLM")
    }
    for within, key in ((figure, "readings"), (figure["limits"], "candidates")):
        within[key] = [entry for entry in within[key] if "UCB-GLM" not in str(entry)]
    monkeypatch.setattr(_reproduce, "load_figure", lambda _: read_figure(figure))


@pytest.mark.usefixtures("of_linear_algorithms")
def test_a_figure_without_data_is_made_of_surrogate_data(commands, here):
    words = ("figure=syndicated/figure2", "scale=smoke")
    first = here(*words, "jobs=1")
    assert (first.code, first.err) == (0, "")
    assert "40 repetitions  " in first.out
    *stand_ins, _, summary, look = first.out.splitlines()
    assert summary.startswith("1 figure in ")
    assert summary.endswith(f"gallery: {commands.results / 'index.html'}")
    assert look.startswith("These runs are too few and too short for verdicts; ")
    heading, which, cure = stand_ins
    assert "no verdict rests" in heading
    assert which.startswith("  movielens: ")
    assert "python -m bench.data fetch movielens" in cure
    assert "figure2" in (commands.results / "syndicated" / "index.html").read_text()
    folder = commands.results / "syndicated" / "figure2" / "smoke-surrogate"
    assert {path.parent for path in commands.results.rglob("table.csv")} == {folder}

    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(files) == FILES
    assert "SURROGATE DATA" in files["figure2.svg"].decode()
    manifest = json.loads(files["manifest.json"])
    assert manifest["command"] == "python -m runners.reproduce figure=syndicated/figure2 scale=smoke"
    for run in manifest["runs"]:
        assert (run["data"] == "surrogate") == ("MovieLens" in run["labels"]["panel"])

    table = pd.read_csv(folder / "table.csv")
    own = [run for run in manifest["runs"] if "reading" not in run["labels"]]  # those of the first reading
    assert len(table) == len(own) == 4 * 5
    assert set(table["rounds"]) == {200}
    assert set(table["n"]) == {2}
    claims = pd.read_csv(folder / "claims.csv")
    measured = claims[claims["kind"] != "spread"]  # which needs three repetitions
    on_movielens = measured["case"].str.contains("MovieLens")
    assert set(measured["verdict"][on_movielens]) == {"no evidence"}  # generated data is no evidence
    assert "no evidence" not in set(measured["verdict"][~on_movielens])
    assert {path.name for path in commands.cwd.iterdir()} == {*OWN_MODULES}
    assert here(*words, "format=png").code == 0
    png = folder / "figure2.png"
    assert png.read_bytes().startswith(b"\x89PNG")
    png.write_bytes(b"of another day")
    assert here(*words, "renew=true").code == 0
    assert png.read_bytes().startswith(b"\x89PNG")  # never older than its figure


def test_a_figure_whose_data_is_missing_is_drawn_from_its_committed_repetitions(here, small, monkeypatch):
    """Neither stopped nor made from stand-ins, if the committed repetitions belong to its runs."""
    small |= {"horizon": 40, "repetitions": 2}
    with monkeypatch.context() as patch:
        patch.setattr("bench.envs.movielens.fingerprint", lambda: "genuine")
        first = here("figure=cdt/table5", "scale=paper", "surrogate=yes")
    assert (first.code, first.err) == (0, "")
    folder = first.results / "cdt" / "table5" / "paper"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(first.results / "raw")
    for name in ("table.csv", "table5.svg"):
        (folder / name).unlink()
    again = here("figure=cdt/table5", "scale=paper")
    assert (again.code, again.err) == (0, "")
    assert again.out.startswith(
        "cdt/table5: drawn from committed repetitions; data sets that are not here: movielens\n"
        "cdt/table5  8 repetitions, 0 new  "
    )
    assert "stand-ins" not in again.out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert list(folder.parent.glob("paper*")) == [folder]
    assert not list(first.results.glob("raw/*/*.parquet"))
    small |= {"horizon": 41}
    other = here("figure=cdt/table5", "scale=paper")
    assert (other.code, other.out) == (1, "")
    assert "error: scale=paper: found no data set movielens, which cdt/table5 need" in other.err


def test_a_figure_of_another_paper_is_refused(here):
    wrong = here("figure=cdt/table5", "paper=habo", "scale=smoke")
    assert wrong.code == 1
    assert "paper: found 'habo' with figure=cdt/table5, expected its paper, or none" in wrong.err


def test_a_paper_is_all_its_figures_and_no_paper_all_figures(here, monkeypatch):
    made: list[tuple[str, str, list[str]]] = []

    def reproduce_figures(runs, **_):
        for run in runs:
            assert run.figure == registry.figure(run.name)
            assert not run.is_reference
            made.append((run.name, run.scale, run.extra))
            claims = pd.DataFrame({"claim": ["x"], "verdict": ["holds"], "holm": ["yes"]})
            yield WrittenFigure(run, Path(run.where), claims, error="no disk" * (run.name == "syndicated/figure3"))

    monkeypatch.setattr("runners.execute.reproduce_figure.reproduce_figures", reproduce_figures)
    answer = here("paper=syndicated", "scale=smoke", "seed=3")
    files = sorted((ROOT / "conf" / "papers" / "syndicated" / "figures").glob("*.yaml"))
    assert made == [(f"syndicated/{path.stem}", "smoke", ["seed=3"]) for path in files]
    assert answer.code == 1  # one of them was not complete, which stops none
    assert f"{len(made)} hold, 0 fail, 0 open" in answer.out

    made.clear()
    here()
    assert [name for name, _, _ in made] == figure_names()
    assert {name.partition("/")[0] for name in figure_names()} >= {"syndicated", "cdt"}
    assert {(scale, *extra) for _, scale, extra in made} == {("quick",)}
