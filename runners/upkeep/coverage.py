"""How often do intervals contain the truth? python -m runners.upkeep.coverage [--draws 400]

Makes 400 repetitions of twelve typical experiments and of two grids, shortened to run in minutes. What all 400 give
counts as the truth; n of them are drawn again and again, with replacement, and the intervals that contain it are
counted. Writes ``coverage.csv`` and ``rare.csv``, which compares intervals with and without room for rare losses, to
``results/coverage/``.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from bench.critical import fixed
from bench.report.claims.comparisons import rare_room
from bench.report.claims.quantities import BestValue, Extreme, Mean, RatioOfMeans, Unseen
from bench.report.claims.slope import slope_weights
from bench.report.tables import to_csv
from runners.config.compose import from_overrides
from runners.execute.fanout import run_all
from runners.results.store import Store, results_folder, write_text

SIZES = (5, 10, 20, 50)
RESAMPLES = 399
ERROR = 0.025  # to each side
PANELS = 5
CONSTANT = 30.0  # added to the best candidate's regret, where bounds are measured

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


def final_values() -> Finals:
    """Run what is missing; return experiment -> method -> column -> the last value of each repetition."""
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
        last = [store.read(experiment.run_id, repetition).iloc[-1] for repetition in range(REPETITIONS)]
        columns = [c for c in ("regret", "random_regret", "relative_true_value") if c in last[0]]
        values = {c: np.array([float(row[c]) for row in last]) for c in columns}
        values["final"] = values["regret"] if "regret" in values else values["relative_true_value"]
        finals.setdefault(name, {})[method] = values
    return finals


Linear = Callable[[Array], tuple[Array, Array]]
"""Samples (..., n, columns) -> estimate (...) and the influence of each repetition on it (..., n)."""


class Item(NamedTuple):
    """A statistic of an experiment's repetitions, shape (repetitions, columns)."""

    kind: str
    name: str
    linear: Linear
    values: Array


def mean(values: Array) -> tuple[Array, Array]:
    """Return the mean of the one column."""
    middle = values[..., 0].mean(axis=-1)
    return middle, values[..., 0] - middle[..., None]


def log_ratio(values: Array) -> tuple[Array, Array]:
    """Return the logarithm of the ratio of two means."""
    middle = values.mean(axis=-2)
    shares = values / middle[..., None, :]
    return np.log(middle[..., 0] / middle[..., 1]), shares[..., 0] - shares[..., 1]


def log_spread(values: Array) -> tuple[Array, Array]:
    """Return the logarithm of the ratio of two standard deviations."""
    squares = (values - values.mean(axis=-2, keepdims=True)) ** 2
    variances = squares.mean(axis=-2)
    shares = squares / variances[..., None, :]
    return np.log(variances[..., 0] / variances[..., 1]) / 2, (shares[..., 0] - shares[..., 1]) / 2


def log_slope(values: Array) -> tuple[Array, Array]:
    """Return the slope of ln(mean) over horizons that double from column to column."""
    middle, weights = values.mean(axis=-2), slope_weights(np.arange(values.shape[-1]) * np.log(2.0))
    return np.log(middle) @ weights, (values / middle[..., None, :] - 1.0) @ weights


def items(finals: Finals) -> Iterator[Item]:
    """Yield what is measured."""
    for name, methods in finals.items():
        if name.endswith("grid"):
            continue
        for method, columns in methods.items():
            yield Item("mean", f"{name}: {method}", mean, columns["final"][:, None])
        pairs = list(combinations(methods, 2))
        if name == "Lipschitz":
            pairs = [(a, b) for a, b in pairs if a.split(", ")[1] == b.split(", ")[1]]
            for tuner in ("sd2me", "ad2me"):
                table = [methods[f"{tuner}, {rounds}"]["final"] for rounds in (500, 1000, 2000)]
                yield Item("slope", f"{name}: {tuner}", log_slope, np.stack(table, axis=1))
        for a, b in pairs:
            left, right = methods[a]["final"], methods[b]["final"]
            both, pair = np.stack([left, right], axis=1), f"{name}: {a}, {b}"
            yield Item("difference", pair, mean, (left - right)[:, None])
            yield Item("ratio", pair, log_ratio, both)
            yield Item("spread", pair, log_spread, both)
            if "random_regret" in methods[a]:
                random_left, random_right = methods[a]["random_regret"], methods[b]["random_regret"]
                yield Item("difference over random", pair, mean, (left / random_left - right / random_right)[:, None])
                if (both > 0).all():
                    yield Item("mean log ratio", pair, mean, np.log(left / right)[:, None])


def intervals(item: Item, samples: Array, rng: np.random.Generator) -> dict[str, tuple[Array, Array]]:
    """Return low and high of each method for samples (draws, n, columns)."""
    draws, n, _ = samples.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate, influence = item.linear(samples)
        error, reach = standard_error(influence), fixed(n, ERROR)
        rows = rng.integers(0, n, size=(RESAMPLES, n))
        resampled, t = np.empty((2, draws, RESAMPLES))
        for draw in range(draws):
            resampled[draw], influences = item.linear(samples[draw][rows])
            t[draw] = (resampled[draw] - estimate[draw]) / standard_error(influences)
    resampled[~np.isfinite(resampled)], t[~np.isfinite(t)] = np.nan, np.nan
    ends = {
        "Student's t": (estimate - reach * error, estimate + reach * error),
        "percentile": tuple(np.nanquantile(resampled, [ERROR, 1 - ERROR], axis=1)),
        "BCa": _accelerated(estimate, influence, resampled),
    }
    low, high = np.nanquantile(t, [ERROR, 1 - ERROR], axis=1)
    ends["studentised"] = estimate - high * error, estimate - low * error
    if item.kind == "ratio":
        fieller = [RatioOfMeans(*sample.T).ends(ERROR, fixed, n) for sample in samples]
        with np.errstate(divide="ignore", invalid="ignore"):
            ends["Fieller"] = tuple(np.log(np.maximum(np.array(fieller).T, 0.0)))
    if item.kind == "spread":
        without = np.array([[j for j in range(n) if j != i] for i in range(n)])
        with np.errstate(divide="ignore", invalid="ignore"):
            left_out = item.linear(samples[:, without, :])[0]
            error = standard_error((n - 1) * (left_out - left_out.mean(axis=1, keepdims=True)))
        ends["jackknife"] = estimate - reach * error, estimate + reach * error
    return ends


def _accelerated(estimate: Array, influence: Array, resampled: Array) -> tuple[Array, Array]:
    """Return the bias-corrected and accelerated interval (Efron 1987)."""
    below = (resampled < estimate[:, None]).mean(axis=1) + (resampled == estimate[:, None]).mean(axis=1) / 2
    bias = stats.norm.ppf(np.clip(below, 0.5 / RESAMPLES, 1 - 0.5 / RESAMPLES))
    acceleration = (influence**3).sum(axis=1) / np.maximum(6 * (influence**2).sum(axis=1) ** 1.5, 1e-300)
    ordered, ends = np.sort(resampled, axis=1), []
    for normal in stats.norm.ppf([ERROR, 1 - ERROR]):
        share = stats.norm.cdf(bias + (bias + normal) / (1 - acceleration * (bias + normal)))
        ends.append(ordered[np.arange(len(share)), np.clip((share * RESAMPLES).astype(int), 0, RESAMPLES - 1)])
    return ends[0], ends[1]


def standard_error(influence: Array) -> Array:
    """Return the standard error that influences (..., n) give."""
    n = influence.shape[-1]
    return np.asarray(np.sqrt((influence**2).sum(axis=-1) / (n - 1) / n))


def grids(finals: Finals, draws: int) -> Iterator[tuple[str, str, int, str, float]]:
    """Yield the coverages of the best grid value, and of a bound: the best candidate's regret plus a constant."""
    grid = np.array(RATES, dtype=float)
    for name in (name for name in finals if name.endswith("grid")):
        values = np.stack([columns["final"] for columns in finals[name].values()], axis=1)
        means = values.mean(axis=0)
        best, ratio = grid[means.argmin()], means[1] / (means.min() + CONSTANT)
        for n in SIZES:
            rng, hits = np.random.default_rng(n), np.zeros((2, 2))
            for _ in range(draws):
                sample = values[rng.integers(0, len(values), n)]
                again = sample[rng.integers(0, n, (RESAMPLES, n))].mean(axis=1)
                bound = Extreme([[RatioOfMeans(sample[:, 1], other + CONSTANT) for other in sample.T]], "max", "max")
                of_bound = again[:, 1] / (again.min(axis=1) + CONSTANT)
                for i, (truth, old, new) in enumerate(
                    [(best, grid[again.argmin(axis=1)], BestValue(grid, sample)), (ratio, of_bound, bound)]
                ):
                    for j, (low, high) in enumerate([np.quantile(old, [ERROR, 1 - ERROR]), new.ends(ERROR, fixed, n)]):
                        hits[i, j] += low <= truth <= high
            for kind, row in zip(("best on grid", "bound"), hits / draws, strict=True):
                for method, share in zip(("percentile", "each at its share of the error"), row, strict=True):
                    yield kind, name, n, method, float(share)


def rare_losses(finals: Finals, draws: int) -> pd.DataFrame:
    """Return the per cent of samples in which a difference is decided rightly and wrongly, without room and with it.

    What is far off is looked for in `PANELS` samples, as in a figure with that many panels.
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
                    room = rare_room(lefts[0], rights[0], lefts, rights)
                    for place, quantity in enumerate((mean, Unseen(mean, *room))):
                        low, high = quantity.ends(ERROR, fixed, n)
                        sign = 1.0 if low > 0 else -1.0 if high < 0 else 0.0
                        counts[place] += sign == truth, sign == -truth
                rows.append((f"{name}: {a}, {b}", n, *(100.0 * counts / draws).ravel()))
    columns = [f"decided {how}, {room}" for room in ("Student", "with room") for how in ("rightly", "wrongly")]
    return pd.DataFrame(rows, columns=["of", "n", *columns])


def coverages(finals: Finals, draws: int) -> pd.DataFrame:
    """Return the share of ``draws`` intervals that contain the truth, by kind of statistic, method and n."""
    rows = list(grids(finals, draws))
    for item in items(finals):
        if not np.ptp(item.values, axis=0).all():  # a tuner that never varies has no spread
            continue
        truth = float(item.linear(item.values[None])[0][0])
        for n in SIZES:
            rng = np.random.default_rng(n)
            samples = item.values[rng.integers(0, len(item.values), (draws, n))]
            for method, (low, high) in intervals(item, samples, rng).items():
                rows.append((item.kind, item.name, n, method, float(((low <= truth) & (truth <= high)).mean())))
    table = pd.DataFrame(rows, columns=["kind", "of", "n", "method", "coverage"])
    table.insert(1, "experiments", np.where(table["of"].str.startswith(RARE), "rare large losses", "others"))
    groups = table.groupby(["kind", "experiments", "method", "n"])["coverage"]
    return groups.agg(statistics="count", mean="mean", median="median", lowest="min").reset_index()


def main() -> int:
    """Measure and write the tables; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400, help="samples per statistic and size")
    arguments = parser.parse_args()
    finals, folder = final_values(), results_folder() / "coverage"
    write_text(folder / "rare.csv", to_csv(rare_losses(finals, arguments.draws)))
    table = coverages(finals, arguments.draws)
    write_text(folder / "coverage.csv", to_csv(table))
    means = table.pivot(index=["kind", "experiments", "method"], columns="n", values="mean")
    print((100 * means).round(1).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
