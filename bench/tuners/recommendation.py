from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.errors import TunerError
from bench.rewards import number, short
from bench.space import Configuration
from bench.tuners.tickets import ALONE

_DRAWS = 10_000
"""Draws from a belief; they estimate a probability of 1 % to within .2 %."""

Draws = tuple[list[Configuration], np.ndarray]
"""Configurations, and draws of their expected rewards, shape (draws, configurations)."""


@dataclass(frozen=True)
class Recommendation:
    """The recommended configuration.

    ``reward`` is the mean of the configuration's expected reward under the tuner's belief, and ``low`` to ``high`` is a
    95 % interval. ``another_is_better`` is the probability that the best other configuration is better by more than
    ``margin``.
    """

    configuration: Configuration
    reward: float
    low: float
    high: float
    margin: float
    another_is_better: float


class Recommending:
    """Mixin of tuners that recommend a configuration."""

    def recommend(self: Any, margin: float = 0.0) -> Recommendation:
        """Return the configuration with the largest expected reward, and the probability that another is better.

        Another configuration is better if its expected reward is larger by more than ``margin``. All numbers come from
        10,000 draws of the tuner's own belief with a separate generator, so the next ask is unaffected. Raises
        TunerError if the tuner was not started or does not have a belief (yet).
        """
        name = type(self).__name__
        converted = number(margin)
        if converted is None or converted < 0:
            raise TunerError(f"{name}: found the margin {short(margin)}, expected a finite number, at least 0")
        with ALONE:
            self._check_process("recommend()")
            configurations, draws = self._belief(_DRAWS, np.random.default_rng(0))
        means = draws.mean(axis=0)
        kept = int(means.argmax())
        low, high = np.quantile(draws[:, kept], [0.025, 0.975]).tolist()
        others = np.delete(draws, kept, axis=1).max(axis=1, initial=-np.inf)
        better = float((others > draws[:, kept] + converted).mean())
        return Recommendation(dict(configurations[kept]), float(means[kept]), low, high, converted, better)

    def _belief(self, n: int, rng: np.random.Generator) -> Draws:
        """Return ``n`` draws from the belief; tuners with a belief override this method."""
        raise TunerError(
            f"{type(self).__name__}: found no belief about the rewards of configurations, expected a tuner with one, "
            "such as changepoint_gp, gaussian_ts or ucb1, to recommend a configuration"
        )


def refuse_untried(name: str, untried: int, of: int) -> None:
    """Raise TunerError if the tuner lacks rewards of some candidates."""
    if untried:
        raise TunerError(
            f"{name}: found {untried} of {of} candidates that were not tried often enough, expected rewards of all "
            "before one is recommended"
        )
