"""What every tuner, algorithm and environment must do; run as a script it prints a digest of what all of them did."""

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import own_log
import registry

from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.envs.contextual import ContextualEnvironment
from bench.envs.direct import DirectEnvironment
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem

SPACE = Space.of(
    exploration_rate={"candidates": (0.1, 1.0, 2.0, 4.0), "low": 0.1, "high": 5.0},
    ridge={"candidates": (0.1, 1.0), "low": 0.1, "high": 2.0, "log": True},
)
SMALL = {
    "synthetic_linear": {"n_arms": 5, "dim": 3},
    "synthetic_logistic": {"n_arms": 5, "dim": 3},
    "movielens": {"n_arms": 5, "dim": 3},
}
DRIFT = {"changes": 2, "rotation": 0.5, "popularity": 0.2, "signal": [1.0, 0.5]}
SMALL |= {
    "drifting_linear": SMALL["synthetic_linear"] | DRIFT | {"noise": [1.0, 0.5]},
    "drifting_logistic": SMALL["synthetic_logistic"] | DRIFT,
    "drifting_movielens": SMALL["movielens"] | {"n_users": 10},
    "classification": {"data": "wine", "label_noise": 0.1},
    "log": {"path": own_log.small_log()} | own_log.COLUMNS,
}
ROUNDS = {"ucb_glm": 1_000, "glm_tsl": 1_000, "gp_minimize": 14, "tpe": 150, "optuna_random": 150, "gp_ucb": 3_000}
ROUNDS |= {"glr_klucb": 30_000}
"""Limits for those whose rounds are dear, or get dearer as data comes in."""
INTERVALS = {"gp_ucb", "sd2me", "ad2me", "cdt", "cdt_code", "cdt_first_upload"}
INTERVALS |= {"zooming", "zooming_ts", "zooming_oracle", "zooming_double_restarts"}
"""Tuners that search intervals only."""
ANY_SPACE = {"fixed", "random", "gp_minimize", "tpe", "optuna_random"}
ANY_SPACE |= {"grid_then_best", "random_then_best", "hyperband", "resource_hyperband", "changepoint_gp"}
"""Tuners that take values and intervals; those in neither set take values only."""


def rounds(name: str, wanted: int) -> int:
    return min(wanted, ROUNDS.get(name, wanted))


def problem(horizon: int) -> Problem:
    return Problem(SPACE, horizon, theory=lambda: {"exploration_rate": 1.5}, change_points=(horizon // 3,))


def rewards(horizon: int) -> Iterator[float]:
    """Yield ordinary rewards first, then extreme ones of both signs, then ordinary ones."""
    kinds = np.random.default_rng(5)
    for t in range(horizon):
        yield float(kinds.random() < 0.5) if t % 3 else (-1.0) ** t * 10.0 ** (t % 7)


def outcomes(horizon: int) -> Iterator[Outcome]:
    """Yield ordinary and extreme rewards, with what tuners may look at: what all would have earned, and forecast."""
    rng = np.random.default_rng(6)
    n = len(SPACE.product())
    for reward in rewards(horizon):
        yield Outcome(reward, rewards=reward * rng.random(n), forecast_losses=abs(reward) * rng.random(n))


def known(reward: float, n: int = len(SPACE.product())) -> Outcome:
    """Return an outcome in which each of ``n`` candidates earns the same."""
    return Outcome(reward, rewards=np.full(n, reward), forecast_losses=np.full(n, abs(reward)))


def drive_tuner(tuner: Any, seed: int, horizon: int) -> list[Configuration]:
    tuner.start(problem(horizon), Seeds(seed).child("tuner"))
    asked = []
    for outcome in outcomes(horizon):
        asked.append(tuner.ask())
        tuner.tell(outcome.reward, outcome)
    return asked


def drive_algorithm(algorithm: Any, seed: int, horizon: int) -> list[int]:
    dim, n_arms = 3, 5
    algorithm.start(BanditInfo(dim, n_arms, horizon, 0.5, 1.0), Seeds(seed).child("algorithm"))
    rng = np.random.default_rng(11)
    space = algorithm.hyper_parameters
    theta = np.array([0.5, -0.3, 0.2])
    binary = algorithm.links == ("logistic",)
    source = rewards(horizon)
    pulled = []
    for t in range(horizon):
        contexts = rng.uniform(-0.5, 0.5, (dim, n_arms)).T
        configuration = {p.name: p.sample(rng) for p in space.parameters}
        arm = int(rng.integers(n_arms)) if t < algorithm.random_rounds else algorithm.choose(contexts, configuration)
        reward = next(source)
        if binary:
            reward = float(rng.random() < 1 / (1 + math.exp(-contexts[arm] @ theta)))
        algorithm.update(contexts, arm, reward)
        pulled.append(arm)
    return pulled


def drive_environment(environment: Any, seed: int, horizon: int) -> list[Any]:
    environment.start(horizon, Seeds(seed).child("env"))
    seen: list[Any] = []
    rng = np.random.default_rng(0)
    for t in range(horizon):
        if isinstance(environment, DirectEnvironment):
            seen.append([environment.play(environment.space.sample(rng)), environment.mean, environment.best_mean])
            continue
        contexts = environment.observe()
        arm = t % len(contexts)
        means = environment.means.tolist() if "regret" in environment.sums else None
        seen.append([contexts.tolist(), means, environment.pull(arm)])
    return seen


def is_played(environment: Any) -> bool:
    """Tell whether it is played round by round; others hand data to an algorithm that has a task of its own."""
    return isinstance(environment, DirectEnvironment | ContextualEnvironment)


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, default=float).encode()).hexdigest()


def all_digests() -> dict[str, str]:
    """Return what every registered class did with seed 3, in short."""
    done = {}
    for name in registry.names("tuner"):
        done[f"tuner/{name}"] = digest(drive_tuner(registry.build("tuner", name), 3, rounds(name, 300)))
    for name in registry.names("algorithm"):
        algorithm = registry.build("algorithm", name)
        if isinstance(algorithm, ContextualAlgorithm):
            done[f"algorithm/{name}"] = digest(drive_algorithm(algorithm, 3, 300))
    for name in registry.names("env"):
        environment = registry.build("env", name, **SMALL.get(name, {}))
        if is_played(environment):
            done[f"env/{name}"] = digest(drive_environment(environment, 3, 50))
    return done


def not_finite(value: Any, path: str = "") -> Iterator[str]:
    """Yield the places in an object's state that hold NaN or an infinity."""
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        yield f"{path} = {value}"
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
        yield f"{path} has {np.count_nonzero(~np.isfinite(value))} entries that are not finite"
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from not_finite(entry, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for i, entry in enumerate(value):
            yield from not_finite(entry, f"{path}[{i}]")
    elif type(value).__module__.startswith("bench."):
        yield from not_finite(vars(value), f"{path}:{type(value).__name__}")


if __name__ == "__main__":
    print(json.dumps(all_digests()))
