"""Requirements on every class, run by ``bandit-bench check my_module.MyTuner`` and by the suite's own tests."""

import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from bench.configuration_check import ConfigurationCheck
from bench.conformance.drive import (
    SPACE,
    asks,
    backwards,
    digest_of,
    drive_algorithm,
    drive_environment,
    drive_tuner,
    known,
    not_finite,
    outcomes,
    problem,
)
from bench.envs.direct import DirectEnvironment
from bench.errors import BenchError, TunerError
from bench.rewards import short
from bench.seeding import Seeds
from bench.space import HyperParameter, Space
from bench.tuners.base import Problem, Tuner
from bench.tuners.fault import fault_of


class NotConformingError(BenchError):
    """A class violates a requirement of its kind; the message gives the values found."""


OWN_STATE = "expected no list, dict or array that all objects of the class share: create it in `_start`"
OF_THE_BASE = {"_asked", "_given", "_started", "_tickets"}
"""The attributes that `Tuner.start` sets."""
REMEDY = "expected all random numbers to come from `seeds`, and all state to be set at the start"
"""Functions that return the behaviour of an object for a seed, by part."""
REFUSE = "; if it cannot search them, `_start` refuses them: raise bandit_bench.BenchError('found ..., expected ...')"
Build = Callable[[], Any]
"""Builds a fresh object of the class under test."""


def _expect(is_right: bool, found: str) -> None:
    if not is_right:
        raise NotConformingError(found)


def _expect_finite_state(part: Any, drive: Callable[[Any, int, int], Any], rounds: int) -> None:
    drive(part, 1, rounds)
    places = list(not_finite(part, own=("bench.", type(part).__module__)))
    _expect(not places, f"after {rounds:,} rounds {'; '.join(places[:3])}")


def proposes_from_the_space(build: Build, rounds: int) -> None:
    """It proposes values of the search space, and the same ones from the same seed."""
    tuner = build()
    first = drive_tuner(tuner, 1, min(rounds, 200))
    for t, configuration in enumerate(first, 1):
        fault = fault_of(tuner, SPACE, configuration)
        _expect(fault is None, f"round {t}: {fault}")
    for again, who in ((tuner, "started again with the same seed, it"), (build(), "another object with the same seed")):
        same = all(a == b for a, b in zip(first, asks(again, 1, len(first)), strict=False))
        _expect(same, f"{who} proposes different values, {REMEDY}")


def leaves_other_objects_alone(build: Build, rounds: int) -> None:
    """It is independent of other objects of its class."""
    alone = drive_tuner(build(), 1, min(rounds, 60))
    tuner, other = build(), build()
    tuner.start(problem(len(alone)), Seeds(1).child("tuner"))
    other.start(problem(len(alone)), Seeds(2).child("tuner"))
    for t, (outcome, expected) in enumerate(zip(outcomes(len(alone)), alone, strict=True), 1):
        found = tuner.ask()
        _expect(found == expected, f"round {t}: beside another object it proposes different values, {OWN_STATE}")
        other.ask()
        other.tell(-outcome.reward, known(-outcome.reward))
        tuner.tell(outcome.reward, outcome)


def stays_finite(build: Build, rounds: int) -> None:
    """Its state stays finite under rewards from -1e6 to 1e6."""
    _expect_finite_state(build(), drive_tuner, rounds)


def refuses_rewards_that_are_no_numbers(build: Build, rounds: int) -> None:
    """It refuses a reward that is not a finite number, and is unchanged afterwards."""
    for reward in (math.nan, -math.inf, "much", None, 1j, 10**400):
        tuner, other = build(), build()
        for each in (tuner, other):
            each.start(problem(20), Seeds(1))
            each.ask()
        try:
            tuner.tell(reward)
        except TunerError as error:
            _expect("expected a finite number" in str(error), f"told {short(reward)}, it says: {error}")
        else:
            raise NotConformingError(f"it takes the reward {short(reward)}")
        tuner.tell(1.0, known(1.0))
        other.tell(1.0, known(1.0))
        same = all(tuner.ask() == other.ask() for _ in range(5))
        _expect(same, f"after refusing {short(reward)}, it proposes something different")


def is_asked_before_it_is_told(build: Build, rounds: int) -> None:
    """It refuses `ask` before `start`, and `tell` before `ask`."""
    tuner = build()
    _refused(tuner.ask, "ask() before start()")
    tuner.start(problem(20), Seeds(1))
    _refused(lambda: tuner.tell(0.0), "tell() before ask()")
    tuner.ask()
    tuner.tell(0.0, known(0.0))
    _refused(lambda: tuner.tell(0.0), "tell() twice")


def _refused(call: Callable[[], Any], what: str) -> None:
    try:
        call()
    except TunerError:
        return
    raise NotConformingError(f"it takes {what}")


def answers_what_was_asked_last(build: Build, rounds: int) -> None:
    """Two calls of `ask` in a row are harmless, and the probabilities of its draws add up to 1."""
    tuner, horizon = build(), min(rounds, 300)
    tuner.start(problem(horizon), Seeds(4))
    for t, outcome in enumerate(outcomes(horizon), 1):
        tuner.ask()
        tuner.ask()
        for name, chances in tuner.probabilities().items():
            is_sound = bool((chances > 0).all()) and abs(float(chances.sum()) - 1.0) < 1e-9
            _expect(is_sound, f"round {t}: the probabilities of {name} are {chances}")
        tuner.tell(outcome.reward, outcome)
    places = list(not_finite(tuner, own=("bench.", type(tuner).__module__)))
    _expect(not places, f"after {horizon} rounds {'; '.join(places[:3])}")


def says_which_space_does_not_fit(build: Build, rounds: int) -> None:
    """It refuses, in one sentence, a space that it cannot search, at `start` or at the first `ask`."""
    for parameter in (HyperParameter("x", candidates=(1, "a", None)), HyperParameter("x", low=0.0, high=1.0)):
        tuner = build()
        try:
            tuner.start(Problem(Space((parameter,)), 10), Seeds(1))
            fault = ConfigurationCheck(Space((parameter,)), tuner.leaves_space).fault(tuner.ask())
            _expect(fault is None, f"asked for {parameter.expected}: {fault}{REFUSE}")
        except BenchError as error:
            if isinstance(error, NotConformingError):
                raise
            is_clear = "expected" in str(error) and "\n" not in str(error)
            _expect(is_clear, f"asked for {parameter.expected}, it says: {error}")
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise NotConformingError(f"asked for {parameter.expected}, it fails with {text}{REFUSE}") from None


def keeps_names_of_its_own(build: Build, rounds: int) -> None:
    """It leaves attributes of `Tuner`, such as `_asked`, unchanged, and sets no attribute named like a method."""
    tuner = build()
    tuner.start(problem(20), Seeds(1))
    kept = {name: vars(tuner)[name] for name in vars(tuner).keys() & OF_THE_BASE}
    tuner._ask()
    tuner._tell(0.0, known(0.0))
    taken = [name for name, value in kept.items() if vars(tuner).get(name) is not value]
    settings = {field.name for field in fields(tuner)} if is_dataclass(tuner) else set()
    taken += (vars(tuner).keys() & set(dir(Tuner))) - OF_THE_BASE - settings
    _expect(not taken, f"it sets {', '.join(sorted(taken))}, which Tuner itself uses, expected another name")


def goes_on_from_its_state(build: Build, rounds: int) -> None:
    """From its saved state, with the keys in another order, another object continues identically."""
    tuner, told = build(), list(outcomes(min(rounds, 30)))
    tuner.start(problem(100), Seeds(1))
    for outcome in told:
        tuner.ask()
        tuner.tell(outcome.reward, outcome)
    try:
        saved = json.dumps(tuner.save())
    except TunerError:  # its message says that it has no state to save
        return
    for place, text in (
        ("as JSON", saved),
        ("with its keys in another order", json.dumps(backwards(json.loads(saved)))),
    ):
        other = build()
        other.start(problem(100), Seeds(2))
        other.restore(json.loads(text))
        _expect(other.save() == json.loads(saved), f"restored from its state {place}, it saves another one")
    for t, outcome in enumerate(told[:5], 1):
        same = tuner.ask() == other.ask()
        _expect(same, f"restored from its state {place}, it proposes something different in round {t}")
        for each in (tuner, other):
            each.tell(outcome.reward, outcome)


def repeats_itself(build: Build, rounds: int) -> None:
    """It pulls the same arms from the same seed, and not always one arm; its theory names its hyper-parameters."""
    algorithm = build()
    first = drive_algorithm(algorithm, 1, min(rounds, 200))
    _expect(
        drive_algorithm(algorithm, 1, len(first)) == first,
        f"started again with the same seed, it pulls different arms, {REMEDY}",
    )
    _expect(len(set(first)) > 1, f"it pulls arm {first[0]} in all rounds")
    names = algorithm.hyper_parameters.names
    for t in (1, 10, 1000):
        for name, value in algorithm.theory(t).items():
            is_sound = name in names and math.isfinite(value) and value > 0
            _expect(is_sound, f"theory({t}) says {name} = {value}, expected positive values of {', '.join(names)}")


def algorithm_stays_finite(build: Build, rounds: int) -> None:
    """Its state stays finite under rewards from -1e6 to 1e6."""
    _expect_finite_state(build(), drive_algorithm, rounds)


def environment_repeats_itself(build: Build, rounds: int) -> None:
    """It gives the same contexts and rewards from the same seed, and others from another seed."""
    first = digest_of(drive_environment(build(), 1, 30))
    _expect(
        digest_of(drive_environment(build(), 1, 30)) == first,
        f"with the same seed it gives other contexts or rewards, {REMEDY}",
    )
    _expect(digest_of(drive_environment(build(), 2, 30)) != first, "another seed gives the same contexts and rewards")


def tells_the_truth_about_its_means(build: Build, rounds: int) -> None:
    """Its rewards have the stated means on average, and no more than the stated spread."""
    environment, rounds = build(), min(rounds, 20_000)
    environment.start(rounds, Seeds(1).child("env"))
    rng = np.random.default_rng(0)
    surprise = []
    for _ in range(rounds):
        if isinstance(environment, DirectEnvironment):
            reward = environment.play(environment.space.sample(rng))
            if reward is None or not hasattr(environment, "mean"):  # a log has an end, and knows no means
                break
            surprise.append(reward - environment.mean)
            best = environment.mean <= environment.best_mean + 1e-12
            _expect(best, f"a mean of {environment.mean} is above best_mean, {environment.best_mean}")
            continue
        contexts = environment.observe()
        if contexts is None or "regret" not in environment.sums:  # a log ends, and its means may be unknown
            break
        shape = (len(environment.means), environment.dim)
        _expect(contexts.shape == shape, f"contexts have the shape {contexts.shape}, expected {shape}")
        norm = float(np.linalg.norm(contexts, axis=1).max())
        is_bounded = norm <= environment.feature_norm * (1 + 1e-12)
        _expect(is_bounded, f"features of length {norm:g}, more than feature_norm, {environment.feature_norm:g}")
        arm = int(rng.integers(len(contexts)))
        surprise.append(environment.pull(arm) - environment.means[arm])
        largest = float(environment.means.max())
        _expect(environment.best_mean == largest, f"best_mean is {environment.best_mean}, the largest mean {largest}")
        average = float(environment.means.mean())
        is_average = abs(environment.average_mean - average) <= 1e-9
        _expect(is_average, f"average_mean is {environment.average_mean}, the average {average}")
    if len(surprise) > 1:
        mean, spread = float(np.mean(surprise)), float(np.std(surprise))
        is_unbiased = abs(mean) <= 4 * spread / math.sqrt(len(surprise)) + 1e-12
        _expect(is_unbiased, f"rewards differ from their means by {mean:.4g} on average")
        is_said = spread <= 1.02 * environment.sub_gaussian + 1e-12
        _expect(is_said, f"rewards spread by {spread:.4g}, more than sub_gaussian, {environment.sub_gaussian:.4g}")


CHECKS: dict[str, tuple[Callable[[Build, int], None], ...]] = {
    "tuner": (
        proposes_from_the_space,
        leaves_other_objects_alone,
        stays_finite,
        refuses_rewards_that_are_no_numbers,
        is_asked_before_it_is_told,
        answers_what_was_asked_last,
        says_which_space_does_not_fit,
        keeps_names_of_its_own,
        goes_on_from_its_state,
    ),
    "algorithm": (repeats_itself, algorithm_stays_finite),
    "env": (environment_repeats_itself, tells_the_truth_about_its_means),
}
"""By part; the docstring of a check is the tested requirement."""
