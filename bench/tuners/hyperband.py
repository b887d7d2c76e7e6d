import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field, PositiveInt

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner
from bench.tuners.first_phase import TrainThenBest

_WIDEST = 1e15
"""The largest ratio of two values of a resource; a bracket has about as many configurations."""

_TINY = 1e-9
"""Added where rounding can put a ratio, logarithm or power just below the integer that it should be."""


@dataclass
class Trial:
    configuration: Configuration
    pulls: int = 0
    total: float = 0.0

    @property
    def rank(self) -> tuple[int, float]:
        """The number of pulls and their mean reward."""
        return self.pulls, self.total / self.pulls if self.pulls else -math.inf


@component
class Hyperband(TrainThenBest):
    """Run Hyperband with pulls as the resource in the first phase, then play its best configuration.

    A bracket draws n configurations and runs successive halving on them. In each rung, one configuration after the
    other is pulled until it has r pulls in total. Then the share 1/eta with the highest means (on a tie, the earlier
    drawn) advances to the next rung, where r is eta times larger. Pulls of earlier rungs count, so ``max_resource``
    bounds the total of a configuration. Brackets range from many configurations with few pulls to few configurations
    with ``max_resource`` pulls. After the last bracket the loop restarts with new configurations. The training phase
    may end within a rung. r is rounded to an integer.

    The best configuration has the highest mean among the configurations with most pulls, which have ``max_resource``
    pulls once one bracket is complete. Li et al. take the best loss seen, which with noisy rewards could be a single
    lucky pull. Source: Li et al. 2017, algorithm 1; online_hpo, section 7.1.3 (first phase T/2, R = T / (2 (ln T +
    1)^2); its "proportion of configurations discarded 1/3" is literally eta = 1.5).

    Parameters
    ----------
    eta
        One in ``eta`` configurations survives a rung.
    max_resource
        R, the most pulls of one configuration, in asks; by default ``train_share`` T / (ln T + 1)^2 rounds.
    """

    remembers: ClassVar[tuple[str, ...] | None] = ("_asked_for",)

    eta: Annotated[float, Field(gt=1)] = 3.0
    max_resource: PositiveInt | None = None

    def _prepare(self, problem: Problem, n_train: int, seeds: Seeds) -> None:
        rounds = problem.total_rounds
        resource = self.max_resource or problem.asks(int(self.train_share * rounds / (math.log(rounds) + 1) ** 2))
        self._rng = seeds.generator("configurations")
        self._space = problem.space
        self._table = brackets(resource, self.eta)
        self._number = -1
        self._finished: Trial | None = None
        self._begin_bracket()
        self._current = self._next_trial()

    def _explore(self) -> Configuration:
        trial = self._asked_for = self._current
        return trial.configuration

    def _learn(self, reward: float) -> None:
        trial = self._asked_for
        trial.pulls += 1
        trial.total += reward
        if self._current.pulls >= self._goal:
            self._current = self._next_trial()

    def _find_best(self) -> Configuration:
        return self._leader().configuration

    def _leader(self) -> Trial:
        finished = [] if self._finished is None else [self._finished]
        return max(finished + self._bracket, key=lambda trial: trial.rank)

    def _next_trial(self) -> Trial:
        """Return the rung's first survivor that lacks pulls; begin a rung or bracket when the last one is complete."""
        while True:
            while self._place < len(self._survivors):
                trial = self._survivors[self._place]
                if trial.pulls < self._goal:
                    return trial
                self._place += 1
            if self._rung + 1 < len(self._table[self._number]):
                self._begin_rung(self._rung + 1)
            else:
                self._finished = self._leader()
                self._begin_bracket()

    def _begin_bracket(self) -> None:
        self._number = (self._number + 1) % len(self._table)
        n = self._table[self._number][0][0]
        self._bracket = self._survivors = [Trial(self._space.sample(self._rng)) for _ in range(n)]
        self._begin_rung(0)

    def _begin_rung(self, rung: int) -> None:
        n, self._goal = self._table[self._number][rung]
        self._survivors = sorted(self._survivors, key=lambda trial: trial.rank[1], reverse=True)[:n]
        self._rung, self._place = rung, 0


@component
class ResourceHyperband(Tuner):
    """Hyperband that tries configurations with a small value of one hyper-parameter first, such as few trees.

    A bracket draws n configurations and tries them, once each, with the resource at a fraction of its largest value;
    the share 1/eta with the highest rewards (on a tie, the earlier drawn) is tried again with eta times the resource,
    and so on up to the largest value. After the last bracket the loop restarts with new configurations. The tuner suits
    tasks with deterministic rewards, because only the first reward at a rung counts. Raises ConfigError if the resource
    is not a hyper-parameter, a value of the resource is not above 0, or the largest value exceeds 1e15 times the
    smallest. Source: Li et al. 2017, algorithm 1.

    Parameters
    ----------
    resource
        Name of a hyper-parameter whose values are numbers above 0; null: the first such hyper-parameter, or, if there
        is none, random search.
    eta
        One in ``eta`` configurations survives a rung.
    """

    resource: str | None = None
    eta: Annotated[float, Field(gt=1)] = 3.0

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._space = problem.space
        self._parameter = self._find()
        self._values = _values(self._parameter) if self._parameter else []
        self._rng = seeds.generator("configurations")
        self._units = int(max(self._values) / min(self._values) + _TINY) if self._values else 1
        self._table = brackets(self._units, self.eta)
        self._number = self._rung = 0
        self._tried: list[tuple[float, Configuration]] = []
        self._survivors: list[Configuration] = []
        self._advance()

    def _ask(self) -> Configuration:
        return self._next

    def _tell(self, reward: float, outcome: Any) -> None:
        self._tried.append((reward, self._trial))
        self._advance()

    def _advance(self) -> None:
        """Set the configuration to try next, from the rewards of all earlier configurations."""
        n, resource = self._table[self._number][self._rung]
        if len(self._tried) == n:
            self._tried.sort(key=lambda pair: pair[0], reverse=True)
            self._survivors, self._tried = [configuration for _, configuration in self._tried], []
            self._rung += 1
            if self._rung == len(self._table[self._number]):
                self._number, self._rung = (self._number + 1) % len(self._table), 0
            n, resource = self._table[self._number][self._rung]
        # Configurations of a first rung are drawn when they are tried: with a wide range a bracket has millions
        self._trial = self._survivors[len(self._tried)] if self._rung else self._space.sample(self._rng)
        self._next = self._trial | self._at(resource / self._units)

    def _find(self) -> HyperParameter | None:
        names = self._space.names
        if self.resource not in (None, *names):
            raise ConfigError(f"tuner.resource: found '{self.resource}', expected one of: {', '.join(names)}")
        for parameter in self._space.parameters:
            values = _values(parameter)
            if parameter.name == self.resource and not values:
                raise ConfigError(
                    f"tuner.resource: found '{self.resource}' with the values {list(parameter.candidates)}, "
                    "expected numbers above 0"
                )
            if values and self.resource in (None, parameter.name):
                if max(values) / min(values) > _WIDEST:
                    raise ConfigError(
                        f"tuner.resource: found '{parameter.name}' with values from {min(values):g} to "
                        f"{max(values):g}, expected the largest to be at most {_WIDEST:g} times the smallest"
                    )
                return parameter
        return None

    def _at(self, share: float) -> Configuration:
        """Return the configuration with the resource value nearest to a share of the largest.

        The value is a candidate, or lies in the interval.
        """
        parameter = self._parameter
        if parameter is None:
            return {}
        wanted = share * max(self._values)
        if not parameter.continuous:
            return {parameter.name: min(self._values, key=lambda value: abs(value - wanted))}
        inside = max(wanted, min(self._values))
        return {parameter.name: round(inside) if parameter.integer else inside}


def _values(parameter: HyperParameter) -> list[float]:
    """Return the values of a hyper-parameter, or the ends of its interval.

    The list is empty unless all values are numbers above 0.
    """
    values: list[Any] = [parameter.low, parameter.high] if parameter.continuous else list(parameter.candidates)
    fitting = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return fitting if len(fitting) == len(values) and min(fitting, default=0) > 0 else []


def brackets(max_resource: int, eta: float) -> list[list[tuple[int, int]]]:
    """Return the brackets of one Hyperband loop.

    For each rung of a bracket, the pair holds the number of configurations and the total pulls of each configuration at
    the end of the rung.

    Source: Li et al. 2017, algorithm 1 and, for ``max_resource`` = 81 and ``eta`` = 3, table 1.
    """
    s_max = int(math.log(max_resource) / math.log(eta) + _TINY)
    table = []
    for s in range(s_max, -1, -1):
        n = math.ceil((s_max + 1) / (s + 1) * eta**s - _TINY)
        # The last rung has at least one configuration, because n >= eta^s.
        table.append([(int(n / eta**i + _TINY), int(max_resource / eta ** (s - i) + 0.5)) for i in range(s + 1)])
    return table
