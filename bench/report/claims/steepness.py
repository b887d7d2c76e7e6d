"""Claims that the reward changes slowly with a hyper-parameter."""

from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field, PositiveFloat

from bench.report.claims.base import CaseClaim, Chosen, final_values
from bench.report.claims.finding import Unmeasured
from bench.report.claims.judgement import Direction, Question
from bench.report.claims.quantities import Extreme, Mean
from bench.report.experiments import Experiments
from bench.report.labels import Selection, describe

PROBE = "probe_"
"""What the columns of probed values begin with; the value follows."""


class Steepness(CaseClaim):
    """The largest change of the mean reward of a round between neighbouring values that were probed, by their distance.

    It bounds the Lipschitz constant from below; between the probed values the reward may be steeper. Of several
    neighbours the steepest counts, upwards or downwards, each judged at its share of the error.

    Parameters
    ----------
    measured
        The runs: one experiment per case, with the final values ``probe_<value>``, sums over the rounds.
    length
        Length of the interval that the metric calls 1.
    expect
        ``less``, ``greater``, ``at_most`` or ``at_least``.
    threshold
        The constant it is compared with.
    """

    kind: Literal["steepness"]
    expect: Direction
    measured: Chosen = Field(default_factory=dict)
    length: PositiveFloat = 1.0
    threshold: float = 1.0

    def selections(self) -> dict[str, Selection]:
        """Return the measured runs."""
        return {"measured": self.measured}

    def unit(self) -> str:
        """Return what is divided by what."""
        runs = f", {describe(self.measured)}" if self.measured else ""
        return (
            f"largest change of the mean {self.column} of a round between neighbouring values, by their distance in "
            f"units of {self.length:g}{runs}, against {self.threshold:g}"
        )

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        """Return what is asked of one case."""
        keys = data.select({**case, **self.measured})
        if len(keys) != 1:
            raise Unmeasured(f"found {len(keys)} experiments, expected one")
        columns = [str(name) for name in data.rows(keys[0]).columns if str(name).startswith(PROBE)]
        values = np.sort(np.array([float(name.removeprefix(PROBE)) for name in columns]))
        if len(values) < 2:
            raise Unmeasured("the results have no two probed values")
        sums, note = [], ""
        for value in values:
            (own,), note = final_values(data, f"{PROBE}{value:g}", keys)
            sums.append(own[:, 0])
        (rounds,), _ = final_values(data, "rounds", keys)
        means = np.array(sums) / rounds[:, 0]
        rises = np.diff(means, axis=0) / np.diff(values)[:, None] * self.length
        parts = [[Mean(sign * rise) for rise in rises for sign in (1.0, -1.0)]]
        return Question(Extreme(parts, "max", "max"), self.unit(), self.expect, self.threshold), note
