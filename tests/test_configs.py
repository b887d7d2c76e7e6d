"""Every configuration file composes, and says where its settings come from."""

import re
from pathlib import Path

import pytest
import registry
from hydra import initialize_config_dir
from omegaconf import OmegaConf

from bench.report.claims import check
from bench.report.tables import tables
from runners.compose import PARTS, _flatten, from_overrides
from runners.experiment import build
from runners.figures import expand, figure_names, load_figure, load_paper
from runners.reproduce_figure import settings_table

PAPERS = registry.names("paper")


@pytest.fixture(autouse=True)
def hydra_at_hand():
    with initialize_config_dir(str(registry.CONF), version_base="1.3"):
        yield


@pytest.mark.parametrize("paper", PAPERS)
def test_every_setting_of_a_paper_has_a_source(paper):
    content = load_paper(paper)
    keys = set()
    for key, value in content["settings"].items():
        keys |= set(_flatten(value, f"{key}.")) if key in PARTS else {key}
    assert keys == set(content["sources"])
    for source, place in content["sources"].values():
        assert source in ("stated", "code", "assumed")
        assert place


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_name_what_there_is(paper):
    """A paper's settings reach the parts they are keyed by, and command-line values come before them."""
    settings = load_paper(paper)["settings"]
    for part in ("env", "algorithm", "tuner"):
        for choice, block in settings.get(part, {}).items():
            others = {
                "synthetic_logistic": ["algorithm=ucb_glm"],
                "ucb_glm": ["env=synthetic_logistic"],
                "glm_tsl": ["env=synthetic_logistic"],
                "laplace_ts": ["env=synthetic_logistic"],
                "gloc": ["env=synthetic_logistic"],
                "sgd_ts": ["env=synthetic_logistic"],
            }.get(choice, [])
            run = from_overrides([f"paper={paper}", f"{part}={choice}", *others])
            made = run.experiment.settings[part]
            for key, value in _flatten(block, "").items():
                node = made
                for name in key.split("."):
                    node = node[name]
                assert node == value, key


def test_the_command_line_comes_before_the_paper():
    run = from_overrides(["paper=syndicated", "env.dim=7", "horizon=123", "algorithm.space.ridge.candidates=[0.5]"])
    assert run.experiment.settings["env"]["dim"] == 7
    assert run.experiment.settings["env"]["mean"] == "shifted"
    assert run.settings.horizon == 123
    assert run.experiment.settings["algorithm"]["space"]["ridge"]["candidates"] == [0.5]
    assert run.experiment.settings["algorithm"]["space"]["exploration_rate"]["candidates"] == [0, 0.01, 0.1, 1, 10]


def test_the_scale_caps_what_the_user_does_not_set():
    quick = from_overrides(["paper=syndicated", "scale=quick"]).settings
    assert (quick.horizon, quick.repetitions) == (1000, 5)
    chosen = from_overrides(["paper=syndicated", "scale=quick", "horizon=3000"]).settings
    assert (chosen.horizon, chosen.repetitions) == (3000, 5)


@pytest.mark.parametrize("name", figure_names())
def test_figure_composes(name):
    figure = load_figure(name)
    assert f"{figure['paper']}/{figure['name']}" == name
    drawn = expand(figure, "smoke", [])
    assert len({tuple(sorted(one.labels.items())) for one in drawn}) == len(drawn)
    for one in drawn:
        build(one.run.experiment.settings)
    rows = settings_table(figure, drawn)
    assert {row["source"] for row in rows} <= {"stated", "code", "assumed", "scale"}
    for key in figure.get("sources", {}):
        assert any(re.sub(r"^(\w+)\.\w+\.", r"\1.", row["key"]) == key or row["key"] == key for row in rows), key


@pytest.mark.parametrize("name", figure_names())
def test_figure_claims_and_published_numbers_name_its_runs(name):
    """Without any results every claim is open, and none is misspelt."""
    import pandas as pd

    figure = load_figure(name)
    axes = list(dict.fromkeys(axis for block in figure.get("runs", []) for axis in block))
    finals = pd.DataFrame(columns=[*axes, "repetition", "rounds", "regret", "random_regret"])
    claims = check(figure, finals, pd.DataFrame())
    assert set(claims["verdict"]) <= {"open"}
    assert len(claims) >= len(figure.get("claims", []))
    if figure["kind"] != "computed":
        tables(figure, finals)


@pytest.mark.parametrize("path", sorted(registry.CONF.rglob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_is_yaml_that_opens_with_a_comment(path: Path):
    """The first line says what the file is, or the command that runs it."""
    assert OmegaConf.load(path) is not None
    assert any(line.startswith("# ") for line in path.read_text().splitlines()[:2])
