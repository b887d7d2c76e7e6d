"""python -m runners.run, from end to end."""

import json
import re
import statistics
from typing import Any

import pytest
from commands import Answer

from runners.config.tree import GROUPS, suite_choices

COMMAND = "run"
SMALL = ("output=json", "repetitions=2", "horizon=30")


def values(report: dict[str, Any], name: str) -> list[float]:
    return report["metrics"][f"final_{name}"]["values"]


def settings(report: dict[str, Any], answer: Answer) -> dict[str, Any]:
    return json.loads((answer.results / "raw" / report["run_id"] / "settings.json").read_text())["settings"]


def test_the_result_is_one_json_object_and_the_second_call_runs_nothing(commands, here):
    words = (
        "paper=syndicated env=synthetic_linear algorithm=lints tuner=syndicated repetitions=2 horizon=60 output=json"
    )
    before = {path.name for path in commands.cwd.iterdir()}
    first = commands.call("run", *words.split(), "runner.progress=true")
    second = here(*words.split())
    assert (first.code, second.code) == (0, 0)
    assert "repetitions" in first.err  # the progress bar, which is not on stdout
    assert second.err == ""

    report = first.report
    said = "choices overrides run_id folder repetitions new failed seconds metrics surrogate altered packaged reused"
    assert set(report) == {*said.split()}
    assert report["folder"] == str(commands.results / "raw" / report["run_id"])
    assert (report["repetitions"], report["new"], report["failed"], report["surrogate"]) == (2, 2, 0, False)
    assert report["seconds"] > 0
    regret = report["metrics"]["final_regret"]
    assert set(regret) == {"mean", "std", "ci_low", "ci_high", "values"}
    assert len(regret["values"]) == 2
    assert regret["mean"] == pytest.approx(statistics.mean(regret["values"]))
    assert regret["std"] == pytest.approx(statistics.stdev(regret["values"]))
    assert regret["ci_low"] <= regret["mean"] <= regret["ci_high"]

    again = second.report
    assert (again["repetitions"], again["new"], again["failed"]) == (2, 0, 0)
    assert again["metrics"] == report["metrics"]
    assert again["run_id"] == report["run_id"]
    assert {path.name for path in commands.cwd.iterdir()} - {"__pycache__"} == before
    assert {path.name for path in commands.results.iterdir()} == {"raw"}
    assert settings(report, first)["env"]["mean"] == "shifted"  # the paper's, not the group's own


def test_of_few_repetitions_no_interval_is_printed(here):
    """Of two it is 13 standard errors wide, and has values that cannot be."""
    words = ("horizon=20",)
    few, enough = here("repetitions=4", *words).out, here("repetitions=5", *words).out
    assert "95 % interval" not in few
    assert few.endswith("(intervals need at least 5 repetitions)\n")
    assert re.search(r"final_regret +[\d.]+   95 % interval [\d.]+ \.\. [\d.]+\n", enough)
    assert "at least" not in enough


def test_a_wrong_job_does_not_stop_a_sweep(here):
    answer = here("--multirun", "horizon=30,-1,20", "output=json", "repetitions=1")
    assert answer.code == 1
    assert [settings(report, answer)["horizon"] for report in answer.reports] == [30, 20]
    assert answer.err.splitlines()[-1].startswith("error: horizon: found -1, expected ")


@pytest.mark.usefixtures("one_worker")
def test_own_tuners_by_configuration_alone_while_one_fails(here):
    targets = "tuner._target_=my_module.Plain,my_module.Raises,my_module.Checked"
    answer = here("--multirun", "tuner=custom", targets, "+tuner.my_setting=3", *SMALL)
    assert answer.code == 1
    plain, raises, checked = answer.reports
    assert values(plain, "exploration_rate") == values(checked, "exploration_rate") == [3, 3]
    assert values(plain, "regret") == values(checked, "regret")
    assert (raises["repetitions"], raises["failed"], raises["metrics"]) == (0, 2, {})
    *errors, _, where = answer.err.splitlines()
    assert len(errors) == 2
    for repetition, error in enumerate(errors):
        where_raised = r"round 1: RuntimeError: no luck today \(my_module\.py:\d+ in _\w+\)"
        assert re.fullmatch(rf"error: repetition {repetition} failed: {where_raised}", error)
    folder = answer.results / "raw" / raises["run_id"]
    assert where.startswith("error: 2 of 2 repetitions failed")
    assert where.endswith(f" {folder / 'rep-00000.failed.json'}")
    assert "my_module.py" in json.loads((folder / "rep-00000.failed.json").read_text())["traceback"]
    assert not list(folder.glob("*.parquet"))


def test_a_users_parts_run_in_worker_processes(here):
    words = ["env=custom", "env._target_=my_module.MyEnvironment", "+env.arms=5", "algorithm=custom"]
    words += ["algorithm._target_=my_module.MyAlgorithm", "tuner=custom", "tuner._target_=my_module.Checked"]
    words += ["+tuner.my_setting=2", *SMALL]
    fanned = here(*words, "jobs=2")
    assert (fanned.code, fanned.err) == (0, "")
    report = fanned.report
    assert report["new"] == 2
    assert values(report, "number") == [2, 2]
    assert values(report, "reward") == pytest.approx([30 * 2 / 5] * 2)
    assert values(report, "regret") == pytest.approx([30 * (4 / 5 - 2 / 5)] * 2)
    assert values(report, "random_regret") == pytest.approx([30 * (4 / 5 - 2 / 5)] * 2)


def test_help_lists_the_groups_and_their_choices(commands, here):
    answer = here("--help")
    assert answer.code == 0
    above = answer.out.partition("Configuration:")[0].splitlines()
    lines = dict(line.split(": ", 1) for line in above if ": " in line and not line.startswith(" "))
    for group in GROUPS:
        assert lines[group].split(", ") == [name for name in suite_choices(group) if name != "custom"]
    for key in ("horizon", "repetitions", "seed", "jobs", "output"):
        assert f"\n{key}: " in answer.out
    assert not commands.results.exists()


def test_results_of_a_packaged_sample_say_that_it_is_too_small(here):
    words = ("env=open_bandit", "algorithm=linucb", "tuner=cdt", "horizon=20", "repetitions=1")
    answer = here(*words)
    assert answer.code == 0, answer.err
    assert "packaged sample of the data set, too small to conclude from" in answer.out
    assert {"final_ctr", "final_ctr_low", "final_ctr_high", "final_logged_ctr"} <= set(answer.out.split())


def test_choices_have_no_mean(here):
    """Candidates and indices of arms are counted, not averaged; a hyper-parameter on an interval has a mean."""
    arms = here("env=gaussian_arms", "algorithm=none", "tuner=ucb1", *SMALL).report["metrics"]
    assert set(arms["final_arm"]) == {"values"}
    assert "mean" in arms["final_regret"]
    chosen, searched = (
        here(f"tuner={name}", *SMALL).report["metrics"]["final_exploration_rate"] for name in ("tl", "random")
    )
    assert set(chosen) == {"values"}
    assert "mean" in searched
