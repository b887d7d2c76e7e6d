from dataclasses import field
from typing import Any, ClassVar

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, plain_value
from bench.tuners.base import Problem, Tuner


@component
class Fixed(Tuner):
    """Propose the same configuration in every round.

    Parameters
    ----------
    configuration
        Values by the name of the hyper-parameter. Other hyper-parameters have their default, or else their first
        candidate or the middle of their interval.
    """

    leaves_space: ClassVar[bool] = True
    remembers: ClassVar[tuple[str, ...] | None] = ()

    configuration: dict[str, Any] = field(default_factory=dict)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        for name in self.configuration:
            if name not in problem.space.names:
                raise ConfigError(
                    f"tuner.configuration: found the hyper-parameter '{name}', "
                    f"expected one of: {', '.join(problem.space.names)}"
                )
        self._configuration = problem.space.defaults | {
            name: plain_value(value) for name, value in self.configuration.items()
        }

    def _ask(self) -> Configuration:
        return self._configuration

    def _tell(self, reward: float, outcome: Any) -> None:
        pass


@component
class Random(Tuner):
    """Draw every hyper-parameter uniformly from its interval, or from its candidates if it has no interval."""

    label: ClassVar[str] = "Random each round"
    heeds: ClassVar[tuple[str, ...]] = ("excluded",)
    remembers: ClassVar[tuple[str, ...] | None] = ()

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._space = problem.space
        self._rng = seeds.generator("draw")

    def _ask(self) -> Configuration:
        return self._space.sample(self._rng)

    def _tell(self, reward: float, outcome: Any) -> None:
        pass


@component
class Theory(Tuner):
    """Propose the algorithm's theoretical value for the round, or the default if there is no theoretical value.

    Source: syndicated, section 6 ("Theoretical-Explore").
    """

    leaves_space: ClassVar[bool] = True
    remembers: ClassVar[tuple[str, ...] | None] = ()

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        names = problem.space.names
        if problem.theory is None or not set(problem.theory()) & set(names):
            raise ConfigError(f"tuner=theory: found no theoretical value of {', '.join(names)}, expected at least one")
        self._theory = problem.theory
        self._defaults = problem.space.defaults

    def _ask(self) -> Configuration:
        theory = self._theory()
        return {name: plain_value(theory.get(name, usual)) for name, usual in self._defaults.items()}

    def _tell(self, reward: float, outcome: Any) -> None:
        pass
