"""The loops of other libraries, each in its documented way of use, and the process that plays them.

The interpreter of each library's environment runs this file: it needs NumPy and that library, not the suite. A player
is given a problem's arrays (see `problems.py`), the number of rounds and a seed; it prepares what need not be timed and
returns the loop, whose result are the choices made.
"""

import gc
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
Loop = Callable[[], Any]
Player = Callable[[Data, int, int], Loop]


def coba_linucb(data: Data, rounds: int, seed: int) -> Loop:
    from coba.learners import LinUCBLearner  # type: ignore[import-not-found]

    sets = [[tuple(arm) for arm in arms] for arms in data["contexts"][:rounds].tolist()]
    rewards = data["rewards"][:rounds].tolist()

    def loop() -> list[int]:
        learner = LinUCBLearner(alpha=1.0, features=["a"], seed=seed + 1)
        choices = []
        for actions, paid in zip(sets, rewards, strict=True):
            action, probability = learner.predict(None, actions)
            arm = actions.index(action)
            learner.learn(None, action, paid[arm], probability)
            choices.append(arm)
        return choices

    return loop


def _vowpal_wabbit(is_prepared: bool, data: Data, rounds: int, seed: int) -> Loop:
    from vowpalwabbit import Workspace  # type: ignore[import-not-found]

    def text(arms: list[list[float]]) -> list[str]:
        return ["| " + " ".join(f"{i}:{value:.6g}" for i, value in enumerate(arm)) for arm in arms]

    contexts, rewards = data["contexts"][:rounds].tolist(), data["rewards"][:rounds].tolist()
    prepared = [text(arms) for arms in contexts] if is_prepared else []
    uniform = np.random.default_rng(seed).random(rounds).tolist()

    def loop() -> list[int]:
        workspace = Workspace("--cb_explore_adf --regcbopt --noconstant --quiet")
        choices = []
        for t in range(rounds):
            lines = prepared[t] if is_prepared else text(contexts[t])
            probabilities = workspace.predict(lines)
            arm, total = 0, probabilities[0]
            while total < uniform[t] and arm < len(lines) - 1:
                arm += 1
                total += probabilities[arm]
            label = f"0:{1.0 - rewards[t][arm]}:{probabilities[arm]} "  # costs, by default from 0 to 1
            workspace.learn([*lines[:arm], label + lines[arm], *lines[arm + 1 :]])
            choices.append(arm)
        workspace.finish()
        return choices

    return loop


def mabwiser_linucb(data: Data, rounds: int, seed: int) -> Loop:
    from mabwiser.mab import MAB, LearningPolicy  # type: ignore[import-not-found]

    contexts, rewards = data["contexts"], data["rewards"]

    def loop() -> list[int]:
        policy = LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0)
        bandit = MAB(list(range(rewards.shape[1])), policy, seed=seed)
        bandit.fit([0], rewards[:1, 0], contexts[:1])  # which it asks for before the first prediction
        choices = [0]
        for t in range(1, rounds):
            context = contexts[t : t + 1]
            arm = bandit.predict(context)
            bandit.partial_fit([arm], rewards[t : t + 1, arm], context)
            choices.append(arm)
        return choices

    return loop


def contextualbandits_linucb(data: Data, rounds: int, seed: int) -> Loop:
    from contextualbandits.online import LinUCB  # type: ignore[import-not-found]

    contexts, rewards = data["contexts"], data["rewards"]

    def loop() -> list[int]:
        policy = LinUCB(
            rewards.shape[1], alpha=1.0, lambda_=1.0, fit_intercept=False, use_float=False, method="sm",
            ucb_from_empty=True, beta_prior=None, random_state=seed + 1, njobs=1,
        )  # fmt: skip
        choices = []
        for t in range(rounds):
            context = contexts[t : t + 1]
            arm = policy.predict(context)
            policy.partial_fit(context, arm, rewards[t, arm])
            choices.append(int(arm[0]))
        return choices

    return loop


def obp_linucb(data: Data, rounds: int, seed: int) -> Loop:
    from obp.policy import LinUCB

    contexts, rewards = data["contexts"], data["rewards"]

    def loop() -> list[int]:
        policy = LinUCB(dim=contexts.shape[1], n_actions=rewards.shape[1], epsilon=1.0, random_state=seed)
        choices = []
        for t in range(rounds):
            context = contexts[t : t + 1]
            arm = int(policy.select_action(context)[0])
            policy.update_params(arm, rewards[t, arm], context)
            choices.append(arm)
        return choices

    return loop


def _smpybandits(name: str, options: dict[str, float], data: Data, rounds: int, seed: int) -> Loop:
    import SMPyBandits.Policies  # type: ignore[import-not-found]

    np.random.seed(seed)  # noqa: NPY002, which the library draws from
    rewards = data["rewards"]

    def loop() -> list[int]:
        policy = getattr(SMPyBandits.Policies, name)(rewards.shape[1], **options)
        policy.startGame()
        choices = []
        for t in range(rounds):
            arm = policy.choice()
            policy.getReward(arm, rewards[t, arm])
            choices.append(arm)
        return choices

    return loop


def pyxab_zooming(data: Data, rounds: int, seed: int) -> Loop:
    from PyXAB.algos.Zooming import Zooming  # type: ignore[import-not-found]

    peak, noise = float(data["peak"]), data["noise"][:rounds].tolist()

    def loop() -> list[float]:
        algorithm = Zooming(domain=[[0.0, 1.0]])
        choices = []
        for t in range(rounds):
            (x,) = algorithm.pull(t + 1)
            algorithm.receive_reward(t + 1, 1.0 - abs(x - peak) + noise[t])
            choices.append(x)
        return choices

    return loop


def skopt_gp(data: Data, rounds: int, seed: int) -> Loop:
    from skopt import Optimizer

    points, values, noise = data["points"].tolist(), (-data["values"]).tolist(), data["noise"]
    optimizer = Optimizer([(0.0, 1.0), (0.0, 1.0)], "GP", n_initial_points=10, acq_func="gp_hedge", random_state=seed)

    def loop() -> list[list[float]]:
        optimizer.tell(points, values)
        choices = [optimizer.ask()]
        for t in range(1, rounds):
            optimizer.tell(choices[-1], -float(bowl(np.array(choices[-1]), data) + noise[t]))
            choices.append(optimizer.ask())
        return choices

    return loop


def optuna_tpe(data: Data, rounds: int, seed: int) -> Loop:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(n_startup_trials=10, n_ei_candidates=24, multivariate=False, seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    noise = data["noise"].tolist()

    def play(t: int) -> list[float]:
        trial = study.ask()
        point = [trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)]
        study.tell(trial, float(bowl(np.array(point), data)) + noise[t])
        return point

    trials = len(data["points"])
    for t in range(trials):
        play(t)
    return lambda: [play(trials + t) for t in range(rounds)]


def _obp_estimator(name: str, data: Data, rounds: int, seed: int) -> Loop:
    import obp.ope

    estimator = getattr(obp.ope, name)()
    arguments = {key: data[key] for key in ("reward", "action", "pscore")}
    if name == "DoublyRobust":
        arguments["estimated_rewards_by_reg_model"] = data["predictions"][:, :, None]
    policies = data["policies"][:rounds, :, :, None]
    return lambda: [
        estimator.estimate_policy_value(**arguments, action_dist=policies[t % len(policies)]) for t in range(rounds)
    ]


PLAYERS: dict[str, Player] = {
    "coba_linucb": coba_linucb,
    "vw_regcb": partial(_vowpal_wabbit, False),
    "vw_regcb_prepared": partial(_vowpal_wabbit, True),
    "mabwiser_linucb": mabwiser_linucb,
    "contextualbandits_linucb": contextualbandits_linucb,
    "obp_linucb": obp_linucb,
    "smpybandits_ucb1": partial(_smpybandits, "UCB", {}),
    "smpybandits_exp3": partial(_smpybandits, "Exp3", {"gamma": 0.05}),
    "pyxab_zooming": pyxab_zooming,
    "skopt_gp": skopt_gp,
    "optuna_tpe": optuna_tpe,
    "obp_ips": partial(_obp_estimator, "InverseProbabilityWeighting"),
    "obp_snips": partial(_obp_estimator, "SelfNormalizedInverseProbabilityWeighting"),
    "obp_dr": partial(_obp_estimator, "DoublyRobust"),
}


def bowl(points: np.ndarray, data: Data) -> np.ndarray:
    """Return the value of points in the unit square, shape (..., 2): 1 less the squared distance from the top."""
    return np.asarray(1.0 - ((points - data["top"]) ** 2).sum(axis=-1))


def result_of(choices: Any, data: Data) -> float:
    """Return cumulative regret, or an optimiser's loss at the best point asked for, or an estimator's mean."""
    kind = str(data["kind"])
    if kind == "estimate":
        return float(np.mean(choices))
    if kind == "optimise":
        return float(1.0 - bowl(np.asarray(choices), data).max())
    if kind == "line":
        return float(np.abs(np.asarray(choices) - data["peak"]).sum())
    means = data["means"][: len(choices)]
    return float((means.max(axis=1) - means[np.arange(len(choices)), choices]).sum())


def serve(players: Mapping[str, Player]) -> None:
    """Play what each line of stdin asks for, and answer with a line: seconds of the processor and the result."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries may print
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        asked = json.loads(line)
        answer: dict[str, Any]
        try:
            if "version" in asked:
                answer = {"version": importlib.metadata.version(asked["version"])}
            else:
                with np.load(asked["data"], allow_pickle=False) as file:
                    data = {name: file[name] for name in file.files}
                loop = players[asked["player"]](data, asked["rounds"], asked["seed"])
                gc.collect()
                start = time.process_time()
                choices = loop()
                answer = {"seconds": time.process_time() - start, "result": result_of(choices, data)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".partition("\n")[0]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(PLAYERS)
