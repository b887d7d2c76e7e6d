"""Functions that run objects of any class through the same rounds, with ordinary and extreme rewards."""

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.algorithms.contextual import BanditInfo
from bench.digest import digest
from bench.envs.contextual import ContextualEnvironment
from bench.envs.direct import DirectEnvironment
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem, Tuner

SPACE = Space.of(
    exploration_rate={"candidates": (0.1, 1.0, 2.0, 4.0), "low": 0.1, "high": 5.0},
    ridge={"candidates": (0.1, 1.0), "low": 0.1, "high": 2.0, "log": True},
)
"""A space that suits every tuner: two hyper-parameters with candidates and intervals."""


def problem(horizon: int, space: Space = SPACE) -> Problem:
    """Return a problem with every fact that a tuner may use."""
    return Problem(
        space,
        horizon,
        theory=lambda: {space.names[0]: 1.5},
        change_points=(horizon // 3,),
        full_information=True,
        forecasts=True,
    )


def rewards(horizon: int) -> Iterator[float]:
    """Yield ordinary rewards, then extreme rewards of both signs, and then ordinary rewards again."""
    kinds = np.random.default_rng(5)
    for t in range(horizon):
        yield float(kinds.random() < 0.5) if t % 3 else (-1.0) ** t * 10.0 ** (t % 7)


def outcomes(horizon: int, n: int = len(SPACE.product())) -> Iterator[Outcome]:
    """Yield outcomes with ordinary and extreme rewards, the rewards of all ``n`` candidates, and forecast losses."""
    rng = np.random.default_rng(6)
    for reward in rewards(horizon):
        yield Outcome(reward, rewards=reward * rng.random(n), forecast_losses=abs(reward) * rng.random(n))


def known(reward: float, n: int = len(SPACE.product())) -> Outcome:
    """Return an outcome in which each of ``n`` candidates earns the same reward."""
    return Outcome(reward, rewards=np.full(n, reward), forecast_losses=np.full(n, abs(reward)))


def asks(tuner: Tuner, seed: int, horizon: int) -> Iterator[Configuration]:
    """Yield a tuner's proposals; the tuner is told each reward of `outcomes` before the next ask."""
    tuner.start(problem(horizon), Seeds(seed).child("tuner"))
    for outcome in outcomes(horizon):
        yield tuner.ask()
        tuner.tell(outcome.reward, outcome)


def drive_tuner(tuner: Tuner, seed: int, horizon: int) -> list[Configuration]:
    """Return a tuner's proposals after it was told all rewards of `outcomes`."""
    return list(asks(tuner, seed, horizon))


def drive_algorithm(algorithm: Any, seed: int, horizon: int) -> list[int]:
    """Return the arms that an algorithm pulls among five arms with three features."""
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
    """Return the contexts and rewards of an environment."""
    environment.start(horizon, Seeds(seed).child("env"))
    seen: list[Any] = []
    rng = np.random.default_rng(0)
    for t in range(horizon):
        if isinstance(environment, DirectEnvironment):
            reward = environment.play(environment.space.sample(rng))
            if reward is None:  # a log has an end
                break
            seen.append([reward, *(getattr(environment, name, None) for name in ("mean", "best_mean"))])
            continue
        contexts = environment.observe()
        arm = t % len(contexts)
        means = environment.means.tolist() if "regret" in environment.sums else None
        seen.append([contexts.tolist(), means, environment.pull(arm)])
    return seen


def backwards(data: Any) -> Any:
    """Return plain data with the keys of every object in reverse order, which does not change its JSON meaning."""
    if isinstance(data, dict):
        return {key: backwards(data[key]) for key in reversed(data)}
    return [backwards(item) for item in data] if isinstance(data, list) else data


def is_played(environment: Any) -> bool:
    """Return whether an environment is played round by round.

    Other environments provide data for a task of the algorithm.
    """
    return isinstance(environment, DirectEnvironment | ContextualEnvironment)


def digest_of(value: Any) -> str:
    """Return a digest of proposals, arms or observations."""
    return digest(json.dumps(value, default=float).encode())


def not_finite(value: Any, path: str = "", own: tuple[str, ...] = ("bench.",)) -> Iterator[str]:
    """Yield the paths of NaN and infinity in an object's state, including objects of the modules ``own``."""
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        yield f"{path} = {value}"
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
        yield f"{path} has {np.count_nonzero(~np.isfinite(value))} entries that are not finite"
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from not_finite(entry, f"{path}.{key}", own)
    elif isinstance(value, list | tuple):
        for i, entry in enumerate(value):
            yield from not_finite(entry, f"{path}[{i}]", own)
    elif type(value).__module__.startswith(own):
        yield from not_finite(vars(value), f"{path}:{type(value).__name__}", own)
