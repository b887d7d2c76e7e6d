import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem
from bench.tuners.train_then_best import TrainThenBest


@dataclass
class Trial:
    configuration: Configuration
    pulls: int = 0
    total: float = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.pulls

    @property
    def rank(self) -> tuple[int, float]:
        """Sort key: more pulls first, then the higher mean."""
        return self.pulls, self.mean if self.pulls else -math.inf


@component
class Hyperband(TrainThenBest):
    """Hyperband with pulls as the resource during the first phase, then its best configuration.

    A bracket draws n configurations and runs successive halving on them: in each rung every configuration is pulled
    until it has r pulls in total, one configuration after the other; then the share 1/eta with the highest means (on a
    tie, the earlier drawn) advances to the next rung, where r is eta times larger. Pulls of earlier rungs count, so
    ``max_resource`` bounds the total of a configuration. Brackets go from many configurations with few pulls to few
    with ``max_resource`` pulls; after the last bracket the loop restarts with new configurations, until the training
    phase ends, possibly within a rung. r is rounded to an integer.

    The best is the highest mean among the configurations with most pulls, which is ``max_resource`` once one bracket is
    complete (Li et al.: the best loss seen; with noisy rewards that could be a single lucky pull).
    Source: Li et al. 2017, algorithm 1; online_hpo, section 7.1.3 (first phase T/2, R = T / (2 (ln T + 1)^2); its
    "proportion of configurations discarded 1/3" is literally eta = 1.5).

    Parameters
    ----------
    eta
        One of ``eta`` configurations survives a rung.
    max_resource
        R, the most pulls of one configuration, in asks; by default ``train_share`` T / (ln T + 1)^2 rounds.
    """

    eta: Annotated[float, Field(gt=1)] = 3.0
    max_resource: PositiveInt | None = None

    def _prepare(self, problem: Problem, n_train: int, seeds: Seeds) -> None:
        rounds = problem.total_rounds
        resource = self.max_resource or problem.asks(int(self.train_share * rounds / (math.log(rounds) + 1) ** 2))
        self._rng = seeds.generator("configurations")
        self._space = problem.space
        self._finished: Trial | None = None
        self._bracket: list[Trial] = []
        self._pulls = self._schedule(brackets(resource, self.eta))
        self._current = next(self._pulls)

    def _explore(self) -> Configuration:
        return self._current.configuration

    def _learn(self, reward: float) -> None:
        self._current.pulls += 1
        self._current.total += reward
        self._current = next(self._pulls)

    def _find_best(self) -> Configuration:
        return self._leader().configuration

    def _leader(self) -> Trial:
        finished = [] if self._finished is None else [self._finished]
        return max(finished + self._bracket, key=lambda trial: trial.rank)

    def _schedule(self, table: list[list[tuple[int, int]]]) -> Iterator[Trial]:
        while True:
            for rungs in table:
                self._bracket = [Trial(self._space.sample(self._rng)) for _ in range(rungs[0][0])]
                survivors = self._bracket
                for n_trials, pulls in rungs:
                    survivors = sorted(survivors, key=lambda trial: trial.rank[1], reverse=True)[:n_trials]
                    for trial in survivors:
                        while trial.pulls < pulls:
                            yield trial
                self._finished = self._leader()


def brackets(max_resource: int, eta: float) -> list[list[tuple[int, int]]]:
    """Return one Hyperband loop: per bracket, per rung, the number of configurations and the pulls each has at its end.

    Source: Li et al. 2017, algorithm 1 and, for ``max_resource`` = 81 and ``eta`` = 3, table 1.
    """
    tiny = 1e-9  # a logarithm or power that should be an integer may fall just below it
    s_max = int(math.log(max_resource) / math.log(eta) + tiny)
    table = []
    for s in range(s_max, -1, -1):
        n = math.ceil((s_max + 1) / (s + 1) * eta**s - tiny)
        # The last rung has at least one, since n >= eta^s.
        table.append([(int(n / eta**i + tiny), int(max_resource / eta ** (s - i) + 0.5)) for i in range(s + 1)])
    return table
