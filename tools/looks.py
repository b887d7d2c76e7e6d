"""Measured errors of verdicts while repetitions are added: python -m tools.looks [--runs 10000]

Simulates paired differences with mean 0, looks at them after 20, 40, ..., 200 repetitions, and counts the cases in
which any look finds a difference. Draws with replacement from the committed paired differences of all figures that
run until decided, shifted to a mean of 0, up to the figures' largest numbers. Writes ``looks.csv`` to
``results/coverage/``, which `tools.docs` shows.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from bench.critical import Array, Rule, Sequential, fixed, looks_up_to, skewed
from bench.report.claims.base import Case
from bench.report.claims.check import claims_of
from bench.report.claims.comparisons import PairedDifference, rare_deviations
from bench.report.claims.judgement import Unmeasured
from bench.report.claims.quantities import skewness
from bench.report.tables import to_csv
from runners.config.figures import figure_names, load_figure
from runners.results.checksums import note
from runners.results.derive import results_in
from runners.results.folder import ResultFolder
from runners.results.store import results_folder, write_text

MOST = 200
RULES = ("in use", "without room for skew", "single look at 20", "fixed sample at each look")
FILE = "coverage/looks.csv"
Draw = Callable[[np.random.Generator, tuple[int, int]], Array]


def _two(draw: Draw) -> Draw:
    return lambda rng, size: draw(rng, size) - draw(rng, size)


LAWS: dict[str, Draw] = {
    "normal": lambda rng, size: rng.normal(size=size),
    "Student's t, 3 degrees of freedom": lambda rng, size: rng.standard_t(3, size=size),
    "bimodal: half at -1, half at 1": lambda rng, size: rng.choice([-1.0, 1.0], size) + rng.normal(0, 0.2, size),
    "bimodal: 80 % at -0.2, 20 % at 0.8": lambda rng, size: (
        np.where(rng.random(size) < 0.2, 0.8, -0.2) + rng.normal(0, 0.05, size)
    ),
    "two log-normal sides, sigma 1.5": _two(lambda rng, size: rng.lognormal(0, 1.5, size)),
    "two Pareto sides, index 2.5": _two(lambda rng, size: rng.pareto(2.5, size)),
    "two sides that lose much in 10 % of the runs": _two(
        lambda rng, size: 10.0 * (rng.random(size) < 0.1) + rng.normal(size=size)
    ),
    "exponential minus normal": lambda rng, size: rng.exponential(size=size) - rng.normal(1, 1, size),
    "exponential, the other side constant": lambda rng, size: rng.exponential(size=size) - 1.0,
    "log-normal, sigma 1, the other side constant": lambda rng, size: rng.lognormal(0, 1, size) - np.exp(0.5),
}
"""Laws of a paired difference with mean 0, by name."""


def shares_decided(values: Array, most: int) -> dict[str, float]:
    """Return, for each rule, the share of runs in which the interval ever excludes 0.

    ``values`` has shape (runs, repetitions).
    """
    looks = np.array(looks_up_to(most))
    sums = [np.cumsum(values**power, axis=1)[:, looks - 1] / looks for power in (1, 2, 3)]
    mean, variance = sums[0], np.maximum(sums[1] - sums[0] ** 2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / np.sqrt(variance) * np.sqrt(looks - 1)
        skew = (sums[2] - 3 * mean * sums[1] + 2 * mean**3) / variance**1.5

    def excluded(rule: Rule, *, is_skewed: bool = False, only: int | None = None) -> float:
        outside = np.zeros(len(values), dtype=bool)
        for place, n in enumerate(looks.tolist()[:only]):
            reach = np.full(len(values), bound := rule(n, 0.025))
            if is_skewed:  # 0 lies below a positive mean, above a negative
                towards = -np.sign(t[:, place]) * np.nan_to_num(skew[:, place])
                reach = np.array([skewed(bound, one, n) for one in towards.tolist()])
            outside |= np.abs(t[:, place]) > reach
        return float(outside.mean())

    rule = Sequential(most)
    found = (
        excluded(rule, is_skewed=True), excluded(rule), excluded(fixed, only=1), excluded(fixed)
    )  # fmt: skip
    return dict(zip(RULES, found, strict=True))


def differences() -> Iterator[tuple[int, bool, Array]]:
    """Yield the paired differences of each committed case, shifted to a mean of 0.

    Each item consists of the largest number of repetitions, whether a few differences are far off, and the differences.
    """
    for name in figure_names():
        for folder in ResultFolder.of(results_folder(), name):
            most = folder.provenance.until_decided
            results = results_in(load_figure(name), folder.path) if most else None
            if most is None or results is None:
                continue
            for claim in claims_of(results):
                if not isinstance(claim, PairedDifference):
                    continue
                for labels in claim.cases(results):
                    try:
                        left, right = claim.values(Case(claim, results, labels))
                    except Unmeasured:
                        continue
                    values = left.mean(axis=1) - right.mean(axis=1)
                    if len(values) >= 20 and np.ptp(values) > 0:
                        rare = any(map(any, (rare_deviations(side.T) for side in (left, right))))
                        yield most, rare or abs(skewness(values)) > 4.0, values - values.mean()


def measured(runs: int) -> pd.DataFrame:
    """Return the percentage of wrong decisions for each distribution and rule."""
    rows: list[dict[str, object]] = []
    for name, law in LAWS.items():
        rows.append({"of": name, **_per_cent(shares_decided(law(np.random.default_rng(1), (runs, MOST)), MOST))})
    groups: dict[bool, list[Mapping[str, float]]] = {False: [], True: []}
    for most, is_rare, values in differences():
        drawn = values[np.random.default_rng(1).integers(0, len(values), (max(runs // 10, 1), most))]
        groups[is_rare].append(_per_cent(shares_decided(drawn, most)))
    for is_rare, words in ((False, "committed differences"), (True, "committed differences, a few far off")):
        if groups[is_rare]:
            table = pd.DataFrame(groups[is_rare])
            rows.append({"of": f"{words}: {len(table)} cases, mean", **table.mean()})
    return pd.DataFrame(rows)


def _per_cent(shares: Mapping[str, float]) -> dict[str, float]:
    return {name: round(100.0 * share, 2) for name, share in shares.items()}


def main() -> int:
    """Measure the errors and write the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="simulated runs of each distribution")
    table = measured(parser.parse_args().runs)
    write_text(results_folder() / FILE, to_csv(table))
    note(results_folder(), [results_folder() / FILE])
    print(table.round(1).to_string(index=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
