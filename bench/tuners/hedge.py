import math
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveFloat

from bench.component import component
from bench.errors import TunerError
from bench.jit import kernel
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.candidate_tuner import CandidateTuner
from bench.tuners.softmax import LARGEST_REWARD, Softmax


@component
class Hedge(CandidateTuner):
    """Draw in proportion to weights; then multiply each by exp(-eta loss), the loss being 1 - reward.

    It needs the rewards of all candidates. The gain form, exp(eta reward), is equivalent: all its weights are larger by
    the same factor. Weights are kept as logarithms. The bounds assume rewards in [0, 1]; others are used unchanged.
    Source: habo, section 15 (Freund and Schapire 1997).

    Parameters
    ----------
    eta
        Learning rate; None: sqrt(ln K / (t K)) in round t, as in the paper. Decreasing rates weight early rounds more:
        regret can be linear; with a constant rate it is at most ln K / eta + eta T / 8.
    """

    needs: ClassVar[tuple[str, ...]] = ("full_information",)

    eta: PositiveFloat | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._softmax = Softmax(n, seeds.generator("hedge"))
        self._round = 1

    def _choose(self) -> int:
        return self._softmax.draw(1.0)

    def _tell(self, reward: float, outcome: Any) -> None:
        n = len(self._candidates)
        rewards = None if outcome is None else outcome.rewards
        if rewards is None:
            raise TunerError(
                "Hedge: found the reward of one configuration, expected those of all (a task with full information, "
                "such as env=gaussian_arms algorithm=none)"
            )
        eta = math.sqrt(math.log(n) / (self._round * n)) if self.eta is None else self.eta
        if not _learn(self._softmax.scores, eta, np.asarray(rewards, dtype=np.float64)):
            raise TunerError(f"Hedge: found the rewards {list(rewards)}, expected {n} finite numbers")
        self._round += 1

    @property
    def log_weights(self) -> np.ndarray:
        """The logarithms of the candidates' weights, 0 at the start, shape (candidates,)."""
        return self._softmax.scores.copy()

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._softmax.probabilities(1.0)}


@kernel
def _learn(log_weights: np.ndarray, eta: float, rewards: np.ndarray) -> bool:
    """Multiply the weights; return False, without changing them, unless there is a finite reward for each."""
    if rewards.size != log_weights.size or not np.isfinite(rewards).all():
        return False
    for i in range(rewards.size):
        log_weights[i] -= eta * (1.0 - min(max(rewards[i], -LARGEST_REWARD), LARGEST_REWARD))
    return True
