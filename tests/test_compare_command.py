"""python -m runners.compare, from end to end."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from commands import assert_one_sentence

import bandit_bench
from bench.gallery.build import build
from bench.gallery.papers import read_papers
from bench.gallery.render import build_own
from bench.report.provenance import commands as commands_of
from runners.compare import arguments

COMMAND = "compare"
SMALL = ("env.dim=2", "env.n_arms=3", "horizon=60", "repetitions=5")


def planned(words):
    """The figure that a command line requests, before it is made."""
    figures = []
    given = {**arguments(words), "instead": lambda asked, jobs, runner: figures.extend(asked)}
    bandit_bench.compare(given.pop("tuners"), **given)
    return figures[0]


@pytest.mark.usefixtures("one_worker")
def test_a_users_tuner_is_compared_with_two_of_the_suite(commands, monkeypatch, capsys):
    """The numbers equal those of single runs, differences are paired by repetition, and a second call runs nothing."""
    words = ("tuner=my_module.MyTuner,tl,cdt", "env=synthetic_linear", "name=comparison", *SMALL)
    answer = commands.here(monkeypatch, capsys, "compare", *words, "jobs=1")
    assert (answer.code, answer.err) == (0, "")
    assert "15 repetitions" in answer.out
    folder = commands.results / "compare" / "comparison"
    assert answer.out.splitlines()[-2:] == [f"picture: {folder / 'comparison.png'}", f"page: {folder / 'index.html'}"]
    assert (folder / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert not [path for path in folder.iterdir() if path.suffix in (".pdf", ".tex")]  # on request only
    for name in ("MyTuner", "TL", "CDT"):
        assert name in (folder / "comparison.svg").read_text()

    finals = pd.read_csv(folder / "finals.csv").pivot(index="repetition", columns="method", values="regret")
    claims = pd.read_csv(folder / "claims.csv").set_index("claim")
    assert list(claims.index) == ["TL", "CDT"]
    for other in ("TL", "CDT"):
        difference = finals["MyTuner"] - finals[other]
        assert claims.loc[other, "estimate"] == pytest.approx(difference.mean())
        assert claims.loc[other, "n"] == 5

    manifest = json.loads((folder / "manifest.json").read_text())
    assert shlex.split(manifest["command"]) == ["python", "-m", "runners.compare", *words, "jobs=1"]
    assert manifest["figure"] == "compare/comparison"
    defaults = [row for row in manifest["settings"] if row["key"] == "tuner.MyTuner.threshold"]
    assert [(row["source"], row["where"]) for row in defaults] == [("assumed", "the class's default")]
    for run, line in zip(manifest["runs"], commands_of(manifest), strict=True):
        single = commands.here(monkeypatch, capsys, "run", *shlex.split(line)[3:], "output=json").report
        assert (single["run_id"].partition("-")[0], single["new"]) == (run["key"], 0)
        assert single["metrics"]["final_regret"]["values"] == pytest.approx(finals[run["labels"]["method"]].tolist())
    made = {path: path.stat().st_mtime_ns for path in folder.parent.rglob("*") if path.is_file()}
    assert "15 repetitions, 0 new" in commands.here(monkeypatch, capsys, "compare", *words, "jobs=1").out
    assert made == {path: path.stat().st_mtime_ns for path in folder.parent.rglob("*") if path.is_file()}
    same = ("tuner=tl,cdt", "env=synthetic_linear", "paper=tournament", "name=same", *SMALL)
    assert "the candidates are" not in commands.here(monkeypatch, capsys, "compare", *same).out


def test_lines_and_panels_have_the_names_that_are_given(here):
    tuners = "tuner=Mine=my_module.MyTuner(threshold=0.9),Slow CDT=cdt(radius_scale=0.5, ts_scale=2),tl"
    words = (
        tuners,
        "env=Plain=synthetic_linear,synthetic_logistic",
        "env.dim=Small=2,3",
        "name=comparison",
        *SMALL[1:],
    )
    answer = here(*words)
    assert (answer.code, answer.err) == (0, "")
    folder = answer.results / "compare" / "comparison"
    table = pd.read_csv(folder / "table.csv")
    assert list(dict.fromkeys(table["method"])) == ["Mine", "Slow CDT", "TL"]
    assert list(dict.fromkeys(table["env"])) == ["Plain", "synthetic_logistic"]
    assert list(dict.fromkeys(table["env.dim"])) == ["Small", "3"]
    assert len(table) == 3 * 2 * 2
    assert len(pd.read_csv(folder / "claims.csv")) == 2 * 2 * 2
    runs = json.loads((folder / "manifest.json").read_text())["runs"]
    key = next(run["key"] for run in runs if [*run["labels"].values()] == ["Slow CDT", "Plain", "Small"])
    [described] = (answer.results / "raw").glob(f"{key}-*/settings.json")
    settings = json.loads(described.read_text())["settings"]
    assert (settings["tuner"]["ts_scale"], settings["env"]["dim"]) == (2, 2)


def test_a_panel_called_all_is_named_with_its_verdict(here):
    answer = here(
        "tuner=tl,ucb1", "env=synthetic_linear", "env.n_arms=3", "env.dim=2,all=3", "horizon=20", "repetitions=1"
    )
    assert re.findall(r"than UCB1( .*?)?:", answer.out) == [" (env.dim 2)", " (all)"]


def test_a_tuner_whose_repetitions_all_failed_is_named_and_the_others_are_drawn(here):
    answer = here("tuner=my_module.Raises,tl,op", "name=comparison", *SMALL[1:])
    assert answer.code == 1
    (error,) = answer.err.splitlines()
    assert re.fullmatch(
        r"error: compare/comparison: Raises: all 5 repetitions failed, the first with round 1: RuntimeError: no luck "
        r"today \(my_module\.py:\d+ in _ask\); its traceback is in (\S+rep-00000\.failed\.json)",
        error,
    )
    assert "no luck today" in json.loads(Path(error.rpartition(" ")[2]).read_text())["traceback"]
    assert re.search(r"^  Raises +no results$", answer.out, re.MULTILINE)
    assert "nan" not in answer.out
    assert (answer.results / "compare" / "comparison" / "comparison.png").is_file()


def test_a_tuner_has_settings_of_its_own(here):
    """Each combination is the run that the settings name, and the page repeats the comparison with one command."""
    tuners = "tuner=cdt,cdt(radius_scale=0.5, ts_scale=2),my_module.MyTuner(threshold=0.9, pair=[1,2])"
    words = (tuners, *SMALL, "name=settings", "runner.time_limit=60")
    answer = here(*words)
    assert (answer.code, answer.err) == (0, "")
    folder = answer.results / "compare" / "settings"
    runs = json.loads((folder / "manifest.json").read_text())["runs"]
    labels = ["CDT", "CDT (radius_scale = 0.5, ts_scale = 2)"]
    labels += ["MyTuner (threshold = 0.9, pair = [1,2])"]
    assert [run["labels"]["method"] for run in runs] == labels
    raw = answer.results / "raw"
    own = [json.loads(path.read_text()) for run in runs for path in raw.glob(f"{run['key']}-*/settings.json")]
    tuner = [settings["settings"]["tuner"] for settings in own]
    assert (tuner[0]["radius_scale"], tuner[1]["radius_scale"], tuner[1]["ts_scale"]) == (1.0, 0.5, 2)
    assert (tuner[2]["threshold"], tuner[2]["pair"]) == (0.9, [1, 2])
    assert {settings["settings"]["env"]["dim"] for settings in own} == {2}
    assert json.loads((folder / "comparison.json").read_text())["common"] == ["env=synthetic_linear", *SMALL[:2]]
    front = (answer.results / "compare" / "index.html").read_text()
    assert "Your comparisons" in front
    assert 'href="settings/index.html"' in front
    assert {path.name for path in answer.results.iterdir()} == {"compare", "raw"}  # the gallery is made by its command
    pages = build(read_papers(answer.results, {}))
    assert "compare/settings/index.html#claim-" in pages["claims.html"]
    assert "compare/settings/index.html" in build_own(read_papers(answer.results, {}))["index.html"]


@pytest.mark.parametrize(
    ("words", "column"),
    [
        (["env=titanic", "tuner=habo,random"], "best_score"),
        (["env=synthetic_logged", "tuner=random,tpe"], "relative_true_value"),
        (["env=adversarial_arms", "algorithm=none", "tuner=exp3,random"], "regret"),
    ],
)
def test_runs_without_regret_are_compared_by_another_column(words, column):
    assert planned([*words, "horizon=3", "repetitions=2"]).figure.column == column


def test_one_comparison_does_not_replace_another(here):
    """Without a name it is named after the compared parts; the same comparison again has the same name."""
    sizes = ["env.dim=2", "horizon=20", "repetitions=1", "column=regret"]
    compared = (["tuner=tl,random"], ["tuner=random,tl"], ["tuner=tl,random", "env.n_arms=4"], ["tuner=tl,random"])
    first, swapped, larger, again = (planned([*words, *sizes]).figure.name for words in compared)
    assert len({first, swapped, larger}) == 3
    assert all("tl" in title and "random" in title for title in (first, swapped, larger))
    assert again == first
    answer = here(*compared[0], *sizes)
    assert [path.name for path in answer.results.glob("compare/[!.]*/")] == [first]


def test_a_tuner_that_does_not_fit_is_left_out_and_strictly_stops_all(here):
    words = ("tuner=hedge,tl,random", "env=synthetic_linear", *SMALL[2:])
    answer = here(*words, "name=three", "strict=true")
    assert_one_sentence(
        answer, "error: Hedge: tuner: found Hedge with ContextualBandit", "expected an environment with full"
    )
    answer = here(*words, "name=three")
    assert answer.code == 1
    assert answer.err.splitlines()[0].startswith("error: left out: Hedge: tuner: found Hedge with ContextualBandit")
    table = pd.read_csv(answer.results / "compare" / "three" / "table.csv")
    assert list(table["method"]) == ["TL", "Random each round"]


@pytest.mark.usefixtures("one_worker")
def test_a_tuner_that_cannot_play_is_found_before_any_repetition_and_a_common_fault_blames_no_tuner(here, commands):
    tuners = "tuner=Mine=my_module.Plain(my_setting=1.7),ucb1"
    answer = here(tuners, "env=switching_sine", "horizon=50", "repetitions=2")
    cure = "problem.space.product() has the candidates, and problem.space.from_unit(point) is in the interval"
    assert_one_sentence(answer, "error: Mine: round 1: ", "found x = 1.7, expected", cure, "leaves_space = True")
    answer = here(tuners, "env=bernoulli_arms", "horizon=50", "repetitions=2")
    assert_one_sentence(answer, "error: Mine: round 1: ", "found arm = 1.7")
    (commands.cwd / "rows.csv").write_text("action,reward,p\n" + "1,0.5,0.5\n0,,0.5\n" * 9)
    words = ("env=log", "env.path=rows.csv", "env.propensity=p", "env.n_parts=2", "repetitions=2")
    answer = here(tuners, *words)
    assert_one_sentence(answer, "error: rows.csv, line 3, reward: found no value")


def test_algorithms_are_lines_too(here):
    answer = here("tuner=op", "algorithm=lints,linucb", "lines=algorithm", "name=lines", *SMALL)
    assert (answer.code, answer.err) == (0, "")
    (claim,) = pd.read_csv(answer.results / "compare" / "lines" / "claims.csv").to_dict("records")
    assert claim["text"] == "lints ends with less regret than linucb"
    both = here("tuner=op,tl", "algorithm=lints,linucb", "lines=tuner,algorithm", "name=pairs", *SMALL)
    claims = pd.read_csv(both.results / "compare" / "pairs" / "claims.csv")
    assert list(claims["claim"]) == ["OP, linucb", "TL, lints", "TL, linucb"]
    assert "tuner: found only 'OP'" in here("tuner=op", "algorithm=lints,linucb").err


def test_a_task_is_chosen_or_compared_as_an_algorithm_is(here):
    tasks = "task=contextual_bandit,copies"
    answer = here("tuner=tl,random", tasks, "lines=tuner", "name=tasks", *SMALL)
    assert answer.code == 0, answer.err
    assert set(pd.read_csv(answer.results / "compare" / "tasks" / "claims.csv")["case"]) == {
        "contextual_bandit",
        "copies",
    }
    one = here("tuner=tl,random", "task=copies", "name=one", *SMALL)
    assert one.code == 0, one.err
    assert "task=copies)" in (one.results / "compare" / "one" / "comparison.json").read_text()


def test_how_it_is_drawn_and_printed(here):
    """Axes, colours and the number of rounds are as requested; three panels fit into one table."""
    words = ("tuner=tl,random", "env.dim=2,3,4", *SMALL[1:], "name=drawn", "format=pdf,tex")
    answer = here(
        *words, "size=text", "y_scale=log", "x_scale=log", "colors=TL:#123456,Random each round:black", "rounds=7"
    )
    assert (answer.code, answer.err) == (0, "")
    folder = answer.results / "compare" / "drawn"
    files = [("picture", "drawn.png"), ("picture", "drawn.pdf"), ("table", "table.tex"), ("page", "index.html")]
    assert answer.out.splitlines()[-4:] == [f"{what}: {folder / name}" for what, name in files]
    assert all((folder / name).is_file() for _, name in files)
    assert pd.read_csv(folder / "table.csv")["env.dim"].tolist() == [2, 3, 4] * 2  # numbers
    assert pd.read_csv(folder / "claims.csv")["case"].tolist() == ["env.dim 2", "env.dim 3", "env.dim 4"]
    svg = (folder / "drawn.svg").read_text()
    assert "#123456" in svg
    assert "scale paper" not in svg.lower()
    assert (folder / "table.tex").read_text().count(r"\toprule") == 1
    assert set(pd.read_csv(folder / "curves.csv").groupby(["method", "env.dim", "column"]).size()) == {7}
    later = here(*words[:-1], "rounds=5")  # which draws the picture anew, not the files for print
    assert later.code == 0
    assert (later.out + later.err).count("table.tex: from an earlier run; format=pdf,tex") == 1
    for wrong, sentence in (
        ("colors=TL:nocolour", "found 'nocolour' for 'TL'"),
        ("colors=XL:red", "found 'XL', expected"),
    ):
        assert sentence in here("tuner=tl,random", *SMALL, wrong).err
