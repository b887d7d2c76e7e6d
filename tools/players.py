"""The problems of `tools.peers`, drawn beforehand, and a player for each side.

A player is used as in its library's documentation; data in another form is prepared before the loop.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np

from bench.algorithms.contextual import ContextualAlgorithm
from bench.algorithms.greedy import EpsilonGreedy
from bench.algorithms.lints import LinTS
from bench.algorithms.linucb import LinUCB
from bench.envs.contextual import ContextualEnvironment
from bench.envs.logged import LoggedData
from bench.loop import run
from bench.off_policy.estimators import estimator_terms
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.baselines import Fixed

Data = Mapping[str, np.ndarray]
Loop = Callable[[], list[Any]]
Player = Callable[[Data, int, int], Loop]
"""Returns the timed loop for the arrays of a problem, a number of rounds and a seed; the loop returns its choices."""


def arm_features(rng: np.random.Generator, rounds: int, n_arms: int = 5, dim: int = 25) -> Data:
    """Return a problem with features of each arm and one vector of coefficients.

    The features have shape (rounds, arms, dim); the last feature is 1. Means spread around 1/2 and rarely reach 0 or 1,
    where they are clipped; rewards are 0 and 1.
    """
    features, theta = rng.uniform(-1.0, 1.0, (rounds, n_arms, dim - 1)), rng.standard_normal(dim - 1)
    contexts = np.concatenate([features, np.ones((rounds, n_arms, 1))], axis=2)
    means = (0.5 + 0.3 * (features @ theta / np.linalg.norm(theta))).clip(0.0, 1.0)
    return {"contexts": contexts, "means": means, "rewards": (rng.random((rounds, 1)) < means).astype(float)}


def shared_contexts(rng: np.random.Generator, rounds: int, n_arms: int = 10, dim: int = 25) -> Data:
    """Return a problem with one context per round and separate coefficients of each arm.

    The contexts have shape (rounds, dim); the last feature is 1.
    """
    contexts = np.column_stack([rng.uniform(-1.0, 1.0, (rounds, dim - 1)), np.ones(rounds)])
    thetas = rng.standard_normal((n_arms, dim - 1))
    slopes = 0.3 * thetas / np.linalg.norm(thetas, axis=1, keepdims=True)
    means = (0.5 + contexts[:, :-1] @ slopes.T).clip(0.0, 1.0)
    rewards = (rng.random((rounds, n_arms)) < means).astype(float)
    return {"contexts": contexts, "means": means, "rewards": rewards}


def log(rng: np.random.Generator, rounds: int, rows: int = 10_000, n_actions: int = 10) -> Data:
    """Return a logged bandit data set, a model's predictions, and policies to evaluate."""

    def policy() -> np.ndarray:
        raised = np.exp(rng.standard_normal((rows, n_actions)))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    means, logging = rng.uniform(0.1, 0.9, (rows, n_actions)), policy()
    action = (logging.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(max=n_actions - 1)
    reward = (rng.random(rows) < means[np.arange(rows), action]).astype(float)
    predictions = (means + 0.1 * rng.standard_normal(means.shape)).clip(0.0, 1.0)
    policies = np.stack([policy() for _ in range(min(rounds, 10))])
    return {"action": action, "reward": reward, "pscore": logging[np.arange(rows), action], "logging": logging,
            "predictions": predictions, "policies": policies}  # fmt: skip


def random_result(data: Data, rounds: int) -> float:
    """Return the expected regret of uniformly random arms, or NaN if the problem has no arms."""
    if "means" not in data:
        return math.nan
    return float((data["means"][:rounds].max(axis=1) - data["means"][:rounds].mean(axis=1)).sum())


class Saved(ContextualEnvironment):
    """An environment that replays given rewards, with features of each arm or one context per round for all arms."""

    def __init__(self, data: Data) -> None:
        contexts, self._means, self._rewards = data["contexts"], data["means"], data["rewards"]
        self.sub_gaussian, self.feature_norm = 0.5, float(np.sqrt(contexts.shape[-1]))
        self.n_arms, self.dim = self._means.shape[1], contexts.shape[-1]
        self._is_shared = contexts.ndim == 2
        arms = np.repeat(contexts[:, None], self.n_arms, axis=1) if self._is_shared else contexts
        self._contexts = np.ascontiguousarray(arms.transpose(0, 2, 1))  # along the arms, as the interface requires
        self._best, self._average = self._means.max(axis=1).tolist(), self._means.mean(axis=1).tolist()

    @property
    def shared_context(self) -> bool:
        return self._is_shared

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._round, self.choices = -1, list[Any]()

    def observe(self) -> np.ndarray:
        self._round += 1
        t = self._round
        self.means, self.best_mean, self.average_mean = self._means[t], self._best[t], self._average[t]
        return np.asarray(self._contexts[t].T)

    def pull(self, arm: int) -> float:
        self.choices.append(arm)
        return float(self._rewards[self._round, arm])


RATE: Configuration = {"exploration_rate": 1.0}
EPSILON = 0.1


def ours(
    algorithm: Callable[[], ContextualAlgorithm], values: Configuration, data: Data, rounds: int, seed: int
) -> Loop:
    """Return our loop with an algorithm at a fixed configuration, including traces.

    Hyper-parameters that are not in ``values`` have their defaults.
    """
    arms = Saved(data)

    def loop() -> list[Any]:
        run(ContextualBandit(arms, algorithm()), Fixed(values), rounds=rounds, seeds=Seeds(seed))
        return arms.choices

    return loop


linucb: Player = partial(ours, LinUCB, RATE)
lints: Player = partial(ours, LinTS, RATE)
epsilon_greedy: Player = partial(ours, EpsilonGreedy, {"epsilon": EPSILON})


def coba_linucb(data: Data, rounds: int, seed: int) -> Loop:
    """Return coba's loop as in its documentation.

    If all arms share a context, one model of the products of arms and features gives coefficients for each arm.
    """
    from coba.learners import LinUCBLearner  # type: ignore[import-not-found]

    given, rewards = data["contexts"][:rounds].tolist(), data["rewards"][:rounds].tolist()
    n_arms, is_shared = data["means"].shape[1], data["contexts"].ndim == 2
    units = [tuple(float(i == j) for j in range(n_arms)) for i in range(n_arms)]
    contexts = [tuple(x) for x in given] if is_shared else [None] * rounds
    sets = [units] * rounds if is_shared else [[tuple(arm) for arm in arms] for arms in given]
    learner = LinUCBLearner(alpha=1.0, features=["ax" if is_shared else "a"], seed=seed + 1)

    def play(t: int) -> int:
        action, probability = learner.predict(contexts[t], sets[t])
        arm = sets[t].index(action)
        learner.learn(contexts[t], action, rewards[t][arm], probability)
        return arm

    return lambda: [play(t) for t in range(rounds)]


def mabwiser(policy: str, arguments: Mapping[str, float], data: Data, rounds: int, seed: int) -> Loop:
    """Return mabwiser's loop, which fits the first round, and then predicts and fits further in each round."""
    from mabwiser.mab import MAB, LearningPolicy  # type: ignore[import-not-found]

    contexts, rewards = data["contexts"], data["rewards"]
    bandit = MAB(list(range(rewards.shape[1])), getattr(LearningPolicy, policy)(**arguments), seed=seed)

    def play(t: int) -> int:
        context = contexts[t : t + 1]
        arm: int = bandit.predict(context) if t else 0
        (bandit.partial_fit if t else bandit.fit)([arm], [rewards[t, arm]], context)
        return arm

    return lambda: [play(t) for t in range(rounds)]


def obp_policy(name: str, arguments: Mapping[str, float], data: Data, rounds: int, seed: int) -> Loop:
    """Return obp's loop with a policy that has coefficients for each arm."""
    import obp.policy

    contexts, rewards = data["contexts"], data["rewards"]
    policy = getattr(obp.policy, name)(
        dim=contexts.shape[1], n_actions=rewards.shape[1], random_state=seed, **arguments
    )

    def play(t: int) -> int:
        context = contexts[t : t + 1]
        arm = int(policy.select_action(context)[0])
        policy.update_params(arm, rewards[t, arm], context)
        return arm

    return lambda: [play(t) for t in range(rounds)]


Estimator = Literal["ips", "snips", "dr"]
_OBP = {"ips": "InverseProbabilityWeighting", "snips": "SelfNormalizedInverseProbabilityWeighting",
        "dr": "DoublyRobust"}  # fmt: skip


def estimates(name: Estimator, data: Data, rounds: int, seed: int) -> Loop:
    """Return a loop that computes our estimates of policies one after the other."""
    rows, policies = data["action"], data["policies"]
    logged = LoggedData(np.empty((len(rows), 0)), rows, data["reward"], data["pscore"], data["logging"])
    terms = partial(estimator_terms, name, logged, predictions=data["predictions"])
    return lambda: [float(terms(policies[t % len(policies)]).mean()) for t in range(rounds)]


def obp_estimates(name: Estimator, data: Data, rounds: int, seed: int) -> Loop:
    """Return a loop that computes obp's estimates of policies one after the other."""
    import obp.ope

    estimate = getattr(obp.ope, _OBP[name])().estimate_policy_value
    arguments = {key: data[key] for key in ("reward", "action", "pscore")}
    if name == "dr":
        arguments["estimated_rewards_by_reg_model"] = data["predictions"][:, :, None]
    policies = data["policies"][:, :, :, None]
    return lambda: [estimate(**arguments, action_dist=policies[t % len(policies)]) for t in range(rounds)]
