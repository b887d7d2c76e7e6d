from dataclasses import field
from typing import Any, ClassVar

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class Fixed(Tuner):
    """Propose the same configuration every time.

    Parameters
    ----------
    configuration
        Values by name; others have their default, else their first candidate or the middle of their interval.
    """

    leaves_space: ClassVar[bool] = True

    configuration: dict[str, Any] = field(default_factory=dict)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        for name in self.configuration:
            if name not in problem.space.names:
                raise ConfigError(
                    f"tuner.configuration: found the hyper-parameter '{name}', "
                    f"expected one of: {', '.join(problem.space.names)}"
                )
        self._configuration = problem.space.defaults | dict(self.configuration)

    def _ask(self) -> Configuration:
        return self._configuration

    def _tell(self, reward: float, outcome: Any) -> None:
        pass
