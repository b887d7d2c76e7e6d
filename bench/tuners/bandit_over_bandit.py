import math
from typing import Any

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner
from bench.tuners.exponential_weights import ExponentialWeights
from bench.tuners.sliding_window import SlidingWindow


@component
class BanditOverBandit(Tuner):
    """Blocks of H rounds, each played by a fresh sliding-window UCB whose window EXP3 chose.

    Windows are floor(H^(j/D)) for j = 0, ..., D with D = ceil(ln H). EXP3 is rewarded with 1/2 + the block's sum of
    rewards / (2 H + 4 R sqrt(H ln(T / sqrt(H)))).
    Source: Cheung, Simchi-Levi and Zhu 2019, algorithm 2; there, the base is linear of dimension d, here it is that of
    Garivier and Moulines 2011. The paper's H, floor(d sqrt(T)), balances the regret of EXP3, sqrt(H T), with that of
    its base in blocks of H rounds, d T / sqrt(H); for K arms the latter is T sqrt(K / H).

    Parameters
    ----------
    block
        H; null: floor(sqrt(K T)) for K candidates, at most T.
    xi, bound
        As in sliding-window UCB.
    noise_std
        R, the sub-Gaussian constant of the noise; null: the task's.
    """

    block: PositiveInt | None = None
    xi: NonNegativeFloat = 0.6
    bound: PositiveFloat = 1.0
    noise_std: NonNegativeFloat | None = None

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        horizon = problem.horizon
        wanted = math.isqrt(len(self._candidates) * horizon) if self.block is None else self.block
        length = min(max(wanted, 1), horizon)
        steps = max(1, math.ceil(math.log(length)))
        self._length = length
        self.windows = [max(1, math.floor(length ** (j / steps) + 1e-9)) for j in range(steps + 1)]
        noise = problem.noise_std if self.noise_std is None else self.noise_std
        spread = math.sqrt(length * max(0.0, math.log(horizon / math.sqrt(length))))
        self._scale = 2.0 * length + 4.0 * noise * spread
        self._master = ExponentialWeights(len(self.windows), math.ceil(horizon / length), seeds.generator("window"))
        self._begin_block()

    def _begin_block(self) -> None:
        self._left = self._length
        self._total = 0.0
        self._base: SlidingWindow | None = None
        self._chosen = 0

    def _ask(self) -> Configuration:
        if self._base is None:
            self._base = SlidingWindow(len(self._candidates), self.windows[self._master.draw()])
        self._chosen = self._base.optimistic(self.bound**2 * self.xi)
        return self._candidates[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        assert self._base is not None
        self._base.learn(self._chosen, reward)
        self._total += reward / self._scale
        self._left -= 1
        if self._left == 0:
            self._master.learn(0.5 + self._total)
            self._begin_block()
