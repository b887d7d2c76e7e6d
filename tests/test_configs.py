"""Every configuration file composes, and says where its settings come from."""

import dataclasses
import json
import os
import random
import re
import shlex
import zlib
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
import registry
from hydra import compose, initialize_config_dir
from hydra.utils import get_class
from omegaconf import OmegaConf

from bench.errors import BenchError, ConfigError
from bench.papers.cdt.selection import Selection
from bench.report.claims.check import verdicts_on
from bench.report.results import Results
from bench.space import HyperParameter
from runners.config.compose import from_overrides, run_of
from runners.config.experiment import build
from runners.config.figures import expand, figure_names, load_figure
from runners.config.folders import CONF
from runners.config.groups import register
from runners.config.papers import leaves, load_paper, published
from runners.config.tree import GROUPS, PARTS, choices, path_of, suite_choices
from runners.execute import manifest
from runners.execute.manifest import check_shared_runs, settings_table
from runners.results import replay
from runners.results.folder import ResultFolder
from runners.results.pages import write_gallery
from runners.results.store import results_folder

PAPERS = registry.names("paper")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_setting_of_a_paper_has_a_source(paper):
    content = load_paper(paper)
    keys = {leaf for key, value in content["settings"].items() for leaf in leaves(value, key)}
    assert keys == set(content["sources"])
    for source, place in content["sources"].values():
        assert source in ("stated", "code", "assumed")
        assert place


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_name_existing_choices(paper):
    """A paper's settings apply to the parts in their keys, and values of the command line take precedence."""
    settings = load_paper(paper)["settings"]
    for part in PARTS:
        for choice, block in settings.get(part, {}).items():
            made = leaves(from_overrides([f"paper={paper}", f"{part}={choice}"]).experiment.settings[part], part)
            assert made == made | leaves(block, part)


def test_the_command_line_overrides_the_paper():
    run = from_overrides(["paper=syndicated", "env.dim=7", "horizon=123", "algorithm.space.ridge.candidates=[0.5]"])
    assert run.experiment.settings["env"]["dim"] == 7
    assert run.experiment.settings["env"]["mean"] == "shifted"
    assert run.settings.horizon == 123
    assert run.experiment.settings["algorithm"]["space"]["ridge"]["candidates"] == [0.5]
    assert run.experiment.settings["algorithm"]["space"]["exploration_rate"]["candidates"] == [0, 0.01, 0.1, 1, 10]


@pytest.mark.parametrize("env", registry.names("env"))
def test_an_environment_chooses_fitting_parts(env):
    """A task is refused with an environment or algorithm that does not suit it."""
    build(from_overrides([f"env={env}"]).experiment)


HYDRAS_OWN = ("env", "help", "hydra_help", "hydra_logging", "job_logging", "launcher", "output", "sweeper")


def hydras(words, *, without=()):
    """The configuration that Hydra composes from words, as ``--cfg job`` shows it, and its run.

    Groups in ``without`` are Hydra's own and not part of the job.
    """
    register()
    with initialize_config_dir(CONF, version_base="1.3"):
        cfg = compose("config", [*words, *(f"~hydra/{group}" for group in without)], return_hydra_config=True)
    shown = OmegaConf.to_container(OmegaConf.masked_copy(cfg, [key for key in cfg if key != "hydra"]), resolve=True)
    return shown, run_of(shown, cfg.hydra.runtime.choices)


def settings_of(run):
    return {**run.experiment.settings, **vars(run.settings), "runner": vars(run.runner)}


def is_shown(shown, run):
    made = settings_of(run)
    assert {key: shown[key] for key in made} == made
    assert shown["paper"] == run.choices["paper"]
    return True


def is_run_as_shown(words):
    shown, made = hydras(words, without=HYDRAS_OWN)  # a quarter cheaper
    plain = from_overrides(words)
    assert is_shown(shown, made), words
    assert (settings_of(plain), plain.choices) == (settings_of(made), made.choices), words
    return True


@pytest.mark.parametrize(
    "words",
    [
        ["env=titanic", "paper=habo", "tuner=habo", "horizon=7"],
        ["paper=cdt", "env=movielens", "scale=quick"],
        ["paper=syndicated", "scale=smoke", "repetitions=9", "tuner.horizon_unit=rounds", "runner=dask"],
        ["tuner=fixed", "tuner.configuration.exploration_rate=2", "task.probe={exploration_rate: [1]}"],
        ["tuner=bench.tuners.cdt.CDT", "+tuner.radius_scale=${env.noise_std}", "scale=quick", "seed=${horizon}"],
        ["env=switching_sine", "algorithm=none"],
    ],
)
def test_the_configuration_shown_is_the_one_run(words):
    """By ``--cfg job`` and by Hydra's composition of all words at once, with a paper's settings and a scale's caps."""
    shown, made = hydras(words)
    assert is_shown(shown, made)
    assert settings_of(from_overrides(words)) == settings_of(made)
    assert from_overrides(words).choices == made.choices


def test_every_choice_is_run_as_shown():
    """In combinations drawn at random, as many as cover all choices of all groups."""
    names = {group: [name for name in suite_choices(group) if name != "custom"] for group in GROUPS}
    draw = random.Random(0)
    for _ in range(2):
        for of_group in names.values():
            draw.shuffle(of_group)
    for place in range(max(map(len, names.values()))):
        assert is_run_as_shown([f"{group}={of_group[place % len(of_group)]}" for group, of_group in names.items()])


def plays(paper, env, algorithm):
    """Whether an algorithm plays in an environment, by building both with a tuner of any space."""
    with suppress(BenchError):
        build(from_overrides([f"paper={paper}", f"env={env}", f"algorithm={algorithm}"]).experiment)
        return True
    return False


def is_in_part(words):
    """Whether a combination is in the part that ``BENCH_COMBINATIONS`` names: 3/10 is the third of ten."""
    part, parts = map(int, os.environ.get("BENCH_COMBINATIONS", "1/1").split("/"))
    assert 1 <= part <= parts
    return zlib.crc32(" ".join(words).encode()) % parts == part - 1


@pytest.mark.release
@pytest.mark.parametrize("env", [env for env in registry.names("env") if env != "custom"])
@pytest.mark.parametrize("paper", suite_choices("paper"))
def test_every_combination_set_by_a_paper_is_run_as_shown(paper, env):
    """Paper, environment, algorithm and tuner in every valid combination; without a paper all of them."""
    sets = load_paper(paper)["settings"]
    for algorithm in choices("algorithm"):
        made = [{"env": env, "algorithm": algorithm, "tuner": tuner} for tuner in registry.names("tuner")]
        said = [parts for parts in made if paper == "none" or any(parts[key] in sets.get(key, {}) for key in parts)]
        every = [[f"paper={paper}", *(f"{part}={choice}" for part, choice in parts.items())] for parts in said]
        chosen = [words for words in every if is_in_part(words)]
        for words in chosen if chosen and plays(paper, env, algorithm) else []:
            assert is_run_as_shown(words)


@pytest.mark.parametrize("group", GROUPS)
def test_the_first_comment_of_every_choice_is_a_command_that_makes_the_choice(group):
    for name in suite_choices(group):
        lines = path_of(f"{group}/{name}").read_text(encoding="utf-8").splitlines()
        first = next(line for line in lines if not line.startswith("# @"))
        command = re.fullmatch(r"# (?:[^:]*: )?python -m runners\.(run|reproduce) (.*)", first)
        assert command, f"{group}/{name}: {first}"
        words = shlex.split(command[2])
        made = {"scale": words[-1].partition("=")[2]} if command[1] == "reproduce" else from_overrides(words).choices
        assert made[group] == name


def test_a_reference_has_the_value_that_is_run():
    """After the paper's settings and the scale's cap."""
    run = from_overrides(["paper=cdt", "scale=quick", "env.n_arms=${horizon}", "repetitions=${env.dim}"])
    assert (run.experiment.settings["env"]["n_arms"], run.settings.repetitions) == (1000, 25)
    with pytest.raises(ConfigError, match=r"env\.n_arms: .*nothing"):
        from_overrides(["env.n_arms=${nothing}"])


@pytest.mark.parametrize(("group", "name"), [(part, name) for part in PARTS for name in registry.names(part)])
def test_a_choice_has_every_setting_of_its_class(group, name):
    values = registry.settings(group, name)
    cls = get_class(values.pop("_target_"))
    if dataclasses.is_dataclass(cls):
        names = {
            field.name
            for each in (cls, getattr(cls, "common", cls))
            for field in dataclasses.fields(each)
            if field.init
        }
        assert names - {"environment", "algorithm"} == {*values}
    spaces = getattr(cls, "spaces", {})
    assert {*values.get("space", {})} == {*spaces}
    for parameter, fields in spaces.items():
        assert vars(HyperParameter(parameter, **values["space"][parameter])) == vars(
            HyperParameter(parameter, **fields)
        )


def test_published_numbers_are_chosen_and_renamed():
    """As figures name them: with labels of their own, the first of several columns that has a number, and a note."""
    found = published("cdt", {"table": "regret", "method": {"k": ["CDT, k = 3", "CDT"], "OP": "OP"}, "extra": "x"})
    assert len(found) == 28
    assert {"panel": "GLOC, simulation", "method": "k", "extra": "x", "what": "mean", "value": 415.05,
            "cell": "regret: GLOC, simulation: CDT, k = 3: mean"} in found  # fmt: skip
    assert {"panel": "LinUCB, simulation", "method": "k", "extra": "x", "what": "mean", "value": 298.28,
            "cell": "regret: LinUCB, simulation: CDT: mean"} in found  # fmt: skip
    (odd,) = [one for one in published("opl_hpo", {"table": "table3"}) if "note" in one]
    assert (odd["value"], odd["beta0"]) == (0.831, "3")
    assert {one["what"] for one in published("online_hpo", {"table": "table1"})} == {"mean", "std"}
    with pytest.raises(ConfigError, match=r"table: found 'tabel', did you mean 'table3'\? expected one of: regret, "):
        published("cdt", {"table": "tabel"})
    with pytest.raises(ConfigError, match="method: found 'nobody', expected one of: TL / Syndicated, OP"):
        published("cdt", {"table": "regret", "method": ["nobody"]})


def test_labels_come_from_the_paper_and_the_rest_from_a_figure_like_it():
    figure = load_figure("habo/figure10")
    assert list(figure.runs[0]["method"]) == ["HABO", "Bayes"]
    assert (figure.title, figure.horizon) == (
        "Score over 50 rounds of tuning a random forest on House Prices",
        50,
    )
    assert figure.unfold == load_figure("habo/figure8").unfold
    assert "like" not in figure


def test_a_figure_like_another_has_the_name_of_its_own_file(private):
    (private / "papers/syndicated/figures").mkdir(parents=True)
    (private / "papers/syndicated/figures/mine.yaml").write_text("like: figure2\n")
    mine, other = load_figure("syndicated/mine"), load_figure("syndicated/figure2")
    assert (mine.name, mine.claims, mine.readings) == ("mine", other.claims, other.readings)


def test_the_scale_caps_sizes_that_the_user_does_not_set():
    quick = from_overrides(["paper=syndicated", "scale=quick"]).settings
    assert (quick.horizon, quick.repetitions) == (1000, 5)
    chosen = from_overrides(["paper=syndicated", "scale=quick", "horizon=3000"]).settings
    assert (chosen.horizon, chosen.repetitions) == (3000, 5)


@pytest.mark.parametrize("name", figure_names())
def test_figure_composes_and_its_committed_runs_are_those_it_asks_for(name, request, monkeypatch):
    """Even if code moves, committed results stay filed under the keys of today's configuration."""
    figure = registry.figure(name)
    assert f"{figure.paper}/{figure.name}" == name
    runs = expand(figure, "paper", [])
    smoke = figure.scales.get("smoke")
    for drawn in (runs, expand(figure, "smoke", []) if smoke and (smoke.overrides or smoke.leave_out) else ()):
        assert len({tuple(sorted(one.labels.items())) for one in drawn}) == len(drawn)
        for experiment in {json.dumps(one.experiment.settings): one.experiment for one in drawn}.values():
            build(experiment)
    rows = settings_table(figure, runs)
    assert {row["source"] for row in rows} <= {"stated", "code", "assumed", "scale"}
    for key in figure.sources:
        assert any(re.sub(r"^(\w+)\.\w+\.", r"\1.", row["key"]) == key or row["key"] == key for row in rows), key

    def once(of, scale, extra):
        return runs if (of.name, scale, extra) == (figure.name, "paper", []) else expand(of, scale, extra)

    results = request.getfixturevalue("reference_results")
    for module in (replay, manifest):
        monkeypatch.setattr(module, "expand", once)
        monkeypatch.setattr(module, "load_figure", registry.figure)
    changed = []
    for path in sorted((results / name).glob("paper*/manifest.json")):
        if ResultFolder(path.parent).with_runs != ResultFolder(path.parent):
            check_shared_runs(ResultFolder(path.parent))
            continue
        changed += [
            f"{run.result}: {run.labels}" for run in replay.committed_runs(name, path.parent) if not run.is_asked
        ]
    assert changed == []


@pytest.mark.parametrize("name", figure_names())
def test_figure_claims_and_published_numbers_name_its_runs(name):
    """Without any results every claim is open, and none is misspelt."""
    figure = registry.figure(name)
    axes = list(dict.fromkeys(axis for block in figure.runs for axis in block))
    results = Results(figure, finals=pd.DataFrame(columns=[*axes, "repetition", "rounds", "regret", "random_regret"]))
    claims = verdicts_on(results)
    assert set(claims["verdict"]) <= {"open"}
    assert len(claims) >= len(figure.claims)
    if figure.source != "formula":
        figure.tables(results)


def test_our_number_of_repetitions_is_not_taken_for_the_papers():
    for figure in map(registry.figure, figure_names()):
        ours = figure.source == "runs" and figure.sources.get("repetitions", [""])[0] == "assumed"
        if ours and figure.published and not isinstance(figure, Selection):  # which compares nothing with them
            assert figure.published_repetitions, f"a further set of {figure.name} would have our size"


MINE = {
    "tuner/mine": "_target_: bench.tuners.cdt.CDT\nradius_scale: 0.5\n",
    "papers/mine/settings": "name: mine\nsettings: [{source: [assumed, here], horizon: 70, repetitions: 3}]\n",
    "papers/mine/published": "table1: {axes: [method], values: {CDT: 12.5}}\n",
    "papers/mine/figures/first": """kind: curves
column: regret
published: {table: table1, method: {Mine: CDT}}
runs: [{method: {Mine: [tuner=mine], TL: [tuner=tl]}}]
""",
}


@pytest.fixture(params=["conf", "BENCH_CONF_DIR"])
def private(request, monkeypatch, tmp_path):
    """A folder outside of the checkout with a paper, a figure, published numbers and a tuner of a user's own."""
    folder = tmp_path / ("conf" if request.param == "conf" else "own files")  # no name of a module
    for name, text in MINE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BENCH_RESULTS_DIR", raising=False)
    if request.param != "conf":
        monkeypatch.setenv("BENCH_CONF_DIR", str(folder))
    yield folder
    load_paper.cache_clear()


def test_a_users_folder_is_searched_and_counts_nowhere(private):
    assert figure_names("mine") == ["mine/first"]
    assert "mine/first" not in figure_names()
    figure = load_figure("mine/first")
    assert [(one["method"], one["value"]) for one in figure.published] == [("Mine", 12.5)]
    first, _ = expand(figure, "paper", [])
    assert first.settings.horizon == 70
    assert first.experiment.settings["tuner"]["radius_scale"] == 0.5
    claims = [{"claim": "1", "text": "more", "case": "all", "verdict": "holds"}]
    results = Path("results", "mine", "first", "paper")
    results.mkdir(parents=True)
    (results / "manifest.json").write_text("{}")
    pd.DataFrame(claims).to_csv(results / "claims.csv")
    page, _ = write_gallery(results_folder())
    assert page == Path.cwd() / "results" / "index.html"
    assert "mine/first/index.html" in page.read_text()
    pages = {str(path.relative_to(page.parent)) for path in page.parent.rglob("*.html")}
    assert pages == {"index.html", "mine/index.html", "mine/first/index.html"}
    assert not page.with_name("claims.csv").exists()


@pytest.mark.parametrize("private", ["conf"], indirect=True)
@pytest.mark.parametrize(
    ("file", "old", "new", "place"),
    [
        ("settings", "horizon: 70", "env.titanc.size: 1", r"settings\.yaml: env\.titanc\.size: .*'titanic'\?"),
        ("settings", "horizon: 70", "horizon: '70'", r"settings\.yaml: horizon: found '70', expected a whole number"),
        ("settings", "repetitions: 3", "repetitions: many", r"settings\.yaml: repetitions: found 'many', expected"),
        ("settings", "horizon: 70", "horizon: 0.5", r"settings\.yaml: horizon: found 0\.5, expected a whole number"),
        ("settings", "[assumed, here]", "[guessed, here]", r"settings\.yaml: found the source .*'guessed'"),
        ("published", "12.5", "{A: 12.5}", r"published\.yaml: table1\.values\.CDT: .*expected a number"),
        ("figures/first", "{table: table1, method: {Mine: CDT}}", "{table: table1}",
         r"first\.yaml: figure 'first', published entry 1: axis 'method' has no label 'CDT'"),
        ("figures/first", "runs:", "claims:\n- &a {id: '1', text: t, kind: ratio, expect: less, left: {method: Mine},\n"
         "  right: {method: TL}}\n- *a\nruns:", r"first\.yaml: figure 'first', claim '1': "),
        ("figures/first", "runs:", "readings: [{name: a, text: t, source: [stated, p]},\n"
         "  {name: b, text: t, source: [assumed, p], overrides: [horizon=70]}]\nruns:",
         r"first\.yaml: reading: found 'b'"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_papers_files_is_named_with_file_key_and_cure(private, file, old, new, place):
    path = private / "papers" / "mine" / f"{file}.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=place):
        expand(load_figure("mine/first"), "paper", [])


@pytest.mark.parametrize("private", ["conf"], indirect=True)
def test_a_paper_without_settings_is_refused_before_anything_runs(private):
    settings, figure = private / "papers/mine/settings.yaml", private / "papers/mine/figures/first.yaml"
    settings.unlink()
    figure.write_text(figure.read_text().replace(MINE["papers/mine/figures/first"].splitlines()[2] + "\n", ""))
    with pytest.raises(ConfigError, match=r"first\.yaml: paper: found 'mine' without mine/settings\.yaml"):
        load_figure("mine/first")
    settings.write_text("name: mine\n")
    assert load_figure("mine/first").paper == "mine"


def test_a_scale_whose_cap_is_no_number_is_named_by_its_key(private):
    (private / "scale").mkdir()
    (private / "scale" / "own.yaml").write_text("name: own\nmax_horizon: many\nmax_repetitions: 2\nreadings: false\n")
    with pytest.raises(ConfigError, match=r"horizon: found 'many', expected"):
        from_overrides(["scale=own"])


def test_a_name_that_the_suite_has_is_refused(private):
    (private / "tuner" / "cdt.yaml").write_text("_target_: bench.tuners.cdt.CDT\nradius_scale: 3\n")
    with pytest.raises(ConfigError, match=r"tuner/cdt\.yaml: found a name that the suite already uses"):
        from_overrides(["tuner=cdt"])
    (private / "papers" / "cdt").mkdir()
    (private / "papers" / "cdt" / "settings.yaml").write_text("name: cdt\n")
    with pytest.raises(ConfigError, match=r"papers/cdt/settings\.yaml: found a name that the suite already uses"):
        load_figure("mine/first")


def test_results_go_to_the_current_folder_or_to_the_checkout_around_it(monkeypatch, tmp_path):
    monkeypatch.delenv("BENCH_RESULTS_DIR", raising=False)
    for here, expected in [(tmp_path, tmp_path), (registry.CONF, registry.CONF.parent)]:
        monkeypatch.chdir(here)
        assert results_folder() == expected / "results"


def test_a_conf_dir_that_is_no_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("BENCH_CONF_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match=r"BENCH_CONF_DIR: found '.*nowhere', expected a folder"):
        choices("tuner")
