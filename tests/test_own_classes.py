"""A user's faulty classes: each is refused in one sentence, before any run."""

import re

import pytest
from commands import peak_settings

from bench.errors import BenchError, ConfigError
from runners.config.classes import describe
from runners.config.compose import from_overrides
from runners.config.experiment import Experiment, check_experiment, run_repetition

MODULE = """
import os
from bench.tuners.base import Tuner

class Right(Tuner):
    def _start(self, problem, seeds): self.names = problem.space.names
    def _ask(self): return dict.fromkeys(self.names, 0.5)
    def _tell(self, reward, outcome): raise ValueError("no luck")

class Wrong(Right):
    def _ask(self): return {"wrong": 1.0}

class Bare(Right):
    delta: float = 0.5

class Late(Right):
    def _tell(self, reward, outcome): self.told = reward
    def _ask(self): return super()._ask() if not hasattr(self, "told") else {}["x"]

class NoTell(Tuner):
    def _start(self, problem, seeds): pass
    def _ask(self): return {}
"""
TASK = """
from bandit_bench import Environment, Outcome, Problem, Task, component

@component
class Scaled(Task):
    {fields}
    scale: float = 1.0

    def start(self, rounds, seeds):
        self.environment.start(rounds, seeds.child("env"))
        return Problem(self.environment.space, rounds)

    def play(self, configuration):
        reward = self.scale * self.environment.play(configuration)
        return Outcome(reward, {{"reward": reward}})
"""
ALGORITHM = """
from bandit_bench import ContextualAlgorithm

class Edge(ContextualAlgorithm):
    links = ("linear",)
    spaces = {"arm": {"candidates": [CANDIDATES]}}
    def start(self, info, seeds): pass
    def choose(self, contexts, configuration): return 0
    def update(self, contexts, arm, reward): pass
"""


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    (tmp_path / "own_tuners.py").write_text(MODULE)
    (tmp_path / "lacking.py").write_text("import not_there.at_all\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    return lambda target, **settings: Experiment(peak_settings(target, **settings))


@pytest.mark.parametrize(
    ("target", "settings", "text"),
    [
        ("own_tuners.Wrong", {}, r"^round 1: Wrong: found a value for 'wrong', expected values for just \w+$"),
        ("own_tuners.Bare", {"delta": 0.1}, r"^tuner.delta: found a setting of Bare, a class without @component, exp"),
        ("own_tuners.NoTell", {}, r"^tuner: found NoTell without _tell, expected"),
        ("lacking.X", {}, r"found 'lacking.X', which imports 'not_there', a module that is neither .* of not_there"),
    ],
)
def test_a_users_wrong_class_is_refused_in_one_sentence(experiment, target, settings, text):
    with pytest.raises(BenchError, match=text):
        check_experiment(experiment(target, **settings))


def test_an_error_in_the_loop_names_the_configuration(experiment):
    told = r"^round 1, {'x': 0.5}: ValueError: no luck \(own_tuners.py:\d+ in _tell\)$"
    asked = r"^round 2: KeyError: 'x' \(own_tuners.py:\d+ in _ask\)$"
    for name, sentence in (("Right", told), ("Late", asked)):
        with pytest.raises(Exception, match=r"no luck|'x'") as error:
            run_repetition(experiment(f"own_tuners.{name}"), 0)
        assert re.search(sentence, describe(error.value))


@pytest.mark.parametrize("candidates", ["'first', 'last'", "-1.0, 1.0"])
def test_candidates_of_a_users_algorithm_may_be_words_or_negative_numbers(tmp_path, monkeypatch, candidates):
    name = f"edge_{len(candidates)}"  # a module of its own: an imported one is not read again
    (tmp_path / f"{name}.py").write_text(ALGORITHM.replace("CANDIDATES", candidates))
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["env=synthetic_linear", "algorithm=custom", f"algorithm._target_={name}.Edge", "tuner=ucb1", "horizon=20"]
    experiment = from_overrides(words).experiment
    check_experiment(experiment)
    assert len(run_repetition(experiment, 0).columns()["round"]) > 0


def test_a_users_task_has_a_field_for_its_environment(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "without_field.py").write_text(TASK.format(fields=""))
    (tmp_path / "with_field.py").write_text(TASK.format(fields="environment: Environment"))
    words = ["env=switching_sine", "algorithm=none", "tuner=random", "horizon=20"]
    with pytest.raises(ConfigError, match=r"^task: found Scaled without the field 'environment', .*bandit_bench"):
        check_experiment(from_overrides([*words, "task=without_field.Scaled"]).experiment)
    once, twice = (
        run_repetition(
            from_overrides([*words, "task=with_field.Scaled", f"task.scale={scale}"]).experiment, 0
        ).columns()
        for scale in (1.0, 2.0)
    )
    assert (twice["reward"] == 2 * once["reward"]).all()
