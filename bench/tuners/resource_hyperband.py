import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner
from bench.tuners.hyperband import brackets

_WIDEST = 1e15
"""The largest ratio of two values of the resource; a bracket has about as many configurations."""


@component
class ResourceHyperband(Tuner):
    """Hyperband that tries configurations with a small value of one hyper-parameter first, such as few trees.

    A bracket draws n configurations and tries them, once each, with the resource at a fraction of its largest value;
    the share 1/eta with the highest rewards (on a tie, the earlier drawn) is tried again with eta times as much, and so
    on up to the largest value. After the last bracket the loop restarts with new configurations. For a task whose
    rewards are the same each time, as the first reward at a rung counts. Raises ConfigError if there is none of that
    name, a value is not above 0, or the largest exceeds 1e15 times the smallest.
    Source: Li et al. 2017, algorithm 1.

    Parameters
    ----------
    resource
        Name of the hyper-parameter, with numbers above 0; null: the first such, or without any, random search.
    eta
        One of ``eta`` configurations survives a rung.
    """

    resource: str | None = None
    eta: Annotated[float, Field(gt=1)] = 3.0

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._space = problem.space
        self._parameter = self._find()
        self._values = _values(self._parameter) if self._parameter else []
        if self._parameter and max(self._values) / min(self._values) > _WIDEST:
            raise ConfigError(
                f"tuner.resource: found '{self._parameter.name}' with values from {min(self._values):g} to "
                f"{max(self._values):g}, expected the largest to be at most {_WIDEST:g} times the smallest"
            )
        self._rng = seeds.generator("configurations")
        self._reward = -math.inf
        self._schedule = self._trials()
        self._next = next(self._schedule)

    def _ask(self) -> Configuration:
        return self._next

    def _tell(self, reward: float, outcome: Any) -> None:
        self._reward = reward
        self._next = next(self._schedule)

    def _trials(self) -> Iterator[Configuration]:
        """Yield what to try, endlessly; the reward of one is known when the next is asked for."""
        units = int(max(self._values) / min(self._values)) if self._values else 1
        table = brackets(units, self.eta)
        while True:
            for rungs in table:
                # Drawn one by one as they are tried: with a wide range a bracket has millions
                survivors: Iterable[Configuration] = (self._space.sample(self._rng) for _ in range(rungs[0][0]))
                for n_trials, resource in rungs:
                    tried = []
                    for configuration in islice(survivors, n_trials):
                        yield configuration | self._at(resource / units)
                        tried.append((self._reward, configuration))
                    tried.sort(key=lambda pair: pair[0], reverse=True)
                    survivors = [configuration for _, configuration in tried]

    def _find(self) -> HyperParameter | None:
        parameters = self._space.parameters
        if self.resource is None:
            return next((parameter for parameter in parameters if _values(parameter)), None)
        if self.resource not in self._space.names:
            raise ConfigError(
                f"tuner.resource: found '{self.resource}', expected one of: {', '.join(self._space.names)}"
            )
        parameter = parameters[self._space.names.index(self.resource)]
        if not _values(parameter):
            raise ConfigError(
                f"tuner.resource: found '{self.resource}' with the values {list(parameter.candidates)}, "
                "expected numbers above 0"
            )
        return parameter

    def _at(self, share: float) -> Configuration:
        """Return the resource at the value nearest to a share of the largest: a candidate, or one in the interval."""
        parameter = self._parameter
        if parameter is None:
            return {}
        wanted = share * max(self._values)
        if not parameter.continuous:
            return {parameter.name: min(self._values, key=lambda value: abs(value - wanted))}
        inside = max(wanted, min(self._values))
        return {parameter.name: round(inside) if parameter.integer else inside}


def _values(parameter: HyperParameter) -> list[float]:
    """Return the values of a hyper-parameter, or the ends of its interval, if all are numbers above 0; else none."""
    values: list[Any] = [parameter.low, parameter.high] if parameter.continuous else list(parameter.candidates)
    fitting = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return fitting if len(fitting) == len(values) and min(fitting, default=0) > 0 else []
