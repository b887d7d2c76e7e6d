"""Features of Hydra's command line work here as in Hydra."""

import subprocess
import sys

import pytest
from commands import ROOT, assert_one_sentence
from omegaconf import OmegaConf

COMMAND = "run"
SINE = ("env=switching_sine", "algorithm=none", "horizon=20", "repetitions=1")
OWN = {
    "config": "defaults: [_self_, model: resnet]\nlr: 0.1\n",  # another project's, as is the next
    "model/resnet": "depth: 3\n",
    "mine": "defaults: [config, override /tuner: cdt, _self_]\nhorizon: 77\ntuner: {radius_scale: 0.25}\n",
    "experiment/short": "# @package _global_\ndefaults:\n  - override /tuner: cdt\n  - override /env: movielens\n"
    "  - override /paper: cdt\nhorizon: 55\ntuner: {radius_scale: 0.5}\n",
    "experiment/misspelt": "# @package _global_\ntuner: {radius_scal: 0.5}\n",
    "tuner/wide": "_target_: bench.tuners.cdt.CDT\nradius_scale: 2.0\n",
}


@pytest.fixture(params=["conf", "elsewhere"])
def own(request, commands):
    """A folder of a user's own, in its usual place or for --config-dir; the words that name it."""
    for name, text in OWN.items():
        path = commands.cwd / request.param / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [] if request.param == "conf" else ["--config-dir", request.param]


def shown(here, *words):
    answer = here(*words, "--cfg", "job", "--resolve")
    assert answer.code == 0, answer.err
    return OmegaConf.to_container(OmegaConf.create(answer.out))


def numbers(answer):
    """The settings that were swept, of each job."""
    return [{word for word in report["overrides"] if word not in SINE} for report in answer.reports]


def test_a_users_experiment_overrides_the_paper_and_yields_to_the_command_line(own, here):
    made = shown(here, *own, "+experiment=short", "repetitions=3")
    assert (made["horizon"], made["repetitions"], made["tuner"]["radius_scale"]) == (55, 3, 0.5)
    assert (made["env"]["n_arms"], made["paper"]) == (300, "cdt")
    answer = here(*own, "+experiment=misspelt")
    assert_one_sentence(answer, "radius_scal")


def test_a_users_configuration_is_shown_and_run(own, here):
    words = (*own, "--config-name", "mine", "env.n_arms=4", "repetitions=1")
    made = shown(here, *words)
    assert (made["horizon"], made["tuner"]["radius_scale"], made["env"]["n_arms"]) == (77, 0.25, 4)
    answer = here(*words, "output=json")
    assert answer.report["choices"]["tuner"] == "cdt"
    text = (answer.results / "raw" / answer.report["run_id"] / "settings.json").read_text()
    run = OmegaConf.to_container(OmegaConf.create(text))["settings"]
    parts = ("horizon", "seed", "env", "algorithm", "tuner", "task")
    assert {key: run[key] for key in parts} == {key: made[key] for key in parts}


def test_a_users_choice_has_the_settings_of_its_class(own, here):
    made = shown(here, *own, "tuner=wide", "tuner.ts_scale=3")
    assert (made["tuner"]["radius_scale"], made["tuner"]["ts_scale"]) == (2.0, 3)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("tuner=random,exp3", "seed=1,2"), [{f"tuner={t}", f"seed={s}"} for t in ("random", "exp3") for s in (1, 2)]),
        (("tuner=random", "seed=range(1,4)"), [{"tuner=random", f"seed={s}"} for s in (1, 2, 3)]),
        (("tuner=glob(exp3*)",), [{"tuner=exp3"}, {"tuner=exp3_s"}]),
    ],
)
def test_a_sweep_runs_every_combination(here, words, expected):
    answer = here("-m", *SINE, *words, "output=json")
    assert answer.code == 0, answer.err
    assert [{word for word in job if word != "output=json"} for job in numbers(answer)] == expected


@pytest.mark.parametrize("launcher", ["joblib", pytest.param("submitit_local", marks=pytest.mark.release)])
def test_jobs_run_where_a_launcher_puts_them_even_with_a_users_class(here, launcher):
    words = ("env.dim=2", "env.n_arms=3", "horizon=20", "repetitions=1", "tuner=my_module.MyTuner")
    answer = here("-m", *words, "tuner.threshold=0.5,0.6", f"hydra/launcher={launcher}")
    assert answer.code == 0, answer.err
    again = here("-m", *words, "tuner.threshold=0.5,0.6", "output=json")
    assert [report["new"] for report in again.reports] == [0, 0]
    assert len({report["run_id"] for report in again.reports}) == 2


def test_hydra_writes_requested_files_alone(here, commands):
    before = {path.name for path in commands.cwd.iterdir()} | {"__pycache__"}
    assert here(*SINE, "tuner=random").code == 0
    assert here("-m", *SINE, "tuner=random,exp3").code == 0
    assert {path.name for path in commands.cwd.iterdir()} | {"__pycache__"} == before
    assert {path.name for path in commands.results.iterdir()} == {"raw"}
    assert here(*SINE, "tuner=random", "hydra.run.dir=out/x", "hydra.output_subdir=.hydra").code == 0
    kept = OmegaConf.load(commands.cwd / "out" / "x" / ".hydra" / "overrides.yaml")
    assert "hydra.run.dir=out/x" not in kept
    assert "tuner=random" in kept


def test_choices_are_completed_in_bash(tmp_path):
    """Bash runs the script that -sc install=bash prints."""
    program = tmp_path / "bandit-bench-run"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom runners.run import main\nsys.exit(main())\n")
    program.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    line = "bandit-bench-run tuner=tl"
    asked = f'eval "$(bandit-bench-run -sc install=bash)"; COMP_LINE="{line}" COMP_POINT={len(line)} COMP_CWORD=1'
    asked += '; hydra_bash_completion; echo "${COMPREPLY[@]}"'
    found = subprocess.run(["bash", "-c", asked], env=environ, capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout.split() == ["tuner=tl", "tuner=tl_combined"], found.stderr


@pytest.mark.parametrize("name", ["größe.csv", "a=b.csv", "log (1).csv", "x[0].csv"])
def test_a_file_of_any_name_is_given_in_quotes_and_the_error_says_how(here, name):
    words = ("env=log", "env.action=a", "env.reward=r", "horizon=20", "repetitions=1")
    assert_one_sentence(here(*words, f"env.path={name}"), f"env.path='{name}'")
    assert_one_sentence(here(*words, f"env.path='{name}'"), name, "no such file")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\nb: 2\na: 3\n", "duplicate key a"),
        ("a: 1\nb: 0500\n", "0500"),
        ("a: [1:30]\n", "1:30"),
        ("null: 1\n", "_target_"),
    ],
    ids=["twice", "octal", "sexagesimal", "no string"],
)
@pytest.mark.parametrize("own", ["elsewhere"], indirect=True)
def test_yaml_that_misleads_is_one_sentence(own, here, tmp_path, text, reason):
    next(tmp_path.rglob("wide.yaml")).write_text("_target_: bench.tuners.baselines.Random\n" + text)
    assert_one_sentence(here(*own, "tuner=wide"), "tuner/wide.yaml", reason)
