"""Rewards on their way from a task to its tuner, where not each is told before the next ask."""

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.trace import Trace
from bench.tuners.base import Tuner


class Delivery:
    """Asks with tickets, and tells rewards when they are due: after the delay, and as soon as a batch is complete.

    Of rewards that are due at the same time the earlier asked comes first. What is not due at the end is never told.
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
        """Take the reward of the latest ask, and tell all that are due."""
        now = self._trace.round
        heapq.heappush(self._coming, (now + self._delay(), self._asked, self._ticket, reward, outcome))
        while self._coming and self._coming[0][0] <= now:
            _, _, *told = heapq.heappop(self._coming)
            self._due.append((told[0], told[1], told[2]))
        if len(self._due) >= self._batch:
            for ticket, late_reward, late_outcome in self._due:
                self._tuner.tell(late_reward, late_outcome, ticket=ticket)
            self._due.clear()


def held(task: Task, trace: Trace, hold: int) -> Callable[[Configuration], Outcome | None]:
    """Return a task's ``play`` that plays a configuration ``hold`` times and returns one outcome: mean reward, all
    rounds, and sums of forecast losses and costs. What only one round has, such as agreement, is left out.
    """

    def play(configuration: Configuration) -> Outcome | None:
        outcomes: list[Outcome] = []
        rounds = 0
        while len(outcomes) < hold and trace.round + rounds < trace.rounds:
            outcome = task.play(configuration.copy())
            if outcome is None:
                break
            outcomes.append(outcome)
            rounds += len(outcome.steps) or 1
        if len(outcomes) <= 1:
            return outcomes[0] if outcomes else None
        steps = [step for outcome in outcomes for step in outcome.steps or (outcome.values,)]
        costs: dict[str, float] = {}
        for outcome in outcomes:
            for name, seconds in outcome.costs.items():
                costs[name] = costs.get(name, 0.0) + seconds
        rewards = [outcome.rewards for outcome in outcomes]
        losses = [outcome.forecast_losses for outcome in outcomes]
        return Outcome(
            sum(float(outcome.reward) for outcome in outcomes) / len(outcomes),
            steps=tuple(steps),
            rewards=None if any(item is None for item in rewards) else np.mean(rewards, axis=0),
            forecast_losses=None if any(item is None for item in losses) else np.sum(losses, axis=0),  # type: ignore[arg-type]
            costs=costs,
        )

    return play
