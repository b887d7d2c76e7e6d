"""Measured coverage of intervals: python -m tools.coverage [--draws 400]

Makes 400 repetitions of twelve typical experiments and of two grids, shortened to run in minutes. The value over all
400 counts as the truth; samples of n are drawn repeatedly, with replacement, and the share of claims' intervals that
contain it is counted. Writes ``coverage.csv`` and ``rare.csv``, which compares intervals with and without room for rare
losses, to ``results/coverage/``.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from bench.critical import fixed
from bench.report.claims.comparisons import rare_deviations, rare_room
from bench.report.claims.quantities import BestValue, Extreme, Mean, Quantity, RatioOfMeans, Unseen
from bench.report.claims.slope import slope_weights
from bench.report.tables import to_csv
from bench.stats import Array
from runners.config.compose import from_overrides
from runners.execute.fanout import run_all
from runners.results.checksums import note
from runners.results.store import Store, results_folder, write_text

SIZES = (5, 10, 20, 50)
ERROR = 0.025  # to each side
PANELS = 5
CONSTANT = 30.0  # added to the best candidate's regret for the measurement of bounds

Finals = dict[str, dict[str, dict[str, Array]]]
REPETITIONS = 400
RARE = ("two arms", "off-policy learning")
"""Experiments whose mean depends on a few repetitions in a hundred that keep a wrong arm or learn a bad policy."""
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
"""The common overrides and the overrides of each method, by name of the experiment."""


def final_values() -> Finals:
    """Run the missing repetitions, and return the last values of all repetitions by experiment, method and column."""
    store = Store(results_folder())
    experiments = {
        (name, method): from_overrides(f"{common} {overrides}".split()).experiment
        for name, (common, methods) in EXPERIMENTS.items()
        for method, overrides in methods.items()
    }
    results = run_all(list(experiments.values()), REPETITIONS, store, jobs=1)
    finals: Finals = {}
    for (name, method), experiment in experiments.items():
        result = results[experiment.run_id]
        if len(result.done) < REPETITIONS:
            raise SystemExit(f"{name}, {method}: {len(result.failed)} repetitions failed")
        last = [store.last_round(experiment.run_id, repetition) for repetition in range(REPETITIONS)]
        columns: list[str] = [c for c in ("regret", "random_regret", "relative_true_value") if c in last[0]]
        values: dict[str, Array] = {c: np.array([float(row[c]) for row in last]) for c in columns}
        values["final"] = values["regret"] if "regret" in values else values["relative_true_value"]
        finals.setdefault(name, {})[method] = values
    return finals


Item = tuple[str, str, Callable[[Array], Quantity], Array]
"""Kind and name of a statistic, its estimator, and the values of an experiment, shape (repetitions, columns)."""


def mean(values: Array) -> Quantity:
    return Mean(values[:, 0])


def ratio(values: Array) -> Quantity:
    return RatioOfMeans(*values.T)


def spread(values: Array) -> Quantity:
    """Return the jackknifed logarithm of the ratio of two standard deviations."""

    def logarithm(rows: Array) -> float:
        left, right = rows.std(axis=0, ddof=1)
        return float(np.log(left / right))

    with np.errstate(divide="ignore", invalid="ignore"):
        without = np.array([logarithm(np.delete(values, i, axis=0)) for i in range(len(values))])
        return Mean(logarithm(values) + (len(values) - 1) * (without.mean() - without))


def slope(values: Array) -> Quantity:
    """Return the slope of ln(mean) by the delta method, over horizons that double from column to column."""
    means, weights = values.mean(axis=0), slope_weights(np.arange(values.shape[1]) * np.log(2.0))
    return Mean(np.log(means) @ weights + (values / means - 1.0) @ weights)


def bound(values: Array) -> Quantity:
    """Return the second candidate's mean divided by the sum of the best mean and a constant."""
    return Extreme([[RatioOfMeans(values[:, 1], other + CONSTANT) for other in values.T]], "max", "max")


def items(finals: Finals) -> Iterator[Item]:
    """Yield the statistics whose coverage is measured."""
    for name, methods in finals.items():
        if name.endswith("grid"):
            grid = np.stack([columns["final"] for columns in methods.values()], axis=1)
            yield "best on grid", name, lambda values: BestValue(np.array(RATES, dtype=float), values), grid
            yield "bound", name, bound, grid
            continue
        for method, columns in methods.items():
            yield "mean", f"{name}: {method}", mean, columns["final"][:, None]
        pairs = list(combinations(methods, 2))
        if name == "Lipschitz":
            pairs = [(a, b) for a, b in pairs if a.split(", ")[1] == b.split(", ")[1]]
            for tuner in ("sd2me", "ad2me"):
                table = [methods[f"{tuner}, {rounds}"]["final"] for rounds in (500, 1000, 2000)]
                yield "slope", f"{name}: {tuner}", slope, np.stack(table, axis=1)
        for a, b in pairs:
            left, right = methods[a]["final"], methods[b]["final"]
            both, pair = np.stack([left, right], axis=1), f"{name}: {a}, {b}"
            yield "difference", pair, mean, (left - right)[:, None]
            yield "ratio", pair, ratio, both
            yield "spread", pair, spread, both
            if "random_regret" in methods[a]:
                random_left, random_right = methods[a]["random_regret"], methods[b]["random_regret"]
                yield "difference over random", pair, mean, (left / random_left - right / random_right)[:, None]
                if (both > 0).all():
                    yield "mean log ratio", pair, mean, np.log(left / right)[:, None]


def rare_losses(finals: Finals, draws: int) -> pd.DataFrame:
    """Return the percentages of right and wrong decisions over samples, with and without room for rare losses.

    Outliers are sought in `PANELS` samples, as in a figure with that many panels.
    """
    rows = []
    for name in RARE:
        for a, b in combinations(finals[name], 2):
            sides = np.stack([finals[name][method]["final"] for method in (a, b)])
            truth = math.copysign(1.0, float(np.subtract(*sides).mean()))
            for n in SIZES[1:]:
                rng, counts = np.random.default_rng(n), np.zeros((2, 2))
                for _ in range(draws):
                    lefts, rights = sides[:, rng.integers(0, sides.shape[1], (PANELS, n))]
                    mean = Mean(lefts[0] - rights[0])
                    room = rare_room(lefts[0], rights[0], rare_deviations(lefts), rare_deviations(rights))
                    for place, quantity in enumerate((mean, Unseen(mean, *room))):
                        low, high = quantity.ends(ERROR, fixed, n)
                        sign = 1.0 if low > 0 else -1.0 if high < 0 else 0.0
                        counts[place] += sign == truth, sign == -truth
                rows.append((f"{name}: {a}, {b}", n, *(100.0 * counts / draws).ravel()))
    columns = [f"decided {how}, {room}" for room in ("Student", "with room") for how in ("rightly", "wrongly")]
    return pd.DataFrame(rows, columns=["of", "n", *columns])


def coverages(finals: Finals, draws: int) -> pd.DataFrame:
    """Return the share of ``draws`` intervals that contain the true value, by kind of statistic and sample size."""
    rows = []
    for kind, name, quantity, values in items(finals):
        if not np.ptp(values, axis=0).all():  # a tuner that never varies has no spread
            continue
        truth = quantity(values).estimate
        for n in SIZES:
            samples = values[np.random.default_rng(n).integers(0, len(values), (draws, n))]
            low, high = np.array([quantity(sample).ends(ERROR, fixed, n) for sample in samples]).T
            rows.append((kind, name, n, float(((low <= truth) & (truth <= high)).mean())))
    table = pd.DataFrame(rows, columns=["kind", "of", "n", "coverage"])
    table.insert(1, "experiments", np.where(table["of"].str.startswith(RARE), "rare large losses", "others"))
    groups = table.groupby(["kind", "experiments", "n"])["coverage"]
    return groups.agg(statistics="count", mean="mean", median="median", lowest="min").reset_index()


def main() -> int:
    """Measure the coverage and write the tables; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400, help="samples per statistic and size")
    arguments = parser.parse_args()
    finals, folder = final_values(), results_folder() / "coverage"
    write_text(folder / "rare.csv", to_csv(rare_losses(finals, arguments.draws)))
    table = coverages(finals, arguments.draws)
    write_text(folder / "coverage.csv", to_csv(table))
    note(results_folder(), [folder])
    means = table.pivot(index=["kind", "experiments"], columns="n", values="mean")
    print((100 * means).round(1).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
