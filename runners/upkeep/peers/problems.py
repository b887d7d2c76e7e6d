"""Problems as arrays, so that every library plays the same ones; rewards are drawn before any arm is chosen."""

from collections.abc import Callable

import numpy as np

Arrays = dict[str, np.ndarray]
_STRENGTH = 0.6
"""Norm of the coefficients: means spread around 1/2 and rarely reach 0 or 1, where they are clipped."""


def arm_features(rng: np.random.Generator, rounds: int, n_arms: int = 5, dim: int = 25) -> Arrays:
    """Return arms with features, shape (rounds, arms, dim), the last of them 1, and one vector of coefficients."""
    features = rng.uniform(-1.0, 1.0, (rounds, n_arms, dim - 1))
    theta = rng.standard_normal(dim - 1)
    means = _means(features @ theta / np.linalg.norm(theta))
    contexts = np.concatenate([features, np.ones((rounds, n_arms, 1))], axis=2)
    return {"kind": np.array("arms"), "contexts": contexts, "means": means, "rewards": _rewards(rng, means)}


def shared_context(rng: np.random.Generator, rounds: int, n_arms: int = 5, dim: int = 25) -> Arrays:
    """Return one context a round, shape (rounds, dim), the last entry 1, and a vector of coefficients for each arm."""
    features = rng.uniform(-1.0, 1.0, (rounds, dim - 1))
    theta = rng.standard_normal((n_arms, dim - 1))
    means = _means(features @ (theta / np.linalg.norm(theta, axis=1, keepdims=True)).T)
    contexts = np.concatenate([features, np.ones((rounds, 1))], axis=1)
    return {"kind": np.array("arms"), "contexts": contexts, "means": means, "rewards": _rewards(rng, means)}


def bernoulli(rng: np.random.Generator, rounds: int, n_arms: int = 10) -> Arrays:
    """Return arms whose means lie evenly between 0.1 and 0.9, in random order."""
    means = np.tile(rng.permutation(np.linspace(0.1, 0.9, n_arms)), (rounds, 1))
    return {"kind": np.array("arms"), "means": means, "rewards": _rewards(rng, means)}


def line(rng: np.random.Generator, rounds: int) -> Arrays:
    """Return the function 1 - |x - peak| on [0, 1], with normal noise."""
    noise = 0.1 * rng.standard_normal(rounds)
    return {"kind": np.array("line"), "peak": np.array(rng.uniform(0.1, 0.9)), "noise": noise}


def optimise(rng: np.random.Generator, rounds: int, trials: int = 1000) -> Arrays:
    """Return a bowl in the unit square, noise, and random points with their values as trials that were made before."""
    top, points = rng.uniform(0.2, 0.8, 2), rng.random((trials, 2))
    noise = 0.05 * rng.standard_normal(trials + rounds)
    values = 1.0 - ((points - top) ** 2).sum(axis=1) + noise[:trials]
    return {"kind": np.array("optimise"), "top": top, "points": points, "values": values, "noise": noise}


def log(rng: np.random.Generator, rounds: int, rows: int = 10_000, n_actions: int = 10) -> Arrays:
    """Return a logged bandit data set, a model's predictions, and policies to be evaluated."""
    means = rng.uniform(0.1, 0.9, (rows, n_actions))
    logging = _softmax(rng.standard_normal((rows, n_actions)))
    action = (logging.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(max=n_actions - 1)
    taken = np.arange(rows), action
    return {
        "kind": np.array("estimate"),
        "action": action,
        "reward": (rng.random(rows) < means[taken]).astype(float),
        "pscore": logging[taken],
        "logging": logging,
        "predictions": (means + 0.1 * rng.standard_normal(means.shape)).clip(0.0, 1.0),
        "policies": np.stack([_softmax(rng.standard_normal((rows, n_actions))) for _ in range(min(rounds, 10))]),
    }


PROBLEMS: dict[str, Callable[..., Arrays]] = {
    problem.__name__: problem for problem in (arm_features, shared_context, bernoulli, line, optimise, log)
}


def random_result(data: Arrays, rounds: int) -> float:
    """Return the regret that uniformly random arms, or points on the line, would have; NaN where it means nothing."""
    kind = str(data["kind"])
    if kind == "arms":
        means = data["means"][:rounds]
        return float((means.max(axis=1) - means.mean(axis=1)).sum())
    if kind == "line":
        peak = float(data["peak"])
        return rounds * (peak**2 + (1.0 - peak) ** 2) / 2.0
    return float("nan")


def _means(scores: np.ndarray) -> np.ndarray:
    return np.asarray((0.5 + 0.5 * _STRENGTH * scores).clip(0.0, 1.0))


def _rewards(rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    return (rng.random((len(means), 1)) < means).astype(float)


def _softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
