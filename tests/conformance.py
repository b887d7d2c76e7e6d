"""The suite's choices as the conformance checks play them; as a script it prints a digest of all their actions."""

import json

import own_log
import registry

from bench.algorithms.contextual import ContextualAlgorithm
from bench.conformance.drive import digest_of, drive_algorithm, drive_environment, drive_tuner, is_played

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
    "service_log": {"path": own_log.service_log()},
}
ROUNDS = {"ucb_glm": 350, "glm_tsl": 350, "gp_minimize": 11, "gp_ucb": 350, "tpe": 50, "optuna_random": 50}
ROUNDS |= {"optuna": 50, "glr_klucb": 10_000, "sliding_window_gp_ucb": 700, "weighted_gp_ucb": 700}
"""Limits for classes whose rounds are slow, or become slower with more data; the first ten of some are random."""


def rounds(name: str, wanted: int) -> int:
    """Return ``wanted``, or the limit of a class if it is lower; checks before a release have nine times the limit."""
    return min(wanted, (9 if wanted > 20_000 else 1) * ROUNDS.get(name, wanted))


def all_digests() -> dict[str, str]:
    """Return a digest of the actions of every registered class with seed 3."""
    done = {}
    for name in registry.names("tuner"):
        done[f"tuner/{name}"] = digest_of(drive_tuner(registry.build("tuner", name), 3, rounds(name, 60)))
    for name in registry.names("algorithm"):
        algorithm = registry.build("algorithm", name)
        if isinstance(algorithm, ContextualAlgorithm):
            done[f"algorithm/{name}"] = digest_of(drive_algorithm(algorithm, 3, 60))
    for name in registry.names("env"):
        environment = registry.build("env", name, **SMALL.get(name, {}))
        if is_played(environment):
            done[f"env/{name}"] = digest_of(drive_environment(environment, 3, 50))
    return done


if __name__ == "__main__":
    print(json.dumps(all_digests()))
