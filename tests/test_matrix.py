"""Every environment with every tuner is checked and played: it works, or one sentence refuses it.

Whether a pair fits follows from what its classes declare. A few rounds on generated data; two pairs in five are tried
before a commit, all before a release.
"""

from functools import cache
from pathlib import Path

import own_log
import pytest
import registry

from bench.envs import movielens
from bench.errors import BenchError
from bench.loop import run
from bench.seeding import Seeds
from runners.config.compose import from_overrides
from runners.config.experiment import build, check_experiment

FOREST = ("algorithm=random_forest", "algorithm.space.n_estimators={candidates: [2, 3], low: 2, high: 4, default: 2}")
POLICY = ("algorithm=softmax_policy", "algorithm.n_trees=2", "algorithm.max_iter=50")
POLICY += tuple(
    f"algorithm.space.{name}={{candidates: [0.5, 0.9], default: 0.9}}" for name in ("l1_ratio", "max_samples")
)
GLM = ("algorithm=ucb_glm", "algorithm.random_pulls=1")
WITH = {
    "ali_display_ad": ("algorithm=candidate_generation", "algorithm.steps=2", "env.surrogate_users=300",
                       "env.surrogate_ads=100", "env.surrogate_days=2"),
    "classification": ("algorithm=epsilon_greedy",),
    "drifting_linear": ("algorithm=d_linucb",),
    "drifting_logistic": GLM,
    "drifting_movielens": ("algorithm=sw_linucb", "env.dim=3", "env.n_arms=20"),
    "house_prices": FOREST,
    "log": ("algorithm=linucb", f"env.path={own_log.small_log()}",
            *(f"env.{key}={value}" for key, value in own_log.COLUMNS.items())),
    "movielens": ("algorithm=lints", "env.dim=3", "env.n_arms=20"),
    "open_bandit": ("algorithm=linucb",),
    "service_log": ("algorithm=none", f"env.path={own_log.service_log()}"),
    "synthetic_linear": ("algorithm=linucb",),
    "synthetic_linear_legacy": ("algorithm=linucb",),
    "synthetic_logged": (*POLICY, "env.n_train=60", "env.n_validation=60", "env.n_test=200"),
    "synthetic_logistic": GLM,
    "titanic": FOREST,
    "wandering_triangle": ("algorithm=none", "env.probability=1.0"),
    "yahoo_r6a": GLM,
}  # fmt: skip
"""An algorithm that fits the environment, quick to train, and a small size; the arms or configurations elsewhere."""
OF_EACH_KIND = {"gaussian_arms", "log", "noisy_peak", "switching_sine"}
OF_EACH_KIND |= {"synthetic_linear", "titanic"}
"""Environments on which every tuner is tried before a commit: arms, a log, a peak, known changes, integers."""


def is_tried(env, tuner):
    """Whether a pair is tried before a commit, as is every tuner with requirements on its environment."""
    made = registry.build("tuner", tuner)
    return env in OF_EACH_KIND or made.needs or tuner in ("cdt", "changepoint_gp", "random", "tl", "theory")


def pairs():
    for env in registry.names("env"):
        for tuner in registry.names("tuner"):
            yield pytest.param(env, tuner, marks=() if is_tried(env, tuner) else pytest.mark.release)


@pytest.fixture(scope="module", autouse=True)
def generated_data(shared_cache: Path):
    """There is no real data, and generated data and trained models are prepared once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BENCH_DATA_DIR", raising=False)
        patch.setenv("XDG_CACHE_HOME", str(shared_cache))
        patch.setattr(movielens, "users_by_period", cache(movielens.users_by_period))
        yield


def fits(tuner, problem):
    """Whether a problem meets the needs of a tuner, and each tuned hyper-parameter can be searched by it."""
    parameters = tuner.searched(problem.space).parameters
    has_values = all(parameter.candidates for parameter in parameters)
    has_intervals = all(parameter.continuous for parameter in parameters)
    is_searched = ("candidates" in tuner.searches and has_values) or ("interval" in tuner.searches and has_intervals)
    return is_searched and all(getattr(problem, need) for need in tuner.needs)


def assert_works_or_is_refused(words):
    """The theory tuner may find no value, and a grid may exceed the rounds: all other combinations are played."""
    experiment = from_overrides([*words, "horizon=5", "repetitions=1"]).experiment
    task, tuner = build(experiment)
    try:
        check_experiment(experiment)
    except BenchError as error:
        text = str(error)
        assert "found " in text
        assert ", expected " in text
        assert "\n" not in text
        assert not fits(tuner, task.start(5, Seeds(0))) or "theoretical value" in text or "found a grid of" in text
        return
    assert fits(tuner, task.start(5, Seeds(0)))
    assert run(task, tuner, rounds=5, seeds=Seeds(0)).round == 5


@pytest.mark.parametrize(("env", "tuner"), list(pairs()))
def test_a_pair_works_or_is_refused_in_one_sentence(env, tuner):
    assert_works_or_is_refused([f"env={env}", *WITH.get(env, ("algorithm=none",)), f"tuner={tuner}"])


@pytest.mark.parametrize("tuner", registry.names("tuner"))
def test_copies_are_tuned_or_refused_in_one_sentence(tuner):
    assert_works_or_is_refused(["task=copies", "algorithm.tune=[ridge]", f"tuner={tuner}"])
