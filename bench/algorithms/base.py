from dataclasses import field
from typing import Any, ClassVar

from bench.component import component
from bench.errors import ConfigError, SpaceError
from bench.space import Configuration, Space


@component
class Algorithm:
    """An algorithm with named hyper-parameters.

    Parameters
    ----------
    tune
        Hyper-parameters that tuners search; a tuner of one hyper-parameter takes the first. All other hyper-parameters
        have their theoretical or default values.
    space
        Candidates, interval and default of hyper-parameters, in place of the values of the class.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {}
    trains_first: ClassVar[bool] = False
    """Whether a run begins with training of 15 to 30 minutes, unless its result is cached."""

    tune: list[str] = field(default_factory=list)
    space: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def hyper_parameters(self) -> Space:
        """All hyper-parameters, tuned or not.

        Raises ConfigError if ``space`` names a hyper-parameter that the algorithm does not have.
        """
        for name in self.space:
            if name not in self.spaces:
                raise ConfigError(f"algorithm.space: found '{name}', expected one of: {', '.join(self.spaces)}")
        return Space.of(**{name: default | self.space.get(name, {}) for name, default in self.spaces.items()})

    @property
    def tuned(self) -> Space:
        space = self.hyper_parameters
        return space.restrict(self.tune or space.names[:1])

    def complete(self, configuration: Configuration) -> Configuration:
        """Return a value for every hyper-parameter: ``configuration`` completed with defaults."""
        return self.hyper_parameters.defaults | configuration


def positive(name: str, value: Any) -> float:
    """Return the value of the hyper-parameter ``name``. Raises ConfigError if it is not positive."""
    if value is None or not value > 0:
        raise SpaceError(f"found {value}, expected a positive number", name)
    return float(value)
