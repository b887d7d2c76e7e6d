from abc import abstractmethod
from typing import Annotated, Any

from pydantic import Field

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner

Share = Annotated[float, Field(gt=0, le=1)]


@component
class TrainThenBest(Tuner):
    """Try configurations in a first phase, then always propose the best one, without learning.

    A subclass defines what is tried (``_prepare``, ``_explore``, ``_learn``) and which was best (``_find_best``).

    Parameters
    ----------
    train_share
        Share of the horizon, in asks, for the first phase, rounded down but at least one ask.
    """

    train_share: Share = 0.5

    @abstractmethod
    def _prepare(self, problem: Problem, n_train: int, seeds: Seeds) -> None:
        """Prepare for ``n_train`` asks of training."""

    @abstractmethod
    def _explore(self) -> Configuration:
        """Return what to try next; the same until ``_learn`` is called."""

    @abstractmethod
    def _learn(self, reward: float) -> None:
        """Learn the reward of what was tried."""

    @abstractmethod
    def _find_best(self) -> Configuration:
        """Return the best configuration, once training is over."""

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        # The small term keeps shares such as 0.29 of 100 from being rounded down to 28.
        self._left = max(1, int(self.train_share * problem.horizon * (1 + 1e-12)))
        self._best: Configuration = {}
        self._prepare(problem, self._left, seeds)

    def _ask(self) -> Configuration:
        return self._explore() if self._left else self._best

    def _tell(self, reward: float, outcome: Any) -> None:
        if not self._left:
            return
        self._learn(reward)
        self._left -= 1
        if not self._left:
            self._best = self._find_best()
