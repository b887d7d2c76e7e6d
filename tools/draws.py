"""Changepoint GP that draws hypotheses by the cube of their weight: the trial described in docs/changepoint_gp.md.

python -m tools.draws FOLDER    # once on tasks of the tournament, and where TV-GP-UCB has less regret

Prints a table; FOLDER keeps the regret of each repetition, so that an interrupted call resumes.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from bench.component import component
from bench.loop import run
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.changepoint_gp import ChangepointGP
from bench.tuners.changepoint_kernels import choose
from runners.config.experiment import Experiment, build
from runners.config.figures import expand, load_figure

POWER, REPEATED = 3.0, 30
OURS, THEIRS = "Changepoint GP", "TV-GP-UCB, estimated"
FIGURES = {
    "tournament/unseen": ("wandering peak", "many arms", "algorithms that forget", "unseen tables"),
    "tournament/ranks": ("still peak", "arms"),
    "tournament/new_best": ("new best, midway",),
}
"""Families of each figure that the variant is run on, once."""


@component
class SharpenedGP(ChangepointGP):
    """Changepoint GP that draws hypotheses by weight^`POWER`."""

    def _ask(self) -> Configuration:
        if not self._by_rewards.n_hypotheses:
            return super()._ask()
        trusted = self._by_model.n_hypotheses and self._log_odds > 0.0
        belief = self._by_model if trusted and self._rng.random() >= self.doubt else self._by_rewards
        self._rng.random()  # of the share of ordinary draws, which is 0
        arrays = belief.arrays._replace(log_weights=POWER * belief.arrays.log_weights)
        self._chosen = int(choose(arrays, self.beta, self._rng.random()))
        self._asks += 1
        return self._configurations[self._chosen]


def kept(path: Path, experiment: Experiment) -> np.ndarray:
    """Return the final regret of each repetition of the variant; each is run once."""
    if not path.is_file():
        rounds, seed = experiment.settings["horizon"], experiment.settings["seed"]
        traces = (
            run(build(experiment)[0], SharpenedGP(), rounds=rounds, seeds=Seeds(seed, number))
            for number in range(REPEATED)
        )
        values = [float(trace.columns()["regret"][-1]) for trace in traces]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    return np.array(json.loads(path.read_text()))


def added(ours: np.ndarray, others: np.ndarray) -> tuple[float, float, float]:
    """Return our excess over the others as a percentage of their mean, with its paired 95 % interval."""
    ratio = ours.mean() / others.mean()
    reach = stats.t.ppf(0.975, len(ours) - 1) * stats.sem(ours - ratio * others) / others.mean()
    return 100.0 * (ratio - 1.0), 100.0 * (ratio - 1.0 - reach), 100.0 * (ratio - 1.0 + reach)


def main(folder: Path) -> None:
    """Run the variant with the seeds of the two other tuners' committed repetitions, and print the table."""
    print("| figure | task | than changepoint GP | than TV-GP-UCB |\n| --- | --- | ---: | ---: |")
    for figure, families in FIGURES.items():
        runs = {
            (each.labels["task"], each.labels["method"]): each.experiment
            for each in expand(load_figure(figure), "paper", [], readings=False)
            if each.labels["family"] in families and "method" in each.labels
        }
        table = pd.read_parquet(Path("results") / figure / "paper/repetitions.parquet")
        finals = {key: rows.groupby("repetition").regret.last().to_numpy() for key, rows in table.groupby("key")}
        for task in [task for task, method in runs if method == OURS]:
            ours = kept(folder / f"{figure} {task}.json".replace("/", " "), runs[task, OURS])
            before, theirs = (finals[runs[task, method].key][:REPEATED] for method in (OURS, THEIRS))
            cells = [" {:.0f} [{:.0f}, {:.0f}]".format(*added(ours[: len(each)], each)) for each in (before, theirs)]
            print(f"| {figure} | {task} |{cells[0]} |{cells[1]} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
