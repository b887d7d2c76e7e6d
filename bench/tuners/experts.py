import math
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveFloat

from bench.component import component
from bench.errors import TunerError
from bench.rewards import LARGEST
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem
from bench.tuners.exponential_weights import Softmax


@component
class Hedge(CandidateTuner):
    """Draw a candidate in proportion to the weights, and multiply each weight by exp(-eta loss), with loss 1 - reward.

    The tuner needs the rewards of all candidates. The gain form, with the factor exp(eta reward), is equivalent,
    because all its weights are larger by the same factor. The weights are stored as logarithms. The bounds assume
    rewards in [0, 1]; other rewards are used unchanged. Source: habo, section 15 (Freund and Schapire 1997).

    Parameters
    ----------
    eta
        Learning rate; None: sqrt(ln K / (t K)) in round t, as in the paper. Decreasing rates give early rounds more
        weight, so that regret can be linear; with a constant rate the regret is at most ln K / eta + eta T / 8.
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
        if np.shape(rewards) != (n,) or not np.isfinite(rewards).all():
            raise TunerError(f"Hedge: found the rewards {list(rewards)}, expected {n} finite numbers")
        eta = math.sqrt(math.log(n) / (self._round * n)) if self.eta is None else self.eta
        self._softmax.scores -= eta * (1.0 - np.clip(rewards, -LARGEST, LARGEST))
        self._round += 1

    @property
    def log_weights(self) -> np.ndarray:
        """The log weights of the candidates, 0 at the start, shape (candidates,)."""
        return self._softmax.scores.copy()

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._softmax.probabilities(1.0)}


@component
class BestForecast(CandidateTuner):
    """Follow the leader, the candidate whose forecasts of the rewards have the least loss so far.

    Ties are broken at random, so the order of candidates has no effect, and exploration rates, which do not affect
    forecasts, are random. The rewards themselves are ignored. The tuner needs a task that has a copy of the algorithm
    for each candidate and reports how well each copy predicted the reward, such as ``task=copies``. With log losses and
    ``eta`` = 1, candidates are drawn by their posterior probability given uniform prior weights. Source: Dawid 1984
    (prequential losses); Cesa-Bianchi and Lugosi 2006, sections 3.2 (follow the leader, there: follow the best expert)
    and 2.2 (exponential weights).

    Parameters
    ----------
    eta
        Rate of a draw in proportion to exp(-eta loss), which replaces the choice of the leader; null: follow the
        leader.
    """

    needs: ClassVar[tuple[str, ...]] = ("forecasts",)

    eta: PositiveFloat | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._rng = seeds.generator("best_forecast")
        self._softmax = Softmax(n, self._rng)

    def _choose(self) -> int:
        if self.eta is not None:
            return self._softmax.draw(self.eta)
        leaders = np.flatnonzero(self._softmax.scores == self._softmax.scores.max())
        return int(leaders[0] if len(leaders) == 1 else self._rng.choice(leaders))

    def _tell(self, reward: float, outcome: Any) -> None:
        losses = getattr(outcome, "forecast_losses", None)
        if losses is None:
            raise TunerError(
                "BestForecast: found a reward without forecast losses, expected those of all candidates (a contextual "
                "bandit with task=copies task.learn=all and an algorithm that has an estimate)"
            )
        if np.shape(losses) != self._softmax.scores.shape or not np.isfinite(losses).all():
            raise TunerError(
                f"BestForecast: found the losses {list(losses)}, expected {len(self._candidates)} finite numbers"
            )
        self._softmax.scores -= np.minimum(losses, LARGEST)

    @property
    def losses(self) -> np.ndarray:
        """The total losses of all candidates so far, shape (candidates,)."""
        return -self._softmax.scores
