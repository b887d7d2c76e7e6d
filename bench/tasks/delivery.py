"""Delivery of rewards from a task to its tuner later than the next ask."""

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.arithmetic import total
from bench.space import Configuration
from bench.tasks.base import Outcome, Task, convert_reward
from bench.trace import Trace
from bench.tuners.base import Tuner


class Delivery:
    """Asks with tickets, and tells rewards when they are due, which is after the delay and once a batch is complete.

    Rewards that are due at the same time are told in the order of their asks. Rewards not due at the end are never
    told.
    """

    def __init__(self, tuner: Tuner, trace: Trace, delay: Callable[[], int], batch: int) -> None:
        self._tuner = tuner
        self._trace = trace
        self._delay = delay
        self._batch = batch
        self._asked = 0
        self._ticket = 0
        self._coming: list[tuple[int, int, int, float, Any]] = []
        self._due: list[tuple[int, float, Any]] = []

    def ask(self) -> Configuration:
        self._ticket, configuration = self._tuner.ask_ticket()
        self._asked += 1
        return configuration

    def tell(self, reward: float, outcome: Outcome) -> None:
        """Receive the reward of the latest ask, and tell all rewards that are due."""
        now = self._trace.round
        heapq.heappush(self._coming, (now + self._delay(), self._asked, self._ticket, reward, _kept(outcome)))
        while self._coming and self._coming[0][0] <= now:
            _, _, *told = heapq.heappop(self._coming)
            self._due.append((told[0], told[1], told[2]))
        if len(self._due) >= self._batch:
            for ticket, late_reward, late_outcome in self._due:
                self._tuner.tell(late_reward, late_outcome, ticket=ticket)
            self._due.clear()


def held(task: Task, trace: Trace, hold: int) -> Callable[[Configuration], Outcome | None]:
    """Return a ``play`` that plays a configuration ``hold`` times and returns one outcome.

    The outcome has the mean reward, all rounds, and the sums of forecast losses and costs. Fields of a single round,
    such as agreement, are omitted.
    """

    has_ended = False

    def play(configuration: Configuration) -> Outcome | None:
        nonlocal has_ended
        outcomes: list[Outcome] = []
        steps: list[dict[str, Any]] = []
        while not has_ended and len(outcomes) < hold and trace.round + len(steps) < trace.rounds:
            outcome = task.play(configuration.copy())
            if outcome is None:
                has_ended = True
                break
            outcome = _kept(outcome)
            convert_reward(outcome, trace.round + len(steps) + (len(outcome.steps) or 1), configuration)
            steps += outcome.steps or (outcome.values,)
            outcomes.append(outcome)
        if len(outcomes) <= 1:
            return outcomes[0] if outcomes else None
        costs: dict[str, float] = {}
        for outcome in outcomes:
            for name, seconds in (outcome.costs or {}).items():
                costs[name] = costs.get(name, 0.0) + seconds
        rewards = [outcome.rewards for outcome in outcomes]
        losses = [outcome.forecast_losses for outcome in outcomes]
        return Outcome(
            total(outcome.reward for outcome in outcomes) / len(outcomes),
            steps=tuple(steps),
            rewards=None if any(item is None for item in rewards) else np.mean(rewards, axis=0),
            forecast_losses=None if any(item is None for item in losses) else np.sum(losses, axis=0),  # type: ignore[arg-type]
            costs=costs,
        )

    return play


def _kept(outcome: Outcome) -> Outcome:
    """Return a copy of an outcome, because the task may reuse the object or its contents in the next round."""
    return Outcome(
        outcome.reward,
        outcome.values.copy(),
        tuple(step.copy() for step in outcome.steps),
        None if outcome.rewards is None else np.array(outcome.rewards, dtype=float),
        None if outcome.agreement is None else np.array(outcome.agreement),
        None if outcome.forecast_losses is None else np.array(outcome.forecast_losses, dtype=float),
        None if outcome.costs is None else dict(outcome.costs),
    )
