"""Every environment with every tuner, as ``python -m runners.run`` plays them: it works or one sentence refuses it.

A few rounds on generated data, all in one process: what is composed, checked, run, stored and reported is the same,
but the words are composed without Hydra's command line. Two pairs in five are tried before a commit, all before a
release.
"""

import sys
from functools import cache
from pathlib import Path

import own_log
import pytest
import registry
from conformance import INTERVALS

from bench.envs import movielens
from runners import command
from runners.config.compose import from_overrides
from runners.run import run_and_report

FOREST = ("algorithm=random_forest", "algorithm.space.n_estimators={candidates: [2, 3], low: 2, high: 4, default: 2}")
POLICY = ("algorithm=softmax_policy", "algorithm.n_trees=2", "algorithm.max_iter=50")
POLICY += tuple(
    f"algorithm.space.{name}={{candidates: [0.5, 0.9], default: 0.9}}" for name in ("l1_ratio", "max_samples")
)
ALGORITHMS = {
    "ali_display_ad": ("algorithm=candidate_generation", "algorithm.steps=2"),
    "classification": ("algorithm=epsilon_greedy",),
    "drifting_linear": ("algorithm=d_linucb",),
    "drifting_logistic": ("algorithm=ucb_glm", "algorithm.random_pulls=1"),
    "drifting_movielens": ("algorithm=sw_linucb",),
    "house_prices": FOREST,
    "log": ("algorithm=linucb",),
    "movielens": ("algorithm=lints",),
    "open_bandit": ("algorithm=linucb",),
    "synthetic_linear": ("algorithm=linucb",),
    "synthetic_linear_legacy": ("algorithm=linucb",),
    "synthetic_logged": POLICY,
    "synthetic_logistic": ("algorithm=ucb_glm", "algorithm.random_pulls=1"),
    "titanic": FOREST,
    "yahoo_r6a": ("algorithm=ucb_glm", "algorithm.random_pulls=1"),
}
"""An algorithm that fits the environment, the arms themselves elsewhere, quick to train."""
SMALL = {
    "ali_display_ad": ("env.surrogate_users=300", "env.surrogate_ads=100", "env.surrogate_days=2"),
    "drifting_movielens": ("env.dim=3", "env.n_arms=20"),
    "log": (f"env.path={own_log.small_log()}", *(f"env.{key}={value}" for key, value in own_log.COLUMNS.items())),
    "movielens": ("env.dim=3", "env.n_arms=20"),
    "service_log": (f"env.path={own_log.service_log()}",),
    "synthetic_logged": ("env.n_train=60", "env.n_validation=60", "env.n_test=200"),
    "wandering_triangle": ("env.probability=1.0",),
}
ARMS = {"adversarial_arms", "bernoulli_arms", "gaussian_arms"}
WORDS = ARMS | {"copies", "house_prices", "service_log", "synthetic_logged", "titanic"}
"""Environments with a hyper-parameter that has no interval, and copies, each of a candidate."""
CHANGING = {"new_peak", "piecewise_lipschitz", "switching_sine", "switching_triangle", "wandering_triangle"}
"""Environments whose rounds of change are known."""
WITH_THEORY = {"movielens", "open_bandit", "synthetic_linear", "synthetic_linear_legacy", "synthetic_logistic"}
WITH_THEORY |= {"classification", "log", "yahoo_r6a", "drifting_linear", "drifting_logistic", "drifting_movielens"}


def misfit(env: str, tuner: str) -> str:
    """Return what the refusal of a pair says that was found, nothing where the pair fits."""
    if tuner == "hedge" and env not in ARMS:
        return "found Hedge with"
    if tuner == "best_forecast" and env != "copies":
        return "found BestForecast with"
    if tuner == "zooming_oracle" and env not in CHANGING:
        return "found ZoomingOracle with"
    if tuner in INTERVALS and env in WORDS:
        return "found no interval"
    if tuner == "theory" and env not in WITH_THEORY:
        return "found no theoretical value"
    if tuner == "grid_then_best" and env in WORDS:  # more words than asks of its first phase
        return "found a grid of"
    return ""


OF_EACH_KIND = {"gaussian_arms", "log", "noisy_peak", "switching_sine"}
OF_EACH_KIND |= {"synthetic_linear", "synthetic_logged", "titanic"}
"""Environments of which every tuner is tried before a commit: arms, a log, a peak, known changes, words, integers."""
IN_ALL = {"best_forecast", "cdt", "changepoint_gp", "hedge", "random", "tl"}
IN_ALL |= {"grid_then_best", "theory", "zooming_oracle"}
"""Tuners that are tried with every environment: those that ask something of it, and one of each kind."""


def pairs():
    """Yield every pair; those of which neither stands for its kind are tried before a release."""
    for env in registry.names("env"):
        for tuner in registry.names("tuner"):
            stands = env in OF_EACH_KIND or tuner in IN_ALL
            yield pytest.param(env, tuner, marks=() if stands else pytest.mark.release)


@pytest.fixture(scope="module")
def no_data(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path):
    """There is no real data, and generated data and trained models are prepared once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BENCH_DATA_DIR", raising=False)
        patch.setenv("BENCH_RESULTS_DIR", str(tmp_path_factory.mktemp("matrix")))
        patch.setenv("XDG_CACHE_HOME", str(shared_cache))
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(movielens, "users_by_period", cache(movielens.users_by_period))
        yield


def assert_works_or_is_refused(words, expected, capsys):
    code = command.command(lambda: run_and_report(from_overrides([*words, "horizon=5", "repetitions=1"])))
    out, err = capsys.readouterr()
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in err
    if expected:
        assert code == 1
        assert errors == err.splitlines()[-1:]
        assert expected in errors[0]
        assert ", expected " in errors[0]
    else:
        assert (code, errors) == (0, [])
        assert "1 repetition (1 new, 0 failed)" in out


@pytest.mark.usefixtures("no_data")
@pytest.mark.parametrize(("env", "tuner"), list(pairs()))
def test_a_pair_works_or_is_refused_in_one_sentence(env, tuner, capsys):
    words = [f"env={env}", *ALGORITHMS.get(env, ("algorithm=none",)), *SMALL.get(env, ()), f"tuner={tuner}"]
    assert_works_or_is_refused(words, misfit(env, tuner), capsys)


@pytest.mark.usefixtures("no_data")
@pytest.mark.parametrize("tuner", registry.names("tuner"))
def test_copies_are_tuned_or_refused_in_one_sentence(tuner, capsys):
    words = ["task=copies", "algorithm.tune=[ridge]", f"tuner={tuner}"]
    assert_works_or_is_refused(words, misfit("copies", tuner), capsys)
