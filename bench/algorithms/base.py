"""The contract of every algorithm: it has named hyper-parameters."""

from dataclasses import field
from typing import Any, ClassVar

from bench.component import component
from bench.errors import ConfigError
from bench.space import Configuration, HyperParameter, Space


@component
class Algorithm:
    """What is tuned.

    Parameters
    ----------
    tune
        Names of the hyper-parameters that tuners search; a tuner of just one takes the first. The others stand at
        their theoretical value where there is one, else at their default.
    space
        Candidates, interval and default of hyper-parameters, in place of the class's own.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {}

    tune: list[str] = field(default_factory=list)
    space: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def hyper_parameters(self) -> Space:
        """All hyper-parameters, tuned or not.

        Raises
        ------
        ConfigError
            When ``space`` names a hyper-parameter that the algorithm does not have.
        """
        for name in self.space:
            if name not in self.spaces:
                raise ConfigError(f"algorithm.space: found '{name}', expected one of: {', '.join(self.spaces)}")
        return Space(
            tuple(HyperParameter(name, **{**own, **self.space.get(name, {})}) for name, own in self.spaces.items())
        )

    @property
    def tuned(self) -> Space:
        """The hyper-parameters that tuners search; by default the first."""
        return self.hyper_parameters.restrict(self.tune or list(self.spaces)[:1])

    def complete(self, configuration: Configuration) -> Configuration:
        """Return a value for every hyper-parameter: the default of those that ``configuration`` does not set."""
        return {parameter.name: parameter.usual for parameter in self.hyper_parameters.parameters} | configuration
