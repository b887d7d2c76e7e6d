"""Changepoint GP that draws hypotheses by a power of their weight: the trial of docs/changepoint_gp.md.

python -m tools.draws tune FOLDER      # every variant on tasks made for it; resumes
python -m tools.draws unseen FOLDER    # one variant on tournament/unseen, and where TV-GP-UCB has less regret

Each prints a table; FOLDER keeps the regret of each repetition.
"""

import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field, PositiveFloat
from scipy import stats

from bench.component import component
from bench.loop import run
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tuners.base import Problem
from bench.tuners.changepoint_belief import ChangepointBelief
from bench.tuners.changepoint_gp import ChangepointGP
from bench.tuners.changepoint_kernels import choose
from bench.tuners.finite_gp import logarithmic
from runners.config.experiment import Experiment, build
from runners.config.figures import expand, load_figure

Variant = tuple[float, float, bool]
ROUNDS, REPETITIONS = 3_000, 6
VARIANTS = [
    (3.0, 0.2, False),
    (3.0, 0.0, False),
    (3.0, 0.2, True),
    (2.0, 0.2, False),
    (1e3, 0.2, False),
    (3.0, 0.4, False),
]
"""Power, share of ordinary draws, and whether the bound widens with the rounds."""
CHOSEN, REPEATED = (3.0, 0.0, False), 30
OURS, THEIRS = "Changepoint GP", "TV-GP-UCB, estimated"
FIGURES = {
    "tournament/unseen": ("wandering peak", "many arms", "algorithms that forget", "unseen tables"),
    "tournament/ranks": ("still peak", "arms"),
    "tournament/new_best": ("new best, midway",),
}
"""Families of each figure that the chosen variant is run on, once."""


@component
class SharpenedGP(ChangepointGP):
    """Changepoint GP that draws hypotheses by weight^power but for a share of ordinary draws.

    ``widens``: the bound is sqrt(0.8 ln 4t) deviations wide, as TV-GP-UCB's, instead of ``beta``.
    """

    power: PositiveFloat = 3.0
    share: float = Field(default=0.2, ge=0.0, le=1.0)
    widens: bool = False

    def _largest(self, belief: ChangepointBelief) -> int:
        power = self.power if self._rng.random() >= self.share else 1.0
        arrays = belief.arrays._replace(log_weights=power * belief.arrays.log_weights)
        return int(choose(arrays, logarithmic(self._asks + 1) if self.widens else self.beta, self._rng.random()))

    def _ask(self) -> Configuration:
        if not self._by_rewards.n_hypotheses:
            return super()._ask()
        trusted = self._by_model.n_hypotheses and self._log_odds > 0.0
        belief = self._by_model if trusted and self._rng.random() >= self.doubt else self._by_rewards
        self._chosen = self._largest(belief)
        self._asks += 1
        return self._configurations[self._chosen]


def _bump(x: np.ndarray, center: Any, width: float) -> np.ndarray:
    return np.exp(-0.5 * ((x - np.asarray(center)[:, None]) / width) ** 2)


def _walk(rng: np.random.Generator, step: float) -> np.ndarray:
    """A walk in [0.05, 0.95] that is reflected at the ends."""
    u = np.cumsum(rng.normal(0.0, step, ROUNDS)) + rng.uniform(0.0, 0.9)
    return np.asarray(0.95 - np.abs(u % 1.8 - 0.9))


def _jumps(rng: np.random.Generator, n: int) -> np.ndarray:
    """A place for each round, which changes n times."""
    stretch = np.searchsorted(np.sort(rng.integers(200, ROUNDS - 200, n)), np.arange(ROUNDS), side="right")
    return np.asarray(rng.uniform(0.05, 0.95, n + 1)[stretch])


def _swing(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(0.5 + 0.4 * np.sin(np.linspace(0.0, 4.0 * np.pi, ROUNDS) + rng.uniform(0.0, 6.0)))


def _two(x: np.ndarray, rng: np.random.Generator, first: Any, second: Any) -> np.ndarray:
    """The larger of two bumps at places of their own, with these heights."""
    return np.maximum(first * _bump(x, _constant(rng), 0.1), second * _bump(x, _constant(rng), 0.1))


def _constant(rng: np.random.Generator) -> np.ndarray:
    return np.full(ROUNDS, rng.uniform(0.05, 0.95))


_HALF = (np.arange(ROUNDS) >= ROUNDS // 2)[:, None]
_Means = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""Expected rewards, shape (rounds, points), of points in [0, 1]."""

TASKS: Mapping[str, tuple[float, _Means]] = {
    "still bump": (0.1, lambda x, rng: _bump(x, _constant(rng), 0.15)),
    "still bump, loud": (0.5, lambda x, rng: _bump(x, _constant(rng), 0.15)),
    "still narrow bump": (0.1, lambda x, rng: _bump(x, _constant(rng), 0.06)),
    "two still bumps": (0.2, lambda x, rng: _two(x, rng, 0.8, 1.0)),
    "still slope": (0.2, lambda x, rng: np.tile(1.0 / (1.0 + np.exp(8.0 * (rng.uniform(0.3, 0.7) - x))), (ROUNDS, 1))),
    "slow walk": (0.1, lambda x, rng: _bump(x, _walk(rng, 0.002), 0.15)),
    "fast walk": (0.1, lambda x, rng: _bump(x, _walk(rng, 0.01), 0.15)),
    "loud walk": (0.5, lambda x, rng: _bump(x, _walk(rng, 0.004), 0.15)),
    "swing": (0.2, lambda x, rng: _bump(x, _swing(rng), 0.15)),
    "three jumps": (0.1, lambda x, rng: _bump(x, _jumps(rng, 3), 0.15)),
    "one loud jump": (0.5, lambda x, rng: _bump(x, _jumps(rng, 1), 0.15)),
    "a second bump grows": (0.1, lambda x, rng: _two(x, rng, 0.7, 0.3 + 0.7 * _HALF)),
    "arms": (0.5, lambda x, rng: np.tile(rng.uniform(0.0, 1.0, len(x)), (ROUNDS, 1))),
    "arms, drawn anew": (0.5, lambda x, rng: np.where(_HALF, rng.uniform(size=len(x)), rng.uniform(size=len(x)))),
}
"""Standard deviation of the normal noise, and what is expected."""


def regret(task: str, variant: Variant | None, repetition: int) -> float:
    """Return the regret of a run over that of uniformly random points; no variant: changepoint GP."""
    rng = np.random.default_rng([repetition, list(TASKS).index(task)])
    std, means = TASKS[task]
    arms = task.startswith("arms")
    x = np.arange(8.0) if arms else np.linspace(0.0, 1.0, 1_001)
    expected = means(x, rng)
    noise = rng.normal(0.0, std, ROUNDS)
    space = Space.of(x=[f"arm {i}" for i in range(8)]) if arms else Space.of(x={"low": 0.0, "high": 1.0})
    tuner = made(variant)
    tuner.start(Problem(space, ROUNDS), Seeds(repetition))
    best = expected.max(axis=1)
    earned = np.empty(ROUNDS)
    for t in range(ROUNDS):
        value = tuner.ask()["x"]
        earned[t] = expected[t, int(value.split()[1]) if arms else round(value * 1_000)]
        tuner.tell(float(earned[t] + noise[t]))
    return float((best - earned).sum() / (best - expected.mean(axis=1)).sum())


def made(variant: Variant | None) -> ChangepointGP:
    return ChangepointGP() if variant is None else SharpenedGP(power=variant[0], share=variant[1], widens=variant[2])


def kept(folder: Path, name: str, run: Callable[[], list[float]]) -> np.ndarray:
    """Return what ``run`` returns, once and for all."""
    path = folder / f"{name}.json"
    if not path.is_file():
        values = run()
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    return np.array(json.loads(path.read_text()))


def added(ours: np.ndarray, others: np.ndarray) -> tuple[float, float, float]:
    """Return by how much ours is larger in per cent of the others' mean, with its paired 95 % interval."""
    ratio = ours.mean() / others.mean()
    reach = stats.t.ppf(0.975, len(ours) - 1) * stats.sem(ours - ratio * others) / others.mean()
    return 100.0 * (ratio - 1.0), 100.0 * (ratio - 1.0 - reach), 100.0 * (ratio - 1.0 + reach)


def tune(folder: Path) -> None:
    def of(variant: Variant | None, task: str) -> np.ndarray:
        name = f"{task}, {variant or 'changepoint GP'}".replace("/", " ")
        return kept(folder, name, lambda: [regret(task, variant, number) for number in range(REPETITIONS)])

    print("| power | share | widens | regret | worst | wins | losses |\n| --- | --- | --- | ---: | --- | ---: | ---: |")
    for variant in VARIANTS:
        rows = {task: added(of(variant, task), of(None, task)) for task in TASKS}
        mean = 100.0 * math.expm1(np.mean([math.log1p(row[0] / 100.0) for row in rows.values()]))
        worst = max(rows, key=lambda task: rows[task][0])
        wins, losses = sum(row[2] < 0 for row in rows.values()), sum(row[1] > 0 for row in rows.values())
        power, share, widens = variant
        cells = f"| {power:g} | {share:g} | {widens} | {mean:+.1f} % | {worst} {rows[worst][0]:+.0f} %"
        print(f"{cells} | {wins} | {losses} |", flush=True)


def unseen(folder: Path) -> None:
    """Run the chosen variant once, with the seeds of the committed repetitions of the two others."""
    print("| figure | task | than changepoint GP | than TV-GP-UCB |\n| --- | --- | ---: | ---: |")
    for figure, families in FIGURES.items():
        runs = [
            each
            for each in expand(load_figure(figure), "paper", [], readings=False)
            if each.labels["family"] in families and "method" in each.labels
        ]
        table = pd.read_parquet(Path("results") / figure / "paper/repetitions.parquet")
        finals = {key: rows.groupby("repetition").regret.last().to_numpy() for key, rows in table.groupby("key")}
        labels = [(each.labels["family"], each.labels["task"]) for each in runs if each.labels["method"] == OURS]
        of_method = {(each.labels["family"], each.labels["task"], each.labels["method"]): each for each in runs}
        for label in labels:
            experiment = of_method[*label, OURS].experiment

            def played(experiment: Experiment = experiment) -> list[float]:
                rounds, seed = experiment.settings["horizon"], experiment.settings["seed"]
                traces = (
                    run(build(experiment)[0], made(CHOSEN), rounds=rounds, seeds=Seeds(seed, number))
                    for number in range(REPEATED)
                )
                return [float(trace.columns()["regret"][-1]) for trace in traces]

            ours = kept(folder, f"{figure} {label[1]}".replace("/", " "), played)
            before, theirs = (finals[of_method[*label, method].experiment.key][:REPEATED] for method in (OURS, THEIRS))
            cells = [" {:.0f} [{:.0f}, {:.0f}]".format(*added(ours[: len(each)], each)) for each in (before, theirs)]
            print(f"| {figure} | {label[1]} |{cells[0]} |{cells[1]} |", flush=True)


if __name__ == "__main__":
    {"tune": tune, "unseen": unseen}[sys.argv[1]](Path(sys.argv[2]))
