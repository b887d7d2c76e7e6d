"""A claim on how steeply the reward changes with a hyper-parameter."""

from typing import Literal

import numpy as np
from pydantic import Field, PositiveFloat

from bench.report.claims.base import Case, CaseClaim, Chosen
from bench.report.claims.judgement import Direction, Question, Unmeasured
from bench.report.claims.quantities import Extreme, Mean
from bench.report.labels import describe

PROBE = "probe_"
"""What the columns of probed values begin with; the value follows."""


class Steepness(CaseClaim):
    """The largest slope of the mean reward of a round between neighbouring probed values.

    It bounds the Lipschitz constant from below; between the probed values the reward may be steeper. Of several
    neighbours the steepest is used, upwards or downwards, each judged at its share of the error. The final values
    ``probe_<value>`` are sums over the rounds; ``length`` is the length of the interval that the metric calls 1.
    """

    kind: Literal["steepness"]
    expect: Direction
    measured: Chosen = Field(default_factory=dict)
    length: PositiveFloat = 1.0
    threshold: float = 1.0

    def unit(self) -> str:
        runs = f", {describe(self.measured)}" if self.measured else ""
        return (
            f"largest change of the mean {self.column} of a round between neighbouring values, by their distance in "
            f"units of {self.length:g}{runs}, against {self.threshold:g}"
        )

    def question(self, case: Case) -> Question:
        key = case.only(case.sides["measured"])
        columns = {
            float(name.removeprefix(PROBE)): name for name in map(str, case.results.rows(key)) if name.startswith(PROBE)
        }
        if len(columns) < 2:
            raise Unmeasured("the results have no two probed values")
        places = np.array(sorted(columns))
        sums = [case.values([key], column=columns[place])[0][:, 0] for place in places]
        (rounds,) = case.values([key], column="rounds")
        means = np.array(sums) / rounds[:, 0]
        rises = np.diff(means, axis=0) / np.diff(places)[:, None] * self.length
        parts = [[Mean(sign * rise) for rise in rises for sign in (1.0, -1.0)]]
        return Question(Extreme(parts, "max", "max"), self.expect, self.threshold)
