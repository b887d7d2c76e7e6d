import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from bench.arm_means import ArmMeans
from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class MUCB(Tuner):
    """Monitored UCB: a share gamma of the rounds goes round all candidates, the others are UCB1's.

    With t' rounds since the last restart, candidate t' mod floor(K / gamma) is played where that is one of the K, else
    the one with the largest mean + sqrt(2 ln t' / N). Once a candidate has w rewards, the sums of the two halves of its
    last w are compared; if they differ by more than b, everything is forgotten.
    Source: Cao, Wen, Kveton and Xie 2019, algorithms 1 and 2. Assumed: w = 800; the paper derives it from the least
    change that matters; Besson et al. 2022 take 200 and 800.

    Parameters
    ----------
    window
        w, an even number.
    threshold
        b; null: sqrt(w / 2 ln(2 K T^2)), for which false alarms are rare with rewards in [0, 1].
    changes
        Expected number of changes, for the default gamma; with 0, exploration is forced in the first K rounds only.
    gamma
        Share of forced exploration; null: sqrt(changes K (2 b + 3 sqrt(w)) / (2 T)), at most 1.
    """

    window: Annotated[PositiveInt, Field(multiple_of=2)] = 800
    threshold: PositiveFloat | None = None
    changes: NonNegativeFloat = 1.0
    gamma: Annotated[float, Field(gt=0, le=1)] | None = None

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        n, horizon, w = len(self._candidates), problem.horizon, self.window
        b = math.sqrt(w / 2 * math.log(2 * n * horizon**2)) if self.threshold is None else self.threshold
        tuned = math.sqrt(self.changes * n * (2.0 * b + 3.0 * math.sqrt(w)) / (2.0 * horizon))
        gamma = min(1.0, tuned) if self.gamma is None else self.gamma
        self._threshold = b
        self._period = math.floor(n / gamma) if gamma > 0 else n + horizon
        self._last = np.zeros((n, w))
        self._restart()
        self.restarts = 0
        self._chosen = 0

    def _restart(self) -> None:
        self._arms = ArmMeans(len(self._candidates))

    def _ask(self) -> Configuration:
        place = self._arms.pulls % self._period
        if place < len(self._candidates):
            self._chosen = place
        else:
            self._chosen = self._arms.optimistic(self._arms.ucb1_width)
        return self._candidates[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        chosen, w = self._chosen, self.window
        n = int(self._arms.counts[chosen])
        self._arms.learn(chosen, reward)
        self._last[chosen, n % w] = reward
        if n + 1 >= w and _halves_differ(self._last[chosen], (n + 1) % w, self._threshold):
            self._restart()
            self.restarts += 1


@kernel
def _halves_differ(last: np.ndarray, oldest: int, threshold: float) -> bool:
    w = last.size
    difference = 0.0
    for s in range(w):
        value = last[(oldest + s) % w]
        difference += -value if s < w // 2 else value
    return abs(difference) > threshold
