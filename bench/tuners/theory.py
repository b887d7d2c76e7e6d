from typing import Any, ClassVar

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class Theory(Tuner):
    """Propose what the algorithm's theory prescribes for the round; without such a value, the default.

    Source: syndicated, section 6 ("Theoretical-Explore").
    """

    leaves_space: ClassVar[bool] = True

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        names = problem.space.names
        if problem.theory is None or not set(problem.theory()) & set(names):
            raise ConfigError(f"tuner=theory: found no theoretical value of {', '.join(names)}, expected at least one")
        self._theory = problem.theory
        self._defaults = problem.space.defaults

    def _ask(self) -> Configuration:
        theory = self._theory()
        return {name: theory.get(name, usual) for name, usual in self._defaults.items()}

    def _tell(self, reward: float, outcome: Any) -> None:
        pass
