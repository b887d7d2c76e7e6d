"""How often do intervals contain the truth? python -m runners.coverage [--draws 1000]

Makes 400 repetitions of twelve typical experiments and of two grids, shortened to run in minutes, takes what they give
for the truth, draws n of them again and again, and counts how often the intervals of each method contain it. Writes
``results/coverage/``.
"""

import argparse
import sys

import hydra
import numpy as np
import numpy.typing as npt

from runners.compose import from_overrides
from runners.config_tree import CONF
from runners.fanout import run_all
from runners.store import Store, results_folder

Array = npt.NDArray[np.float64]
REPETITIONS = 400
_ARMS = ["paper=habo", "algorithm=none", "horizon=2000"]
_GRID = [
    "paper=syndicated", "env=synthetic_linear", "env.dim=5", "env.n_arms=100", "env.mean=raw", "env.features=changing",
    "algorithm.tune=[exploration_rate]", "horizon=500",
]  # fmt: skip
RATES = [0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5]
EXPERIMENTS: dict[str, tuple[list[str], dict[str, list[str]]]] = {
    "LinUCB": (
        ["paper=syndicated", "env=synthetic_linear", "algorithm=linucb", "horizon=2000"],
        {"Theory": ["tuner=theory"], "OP": ["tuner=op"], "TL": ["tuner=tl"]},
    ),
    "LinTS": (
        ["paper=syndicated", "env=synthetic_linear", "algorithm=lints", "horizon=2000"],
        {"Theory": ["tuner=theory"], "OP": ["tuner=op"], "TL": ["tuner=tl"]},
    ),
    "UCB-GLM": (
        ["paper=syndicated", "env=synthetic_logistic", "algorithm=ucb_glm", "horizon=500"],
        {"OP": ["tuner=op"], "TL": ["tuner=tl"]},
    ),
    "LinUCB, 25 dimensions": (
        ["paper=cdt", "env=synthetic_linear", "algorithm=linucb", "horizon=2000"],
        {"Theory": ["tuner=theory"], "OP": ["tuner=op"], "CDT": ["tuner=cdt"]},
    ),
    "SGD-TS": (
        ["paper=cdt", "env=synthetic_logistic", "algorithm=sgd_ts", "horizon=2000"],
        {"Theory": ["tuner=theory"], "OP": ["tuner=op"], "CDT": ["tuner=cdt"]},
    ),
    "five arms": (
        [*_ARMS, "env=gaussian_arms"],
        {"UCB1": ["tuner=ucb1"], "EXP3": ["tuner=exp3"], "ETC": ["tuner=etc", "tuner.pulls_per_arm=40"]},
    ),
    "two arms": (
        [*_ARMS, "env=gaussian_arms", "env.means=[0.5,0.3]", "env.variance=1.0"],
        {"ETC": ["tuner=etc", "tuner.pulls_per_arm=100"], "UCB(delta)": ["tuner=ucb_delta"],
         "UCB(0.1)": ["tuner=ucb_delta", "tuner.delta=0.1"]},
    ),
    "adversary": (
        [*_ARMS, "env=adversarial_arms", "env.adversary=adaptive"],
        {"UCB1": ["tuner=ucb1"], "EXP3": ["tuner=exp3"]},
    ),
    "triangle": (
        ["paper=cdt", "env=switching_triangle", "algorithm=none", "horizon=9000"],
        {"Zooming": ["tuner=zooming"], "Zooming TS-R": ["tuner=zooming_ts", "tuner.epoch_length=2400"],
         "Oracle": ["tuner=zooming_oracle"]},
    ),
    "Lipschitz": (
        ["paper=online_hpo", "env=piecewise_lipschitz", "algorithm=none"],
        {f"{tuner}, {rounds}": [f"tuner={tuner}", "tuner.weights=hard", f"horizon={rounds}"]
         for tuner in ("sd2me", "ad2me") for rounds in (500, 1000, 2000)},
    ),
    "Bernoulli arms": (
        [*_ARMS, "env=bernoulli_arms", "env.means=[0.05,0.1,0.15]"],
        {"UCB1": ["tuner=ucb1"], "EXP3": ["tuner=exp3"], "TL": ["tuner=tl"]},
    ),
    "off-policy learning": (
        ["paper=opl_hpo", "env=synthetic_logged", "algorithm=softmax_policy", "env.n_test=5000", "env.beta0=20",
         "horizon=4"],
        {"Baseline": ["tuner=tpe"],
         "CIR-HPO": ["tuner=tpe", "task.objective=lower_bound", "task.imitation=true"]},
    ),
    "LinUCB, grid": (
        [*_GRID, "algorithm=linucb"],
        {str(rate): ["tuner=fixed", f"+tuner.configuration.exploration_rate={rate}"] for rate in RATES},
    ),
    "LinTS, grid": (
        [*_GRID, "algorithm=lints"],
        {str(rate): ["tuner=fixed", f"+tuner.configuration.exploration_rate={rate}"] for rate in RATES},
    ),
}  # fmt: skip
"""Name -> common overrides, and those of each method."""


def final_values() -> dict[str, dict[str, dict[str, Array]]]:
    """Run what is missing; return experiment -> method -> column -> the last value of each repetition."""
    store = Store(results_folder())
    labels, runs = [], []
    with hydra.initialize_config_dir(CONF, version_base="1.3"):
        for name, (common, methods) in EXPERIMENTS.items():
            for method, overrides in methods.items():
                labels.append((name, method))
                runs.append(from_overrides([*common, *overrides]))
    summary = run_all([(run.experiment, REPETITIONS) for run in runs], store, jobs=1)
    found: dict[str, dict[str, dict[str, Array]]] = {}
    for (name, method), run, result in zip(labels, runs, summary.results, strict=True):
        if len(result.done) < REPETITIONS:
            raise SystemExit(f"{name}, {method}: {len(result.failed)} repetitions failed")
        last = [store.read(run.experiment.run_id, repetition).iloc[-1] for repetition in range(REPETITIONS)]
        columns = [c for c in ("regret", "random_regret", "relative_true_value", "best_score") if c in last[0]]
        found.setdefault(name, {})[method] = {c: np.array([float(row[c]) for row in last]) for c in columns}
    return found
if __name__ == "__main__":
    final_values()
