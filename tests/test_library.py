"""The public interface, `bandit_bench`: its names, types and return values."""

import json
import os
import re
import subprocess
import sys
from typing import Any

import pandas as pd
import pytest
from commands import ROOT, Commands

import bandit_bench as bb
from bench.conformance.capabilities import capabilities
from bench.tuners.optuna_tuner import Optuna
from bench.tuners.tl import TL

SMALL = {"settings": {"env.dim": 2, "env.n_arms": 3}, "horizon": 40, "repetitions": 5}


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    for name, value in Commands(tmp_path).environ.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "results"


def test_every_public_name_is_there_and_documented():
    assert all(getattr(bb, name) for name in bb.__all__)
    page = (ROOT / "docs" / "library.md").read_text()
    assert not [name for name in bb.__all__ if name not in page and name not in ("__version__", "RunResult")]
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", bb.__version__)


def test_a_users_file_changed_between_two_calls_is_read_again(results):
    """As between two cells of a notebook."""
    path = results.parent / "conf" / "tuner" / "mine.yaml"
    path.parent.mkdir(parents=True)
    asked = []
    for scale in (2.0, 0.5, 2.0):
        path.write_text(f"_target_: bench.tuners.cdt.CDT\nradius_scale: {scale}\n")
        asked.append(bb.run("mine", env="switching_sine", algorithm="none", horizon=5, repetitions=1).run_id)
    assert asked[0] == asked[2] != asked[1]


def test_its_import_loads_nothing_slow():
    program = "import sys, bandit_bench; bandit_bench.Tuner; print([n for n in {} if n in sys.modules])"
    slow = ("hydra", "loky", "matplotlib", "numba", "pandas", "pyarrow", "scipy")
    out = subprocess.run([sys.executable, "-c", program.format(slow)], cwd=ROOT, capture_output=True, text=True)
    assert out.stdout == "[]\n", out.stderr


def test_renewed_repetitions_are_run_again_and_equal(results):
    again = {"env": "gaussian_arms", "horizon": 20, "repetitions": 2}
    first = bb.compare(["random", "ucb1"], **again)
    made = {path: path.stat().st_mtime_ns for path in results.rglob("rep-*.parquet")}
    assert len(made) == 4
    shown = bb.compare(["random", "ucb1"], **again)
    assert any("4 of 20" in note and "renew=True" in note for note in shown.notes)
    assert made == {path: path.stat().st_mtime_ns for path in made}
    renewed = bb.compare(["random", "ucb1"], renew=True, **again)
    assert all(path.stat().st_mtime_ns > before for path, before in made.items())
    assert renewed.finals.equals(first.finals)


def test_a_difference_within_the_margin_is_a_tie(results):
    pair = {"env": "gaussian_arms", "horizon": 50, "repetitions": 10}
    found = [bb.compare(["random", "ucb1"], tie=tie, **pair).verdicts["verdict"].tolist() for tie in (None, 0.5)]
    assert found == [["fails"], ["tie"]]


def test_a_comparison_has_tidy_tables_with_numbers_on_its_axes(results):
    found = bb.compare(["tl", ("random", {})], sweep={"env.noise_std": [0.1, 1.0]}, name="tidy", rounds=20, **SMALL)
    assert found.folder == results / "compare" / "tidy"
    assert found.is_complete
    for table in (found.table, found.curves, found.finals):
        assert set(table["env.noise_std"]) == {0.1, 1.0}
    assert set(found.finals.groupby(["method", "env.noise_std"]).size()) == {5}
    regret = found.finals.pivot(index=["env.noise_std", "repetition"], columns="method", values="regret")
    difference = (regret["TL"] - regret["Random each round"]).groupby("env.noise_std").mean()
    assert found.verdicts["estimate"].tolist() == pytest.approx(difference.tolist())
    assert found.curves[found.curves["column"] == "regret"].groupby(["method", "env.noise_std"]).size().eq(20).all()
    assert found.settings.set_index("key").loc["env.synthetic_linear.dim", "values"] == [2]
    assert "<table" in found._repr_html_()
    again = bb.load("compare/tidy")
    pd.testing.assert_frame_equal(again.finals, found.finals)
    (found.folder / "finals.csv").unlink()
    assert bb.load("compare/tidy").finals.empty
    for damaged, asked in (("claims.csv", "verdicts"), ("manifest.json", "settings")):
        (found.folder / damaged).write_text("")
        with pytest.raises(bb.BenchError, match=rf"tidy/{damaged} cannot be read: .*run the figure's command again$"):
            getattr(bb.load("compare/tidy"), asked)


def test_its_picture_and_table_can_be_changed(results):
    found = bb.compare(["tl", "op", "random"], sweep={"env.noise_std": [0.1, 0.5, 1.0]}, name="drawn", **SMALL)
    figure = found.plot(order=["OP", "TL"], labels={"TL": "Ours"}, colors={"TL": "#123456"}, y_scale="log")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["OP", "Ours"]
    axes = figure.axes[0]
    assert axes.get_yscale() in ("log", "symlog")  # the latter where an interval reaches below 0
    assert "#123456" in [line.get_color() for line in axes.get_lines()]
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert found.to_latex(size="text").count(r"\toprule") == 1
    assert found.to_latex(size="column").count(r"\toprule") == 2
    for key, wrong in (("order", ["XL"]), ("labels", {"XL": "Ours"}), ("colors", {"XL": "black"})):
        with pytest.raises(bb.BenchError, match=rf"^{key}: found 'XL', expected some of: TL, OP"):
            found.plot(**{key: wrong})
    assert found.plot(labels={"TL": 0.5}).legends[0].get_texts()[0].get_text() == "0.5"
    with pytest.raises(bb.BenchError, match="labels: found 'OP' for two lines"):
        found.plot(labels={"TL": "OP"})


def test_a_run_has_traces_and_an_object_its_own_settings(results):
    from bench.tuners.cdt import CDT

    by_object = bb.run(CDT(radius_scale=0.5), **SMALL)
    by_name = bb.run("cdt", **SMALL | {"settings": {**SMALL["settings"], "tuner.radius_scale": 0.5}})
    assert by_object.settings["tuner"]["radius_scale"] == 0.5
    assert by_object.run_id == by_name.run_id
    assert (by_object.new, by_name.new) == ([0, 1, 2, 3, 4], [])
    traces = by_name.traces
    assert traces.groupby("repetition").size().tolist() == [40] * 5
    assert by_name.finals["regret"].tolist() == by_name.metrics["final_regret"]["values"]
    assert traces.groupby("repetition")["regret"].last().tolist() == by_name.finals["regret"].tolist()


@pytest.mark.usefixtures("results")
def test_a_part_of_a_figure_that_is_not_there():
    with pytest.raises(bb.BenchError, match="only: found 'method=Nobody', expected one of these"):
        bb.reproduce("cdt/figure2", scale="smoke", only={"method": pd.Series(["Nobody"])})


def test_committed_results_are_read_the_same_way(reference_results, monkeypatch):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(reference_results))
    found = bb.load("cdt/figure4")
    assert (found.folder.name, found.scale) == ("paper", "paper")
    assert {"method", "round", "mean"} <= set(found.curves)
    assert len(found.finals) > 0
    assert len(found.verdicts) > 0
    assert found.plot().axes
    for scale in ("reduced", "papr"):
        with pytest.raises(bb.BenchError, match=f"found no results of cdt/figure4 at scale {scale}, .*one of: .*paper"):
            bb.load("cdt/figure4", scale=scale)


def test_the_largest_scale_is_loaded_and_parts_of_a_figure_last(results, monkeypatch):
    committed = results.with_name("committed")
    monkeypatch.setattr("runners.config.folders.CHECKOUT", committed)

    def put(root, folder, **more):
        path = root / "cdt" / "figure2" / folder / "manifest.json"
        path.parent.mkdir(parents=True)
        scale = folder.partition("-")[0]
        command = f"python -m runners.reproduce figure=cdt/figure2 scale={scale}"
        path.write_text(json.dumps({"command": command, "scale": scale, **more}))
        return path.parent

    part = put(results, "paper-custom", part={"panel": ["LinUCB, simulation"]})
    assert bb.load("cdt/figure2").folder == part
    assert bb.load("cdt/figure2", scale="paper-custom").scale == "paper"
    for root, folder in ((results, "smoke"), (results, "quick-custom"), (committed / "results", "paper-surrogate"),
                         (committed / "results", "paper"), (results, "paper")):  # fmt: skip
        larger = put(root, folder)
        assert bb.load("cdt/figure2").folder == larger


@bb.component
class Fails(TL):
    def _ask(self):
        raise RuntimeError("no more")


def test_where_all_repetitions_failed_each_view_says_so(results):
    found = bb.run(Fails, env="switching_sine", algorithm="none", horizon=9, repetitions=2)
    assert "2 failed (repetition 0: round 1: RuntimeError: no more" in repr(found)
    for name in ("traces", "finals", "metrics"):
        with pytest.raises(bb.BenchError, match=r"all 2 failed, the first with round 1: RuntimeError: no more"):
            getattr(found, name)


@bb.component
class Untyped(TL):
    threshold = 0.5


@bb.component
class Holding(Untyped):
    what: Any = None


SHEET = pd.DataFrame({"a": range(30)})
WRONG = {
    "tuner: found 3,": lambda: bb.compare(["tl", 3]),
    "tuner.what: found <object": lambda: bb.run(Holding(what=object())),
    "tuner.threshold: found a setting without a type": lambda: bb.run((Untyped, {"threshold": 0.9}), horizon=9),
    "repetition: found an argument": lambda: bb.compare(["tl", "cdt"], repetition=3),
    "env: found ": lambda: bb.compare(["tl", "cdt"], env=SHEET),
    "hydra.run.dir: found an unknown key": lambda: bb.run(settings={"hydra.run.dir": "x"}),
    "found no comparison 'compare/none'": lambda: bb.load("compare/none"),
    "found None, expected the name of a result": lambda: bb.load(None),
    "column: found 5, expected a word": lambda: bb.compare(["tl", "cdt"], column=5),
    "name: found 2026, expected a word": lambda: bb.compare(["tl", "cdt"], name=2026),
    "paper: found None, expected a word": lambda: bb.run("tl", paper=None),
    "lines: found '', expected one or more of: tuner, env": lambda: bb.compare(["tl", "cdt"], lines=[]),
    "figure: found ['cdt/figure2'], expected a word": lambda: bb.reproduce(["cdt/figure2"]),
    "format: found 'bmp'": lambda: bb.compare(["tl", "cdt"], formats=("bmp",)),
    "size: found 'column', expected column or text, with format=pdf": lambda: bb.compare(["tl", "cdt"], size="column"),
}


@pytest.mark.parametrize("sentence", WRONG)
@pytest.mark.usefixtures("results")
def test_impossible_requests_are_one_sentence(sentence):
    with pytest.raises(bb.BenchError, match=f"^{re.escape(sentence)}") as error:
        WRONG[sentence]()
    assert "\n" not in str(error.value)


USER = """
import bandit_bench as bb

@bb.component
class Mine:
    threshold: float = 0.5

found = bb.compare([Mine, "tl"], horizon=100)
reveal_type(found)
reveal_type(found.finals)
Mine(threshold="much")
bb.compare(["tl"], horizon="long")
"""


@pytest.mark.release
def test_a_users_class_is_checked_by_mypy_from_outside(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "mypy.ini").write_text(
        # Libraries whose types stand in none of these lines: two thirds of the time
        "[mypy]\n[mypy-dask.*,distributed.*,hydra.*,IPython.*,jinja2.*,matplotlib.*,omegaconf.*,optuna.*,PIL.*,rich.*,"
        "sklearn.*,sqlalchemy.*,torch.*]\nfollow_imports = skip\nfollow_imports_for_stubs = True\n"
    )
    kept = ROOT / ".mypy_cache" / "from_outside"  # what is known of the libraries' types, from earlier sessions
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={kept}", "user.py"]
    environ = {**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    out = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True).stdout
    own = [line for line in out.splitlines() if line.startswith("user.py")]
    assert len(own) == 4, out
    assert 'Revealed type is "bandit_bench._comparison.ComparisonResult"' in own[0]
    assert "DataFrame" in own[1]
    assert 'Argument "threshold" to "Mine" has incompatible type "str"; expected "float"' in own[2]
    assert 'Argument "horizon" to "compare" has incompatible type "str"' in own[3]


def test_a_tuner_is_made_by_name_with_the_settings_of_its_choice_and_given_ones():
    made = bb.tuner("cdt_code", radius_scale=0.5)
    asked = bb.run(("cdt_code", {"radius_scale": 0.5}), horizon=5, repetitions=1).settings["tuner"]
    assert {name: getattr(made, name) for name in asked if name != "_target_"} == {
        name: value for name, value in asked.items() if name != "_target_"
    }
    made.start(bb.Problem(bb.Space.of(x={"low": 0.1, "high": 1.0}), horizon=10), bb.Seeds(7))
    assert 0.1 <= made.ask()["x"] <= 1.0
    assert type(bb.tuner(TL)) is TL
    with pytest.raises(bb.BenchError, match="radius_scale"):
        bb.tuner("cdt", radius=1)


def test_a_state_that_cannot_be_saved_or_leads_elsewhere_is_none():
    from bench.tuners.baselines import Random

    class HoldsAFile(Random):
        def _start(self, problem, seeds):
            super()._start(problem, seeds)
            self.file = sys.stdout

    class StartsAnew(Random):
        def restore(self, saved):
            pass

    goes_on = "save its state and continue from it"
    assert [capabilities(cls())[goes_on] for cls in (Random, HoldsAFile, StartsAnew)] == [True, False, False]


def test_any_sampler_proposes_the_same_from_the_same_seed():
    pytest.importorskip("optuna")
    asked = []
    for _ in range(2):
        tuner = Optuna(sampler="QMCSampler", arguments={"qmc_type": "halton"})
        tuner.start(bb.Problem(bb.Space.of(x={"low": 0.0, "high": 1.0}), 10), bb.Seeds(1))
        asked.append([])
        for _ in range(10):
            asked[-1].append(tuner.ask()["x"])
            tuner.tell(asked[-1][-1])
    assert asked[0] == asked[1]
    assert len(set(asked[0])) > 5
