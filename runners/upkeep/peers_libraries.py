"""The loops of other libraries, each in its documented way of use, and the process that plays one of them.

The interpreter of each library's environment runs this file: it needs NumPy and that library, not the suite. A player
gets the arrays of a problem (`peers.PROBLEMS`), the number of rounds and a seed, and returns the loop that is timed,
whose result are the choices made.
"""

import gc
import importlib
import importlib.metadata
import json
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


def _obp_estimator(name: str, data: Data, rounds: int, seed: int) -> Loop:
    import obp.ope

    estimate = getattr(obp.ope, name)().estimate_policy_value
    arguments = {key: data[key] for key in ("reward", "action", "pscore")}
    if name == "DoublyRobust":
        arguments["estimated_rewards_by_reg_model"] = data["predictions"][:, :, None]
    policies = data["policies"][:, :, :, None]
    return lambda: [estimate(**arguments, action_dist=policies[t % len(policies)]) for t in range(rounds)]


PLAYERS: dict[str, Player] = {
    "coba": _coba,
    "obp_ips": partial(_obp_estimator, "InverseProbabilityWeighting"),
    "obp_snips": partial(_obp_estimator, "SelfNormalizedInverseProbabilityWeighting"),
    "obp_dr": partial(_obp_estimator, "DoublyRobust"),
}


def result_of(choices: Any, data: Data) -> float:
    """Return cumulative regret, or the mean of estimates."""
    if "policies" in data:
        return float(np.mean(choices))
    means = data["means"][: len(choices)]
    return float((means.max(axis=1) - means[np.arange(len(choices)), choices]).sum())


def main(distribution: str, name: str, file: str, rounds: str, seed: str) -> None:
    """Print seconds of the processor, result and version of the library, or an error, as JSON in the last line."""
    warnings.simplefilter("ignore")
    try:
        player = (PLAYERS if name in PLAYERS else importlib.import_module("runners.upkeep.peers").PLAYERS)[name]
        with np.load(file, allow_pickle=False) as arrays:
            data = dict(arrays)
        player(data, min(_WARM_UP, int(rounds)), int(seed))()  # compiles and imports
        loop = player(data, int(rounds), int(seed))
        gc.collect()
        start = time.process_time()
        choices = loop()
        answer: dict[str, Any] = {"seconds": time.process_time() - start, "result": result_of(choices, data)}
        answer["version"] = importlib.metadata.version(distribution)
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}".partition("\n")[0]}
    print("\n" + json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
