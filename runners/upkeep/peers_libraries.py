"""The loops of other libraries, each in its documented way of use, and the process that plays one of them.

The interpreter of each library's environment runs this file: it needs NumPy and that library, not the suite. A player
gets the arrays of a problem (`peers.PROBLEMS`), the number of rounds and a seed, and returns the loop that is timed,
whose result are the choices made.
"""

import gc
import importlib
import importlib.metadata
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

Data = Mapping[str, np.ndarray]
Loop = Callable[[], list[Any]]
Player = Callable[[Data, int, int], Loop]
_WARM_UP = 20


def _coba(data: Data, rounds: int, seed: int) -> Loop:
    from coba.learners import LinUCBLearner  # type: ignore[import-not-found]

    sets = [[tuple(arm) for arm in arms] for arms in data["contexts"][:rounds].tolist()]
    rewards = data["rewards"][:rounds].tolist()
    learner = LinUCBLearner(alpha=1.0, features=["a"], seed=seed + 1)

    def play(t: int) -> int:
        action, probability = learner.predict(None, sets[t])
        arm = sets[t].index(action)
        learner.learn(None, action, rewards[t][arm], probability)
        return arm

    return lambda: [play(t) for t in range(rounds)]


def _vowpal_wabbit(is_prepared: bool, data: Data, rounds: int, seed: int) -> Loop:
    from vowpalwabbit import Workspace  # type: ignore[import-not-found]

    def text(arms: list[list[float]]) -> list[str]:
        return ["| " + " ".join(f"{i}:{value:.6g}" for i, value in enumerate(arm)) for arm in arms]

    contexts, rewards = data["contexts"][:rounds].tolist(), data["rewards"][:rounds].tolist()
    prepared = [text(arms) for arms in contexts] if is_prepared else []
    uniform = np.random.default_rng(seed).random(rounds).tolist()
    workspace = Workspace("--cb_explore_adf --regcbopt --noconstant --quiet")

    def play(t: int) -> int:
        lines = prepared[t] if is_prepared else text(contexts[t])
        probabilities = workspace.predict(lines)
        arm, total = 0, probabilities[0]
        while total < uniform[t] and arm < len(lines) - 1:
            arm += 1
            total += probabilities[arm]
        label = f"0:{1.0 - rewards[t][arm]}:{probabilities[arm]} "  # costs, by default from 0 to 1
        workspace.learn([*lines[:arm], label + lines[arm], *lines[arm + 1 :]])
        return arm

    return lambda: [play(t) for t in range(rounds)]


def _mabwiser(data: Data, rounds: int, seed: int) -> Loop:
    from mabwiser.mab import MAB, LearningPolicy  # type: ignore[import-not-found]

    x, rewards = data["contexts"], data["rewards"]
    bandit = MAB(list(range(rewards.shape[1])), LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0), seed=seed)

    def play(t: int) -> int:
        arm = bandit.predict(x[t : t + 1]) if t else 0
        learn = bandit.partial_fit if t else bandit.fit  # which it asks for before the first prediction
        learn([arm], rewards[t : t + 1, arm], x[t : t + 1])
        return arm

    return lambda: [play(t) for t in range(rounds)]


def _contextualbandits(data: Data, rounds: int, seed: int) -> Loop:
    from contextualbandits.online import LinUCB  # type: ignore[import-not-found]

    x, rewards = data["contexts"], data["rewards"]
    options = {"alpha": 1.0, "lambda_": 1.0, "fit_intercept": False, "use_float": False, "method": "sm"}
    options |= {"ucb_from_empty": True, "beta_prior": None, "random_state": seed + 1, "njobs": 1}
    policy = LinUCB(rewards.shape[1], **options)

    def play(t: int) -> int:
        arm = policy.predict(x[t : t + 1])
        policy.partial_fit(x[t : t + 1], arm, rewards[t, arm])
        return int(arm[0])

    return lambda: [play(t) for t in range(rounds)]


def _obp(data: Data, rounds: int, seed: int) -> Loop:
    from obp.policy import LinUCB

    x, rewards = data["contexts"], data["rewards"]
    policy = LinUCB(dim=x.shape[1], n_actions=rewards.shape[1], epsilon=1.0, random_state=seed)

    def play(t: int) -> int:
        arm = int(policy.select_action(x[t : t + 1])[0])
        policy.update_params(arm, rewards[t, arm], x[t : t + 1])
        return arm

    return lambda: [play(t) for t in range(rounds)]


def _obp_estimator(name: str, data: Data, rounds: int, seed: int) -> Loop:
    import obp.ope

    estimate = getattr(obp.ope, name)().estimate_policy_value
    arguments = {key: data[key] for key in ("reward", "action", "pscore")}
    if name == "DoublyRobust":
        arguments["estimated_rewards_by_reg_model"] = data["predictions"][:, :, None]
    policies = data["policies"][:, :, :, None]
    return lambda: [estimate(**arguments, action_dist=policies[t % len(policies)]) for t in range(rounds)]


def _smpybandits(name: str, options: dict[str, float], data: Data, rounds: int, seed: int) -> Loop:
    import SMPyBandits.Policies  # type: ignore[import-not-found]

    np.random.seed(seed)  # noqa: NPY002, which the library draws from
    rewards = data["rewards"]
    policy = getattr(SMPyBandits.Policies, name)(rewards.shape[1], **options)
    policy.startGame()

    def play(t: int) -> int:
        arm: int = policy.choice()
        policy.getReward(arm, rewards[t, arm])
        return arm

    return lambda: [play(t) for t in range(rounds)]


def _pyxab(data: Data, rounds: int, seed: int) -> Loop:
    from PyXAB.algos.Zooming import Zooming  # type: ignore[import-not-found]

    peak, noise = float(data["peak"]), data["noise"][:rounds].tolist()
    algorithm = Zooming(domain=[[0.0, 1.0]])

    def play(t: int) -> float:
        (x,) = algorithm.pull(t + 1)
        algorithm.receive_reward(t + 1, 1.0 - abs(x - peak) + noise[t])
        return float(x)

    return lambda: [play(t) for t in range(rounds)]


def _skopt(data: Data, rounds: int, seed: int) -> Loop:
    from skopt import Optimizer

    assert rounds == 1, "an ask takes a minute"
    points, values = data["points"].tolist(), (-data["values"]).tolist()
    optimizer = Optimizer([(0.0, 1.0), (0.0, 1.0)], "GP", n_initial_points=10, acq_func="gp_hedge", random_state=seed)
    return lambda: [(optimizer.tell(points, values), optimizer.ask())[1]]


def _optuna(data: Data, rounds: int, seed: int) -> Loop:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(n_startup_trials=10, n_ei_candidates=24, multivariate=False, seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    noise, trials = data["noise"].tolist(), len(data["points"])

    def play(t: int) -> list[float]:
        trial = study.ask()
        point = [trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)]
        study.tell(trial, float(bowl(np.array(point), data)) + noise[t])
        return point

    for t in range(trials):
        play(t)
    return lambda: [play(trials + t) for t in range(rounds)]


PLAYERS: dict[str, Player] = {
    "coba": _coba,
    "vw_regcb": partial(_vowpal_wabbit, False),
    "vw_regcb_prepared": partial(_vowpal_wabbit, True),
    "mabwiser": _mabwiser,
    "contextualbandits": _contextualbandits,
    "obp": _obp,
    "obp_ips": partial(_obp_estimator, "InverseProbabilityWeighting"),
    "obp_snips": partial(_obp_estimator, "SelfNormalizedInverseProbabilityWeighting"),
    "obp_dr": partial(_obp_estimator, "DoublyRobust"),
    "smpybandits_ucb1": partial(_smpybandits, "UCB", {}),
    "smpybandits_exp3": partial(_smpybandits, "Exp3", {"gamma": 0.05}),
    "pyxab": _pyxab,
    "skopt": _skopt,
    "optuna": _optuna,
}


def bowl(points: np.ndarray, data: Data) -> np.ndarray:
    """Return the value of points in the unit square, shape (..., 2): 1 less the squared distance from the top."""
    return np.asarray(1.0 - ((points - data["top"]) ** 2).sum(axis=-1))


def result_of(choices: Any, data: Data) -> float:
    """Return cumulative regret, or an optimiser's loss at the best point asked for, or an estimator's mean."""
    if "policies" in data:
        return float(np.mean(choices))
    if "top" in data:
        return float(1.0 - bowl(np.asarray(choices), data).max())
    if "peak" in data:
        return float(np.abs(np.asarray(choices) - data["peak"]).sum())
    means = data["means"][: len(choices)]
    return float((means.max(axis=1) - means[np.arange(len(choices)), choices]).sum())


def main(distribution: str, name: str, file: str, rounds: str, seed: str) -> None:
    """Print seconds of the processor, result and version of the library, or an error, as JSON."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries may print
    warnings.simplefilter("ignore")
    try:
        player = (PLAYERS if name in PLAYERS else importlib.import_module("runners.upkeep.peers").PLAYERS)[name]
        with np.load(file, allow_pickle=False) as arrays:
            data = dict(arrays)
        if "top" not in data:  # a few rounds before, which compile and import
            player(data, min(_WARM_UP, int(rounds)), int(seed))()
        loop = player(data, int(rounds), int(seed))
        gc.collect()
        start = time.process_time()
        choices = loop()
        answer: dict[str, Any] = {"seconds": time.process_time() - start, "result": result_of(choices, data)}
        answer["version"] = importlib.metadata.version(distribution)
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}".partition("\n")[0]}
    json.dump(answer, answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
