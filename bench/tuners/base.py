import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from bench.component import component
from bench.errors import TunerError
from bench.rewards import is_number, short
from bench.seeding import Seeds
from bench.space import Configuration, Space


@dataclass(frozen=True)
class Problem:
    """What a tuner may know before it is asked for the first time.

    Parameters
    ----------
    horizon
        Number of times that the tuner will be asked.
    rounds
        The number of rounds of the whole run, T in the papers' formulas; by default the horizon.
    rounds_per_ask
        Rounds that one decision covers.
    noise_std
        Sub-Gaussian constant of the rewards, in units of the reward.
    theory
        Returns the theoretical configuration for the next round, if there is one.
    change_points
        Rounds at which the environment changes, for oracles only.
    incumbent
        A configuration that was played beforehand, and the reward it earned.
    full_information, forecasts
        Whether outcomes hold the rewards, or the forecast losses, of all configurations.
    """

    space: Space
    horizon: int
    rounds: int | None = None
    rounds_per_ask: int = 1
    noise_std: float = 0.5
    theory: Callable[[], Configuration] | None = None
    change_points: tuple[int, ...] = ()
    incumbent: tuple[Configuration, float] | None = None
    full_information: bool = False
    forecasts: bool = False

    @property
    def total_rounds(self) -> int:
        return self.horizon * self.rounds_per_ask if self.rounds is None else self.rounds

    def asks(self, rounds: int) -> int:
        return max(1, rounds // self.rounds_per_ask)


@dataclass(frozen=True)
class Wish:
    """What a tuner would like to be told of each round beside its reward; a task that cannot tell leaves it out.

    ``estimates``: what the algorithm expects, the values ``model_mean`` and ``model_regret``; ``agreement``: of which
    configurations it asks whether they would have pulled the same arm (``Outcome.agreement``).
    """

    estimates: bool = False
    agreement: tuple[Configuration, ...] = ()


class Tuner(ABC):
    """Proposes configurations (``ask``) and learns from the rewards they earn (``tell``).

    A subclass implements ``_start``, ``_ask`` and ``_tell``. A tuner works without the suite's loop::

        tuner = TL()
        tuner.start(Problem(Space.of(exploration_rate=[0.1, 1.0]), horizon=10_000), Seeds(7))
        configuration = tuner.ask()
        tuner.tell(reward)
    """

    label: ClassVar[str] = ""
    """What tables and pictures call it, unless as its class is called; not that of a subclass."""

    multiple: ClassVar[bool] = True
    """Whether it tunes several hyper-parameters; if not, it tunes the first and the task sets the others."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Fields of the problem without which it is of no use."""

    leaves_space: ClassVar[bool] = False
    """Whether it may propose numbers outside the interval and the candidates; the loop refuses those of others."""

    _asked = False
    _started = False

    @classmethod
    def shown_as(cls) -> str:
        """Return what tables and pictures call it."""
        return str(vars(cls).get("label") or cls.__name__)

    def start(self, problem: Problem, seeds: Seeds | None = None) -> None:
        """Forget everything and prepare for ``problem``.

        Raises ConfigError if the search space does not fit the tuner, TunerError if the horizon is no positive integer.
        """
        if not isinstance(problem.horizon, Integral) or problem.horizon < 1:
            raise TunerError(
                f"{type(self).__name__}: found a horizon of {short(problem.horizon)} asks, expected a whole number, at "
                "least 1"
            )
        problem = replace(problem, space=self.searched(problem.space))
        self._asked = False
        self._started = True
        self._start(problem, seeds or Seeds())

    def searched(self, space: Space) -> Space:
        """Return the part of ``space`` that it tunes: its configurations set just these hyper-parameters."""
        return space if self.multiple else space.restrict(space.names[:1])

    def ask(self) -> Configuration:
        """Return the configuration to play next; another call before ``tell`` returns a new one.

        Raises TunerError if the tuner was not started.
        """
        self._check_started("ask()")
        self._asked = True
        return self._ask()

    def tell(self, reward: float, outcome: Any = None) -> None:
        """Learn the reward of the latest configuration; most tuners ignore the task's whole ``outcome``.

        Raises TunerError if nothing was asked, or the reward is no finite number; the tuner's state is unchanged.
        """
        if not self._asked:
            raise TunerError(f"{type(self).__name__}: found tell() before ask(), expected ask() first")
        if type(reward) is not float or not math.isfinite(reward):
            if not is_number(reward):
                raise TunerError(f"{type(self).__name__}: found the reward {short(reward)}, expected a finite number")
            reward = float(reward)
        self._asked = False
        self._tell(reward, outcome)

    @property
    def wish(self) -> Wish:
        """What it would like to be told beside the reward, once it was started; it works without."""
        return Wish()

    def random_rounds(self, problem: Problem) -> int:
        """Return the number of random pulls to play before the first ``ask``; they are not passed to ``tell``."""
        return 0

    def probabilities(self) -> dict[str, np.ndarray]:
        """Return the probabilities of the next ``ask`` by the name of what is drawn, if the tuner has any."""
        return {}

    def _check_started(self, call: str) -> None:
        if not self._started:
            raise TunerError(f"{type(self).__name__}: found {call} before start(), expected start(problem) first")

    @abstractmethod
    def _start(self, problem: Problem, seeds: Seeds) -> None: ...

    @abstractmethod
    def _ask(self) -> Configuration: ...

    @abstractmethod
    def _tell(self, reward: float, outcome: Any) -> None: ...


@component
class CandidateTuner(Tuner):
    """Chooses among all combinations of candidates; a subclass refers to them by number."""

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        self._chosen = 0
        self._begin(len(self._candidates), problem, seeds)

    def _ask(self) -> Configuration:
        self._chosen = self._choose()
        return self._candidates[self._chosen]

    @abstractmethod
    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        """Prepare to choose among ``n`` candidates."""

    @abstractmethod
    def _choose(self) -> int:
        """Return the number of the candidate to play."""
