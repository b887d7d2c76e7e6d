from abc import abstractmethod

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class CandidateTuner(Tuner):
    """Chooses among all combinations of candidates; subclasses refer to them by number."""

    @abstractmethod
    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        """Prepare to choose among ``n`` candidates."""

    @abstractmethod
    def _choose(self) -> int:
        """Return the number of the candidate to play."""

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        self._chosen = 0
        self._begin(len(self._candidates), problem, seeds)

    def _ask(self) -> Configuration:
        self._chosen = self._choose()
        return self._candidates[self._chosen]
