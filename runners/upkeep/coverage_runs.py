"""The experiments on which coverage is measured, shortened to run in minutes."""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from runners.config.compose import from_overrides
from runners.execute.fanout import run_all
from runners.results.store import Store, results_folder

Array = npt.NDArray[np.float64]
Finals = dict[str, dict[str, dict[str, Array]]]
REPETITIONS = 400
RARE = ("two arms", "off-policy learning")
"""Experiments where a few repetitions in a hundred make the mean: a wrong arm kept, a bad policy learnt."""
RATES = [0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5]
_ARMS = "paper=habo algorithm=none horizon=2000 env="
_GRID = (
    "paper=syndicated env=synthetic_linear env.dim=5 env.n_arms=100 env.mean=raw env.features=changing "
    "algorithm.tune=[exploration_rate] horizon=500 algorithm="
)
_TUNERS = {"Theory": "tuner=theory", "OP": "tuner=op", "TL": "tuner=tl", "CDT": "tuner=cdt"}
_TUNERS |= {"UCB1": "tuner=ucb1", "EXP3": "tuner=exp3", "ETC": "tuner=etc tuner.pulls_per_arm=40"}
_FIXED = {str(rate): f"tuner=fixed +tuner.configuration.exploration_rate={rate}" for rate in RATES}


def _tuners(*names: str) -> dict[str, str]:
    return {name: _TUNERS[name] for name in names}


EXPERIMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "LinUCB": ("paper=syndicated env=synthetic_linear algorithm=linucb horizon=2000", _tuners("Theory", "OP", "TL")),
    "LinTS": ("paper=syndicated env=synthetic_linear algorithm=lints horizon=2000", _tuners("Theory", "OP", "TL")),
    "UCB-GLM": ("paper=syndicated env=synthetic_logistic algorithm=ucb_glm horizon=500", _tuners("OP", "TL")),
    "LinUCB, 25 dimensions": (
        "paper=cdt env=synthetic_linear algorithm=linucb horizon=2000", _tuners("Theory", "OP", "CDT")
    ),
    "SGD-TS": ("paper=cdt env=synthetic_logistic algorithm=sgd_ts horizon=2000", _tuners("Theory", "OP", "CDT")),
    "five arms": (f"{_ARMS}gaussian_arms", _tuners("UCB1", "EXP3", "ETC")),
    "two arms": (
        f"{_ARMS}gaussian_arms env.means=[0.5,0.3] env.variance=1.0",
        {"ETC": "tuner=etc tuner.pulls_per_arm=100", "UCB(delta)": "tuner=ucb_delta",
         "UCB(0.1)": "tuner=ucb_delta tuner.delta=0.1"},
    ),
    "adversary": (f"{_ARMS}adversarial_arms env.adversary=adaptive", _tuners("UCB1", "EXP3")),
    "triangle": (
        "paper=cdt env=switching_triangle algorithm=none horizon=9000",
        {"Zooming": "tuner=zooming", "Zooming TS-R": "tuner=zooming_ts tuner.epoch_length=2400",
         "Oracle": "tuner=zooming_oracle"},
    ),
    "Lipschitz": (
        "paper=online_hpo env=piecewise_lipschitz algorithm=none",
        {f"{tuner}, {rounds}": f"tuner={tuner} tuner.weights=hard horizon={rounds}"
         for tuner in ("sd2me", "ad2me") for rounds in (500, 1000, 2000)},
    ),
    "Bernoulli arms": (f"{_ARMS}bernoulli_arms env.means=[0.05,0.1,0.15]", _tuners("UCB1", "EXP3", "TL")),
    "off-policy learning": (
        "paper=opl_hpo env=synthetic_logged algorithm=softmax_policy env.n_test=5000 env.beta0=20 horizon=4",
        {"Baseline": "tuner=tpe", "CIR-HPO": "tuner=tpe task.objective=lower_bound task.imitation=true"},
    ),
    "LinUCB, grid": (f"{_GRID}linucb", _FIXED),
    "LinTS, grid": (f"{_GRID}lints", _FIXED),
}  # fmt: skip
"""Name -> common overrides, and those of each method."""


def final_values(names: Collection[str]) -> Finals:
    """Run what is missing; return experiment -> method -> column -> the last value of each repetition."""
    store = Store(results_folder())
    labels, runs = [], []
    for name, (common, methods) in EXPERIMENTS.items():
        if name not in names:
            continue
        for method, overrides in methods.items():
            labels.append((name, method))
            runs.append(from_overrides(f"{common} {overrides}".split()))
    results = run_all([run.experiment for run in runs], REPETITIONS, store, jobs=1)
    finals: Finals = {}
    for (name, method), run in zip(labels, runs, strict=True):
        result = results[run.experiment.run_id]
        if len(result.done) < REPETITIONS:
            raise SystemExit(f"{name}, {method}: {len(result.failed)} repetitions failed")
        last = [store.read(run.experiment.run_id, repetition).iloc[-1] for repetition in range(REPETITIONS)]
        columns = [c for c in ("regret", "random_regret", "relative_true_value") if c in last[0]]
        values = {c: np.array([float(row[c]) for row in last]) for c in columns}
        values["final"] = values["regret"] if "regret" in values else values["relative_true_value"]
        finals.setdefault(name, {})[method] = values
    return finals
