"""What users of Hydra expect of the command line works, or is refused in one sentence."""

import subprocess
import sys

import pytest
from commands import ROOT, assert_one_sentence
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from omegaconf import OmegaConf

COMMAND = "run"
OWN = {
    "config": "defaults: [_self_, model: resnet]\nlr: 0.1\n",  # another project's, as is the next
    "model/resnet": "depth: 3\n",
    "mine": "defaults: [config, override /tuner: cdt, _self_]\nhorizon: 77\ntuner: {radius_scale: 0.25}\n",
    "experiment/short": "# @package _global_\ndefaults:\n  - override /tuner: cdt\n  - override /env: movielens\n"
    "  - override /paper: cdt\nhorizon: 55\ntuner: {radius_scale: 0.5}\n",
    "experiment/misspelt": "# @package _global_\ntuner: {radius_scal: 0.5}\n",
    "experiment/launched": "# @package _global_\ndefaults: [override /hydra/launcher: joblib]\n",
    "experiment/folders": "# @package _global_\nhorizon: 5\nhydra: {run: {dir: x}}\n",
    "experiment/packaged": "# @package hydra.job\nname: mine\n",
    "swept": "defaults: [config, _self_]\nhydra: {mode: MULTIRUN, sweeper: {params: {seed: '1,2'}}}\n",
    "elsewhere": "defaults: [config, _self_]\nhydra:\n  job: {chdir: true}\n",
    "tuner/wide": "_target_: bench.tuners.cdt.CDT\nradius_scale: 2.0\n",
}


@pytest.fixture(params=["conf", "elsewhere"])
def own(request, commands, monkeypatch):
    """A folder of a user's own, in its usual place or for --config-dir; the words that name it."""
    for name, text in OWN.items():
        path = commands.cwd / request.param / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("BENCH_CONF_DIR", "")  # set by --config-dir, and to be undone
    return [] if request.param == "conf" else ["--config-dir", request.param]


def shown(here, *words):
    answer = here(*words, "--cfg", "job")
    assert answer.code == 0, answer.err
    return OmegaConf.to_container(OmegaConf.create(answer.out))


def test_an_experiment_of_ones_own_comes_before_the_paper_and_after_the_command_line(own, here):
    made = shown(here, *own, "+experiment=short", "repetitions=3")
    assert (made["horizon"], made["repetitions"], made["tuner"]["radius_scale"]) == (55, 3, 0.5)
    assert (made["env"]["n_arms"], made["paper"]) == (300, "cdt")


def test_a_configuration_of_ones_own_is_shown_and_run(own, here):
    made = shown(here, *own, "--config-name", "mine", "env.n_arms=4", "repetitions=1")
    assert (made["horizon"], made["tuner"]["radius_scale"], made["env"]["n_arms"]) == (77, 0.25, 4)
    answer = here(*own, "--config-name", "mine", "env.n_arms=4", "repetitions=1", "output=json")
    assert answer.report["choices"]["tuner"] == "cdt"
    text = (answer.results / "raw" / answer.report["run_id"] / "settings.json").read_text()
    run = OmegaConf.to_container(OmegaConf.create(text))["settings"]
    assert {key: run[key] for key in ("horizon", "seed", "env", "algorithm", "tuner", "task")} == {
        key: made[key] for key in ("horizon", "seed", "env", "algorithm", "tuner", "task")
    }


def test_hydra_composes_a_command_once(here, monkeypatch):
    calls, compose = [], ConfigLoaderImpl.load_configuration
    monkeypatch.setattr(
        ConfigLoaderImpl, "load_configuration", lambda *words, **more: calls.append(words) or compose(*words, **more)
    )
    assert here("env=gaussian_arms", "algorithm=none", "tuner=random", "horizon=20", "repetitions=1").code == 0
    assert len(calls) == 1


def test_a_choice_of_ones_own_has_the_settings_of_its_class(own, here):
    made = shown(here, *own, "tuner=wide")
    assert made["tuner"]["radius_scale"] == 2.0
    assert "ts_scale" in made["tuner"]


@pytest.mark.parametrize("own", ["elsewhere"], indirect=True)
def test_another_projects_configuration_in_the_folder_does_no_harm(own, here):
    assert "lr" not in shown(here, *own)


def test_part_of_a_configuration_is_shown(here, commands):
    answer = here("--cfg", "job", "-p", "tuner", "tuner=op")
    assert OmegaConf.create(answer.out)["_target_"] == "bench.tuners.op.OP"
    assert here("--cfg", "job", "-p", "horizon", "scale=quick", "paper=cdt").out == "1000\n"
    assert "papers/env/cdt/movielens" in commands.call("run", "--info", "defaults", "paper=cdt", "env=movielens").out


def test_choices_of_a_sweep_can_be_a_pattern(here):
    pattern = "tuner=glob([tl*,c*],exclude=[cdt_*,corral,changepoint_gp])"
    answer = here("-m", pattern, "horizon=5", "repetitions=1", "output=json")
    assert [report["choices"]["tuner"] for report in answer.reports] == ["cdt", "tl", "tl_combined"]


def test_choices_are_completed_in_bash(tmp_path):
    """By what bash does with the script that -sc install=bash prints."""
    program = tmp_path / "bandit-bench"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m runners "$@"\n')
    program.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    asked = 'eval "$(bandit-bench run -sc install=bash)"; complete -p bandit-bench'
    expected = {"bandit-bench run tuner=tl": "tuner=tl tuner=tl_combined", "bandit-bench re": "reproduce"}
    for line in expected:
        asked += f'; COMP_LINE="{line}" COMP_POINT={len(line)} COMP_CWORD={line.count(" ")}'
        asked += '; hydra_bash_completion; echo "${COMPREPLY[@]}"'
    found = subprocess.run(["bash", "-c", asked], env=environ, capture_output=True, text=True, cwd=tmp_path)
    binding, *words = found.stdout.splitlines()
    assert binding.endswith("hydra_bash_completion bandit-bench"), found.stderr
    assert words == [*expected.values()]


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["hydra/launcher=joblib"], "hydra/launcher: found a setting of Hydra without effect here"),
        (["hydra/sweeper=optuna"], "hydra/sweeper: found a setting of Hydra without effect here"),
        (["hydra.run.dir=x"], "hydra.run.dir: found a setting of Hydra without effect here"),
        (["--config-name", "nonexist"], "--config-name: found 'nonexist', expected the name of a file"),
        (["--config-dir", "nowhere"], "--config-dir: found 'nowhere', expected a folder"),
        (["--config-path", "conf"], "--config-path: found 'conf', expected --config-dir"),
        (["~seed"], "seed: found no value, expected one"),
        (["tuner.noise_std=${nothing}", "tuner=cdt"], "tuner.noise_std: found a reference to no value"),
        (["env=gaussian_arms", "algorithm.x=1", "tuner=exp3"], "algorithm.x: found an unknown key"),
        (["+env.n_arms=3"], "env.n_arms"),
    ],
)
def test_what_has_no_effect_or_no_meaning_is_refused(here, words, fragment):
    assert_one_sentence(here(*words), fragment)


@pytest.mark.parametrize("own", ["elsewhere"], indirect=True)
@pytest.mark.parametrize(
    ("word", "fragment"),
    [
        ("misspelt", "tuner.radius_scal: found an unknown key"),
        ("launched", "hydra/launcher: found a setting of Hydra without effect here"),
        ("folders", "experiment/folders.yaml:3: hydra.run.dir: found a setting of Hydra without effect here"),
        ("packaged", "experiment/packaged.yaml:2: hydra.job.name: found a setting of Hydra without effect here"),
        ("nowhere", "experiment: found 'nowhere', expected one of: folders, launched, misspelt, packaged, short"),
    ],
)
def test_a_wrong_experiment_is_refused(own, here, word, fragment):
    assert_one_sentence(here(*own, f"+experiment={word}"), fragment)


@pytest.mark.parametrize("own", ["elsewhere"], indirect=True)
def test_hydras_settings_in_a_configuration_of_ones_own_are_refused_but_for_sweeps(own, here):
    assert_one_sentence(here(*own, "--config-name", "elsewhere"), "elsewhere.yaml:3: hydra.job.chdir: found a setting")
    answer = here(*own, "--config-name", "swept", "horizon=5", "repetitions=1", "output=json", "env.n_arms=4")
    assert [{"seed=1", "seed=2"} & {*report["overrides"]} for report in answer.reports] == [{"seed=1"}, {"seed=2"}]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "found over 10,000 values, aliases written out"),
        ("".join(f"key{i}: 1\n" for i in range(20000)), "found over 10,000 values"),
        ("a: " + "[" * 100000 + "]" * 100000, "levels"),
        ("a: &a {b: *a}\n", "found an alias inside the value it refers to"),
        ("a: 1\nb: 2\na: 3\n", "found duplicate key a"),
        ("a: 1\nb: 0500\n", "found 0500, which is 320 in YAML, expected a number without leading zeros or colons"),
        ("a: [1:30]\n", "found 1:30, which is 90 in YAML"),
        ("a: -1:30.5\n", "found -1:30.5, which is -90.5 in YAML"),
    ],
    ids=["bomb", "keys", "deep", "recursion", "twice", "octal", "sexagesimal", "sexagesimal float"],
)
def test_yaml_that_never_ends_or_misleads_is_one_sentence(own, here, tmp_path, text, reason):
    next(tmp_path.rglob("wide.yaml")).write_text(text)
    assert_one_sentence(here(*own, "tuner=wide"), "tuner/wide.yaml:", "found no valid YAML", reason)


@pytest.mark.parametrize("key", ["1", "null", "1.5", "true"])
def test_a_key_that_yaml_reads_as_no_string_is_named(own, here, tmp_path, key):
    next(tmp_path.rglob("wide.yaml")).write_text(f"_target_: bench.tuners.baselines.Random\n{key}: 1\n")
    assert_one_sentence(here(*own, "tuner=wide"), "tuner/wide.yaml: found ['_target_', ", "expected names as keys")
