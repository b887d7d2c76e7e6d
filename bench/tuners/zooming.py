"""Tuners that refine a continuum in regions of high reward, by zooming or by Thompson sampling on active points."""

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.active_points import ActivePoints, ZoomingRule
from bench.tuners.base import Problem, Tuner
from bench.tuners.exponential_weights import Drawn, ExponentialWeights

_LARGEST = 1e150
FirstPoint = Literal["middle", "anywhere"]
FIRST_POINT: dict[FirstPoint, tuple[float, float]] = {"middle": (0.3, 0.7), "anywhere": (0.0, 1.0)}
"""The share of each axis from which the first point is drawn: ``middle`` as in the cdt authors' code for the tuning of
algorithms, ``anywhere`` as in their code for switching functions.
"""


@component
class ZoomingTuner(Tuner):
    """Proposes active points; a subclass defines the sizes of their balls and their ranking."""

    searches: ClassVar[tuple[str, ...]] = ("interval",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_asked_for",)

    @abstractmethod
    def _rule(self, problem: Problem) -> ZoomingRule:
        """Return the rule with the radius, the spread and the restarts for ``problem``."""

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._points = ActivePoints(problem.space, self._rule(problem), seeds)

    def _ask(self) -> Configuration:
        configuration = self._points.ask()
        self._asked_for = self._points.asked
        return configuration

    def _tell(self, reward: float, outcome: Any) -> None:
        self._points.tell(reward, self._asked_for)


@component
class Zooming(ZoomingTuner):
    """The zooming algorithm, which pulls the active point with the largest mean + 2 r, without removal or restart.

    The algorithm is for a stationary continuum. Source: Kleinberg, Slivkins and Upfal 2019; cdt, appendix A.3.

    Parameters
    ----------
    constants
        ``theory`` or ``code``: the constants of the radius r, as in Zooming TS.
    noise_std
        tau0, the sub-Gaussian constant of the rewards; by default the task's.
    radius_scale
        Factor on the confidence radius.
    first_point
        Position of the first point: in the ``middle`` 40 % of each axis, or ``anywhere``.
    """

    constants: Literal["theory", "code"] = "theory"
    noise_std: NonNegativeFloat | None = None
    radius_scale: PositiveFloat = 1.0
    first_point: FirstPoint = "middle"

    def _radius_and_spread(self, problem: Problem) -> tuple[float, float]:
        """Return the confidence radius and the sampling deviation of a point pulled once.

        With ``theory`` they are sqrt(13 tau0^2 ln T / 2) and sqrt(52 pi tau0^2 ln T), recovered from the proofs of cdt.
        With ``code`` they are sqrt(13/2 tau0^1.5 ln T) and sqrt(pi/2 tau0^2 ln T), as in the authors' simulations of
        switching functions. T counts asks.
        """
        tau0 = problem.noise_std if self.noise_std is None else self.noise_std
        if tau0 > _LARGEST:
            raise ConfigError(f"noise_std: found {tau0:g}, expected at most {_LARGEST:g}: its square would overflow")
        log_t = log_horizon(problem)
        if self.constants == "theory":
            return math.sqrt(13 / 2 * tau0**2 * log_t), math.sqrt(52 * math.pi * tau0**2 * log_t)
        return math.sqrt(13 / 2 * tau0**1.5 * log_t), math.sqrt(math.pi / 2 * tau0**2 * log_t)

    def _rule(self, problem: Problem) -> ZoomingRule:
        radius = self.radius_scale * self._radius_and_spread(problem)[0]
        return ZoomingRule(radius, 2.0 * radius, restart_every=problem.horizon + 1, first=FIRST_POINT[self.first_point])


@component
class ThompsonZooming(Zooming):
    """Thompson sampling on active points.

    Parameters
    ----------
    constants
        ``theory`` or ``code``: the constants of radius and deviation, as in Zooming TS.
    radius_scale, ts_scale
        Factors on the confidence radius and on the sampling deviation.
    removal
        Whether points that are worse than another with high confidence are dropped. The authors' switching simulations
        do not drop points.
    """

    ts_scale: NonNegativeFloat = 1.0
    removal: bool = True

    def _restart_every(self, problem: Problem) -> int:
        return problem.horizon + 1

    def _rule(self, problem: Problem) -> ZoomingRule:
        radius, spread = self._radius_and_spread(problem)
        return ZoomingRule(
            self.radius_scale * radius,
            self.ts_scale * spread,
            restart_every=self._restart_every(problem),
            randomised=True,
            removal=self.removal,
            first=FIRST_POINT[self.first_point],
        )


@component
class ZoomingTS(ThompsonZooming):
    """Thompson sampling on a continuum that is refined where rewards are high, restarted every ``epoch_length`` rounds.

    Let tau0 be the sub-Gaussian constant and n the pulls of a point. The confidence radius is sqrt(13 tau0^2 ln T / (2
    n)), and the sampling deviation is sqrt(52 pi tau0^2 ln T / n). Balls are Euclidean in the unit cube (assumed).
    Source: cdt, algorithm 1 and theorem 4.1; the ``code`` constants are from the authors' simulations.

    Parameters
    ----------
    epoch_length
        Rounds between restarts; by default (T / pieces)^((z+2)/(z+3)), z the zooming dimension.
    pieces
        Number of stationary pieces assumed by the default length.
    zooming_dimension
        z in the default length; by default the number p of hyper-parameters, which z never exceeds (appendix C).
    constants
        ``theory`` as above; ``code``: radius sqrt(13/2 tau0^1.5 ln T / n), deviation sqrt(pi/2 tau0^2 ln T / n).
    """

    label: ClassVar[str] = "Zooming TS-R"

    epoch_length: PositiveInt | None = None
    pieces: PositiveInt = 1
    zooming_dimension: NonNegativeFloat | None = None

    def _restart_every(self, problem: Problem) -> int:
        z = problem.space.dim if self.zooming_dimension is None else self.zooming_dimension
        return problem.asks(self.epoch_length or int((problem.total_rounds / self.pieces) ** ((z + 2) / (z + 3))))


@component
class ZoomingOracle(ThompsonZooming):
    """Zooming TS, restarted at the true change points, which the problem provides. Source: cdt, appendix A.3."""

    needs: ClassVar[tuple[str, ...]] = ("change_points",)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        super()._start(problem, seeds)
        self._restarts = {change // problem.rounds_per_ask for change in problem.change_points}
        self._n_asked = 0

    def _ask(self) -> Configuration:
        if self._n_asked in self._restarts:
            self._points.restart()
        self._n_asked += 1
        return super()._ask()


@component
class ZoomingDoubleRestarts(ThompsonZooming):
    """EXP3 over the epoch lengths of Zooming TS.

    The horizon is split into top-level epochs of ceil(T^((p+2)/(p+4))) rounds. In each top-level epoch Zooming TS
    starts afresh, with a length between restarts drawn from 1, 2, 4, ... up to the epoch's length; EXP3 receives the
    epoch's mean reward, clipped to [0, 1] (assumed: the paper scales the sum, but does not state how). Source: cdt,
    algorithm 3.
    """

    label: ClassVar[str] = "Double Restarts"
    remembers: ClassVar[tuple[str, ...] | None] = ("_asked_for", "_asked_in")

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        p = problem.space.dim
        self._problem = problem
        self._seeds = seeds
        self._length = problem.asks(math.ceil(problem.total_rounds ** ((p + 2) / (p + 4)) - 1e-9))
        self._lengths = [2**i for i in range(self._length.bit_length())]
        n_epochs = math.ceil(problem.horizon / self._length)
        self._layer = ExponentialWeights(len(self._lengths), n_epochs, seeds.generator("exp3"))
        self._drawn: Drawn = (0, 1.0)
        self._epoch = 0
        self._n_told = self._length
        self._sum = 0.0

    def _ask(self) -> Configuration:
        if self._n_told == self._length:
            if self._epoch:
                self._layer.learn(self._drawn, min(max(self._sum / self._length, 0.0), 1.0))
            self._drawn = self._layer.draw()
            rule = replace(self._rule(self._problem), restart_every=self._lengths[self._drawn[0]])
            self._points = ActivePoints(self._problem.space, rule, self._seeds.child(f"epoch_{self._epoch}"))
            self._epoch += 1
            self._n_told = 0
            self._sum = 0.0
        self._asked_in = self._epoch
        return super()._ask()

    def _tell(self, reward: float, outcome: Any) -> None:
        if self._asked_in != self._epoch:
            return  # a late reward from an earlier epoch
        self._n_told += 1
        self._sum += reward
        super()._tell(reward, outcome)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"epoch_length": self._layer.probabilities}


def log_horizon(problem: Problem) -> float:
    """Return ln T, where T is the number of asks, or 2 if that is larger."""
    return math.log(max(problem.horizon, 2))
