import math
from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveInt

from bench.arm_means import ArmMeans
from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem
from bench.tuners.recommendation import Draws, refuse_untried


@component
class UpperBoundTuner(CandidateTuner):
    """Choose the candidate with the largest upper bound, mean + sqrt(width / N), and on a tie the first.

    N counts the decisions for the candidate; the bound is infinite for N = 0.
    """

    learns_history: ClassVar[bool] = True

    @property
    @abstractmethod
    def _width(self) -> float:
        """The width of the upper bounds for the next decision."""

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._arms = ArmMeans(n)

    def _choose(self) -> int:
        return self._arms.optimistic(self._width)

    def _tell(self, reward: float, outcome: Any) -> None:
        self._arms.learn(self._chosen, reward)

    def _belief(self, n: int, rng: np.random.Generator) -> Draws:
        """Draw the candidates' means from normal posteriors, with the problem's noise and a flat prior."""
        arms = self._arms
        refuse_untried(type(self).__name__, int((arms.counts == 0).sum()), len(arms.counts))
        errors = self._given["problem"].noise_std / np.sqrt(arms.counts)
        return self._candidates, arms.means + errors * rng.standard_normal((n, len(errors)))

    @property
    def upper_bounds(self) -> np.ndarray:
        """The upper bounds of the candidates, shape (candidates,), infinite for untried candidates."""
        return self._arms.upper_bounds(self._width)


@component
class UCB1(UpperBoundTuner):
    """Try each candidate once, then the first candidate with the largest mean + sqrt(2 ln t / N).

    t counts all decisions, and N counts the decisions for the candidate. Rewards lie in [0, 1]. Source: Auer et al.
    2002; habo, section 8.
    """

    @property
    def _width(self) -> float:
        return self._arms.ucb1_width


@component
class UCBDelta(UpperBoundTuner):
    """Play the first candidate with the largest upper bound, which is infinite before the candidate's first play.

    The bound is mean + sqrt(2 ln(1 / delta) / N), where N counts the decisions for the candidate and rewards are
    1-sub-Gaussian. For rewards in [0, 1], Hoeffding's inequality gives mean + sqrt(ln(1 / delta) / (2 N)). Source:
    Lattimore and Szepesvari 2020, section 7; habo, section 10; ``hoeffding`` from the authors' code.

    Parameters
    ----------
    delta
        Probability with which a bound may fail; None: 1 / T^2, with logarithmic regret, which no fixed delta
        guarantees.
    width
        ``sub_gaussian``: the paper's width; ``hoeffding``: half of this width, as in the authors' code.
    """

    label: ClassVar[str] = "UCB(delta)"

    delta: Annotated[float, Field(gt=0, lt=1)] | None = None
    width: Literal["sub_gaussian", "hoeffding"] = "sub_gaussian"

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        super()._begin(n, problem, seeds)
        self._log = 2.0 * math.log(problem.horizon) if self.delta is None else -math.log(self.delta)

    @property
    def _width(self) -> float:
        return (2.0 if self.width == "sub_gaussian" else 0.5) * self._log


@component
class ETC(CandidateTuner):
    """Explore, then commit: try the candidates in turn, then commit to the first candidate with the best mean.

    If the horizon is below ``pulls_per_arm`` times the number of candidates, the tuner never commits. Source: habo,
    section 3.

    Parameters
    ----------
    pulls_per_arm
        m, the number of trials of each candidate.
    """

    learns_history: ClassVar[bool] = True

    pulls_per_arm: PositiveInt = 200

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._arms = ArmMeans(n)
        self._trials = self.pulls_per_arm * n

    def _choose(self) -> int:
        pulls = self._arms.pulls
        return pulls % len(self._candidates) if pulls < self._trials else self._arms.optimistic(0.0)

    def _tell(self, reward: float, outcome: Any) -> None:
        if self._arms.pulls < self._trials:
            self._arms.learn(self._chosen, reward)
