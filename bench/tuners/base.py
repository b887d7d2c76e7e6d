from abc import ABC, abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from bench.component import component
from bench.errors import SpaceError, TunerError
from bench.rewards import LARGEST, number, short
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tuners.learning import Learning, remembered
from bench.tuners.problem import Problem as Problem
from bench.tuners.problem import Wish as Wish
from bench.tuners.recommendation import Recommending
from bench.tuners.saving import Saving
from bench.tuners.tickets import ALONE, Tickets


class Tuner(Recommending, Learning, Saving, ABC):
    """Proposes configurations (``ask``) and learns from their rewards (``tell``).

    A subclass implements ``_start``, ``_ask`` and ``_tell``. A tuner works without the suite's loop::

        tuner = TL()
        tuner.start(Problem(Space.of(exploration_rate=[0.1, 1.0]), horizon=10_000), Seeds(7))
        configuration = tuner.ask()
        tuner.tell(reward)

    If rewards arrive late, in another order or not at all, each ask needs a ticket::

        ticket, configuration = tuner.ask_ticket()
        ...
        tuner.tell(reward, ticket=ticket)

    Tickets are drawn afresh at `start` and `restore`, so tickets from before a crash are refused. Threads may call
    `ask_ticket`, `tell` with a ticket, `save` and `restore` at the same time. Calls in a forked process or in a process
    with a copy of the tuner are refused, because both processes would draw the same random numbers.
    """

    label: ClassVar[str] = ""
    """Name in tables and pictures, by default that of the class; not inherited by subclasses."""

    multiple: ClassVar[bool] = True
    """Whether it tunes several hyper-parameters; if not, it tunes the first and the task sets the others."""

    searches: ClassVar[tuple[str, ...]] = ("candidates", "interval")
    """Requirements on a hyper-parameter; one of them suffices."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Fields of the problem without which the tuner cannot work."""

    follows_last_digits: ClassVar[bool] = False
    """Whether its proposals depend on the last digits of numbers, which differ between kinds of machines."""

    leaves_space: ClassVar[bool] = False
    """Whether it may propose numbers outside the interval and the candidates, which the loop refuses otherwise."""

    remembers: ClassVar[tuple[str, ...] | None] = None
    """Attributes that ``_ask`` sets and ``_tell`` reads: at a late ``_tell`` they have the values of that reward's ask.

    None: it cannot take late rewards; each ask must be told before the next.
    """

    heeds: ClassVar[tuple[str, ...]] = ()
    """Features of a space that it supports: ``when``, conditional hyper-parameters (it tries no two configurations that
    differ only in values without effect; other tuners ignore the condition), and ``excluded`` configurations (other
    tuners refuse such a space).
    """

    _asked: int | None = None
    """The latest ask, while it waits for its reward: its ticket, or True without one; else False, None before any."""
    _started = False

    @classmethod
    def shown_as(cls) -> str:
        """Return the name of the tuner in tables and pictures."""
        return str(vars(cls).get("label") or cls.__name__)

    def start(self, problem: Problem, seeds: Seeds | None = None) -> None:
        """Forget everything and prepare for ``problem``.

        Raises ConfigError if the search space does not suit the tuner. Raises TunerError if the horizon is not positive
        or an argument has the wrong type.
        """
        seeds = seeds or Seeds()
        given = isinstance(problem, Problem) and isinstance(problem.space, Space)
        if not (given and isinstance(seeds, Seeds)):
            raise TunerError(
                f"{type(self).__name__}: found start({short(problem)}, {short(seeds)}), expected "
                "start(Problem(space, horizon=100), Seeds(7))"
            )
        if not isinstance(problem.horizon, Integral) or problem.horizon < 1:
            raise TunerError(
                f"{type(self).__name__}: found a horizon of {short(problem.horizon)} asks, expected a whole number, at "
                "least 1"
            )
        problem = replace(problem, space=self.searched(problem.space))
        if problem.space.excluded and "excluded" not in self.heeds:
            raise SpaceError(
                f"{type(self).__name__}: found a space that excludes {len(problem.space.excluded)} combinations of "
                "values, expected one without, or a tuner that heeds `excluded` (see `bandit-bench list tuner NAME`)"
            )
        self._asked = None
        self._started = True
        self._tickets = Tickets()
        self._given = {"problem": problem, "space": problem.space, "theory": problem.theory}
        self._start(problem, seeds)

    def searched(self, space: Space) -> Space:
        """Return the part of ``space`` that the tuner searches.

        The tuner's configurations set exactly the hyper-parameters of this part.
        """
        return space if self.multiple else space.restrict(space.names[:1])

    def ask(self) -> Configuration:
        """Return the configuration to play next.

        If `ask` is called again before `tell`, it returns a new configuration.

        Raises TunerError if the tuner was not started.
        """
        if not self._started:
            self._refuse_call("ask()")
        self._asked = True
        configuration = self._ask()
        try:
            return configuration.copy()
        except (AttributeError, TypeError):  # no configuration; the reader reports it
            return configuration

    def ask_ticket(self) -> tuple[int, Configuration]:
        """Return a ticket, to be passed to `tell`, and the configuration to play next.

        If there are more than 10,000 open tickets, the oldest ticket is forgotten. Raises TunerError if the tuner was
        not started in this process.
        """
        with ALONE:
            self._check_process("ask_ticket()")
            configuration = self.ask()
            self._asked = ticket = self._tickets.issue(remembered(self))
            return ticket, configuration

    def tell(self, reward: float, outcome: Any = None, ticket: int | None = None) -> None:
        """Learn the reward of the configuration of ``ticket``, by default of the latest configuration.

        Most tuners ignore ``outcome``. Rewards beyond +-1e100 are learnt as +-1e100, so that squares do not overflow.
        Raises TunerError if there was no ask, the ticket is not open, or the reward is not a finite number; the tuner's
        state is then unchanged.
        """
        if ticket is not None or self._asked is not True:
            if ticket is None and not self._asked:
                self._refuse_call("tell()")
            self._tell_ticket(reward, outcome, self._asked if ticket is None else ticket)
            return
        # `__class__` and `is not None` save 15 of 265 ns per ask and tell
        if (
            reward.__class__ is not float
            or not _LOWEST <= reward <= LARGEST
            or (outcome is not None and type(outcome) is int)
        ):
            reward = self._checked(reward, outcome)
        self._asked = False
        self._tell(reward, outcome)

    def _tell_ticket(self, reward: float, outcome: Any, ticket: Any) -> None:
        name = type(self).__name__
        with ALONE:
            self._check_process("tell()")
            tickets = self._tickets.open
            if type(ticket) is int and ticket in self._tickets.left_out:
                raise TunerError(
                    f"{name}: found the ticket {ticket} of {short(self._tickets.left_out[ticket])}, excluded from "
                    "the space by change(), expected a ticket of a configuration in the space"
                )
            if type(ticket) is not int or ticket not in tickets:
                raise TunerError(
                    f"{name}: found the ticket {short(ticket)}{'' if type(ticket) is int else ' (not an int)'}, "
                    "expected a ticket of ask_ticket() whose reward has not been told, among the latest 10,000"
                )
            late = self._asked is True or ticket != self._asked
            if late and self.remembers is None:
                raise TunerError(
                    f"{name}: found the reward of an earlier ask, expected that of the latest: it cannot take late "
                    "rewards until its class lists in `remembers` the attributes that `_ask` sets and `_tell` reads, "
                    'such as remembers = ("_last",)'
                )
            reward = self._checked(reward, outcome)
            if not late:
                self._tell(reward, outcome)
                self._asked = False
            else:
                now = remembered(self)
                vars(self).update(tickets[ticket])
                try:
                    self._tell(reward, outcome)
                finally:
                    vars(self).update(now)
            del tickets[ticket]

    def _checked(self, reward: Any, outcome: Any) -> float:
        if isinstance(outcome, int | float):
            raise TunerError(
                f"{type(self).__name__}: found the outcome {short(outcome)}, expected none, or a task's; a ticket "
                "is passed by name: tell(reward, ticket=ticket)"
            )
        converted = number(reward)
        if converted is None:
            raise TunerError(f"{type(self).__name__}: found the reward {short(reward)}, expected a finite number")
        return min(max(converted, _LOWEST), LARGEST)

    @property
    def wish(self) -> Wish:
        """The optional information that the tuner requests with each reward; it does not change after the start."""
        return Wish()

    def random_rounds(self, problem: Problem) -> int:
        """Return the number of random pulls before the first ``ask``; their rewards are not passed to ``tell``."""
        return 0

    def probabilities(self) -> dict[str, np.ndarray]:
        """Return the probabilities of the next ``ask``, by the name of the object that is drawn.

        The result is empty if the tuner does not draw.
        """
        return {}

    @abstractmethod
    def _start(self, problem: Problem, seeds: Seeds) -> None: ...

    @abstractmethod
    def _ask(self) -> Configuration: ...

    @abstractmethod
    def _tell(self, reward: float, outcome: Any) -> None: ...


_LOWEST = -LARGEST


@component
class CandidateTuner(Tuner):
    """Chooses among all combinations of candidates.

    A subclass refers to a combination by its index, ``_chosen``. Other attributes that ``_choose`` sets and ``_tell``
    reads, such as a probability, must be added to ``remembers``.
    """

    searches: ClassVar[tuple[str, ...]] = ("candidates",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen",)
    heeds: ClassVar[tuple[str, ...]] = ("when", "excluded")

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        self._chosen = 0
        self._begin(len(self._candidates), problem, seeds)

    def _ask(self) -> Configuration:
        self._chosen = self._choose()
        return self._candidates[self._chosen]

    def _check_known(self, configuration: Configuration) -> None:
        if self._given["space"].settled(configuration) not in self._candidates:
            raise TunerError(f"found {configuration}, expected one of the {len(self._candidates)} candidates")

    def _as_asked(self, configuration: Configuration) -> None:
        self._chosen = self._candidates.index(self._given["space"].settled(configuration))

    @abstractmethod
    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        """Prepare to choose among ``n`` candidates."""

    @abstractmethod
    def _choose(self) -> int:
        """Return the index of the candidate to play."""
