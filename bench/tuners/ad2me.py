import math
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, PositiveFloat

from bench.component import component
from bench.jit import kernel
from bench.space import HyperParameter
from bench.tuners.base import Problem
from bench.tuners.dynamic_mean_tuner import ArmChooser, DynamicMeanTuner
from bench.tuners.dynamic_means import DynamicMeans

_TOLERANCE = 1e-12


@component
class AD2ME(DynamicMeanTuner):
    """Adaptive discretisation with dynamic mean estimator: argmax of mean + 2 xi over arms that cover [0, 1].

    An arm covers the points within its width xi = sqrt(ln(2 t^1.5 / delta^0.5) / n). If a part of [0, 1] is uncovered,
    an arm is added there, drawn uniformly from the whole uncovered part. The paper allows any; with about three arms in
    10,000 rounds a fixed choice would determine the result, so repetitions average over it (and the paper's results
    vary more between repetitions than a fixed choice would explain).
    Source: online_hpo, algorithm 2 and theorem 4.2.

    Parameters
    ----------
    delta
        Probability with which the regret bound may fail; not stated in the paper, assumed.
    bonus
        How many widths are added to the mean; 2 in equation 11.
    width
        ``all_rounds``: xi, for all means of all rounds (equation 9); ``one_round``: sqrt(ln(2 / delta) / (2 n)).
    """

    delta: Annotated[float, Field(gt=0, lt=1)] = 0.05
    bonus: PositiveFloat = 2.0
    width: Literal["all_rounds", "one_round"] = "all_rounds"

    def _memory(self, rounds: int) -> float:
        share = (rounds / (3 * self.changes)) ** 0.75
        return float(2 * share if self.weights == "hard" else share)

    def _chooser(self, parameter: HyperParameter, problem: Problem, rng: np.random.Generator) -> ArmChooser:
        if self.width == "one_round":
            constant, growth = 0.5 * math.log(2.0 / self.delta), 0.0
        else:
            constant, growth = math.log(2.0) - 0.5 * math.log(self.delta), 1.5
        return CoveringArms(parameter, self._means(problem), LogTerm(constant, growth), self.bonus, rng)


class LogTerm(NamedTuple):
    """What a squared width is before it is divided by the pulls: ``constant`` + ``growth`` ln t."""

    constant: float
    growth: float


class CoveringArms(ArmChooser):
    """Keeps [0, 1] covered by the arms' intervals and chooses among the arms.

    The union of all intervals is computed in every round: besides the neighbours of the arm just pulled, an interval
    from farther away may cover the gap. Arms are few: the more share the remembered pulls, the wider they are.
    """

    def __init__(
        self,
        parameter: HyperParameter,
        means: DynamicMeans,
        log_term: LogTerm,
        bonus: float,
        rng: np.random.Generator,
    ) -> None:
        self._parameter = parameter
        self._means = means
        self._centers = np.zeros(16)
        self._values: list[Any] = []
        self._constant, self._growth = log_term
        self._bonus = bonus
        self._rng = rng
        self._share = rng.random()
        self._round = 1
        self._chosen = 0

    def choose(self) -> Any:
        means = self._means
        log_term = self._constant + self._growth * math.log(self._round)
        point = _uncovered(self._centers, means.stats, means.n_arms, means.scale, log_term, self._share)
        if point >= 0.0:
            self._add(point)
        self._chosen = means.most_promising(log_term, self._bonus)
        return self._values[self._chosen]

    def learn(self, reward: float) -> None:
        self._means.learn(self._chosen, reward)
        self._round += 1

    def _add(self, point: float) -> None:
        if len(self._values) == len(self._centers):
            self._centers = np.concatenate([self._centers, np.zeros_like(self._centers)])
        self._centers[len(self._values)] = point
        self._values.append(self._parameter.from_unit(point))
        self._means.add_arm()
        self._share = self._rng.random()


@kernel
def _uncovered(
    centers: np.ndarray, stats: np.ndarray, n_arms: int, scale: float, log_term: float, share: float
) -> float:
    """Return the point with ``share`` of the uncovered part of [0, 1] to its left; -1 if that is up to 1e-12 long."""
    widths = np.empty(n_arms)
    for k in range(n_arms):
        pulls = stats[k, 0] * scale
        if pulls <= log_term:
            return -1.0  # at least 1 wide, to both sides: it covers everything
        widths[k] = np.sqrt(log_term / pulls)
    lefts = centers[:n_arms] - widths
    order = np.argsort(lefts)
    length = _walk(centers, widths, lefts, order, math.inf)[0]
    if length <= _TOLERANCE:
        return -1.0
    return _walk(centers, widths, lefts, order, share * length)[1]


@kernel
def _walk(
    centers: np.ndarray, widths: np.ndarray, lefts: np.ndarray, order: np.ndarray, target: float
) -> tuple[float, float]:
    """Walk from 0 to 1 until ``target`` has been walked outside all intervals; return that length and where, or -1."""
    outside = 0.0
    reached = 0.0
    for k in range(order.size + 1):
        left = 1.0 if k == order.size else min(1.0, lefts[order[k]])
        if left > reached:
            if outside + left - reached >= target:
                return outside, reached + target - outside
            outside += left - reached
        if k < order.size:
            reached = max(reached, centers[order[k]] + widths[order[k]])
    return outside, -1.0
