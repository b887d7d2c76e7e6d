import math
from typing import Any

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner
from bench.tuners.sliding_window import SlidingWindow


@component
class SlidingWindowUCB(Tuner):
    """Play the candidate with the largest mean + B sqrt(xi ln(min(t, tau)) / N) over the last tau rounds.

    A candidate that was not played in the window comes first; of equal upper bounds the first counts.
    Source: Garivier and Moulines 2011, section 4 (SW-UCB); the default window is that of their remarks on theorem 2.

    Parameters
    ----------
    window
        tau; null: 2 B sqrt(T ln T / changes), rounded up.
    changes
        Expected number of changes, for the default window; with 0, it is the whole run.
    xi
        Width of the bounds; the theory wants it above 1/2.
    bound
        B, rewards lie in [0, B].
    """

    window: PositiveInt | None = None
    changes: NonNegativeFloat = 1.0
    xi: NonNegativeFloat = 0.6
    bound: PositiveFloat = 1.0

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        horizon = problem.horizon
        length = horizon if self.window is None else self.window
        if self.window is None and self.changes > 0:
            length = math.ceil(2.0 * self.bound * math.sqrt(horizon * math.log(max(horizon, 2)) / self.changes))
        self._window = SlidingWindow(len(self._candidates), min(max(length, 1), horizon))
        self._chosen = 0

    def _ask(self) -> Configuration:
        self._chosen = self._window.optimistic(self.bound**2 * self.xi)
        return self._candidates[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        self._window.learn(self._chosen, reward)
