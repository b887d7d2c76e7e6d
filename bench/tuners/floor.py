import math
from collections.abc import Collection
from dataclasses import field
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, PositiveFloat

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, plain_value
from bench.tuners.base import Problem, Tuner
from bench.tuners.learning import remembered
from bench.tuners.recommendation import Draws


@component
class Floor(Tuner):
    """A guard around a tuner that, with probability 1 - ``failure``, never earns below (1 - ``share``) of a default.

    The guarantee holds at all times t at once. It compares the sum of the expected rewards of the t configurations
    played so far with t times the expected reward of the default. The default is played whenever the guarantee would
    otherwise be at risk. The tuner's proposal waits until the earnings above the floor suffice for an expected reward
    of ``lowest``, and is then played once. Sums of rewards are bounded at all times by a mixture of normal martingales,
    for any tuner and any use of the outcomes. The delay of late rewards must not depend on the reward. The rounds of a
    log that the tuner learns count.

    Conservative bandits use UCB's confidence bounds, which require one mean per arm. Here the bound is on the sum of
    the rewards of the tuner's proposals, so that any tuner, with any space, can be guarded. Source: Wu et al. 2016
    (conservative bandits, unknown mean of the default); Kazerouni et al. 2017 (linear bandits); Robbins 1970 and Howard
    et al. 2021 (the bound); the wrapper is ours.

    Parameters
    ----------
    tuner
        The dotted path of the guarded tuner's class; for `bandit_bench.tuner` also a name such as ``ucb1``.
    arguments
        Settings of the guarded tuner.
    configuration
        The default configuration, values by name; other hyper-parameters have their own default.
    share
        Allowed loss relative to the default, as a share.
    failure
        The probability with which the guarantee may fail.
    lowest
        The least expected reward of any configuration, from which rewards are counted.
    noise
        Sub-Gaussian constant of the rewards; .5 holds for rewards in [0, 1].
    """

    label: ClassVar[str] = "Floor"
    searches: ClassVar[tuple[str, ...]] = ("candidates",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_ticket", "_by_default")
    unsaved: ClassVar[tuple[str, ...]] = ("_inner",)
    heeds: ClassVar[tuple[str, ...]] = ("when", "excluded")

    tuner: str = "bench.tuners.ucb.UCB1"
    arguments: dict[str, Any] = field(default_factory=dict)
    configuration: dict[str, Any] = field(default_factory=dict)
    share: Annotated[float, Field(gt=0, lt=1)] = 0.1
    failure: Annotated[float, Field(gt=0, lt=1)] = 0.05
    lowest: float = 0.0
    noise: PositiveFloat = 0.5

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        for name in self.configuration:
            if name not in problem.space.names:
                raise ConfigError(
                    f"tuner.configuration: found the hyper-parameter '{name}', expected one of: "
                    f"{', '.join(problem.space.names)}"
                )
        given = {name: plain_value(value) for name, value in self.configuration.items()}
        for name, value in given.items():
            parameter = problem.space.parameter(name)
            if not parameter.allows(value):
                raise ConfigError(f"tuner.configuration.{name}: found {value!r}, expected {parameter.expected}")
        self._default = problem.space.settled(problem.space.defaults | given)
        if problem.space.leaves_out(self._default):
            raise ConfigError(
                f"tuner.configuration: found {self._default}, which the space leaves out, expected another"
            )
        self._inner = self._wrapped()
        self._inner.start(problem, seeds.child("guarded"))
        self._inner_state: dict[str, Any] = {}
        self._waiting: tuple[int, Configuration] | None = None
        self._ticket, self._by_default = 0, True
        self._asked_default = self._asked_other = 0
        self._n_default = self._n_other = 0
        self._sum_default = self._sum_other = 0.0

    def _wrapped(self) -> Tuner:
        from importlib import import_module

        module, _, name = self.tuner.rpartition(".")
        try:
            cls = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigError(
                f"tuner.tuner: found '{self.tuner}' ({error}), expected the path of a tuner's class, such as "
                "bench.tuners.ucb.UCB1"
            ) from None
        if not (isinstance(cls, type) and issubclass(cls, Tuner)) or cls is Floor:
            raise ConfigError(f"tuner.tuner: found '{self.tuner}', expected the path of another tuner's class")
        tuner: Tuner = cls(**self.arguments)
        return tuner

    def _ask(self) -> Configuration:
        if self._waiting is None:
            self._waiting = self._inner.ask_ticket()
        ticket, proposal = self._waiting
        self._by_default = proposal == self._default or not self._is_safe()
        if not self._by_default or proposal == self._default:
            self._waiting, self._ticket = None, ticket
        else:
            self._ticket = 0
        if self._by_default:
            self._asked_default += 1
            return self._default
        self._asked_other += 1
        return proposal

    def _is_safe(self) -> bool:
        """Return whether the floor holds even if the next configuration earns the lowest expected reward."""
        low, high = self._default_mean()
        least = max(self._sum_other - self._width(self._n_other), 0.0)  # rewards still to be told count 0
        rounds = self._asked_default + self._asked_other + 1
        needed = (1.0 - self.share) * rounds - self._asked_default
        return least >= needed * (high if needed > 0.0 else low)

    def _default_mean(self) -> tuple[float, float]:
        """Return an interval for the default's expected reward, counted from ``lowest``, that holds at all times."""
        if not self._n_default:
            return 0.0, math.inf
        mean, width = self._sum_default / self._n_default, self._width(self._n_default) / self._n_default
        return max(mean - width, 0.0), max(mean + width, 0.0)

    def _width(self, n: int) -> float:
        """Return the largest deviation of a sum of n rewards from its expectation, at any time, for one of two sums."""
        variance = self.noise**2
        total = n * variance + variance
        return math.sqrt(total * (math.log(total / variance) + 2.0 * math.log(2.0 / self.failure))) if n else 0.0

    def _tell(self, reward: float, outcome: Any) -> None:
        if self._by_default:
            self._n_default += 1
            self._sum_default += reward - self.lowest
        else:
            self._n_other += 1
            self._sum_other += reward - self.lowest
        if self._ticket:
            self._inner.tell(reward, outcome, self._ticket)

    @property
    def learns_history(self) -> bool:  # type: ignore[override]
        return self._wrapped().learns_history

    def _check_known(self, configuration: Configuration) -> None:
        self._inner._check_known(configuration)

    def _as_asked(self, configuration: Configuration) -> None:
        self._by_default = configuration == self._default
        self._asked_default += self._by_default
        self._asked_other += not self._by_default
        self._inner._as_asked(configuration)
        self._inner._asked = self._ticket = self._inner._tickets.issue(remembered(self._inner))

    def _belief(self, n: int, rng: np.random.Generator) -> Draws:
        return self._inner._belief(n, rng)

    def save(self, apart: Collection[int] = ()) -> dict[str, Any]:
        self._check_process("save()")
        self._inner_state = self._inner.save()
        return super().save(apart)

    def _rebuild(self) -> None:
        self._inner = self._wrapped()
        self._inner.start(self._given["problem"], Seeds())
        if self._inner_state:
            self._inner.restore(self._inner_state)
