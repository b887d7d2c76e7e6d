"""Every registered class passes these."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import conformance
import numpy as np
import pytest
import registry

from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.configuration_check import ConfigurationCheck
from bench.conformance.checks import CHECKS, stays_finite, tells_the_truth_about_its_means
from bench.conformance.drive import SPACE, known, not_finite, problem
from bench.envs.contextual import ContextualEnvironment
from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError, TunerError
from bench.seeding import Seeds
from bench.space import HyperParameter, Space
from bench.tuners.base import Problem

TUNERS = registry.names("tuner")
BANDITS = [n for n in registry.names("algorithm") if isinstance(registry.build("algorithm", n), ContextualAlgorithm)]
DIRECT = [name for name in registry.names("env") if isinstance(registry.build("env", name), DirectEnvironment)]
CONTEXTUAL = [name for name in registry.names("env") if isinstance(registry.build("env", name), ContextualEnvironment)]
WITH_MEANS = [name for name in CONTEXTUAL if "regret" in registry.build("env", name).sums]
ENVIRONMENTS = DIRECT + CONTEXTUAL
ROUNDS = 2_000
"""Of the longest checks of tuners and algorithms; before a release, a million for tuners."""


def environment(name):
    return registry.build("env", name, **conformance.SMALL.get(name, {}))


@pytest.fixture(scope="module")
def elsewhere():
    """The digests of every class's actions in another process."""
    script = Path(conformance.__file__)
    environ = {**os.environ, "PYTHONPATH": str(script.parents[1])}
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env=environ)
    return json.loads(out.stdout.splitlines()[-1])


def test_another_process_gives_the_same_numbers(elsewhere):
    assert conformance.all_digests() == elsewhere
    assert len(elsewhere) == len(TUNERS) + len(BANDITS) + len(ENVIRONMENTS)


@pytest.mark.parametrize("check", CHECKS["tuner"], ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", TUNERS)
def test_tuner(name, check):
    check(lambda: registry.build("tuner", name), conformance.rounds(name, ROUNDS))


@pytest.mark.release
@pytest.mark.parametrize("name", TUNERS)
def test_tuner_stays_finite_over_a_million_rounds(name):
    stays_finite(lambda: registry.build("tuner", name), conformance.rounds(name, 1_000_000))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("largest", [1e150, sys.float_info.max])
@pytest.mark.parametrize("name", TUNERS)
def test_rewards_up_to_the_largest_float_are_learnt_without_a_warning_and_leave_the_state_finite(name, largest):
    """A single one, all of one sign, and of both signs, with the rewards of every candidate."""
    horizon = conformance.rounds(name, 90)
    for rewards in ([largest, *[0.5] * 9], [largest], [-largest], [largest, -largest, -largest], [0.0, largest]):
        tuner = registry.build("tuner", name)
        tuner.start(problem(horizon), Seeds(3))
        check = ConfigurationCheck(tuner.searched(SPACE), tuner.leaves_space)
        for round_ in range(horizon // 3):
            reward = rewards[round_ % len(rewards)]
            assert check.fault(tuner.ask()) is None
            tuner.tell(reward, known(reward))
        assert not list(not_finite(vars(tuner)))


def fits(name, parameter):
    """Whether a hyper-parameter meets the requirement that the tuner's class states."""
    kind = "interval" if parameter.continuous else "candidates"
    return name != "theory" and kind in registry.build("tuner", name).searches


@pytest.mark.parametrize("name", TUNERS)
def test_tuner_has_a_clear_error_for_a_space_that_does_not_fit(name):
    for parameter in (HyperParameter("x", candidates=(1, "a", None)), HyperParameter("x", low=0.0, high=1.0)):
        tuner = registry.build("tuner", name)
        problem = Problem(Space((parameter,)), 10)
        expected = (
            nullcontext() if fits(name, parameter) else pytest.raises(ConfigError, match=r"^[^\n]*expected[^\n]*$")
        )
        with expected:
            tuner.start(problem, Seeds(1))
            assert "x" in tuner.ask()


@pytest.mark.parametrize("value", [4.0, "a", None])
@pytest.mark.parametrize("name", [name for name in TUNERS if fits(name, HyperParameter("x", candidates=(4.0,)))])
def test_the_only_candidate_is_always_proposed(name, value):
    tuner = registry.build("tuner", name)
    tuner.start(Problem(Space.of(x=[value]), 20), Seeds(1))
    for reward in (1.0, -1e6, 1e6, 0.3, *[0.5] * 16):
        assert tuner.ask() == {"x": value}
        tuner.tell(reward, known(reward, 1))


@pytest.mark.parametrize("horizon", [0, None, 1.5])
def test_tuner_wants_a_positive_horizon(horizon):
    with pytest.raises(TunerError, match=f"Random: found a horizon of {horizon} asks, expected a whole number"):
        registry.build("tuner", "random").start(Problem(SPACE, horizon), Seeds(1))


@pytest.mark.parametrize("check", CHECKS["algorithm"], ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", BANDITS)
def test_algorithm(name, check):
    check(lambda: registry.build("algorithm", name), conformance.rounds(name, ROUNDS))


@pytest.mark.parametrize("check", CHECKS["env"], ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment(name, check):
    check(lambda: environment(name), 5_000)


@pytest.mark.release
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment_tells_the_truth_over_many_rounds(name):
    tells_the_truth_about_its_means(lambda: environment(name), 20_000)


@pytest.mark.parametrize("name", WITH_MEANS)
def test_rewards_do_not_depend_on_earlier_plays(name):
    """The noise of a round is the same for every arm, so comparisons between methods are paired."""
    noise = []
    for arms in ([0] * 50, [1, 2] * 25):
        env = environment(name)
        env.start(50, Seeds(1).child("env"))
        noise.append([(env.observe().tolist(), env.pull(arm) - env.means[arm]) for arm in arms])
    contexts = [[row[0] for row in run] for run in noise]
    assert contexts[0] == contexts[1]
    if env.link == "linear":
        np.testing.assert_allclose([row[1] for row in noise[0]], [row[1] for row in noise[1]], atol=1e-12)


VALUES = {
    "ridge": ((0.0, -1.0), "linucb lints ucb_glm glm_tsl d_linucb sw_linucb"),
    "discount": ((0.0, 1.1), "d_linucb"),
    "window": ((0.5, 0), "sw_linucb"),
    "kappa": ((0,), "gloc gloc_code"),
    "step_size": ((0,), "laplace_ts"),
    "learning_rate": ((0,), "sgd_ts"),
}


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [(name, key, value) for key, (values, names) in VALUES.items() for name in names.split() for value in values],
)
def test_a_value_of_a_hyper_parameter_out_of_range_is_one_sentence(name, key, value):
    algorithm = registry.build("algorithm", name)
    algorithm.start(BanditInfo(3, 5, 100, 0.5, 1.0), Seeds(1).child("algorithm"))
    with pytest.raises(ConfigError, match=rf"^hyper-parameter '{key}': found [^\n]*, expected [^\n]*$"):
        algorithm.choose(np.ones((5, 3)), algorithm.hyper_parameters.defaults | {key: value})
