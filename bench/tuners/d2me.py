"""Tuners with dynamic mean estimators: optimistic choice with forgotten rewards for each hyper-parameter."""

import math
from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner
from bench.tuners.dynamic_means import DiscountedMeans, DynamicMeans, WindowedMeans, floor_at_least_one

_TOLERANCE = 1e-12


class ArmChooser(ABC):
    """Chooses the value of one hyper-parameter."""

    def __init__(self, means: DynamicMeans, values: list[Any]) -> None:
        self._means = means
        self._values = values
        self.chosen = 0
        """The index of the value chosen last."""

    @abstractmethod
    def choose(self) -> Any:
        """Return the value to play; repeated calls before ``learn`` return the same value."""

    def learn(self, chosen: int, reward: float) -> None:
        """Learn the reward of the value with index ``chosen``."""
        self._means.learn(chosen, reward)


@component
class DynamicMeanTuner(Tuner):
    """Optimistic choice by dynamic means, for each hyper-parameter separately.

    All hyper-parameters learn from every reward. They take turns to choose a value, while the other hyper-parameters
    keep their values. If all of them chose in every round, they would change in step, because they receive the same
    rewards; two hyper-parameters with ten arms each would only ever play ten pairs.

    Parameters
    ----------
    weights
        Weights of past rewards: ``hard`` is 1 within a window and 0 before; ``soft`` decreases geometrically.
    changes
        Estimated number of changes of the environment.
    memory_factor
        Factor on the theorem's memory of rewards.
    """

    searches: ClassVar[tuple[str, ...]] = ("interval",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_arms",)

    weights: Literal["hard", "soft"] = "soft"
    changes: PositiveInt = 10
    memory_factor: PositiveFloat = 1.0

    @abstractmethod
    def _memory(self, rounds: int) -> float:
        """Return the theorem's memory in rounds, which is the window or 1 / (1 - discount)."""

    @abstractmethod
    def _chooser(self, parameter: HyperParameter, problem: Problem, rng: np.random.Generator) -> ArmChooser:
        """Return the chooser for ``parameter``; ``rng`` makes the choices that the algorithm leaves open."""

    def _means(self, problem: Problem, n_arms: int = 0) -> DynamicMeans:
        """Return the estimates of ``n_arms`` arms before the first round.

        The formulas count rounds, so a decision of several rounds is one pull and ages the estimates by this number of
        rounds.
        """
        hard = self.weights == "hard"
        return (
            WindowedMeans(self._window(problem), n_arms) if hard else DiscountedMeans(self._discount(problem), n_arms)
        )

    def _window(self, problem: Problem) -> int:
        return problem.asks(floor_at_least_one(self.memory_factor * self._memory(problem.total_rounds)))

    def _discount(self, problem: Problem) -> float:
        memory = self.memory_factor * self._memory(problem.total_rounds)
        return float(max(0.0, 1.0 - 1.0 / memory) ** problem.rounds_per_ask)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._choosers = [
            (parameter.name, self._chooser(parameter, problem, seeds.child(parameter.name).generator("arms")))
            for parameter in problem.space.parameters
        ]
        self._configuration = {name: chooser.choose() for name, chooser in self._choosers}
        self._arms = [chooser.chosen for _, chooser in self._choosers]
        self._turn = 0

    def _ask(self) -> Configuration:
        name, chooser = self._choosers[self._turn]
        self._configuration[name] = chooser.choose()
        self._arms[self._turn] = chooser.chosen
        return self._configuration

    def _tell(self, reward: float, outcome: Any) -> None:
        arms = self._arms
        for number, (_, chooser) in enumerate(self._choosers):
            chooser.learn(arms[number], reward)
        self._turn = (self._turn + 1) % len(self._choosers)


@component
class SD2ME(DynamicMeanTuner):
    """Static discretisation with dynamic mean estimator: argmax of mean + sqrt(ln W / n) over the arms rho, 2 rho, ...

    The first pulls are in random order, because the paper does not specify an order. In very short runs, where rho
    would exceed 1, the only arm is the end of the interval (assumed, because the formula gives no arm). Source:
    online_hpo, algorithm 1 and theorem 4.1.
    """

    def _memory(self, rounds: int) -> float:
        return float(6**0.25 * (rounds / self.changes) ** 0.75)

    def _chooser(self, parameter: HyperParameter, problem: Problem, rng: np.random.Generator) -> ArmChooser:
        memory = self._window(problem) if self.weights == "hard" else 1.0 / (1.0 - self._discount(problem))
        spacing = (6.0 / memory) ** (1.0 / 3.0)
        order = rng.permutation(floor_at_least_one(1.0 / spacing)) + 1
        values = [parameter.from_unit(min(1.0, spacing * k)) for k in order.tolist()]
        return EvenArms(self._means(problem, len(values)), values)


class EvenArms(ArmChooser):
    """Chooses among fixed values; values without a remembered pull come first, in the given order."""

    def choose(self) -> Any:
        means = self._means
        self.chosen = means.most_promising(math.log(max(1.0, means.total)), 1.0)
        return self._values[self.chosen]


@component
class AD2ME(DynamicMeanTuner):
    """Adaptive discretisation with dynamic mean estimator: argmax of mean + 2 xi over arms that cover [0, 1].

    An arm covers the points within its width xi = sqrt(ln(2 t^1.5 / delta^0.5) / n). If a part of [0, 1] is uncovered,
    an arm is added there, drawn uniformly from the whole uncovered part. The paper allows any point; with about three
    arms in 10,000 rounds a fixed choice would determine the result, so repetitions average over it (and the paper's
    results vary more between repetitions than a fixed choice would explain). Source: online_hpo, algorithm 2 and
    theorem 4.2.

    Parameters
    ----------
    delta
        Probability with which the regret bound may fail; not stated in the paper, assumed.
    bonus
        Number of widths added to the mean; 2 in equation 11.
    width
        ``all_rounds``: xi, which holds for all means of all rounds (equation 9); ``one_round``: sqrt(ln(2 / delta) / (2
        n)).
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
        return CoveringArms(self._means(problem), parameter, constant, growth, self.bonus, rng)


class CoveringArms(ArmChooser):
    """Keeps [0, 1] covered by the arms' intervals and chooses among the arms.

    A squared width is ``constant`` + ``growth`` ln t, divided by the pulls. The union of all intervals is recomputed in
    every round, because a distant interval may cover the gap beside the arm just pulled. There are few arms, because
    more arms would share the remembered pulls and be wider.
    """

    def __init__(
        self,
        means: DynamicMeans,
        parameter: HyperParameter,
        constant: float,
        growth: float,
        bonus: float,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(means, [])
        self._parameter = parameter
        self._constant, self._growth, self._bonus = constant, growth, bonus
        self._centers = np.zeros(0)
        self._rng = rng
        self._share = rng.random()
        self._round = 1

    def choose(self) -> Any:
        means = self._means
        log_term = self._constant + self._growth * math.log(self._round)
        point = _uncovered(self._centers, means.stats, means.scale, log_term, self._share)
        if point >= 0.0:
            self._centers = np.append(self._centers, point)
            self._values.append(self._parameter.from_unit(point))
            means.add_arm()
            self._share = self._rng.random()
        self.chosen = means.most_promising(log_term, self._bonus)
        return self._values[self.chosen]

    def learn(self, chosen: int, reward: float) -> None:
        super().learn(chosen, reward)
        self._round += 1


@kernel
def _uncovered(centers: np.ndarray, stats: np.ndarray, scale: float, log_term: float, share: float) -> float:
    """Return the point with ``share`` of the uncovered part of [0, 1] to its left.

    The result is -1 if the uncovered part is at most 1e-12 long.
    """
    widths = np.empty(centers.size)
    for k in range(centers.size):
        pulls = stats[k, 0] * scale
        if pulls <= log_term:
            return -1.0  # an interval of width 1 or more covers everything
        widths[k] = np.sqrt(log_term / pulls)
    lefts = centers - widths
    order = np.argsort(lefts)
    length = _walk(centers, widths, lefts, order, math.inf)[0]
    if length <= _TOLERANCE:
        return -1.0
    return _walk(centers, widths, lefts, order, share * length)[1]


@kernel
def _walk(
    centers: np.ndarray, widths: np.ndarray, lefts: np.ndarray, order: np.ndarray, target: float
) -> tuple[float, float]:
    """Walk from 0 until a length ``target`` lies outside all intervals.

    Returns the length outside all intervals and the point, or -1 for the point if ``target`` is not reached.
    """
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
