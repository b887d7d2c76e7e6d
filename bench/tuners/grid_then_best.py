import itertools
from typing import Any

import numpy as np

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem
from bench.tuners.round_robin import RoundRobin


@component
class GridThenBest(RoundRobin):
    """Try evenly spaced points in turn during the first phase, then keep the one with the highest mean reward.

    The points of an interval include both of its ends (assumed: the paper says evenly spaced over [0, 1]); a
    logarithmic interval is evenly spaced in the logarithm, whole numbers appear once. Several hyper-parameters make a
    product grid, the last varying fastest; if ``n_points`` per axis give more points than there are asks of training,
    all axes get as many as fit. A hyper-parameter without an interval contributes its candidates. Raises ConfigError if
    candidates alone give more points than there are asks of training.
    Source: online_hpo, section 7.1.3.

    Parameters
    ----------
    n_points
        The largest number of points of an interval.
    """

    def _points(self, problem: Problem, n_train: int, seeds: Seeds) -> list[Configuration]:
        space = problem.space
        for n in range(self.n_points, 0, -1):
            axes = [_axis(parameter, n) for parameter in space.parameters]
            if np.prod([len(axis) for axis in axes], dtype=float) <= n_train:
                return [dict(zip(space.names, values, strict=True)) for values in itertools.product(*axes)]
        size = " x ".join(str(len(axis)) for axis in axes)
        raise ConfigError(
            f"{type(self).__name__}: found a grid of {size} candidates, expected at most {n_train}, "
            f"the asks of the training phase (train_share = {self.train_share:g})"
        )


def _axis(parameter: HyperParameter, n: int) -> list[Any]:
    """Return up to ``n`` evenly spaced values of the interval with its ends (one: its middle), or all candidates."""
    if not parameter.continuous:
        return list(parameter.candidates)
    places = np.linspace(0.0, 1.0, n) if n > 1 else np.array([0.5])
    return list(dict.fromkeys(parameter.from_unit(float(u)) for u in places))
