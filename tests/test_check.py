"""`bandit-bench check`: a good class passes, each check finds its fault; classes of an installed package."""

import json
import math
import os
import re
import tomllib
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from commands import ROOT, Answer, Commands, assert_one_sentence

import bandit_bench as bb
from bench.algorithms.linucb import LinUCB
from bench.conformance.capabilities import capabilities
from bench.conformance.checks import CHECKS, NotConformingError
from bench.envs.synthetic_linear import SyntheticLinear
from runners.check import check_class


@bb.component
class Good(bb.Tuner):
    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        self._candidates, self._rng = problem.space.product(), seeds.generator("draw")
        self._sums, self._last = [0.0] * len(self._candidates), 0

    def _ask(self) -> bb.Configuration:
        self._last = int(self._rng.integers(len(self._candidates)))
        return dict(self._candidates[self._last])

    def _tell(self, reward: float, outcome: Any) -> None:
        self._sums[self._last] += reward


class OutsideTheSpace(Good):
    def _ask(self) -> bb.Configuration:
        return super()._ask() | {"ridge": 99.0}


class EndsTheProgram(Good):
    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        raise SystemExit(0)


class Unseeded(Good):
    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        super()._start(problem, seeds)
        self._rng = np.random.default_rng()


class KeepsItsPast(Good):
    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        before = getattr(self, "_rng", None)
        super()._start(problem, seeds)
        self._rng = before or self._rng


class SharesItsState(Good):
    shared: ClassVar[list[int]] = []

    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        super()._start(problem, seeds)
        self.shared.clear()

    def _ask(self) -> bb.Configuration:
        return dict(self._candidates[len(self.shared) % len(self._candidates)])

    def _tell(self, reward: float, outcome: Any) -> None:
        self.shared.append(self._last)


class LeavesOutItsTurn(Good):
    unsaved: ClassVar[tuple[str, ...]] = ("turn",)

    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        super()._start(problem, seeds)
        self.turn = 0

    def _ask(self) -> bb.Configuration:
        return dict(self._candidates[self.turn % len(self._candidates)])

    def _tell(self, reward: float, outcome: Any) -> None:
        self.turn += 1


class Overflows(Good):
    def _tell(self, reward: float, outcome: Any) -> None:
        self._sums[self._last] = min(abs(self._sums[self._last]) * 1e9 + 1, math.inf)


class TakesAnything(Good):
    def tell(self, reward: Any, outcome: Any = None, ticket: int | None = None) -> None:
        if self._asked is None:
            self._refuse_call("tell()")
        self._asked = None


class ForgetsItsAsk(Good):
    """A refused reward leaves its mark."""

    def tell(self, reward: Any, outcome: Any = None, ticket: int | None = None) -> None:
        self._rng.random()
        super().tell(reward, outcome, ticket)


class ToldWithoutAsk(Good):
    def tell(self, reward: Any, outcome: Any = None, ticket: int | None = None) -> None:
        self._asked = True
        super().tell(reward, outcome, ticket)


class AskedTwice(Good):
    def _ask(self) -> bb.Configuration:
        self._sums[self._last] = math.nan if getattr(self, "_waits", False) else self._sums[self._last]
        self._waits = True
        return super()._ask()

    def _tell(self, reward: float, outcome: Any) -> None:
        self._waits = False
        super()._tell(reward, outcome)


class WrongChances(Good):
    def probabilities(self) -> dict[str, np.ndarray]:
        return {"candidate": np.full(len(self._candidates), 0.5)}


class Unclear(Good):
    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        super()._start(problem, seeds)
        self._largest = max(configuration[problem.space.names[0]] for configuration in self._candidates)


class TakesAName(Good):
    def _ask(self) -> bb.Configuration:
        configuration = super()._ask()
        self._asked = configuration
        return configuration


class UnseededLinUCB(LinUCB):
    def choose(self, contexts: np.ndarray, configuration: bb.Configuration) -> int:
        return int(np.random.default_rng().integers(len(contexts)))


class OneArm(LinUCB):
    def choose(self, contexts: np.ndarray, configuration: bb.Configuration) -> int:
        return 2


class WrongTheory(LinUCB):
    def theory(self, round_: int, configuration: Any = None) -> bb.Configuration:
        return {"exploration": 1.0}


class OverflowingLinUCB(LinUCB):
    _scale = 1.0

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        self._scale *= 1e9
        super().update(contexts, arm, reward)


class UnseededNoise(SyntheticLinear):
    def pull(self, arm: int) -> float:
        return self.means.item(arm) + float(np.random.default_rng().normal(0, 0.1))


class AlwaysTheSame(SyntheticLinear):
    def start(self, rounds: int, seeds: bb.Seeds) -> None:
        super().start(rounds, bb.Seeds(7))


class Biased(SyntheticLinear):
    def pull(self, arm: int) -> float:
        return super().pull(arm) + 0.1


class Noisier(SyntheticLinear):
    def start(self, rounds: int, seeds: bb.Seeds) -> None:
        super().start(rounds, seeds)
        self.sub_gaussian /= 2


class WrongBest(SyntheticLinear):
    def observe(self) -> np.ndarray:
        contexts = super().observe()
        self.best_mean += 0.5
        return contexts


GOOD = {"tuner": Good, "algorithm": LinUCB, "env": SyntheticLinear}
FAULTY = {
    OutsideTheSpace: ("proposes_from_the_space", "round 1: .*ridge.*99"),
    Unseeded: ("proposes_from_the_space", "`seeds`"),
    KeepsItsPast: ("proposes_from_the_space", "started again with the same seed"),
    SharesItsState: ("leaves_other_objects_alone", "round 2: .* create it in `_start`"),
    Overflows: ("stays_finite", "_sums.* = inf"),
    TakesAnything: ("refuses_rewards_that_are_no_numbers", "takes the reward nan"),
    ForgetsItsAsk: ("refuses_rewards_that_are_no_numbers", "after refusing nan"),
    ToldWithoutAsk: ("is_asked_before_it_is_told", r"tell\(\) before ask\(\)"),
    AskedTwice: ("answers_what_was_asked_last", "_sums.* = nan"),
    WrongChances: ("answers_what_was_asked_last", "round 1: .*probabilities"),
    Unclear: ("says_which_space_does_not_fit", "TypeError"),
    TakesAName: ("keeps_names_of_its_own", "_asked, which Tuner itself uses"),
    LeavesOutItsTurn: ("goes_on_from_its_state", "in round 1"),
    UnseededLinUCB: ("repeats_itself", "the same seed"),
    OneArm: ("repeats_itself", "arm 2 in all rounds"),
    WrongTheory: ("repeats_itself", r"theory\(1\) says exploration = 1.0, expected .* exploration_rate"),
    OverflowingLinUCB: ("algorithm_stays_finite", "_scale = inf"),
    UnseededNoise: ("environment_repeats_itself", "the same seed"),
    AlwaysTheSame: ("environment_repeats_itself", "another seed"),
    Biased: ("tells_the_truth_about_its_means", r"0\.[01]\d* on average"),
    Noisier: ("tells_the_truth_about_its_means", "sub_gaussian"),
    WrongBest: ("tells_the_truth_about_its_means", "best_mean"),
}
ALL = [(group, check) for group, checks in CHECKS.items() for check in checks]


@pytest.mark.parametrize(("group", "check"), ALL, ids=lambda value: getattr(value, "__name__", value))
def test_a_good_class_passes_and_the_check_is_tried_on_a_faulty_one(group, check):
    check(GOOD[group], 1_000)
    assert check.__name__ in {name for name, _ in FAULTY.values()}


@pytest.mark.parametrize("cls", FAULTY, ids=lambda cls: cls.__name__)
def test_each_check_finds_its_fault(cls):
    name, found = FAULTY[cls]
    (check,) = [check for _, check in ALL if check.__name__ == name]
    with pytest.raises(NotConformingError, match=f"(?s){found}") as error:
        check(cls, 1_000)
    assert "\n" not in str(error.value).strip()


class FailsAtStart(Good):
    def _start(self, problem: bb.Problem, seeds: bb.Seeds) -> None:
        self._first = problem.space[0]  # type: ignore[index]


def test_abilities_are_listed_only_for_a_tuner_that_plays(capsys):
    """An error of its own at the start would look like spaces that it cannot search."""
    for cls, is_listed in ((Good, True), (FailsAtStart, False)):
        check_class(cls, rounds=50)
        assert ("\ncan " in capsys.readouterr().out) == is_listed


class OfOne(Good):
    """Of the two hyper-parameters it sets the first alone, and does not say so."""

    def _ask(self) -> bb.Configuration:
        return {"exploration_rate": 0.1}


class OfOneAsItSays(OfOne):
    multiple = False


def test_a_wrong_proposal_is_reported_with_its_cure_and_is_no_capability():
    proposes, *_ = CHECKS["tuner"]
    with pytest.raises(NotConformingError, match=r"found no value for 'ridge', .*; .* in its class: multiple = False$"):
        proposes(OfOne, 100)
    proposes(OfOneAsItSays, 100)
    several = "tune several hyper-parameters at once"
    assert [capabilities(cls()).get(several, False) for cls in (Good, OfOne, OfOneAsItSays)] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "failed"),
    [
        ("MyTuner(threshold=0.9)", ""),
        ("OtherEachTime", "Another process"),
    ],
)
def test_the_command_prints_each_check_and_the_capabilities(name, failed, commands, monkeypatch, capsys):
    answer = commands.here(monkeypatch, capsys, "check", f"my_module.{name}", "rounds=400")
    lines = answer.out.splitlines()
    assert answer.code == bool(failed), answer.err
    verdicts = [line for line in lines if line.startswith(("ok ", "FAILED "))]
    assert len(verdicts) == len(CHECKS["tuner"]) + 1
    assert any(line.startswith(f"FAILED  {failed}") for line in lines) == bool(failed)
    assert any(line.startswith("FAILED  Another process") for line in lines) == (name == "OtherEachTime")
    count = sum(line.startswith("FAILED") for line in verdicts)
    assert lines[-1] == (
        f"{count} of {len(verdicts)} checks failed" if failed else f"all {len(verdicts)} checks passed"
    )
    if not failed:
        assert all(line.startswith("ok ") for line in verdicts)
    assert any(line.startswith("can     search an interval") for line in lines)
    assert not failed or "Traceback" not in answer.err


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder of installed packages with the package of docs/extend.md, made from the code on the page."""
    page = (ROOT / "docs" / "extend.md").read_text()
    shown = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", page, re.DOTALL))
    (toml,) = [text for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "entry-points" in text]
    project = tomllib.loads(toml)["project"]
    site = tmp_path_factory.mktemp("site")
    modules = [shown[name] for name in ("my_tuner", "my_direct", "my_algorithm")]
    (site / "their_bandits.py").write_text("\n".join(modules))
    info = site / "their_bandits-0.1.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head)
    points = [
        f"[{group}]\n" + "".join(f"{name} = {path}\n" for name, path in of_group.items())
        for group, of_group in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(points))
    return site


def call_each(site: Path, folder: Path, *lines: tuple[str, ...]) -> list[Answer]:
    return Commands(folder).call_each(*lines, PYTHONPATH=os.pathsep.join([str(ROOT), str(site)]))


def test_a_package_that_lists_its_classes_is_named_compared_and_checked(installed, tmp_path):
    """Checks an environment of the package; tuners and algorithms are searched first."""
    words = ("tuner=epsilon_first,ucb1", "algorithm=discounted", "env.dim=2", "horizon=60", "repetitions=2")
    lines = [("run", "--help"), ("compare", *words, "name=theirs"), ("check", "hill", "rounds=200")]
    listed, compared, checked = call_each(installed, tmp_path, *lines)
    assert listed.code == 0
    assert all(name in listed.out for name in ("epsilon_first", "hill", "discounted"))
    assert compared.code == 0, compared.err
    assert "EpsilonGreedy" in compared.out
    played = [json.loads(path.read_text())["settings"] for path in compared.results.glob("raw/*/settings.json")]
    assert {part["algorithm"]["_target_"] for part in played} == {"their_bandits.DiscountedGreedy"}
    assert (checked.code, "FAILED" in checked.out) == (0, False), checked.out + checked.err


def test_a_package_cannot_take_a_name_of_the_suites(tmp_path):
    info = tmp_path / "site" / "greedy-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greedy\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[bandit_bench.tuners]\ntl = greedy:TL\n")
    (answer,) = call_each(tmp_path / "site", tmp_path, ("run", "tuner=tl", "horizon=20", "repetitions=1"))
    sentence = "error: tuner: found 'tl' in an installed package (greedy.TL), a name that the suite already"
    assert_one_sentence(answer, sentence)


def test_a_part_of_a_figure_has_the_runs_claims_and_published_numbers_that_are_about_it(commands, monkeypatch, capsys):
    monkeypatch.setattr("bench.report.pictures.content", lambda *_: b"")  # no picture
    words = ("figure=cdt/figure2", "scale=smoke", "only={panel: 'LinUCB, simulation', method: [CDT, OP]}", "jobs=1")
    answer = commands.here(monkeypatch, capsys, "reproduce", *words)
    assert answer.code == 0, answer.err
    (manifest,) = answer.results.glob("cdt/figure2/*/manifest.json")
    assert manifest.parent.name == "smoke-custom"
    labels = [run["labels"] for run in json.loads(manifest.read_text())["runs"]]
    assert {run["panel"] for run in labels} == {"LinUCB, simulation"}
    assert {run["method"] for run in labels} == {"CDT", "OP"}
    claims = pd.read_csv(manifest.parent / "claims.csv")
    assert len(claims)
    assert claims["text"].str.contains("OP").all()
    assert set(claims["case"]) == {"LinUCB, simulation"}


def test_a_class_that_ends_the_program_fails_its_checks(capsys):
    assert not check_class(EndsTheProgram, rounds=100)
    assert "checks failed" in capsys.readouterr().out
