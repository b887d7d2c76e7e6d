import math
from abc import abstractmethod
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, PositiveFloat

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem


@component
class DataDrivenBalancing(CandidateTuner):
    """Model selection that balances estimated regret by playing the candidate with the least potential phi_i.

    Candidate i has been played in n_i rounds with the mean reward m_i. Let M be the number of candidates and e_i = c
    sqrt(ln(M max(1, ln n_i) / delta) / n_i). The regret of candidate i per round is then at least gap_i = max_j (m_j -
    e_j) - (m_i + e_i), where j runs over the candidates played so far. From this gap a subclass computes the
    coefficient d_i, for which the regret of i is at most d_i sqrt(n_i), and from d_i sqrt(n_i) the potential phi_i. The
    first of equal potentials is played. With the task `copies` and ``learn: played``, the candidates are base
    algorithms that learn from their own rounds.

    Parameters
    ----------
    least
        d_min, the first and least coefficient, in units of the reward.
    delta
        Probability with which the bounds may fail.
    width
        c, in units of the reward.
    """

    learns_history: ClassVar[bool] = True

    least: PositiveFloat = 1.0
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.01
    width: PositiveFloat = 1.0

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._counts, self._sums = np.zeros((2, n))
        self._coefficients, self._potentials = np.full((2, n), self.least)

    def _choose(self) -> int:
        return int(np.argmin(self._potentials))

    def _tell(self, reward: float, outcome: Any) -> None:
        chosen = self._chosen
        self._counts[chosen] += 1
        self._sums[chosen] += reward
        root = math.sqrt(self._counts[chosen])
        self._coefficients[chosen] = d = self._coefficient(float(self._coefficients[chosen]), self._gap(chosen), root)
        self._potentials[chosen] = self._potential(float(self._potentials[chosen]), d * root)

    def _gap(self, chosen: int) -> float:
        played = self._counts > 0
        counts, means = self._counts[played], self._sums[played] / self._counts[played]
        logarithms = np.log(len(self._counts) * np.maximum(1.0, np.log(counts)) / self.delta)
        errors = self.width * np.sqrt(logarithms / counts)
        place = int(np.count_nonzero(played[:chosen]))
        return float(np.max(means - errors) - (means[place] + errors[place]))

    @property
    def coefficients(self) -> np.ndarray:
        """The estimates d_i, shape (candidates,)."""
        return self._coefficients.copy()

    @abstractmethod
    def _coefficient(self, before: float, gap: float, root: float) -> float:
        """Return d_i from its previous value, gap_i and sqrt(n_i)."""

    @abstractmethod
    def _potential(self, before: float, after: float) -> float:
        """Return phi_i from its previous value and d_i sqrt(n_i)."""


@component
class D3RB(DataDrivenBalancing):
    """Doubling data-driven regret balancing: d_i doubles if gap_i > d_i / sqrt(n_i), that is, if d_i is too small.

    The potential is phi_i = d_i sqrt(n_i). See `DataDrivenBalancing` for gaps and settings. Source: Dann, Gentile and
    Pacchiano 2024 (D3RB). The defaults of d_min, delta and c, and the immediate update of the potential, follow their
    code, pacchiano/modelselection at 233f26a (algorithmsmodsel.py), which also divides rewards and bounds by sqrt(n_i)
    in place of n_i and has ln((n_i + 1) / delta) in e_i. In this class, the defaults and the update are assumed,
    because we did not have the paper's text.
    """

    def _coefficient(self, before: float, gap: float, root: float) -> float:
        return 2.0 * before if gap * root > before else before

    def _potential(self, before: float, after: float) -> float:
        return after


@component
class ED2RB(DataDrivenBalancing):
    """Estimating data-driven regret balancing: d_i = max{d_min, gap_i sqrt(n_i)}.

    The potential is phi_i = d_i sqrt(n_i), clipped to lie between its previous value and twice this value. See
    `DataDrivenBalancing` for gaps and settings, and `D3RB` for differences from the authors' code. Source: Dann,
    Gentile and Pacchiano 2024 (ED2RB).
    """

    def _coefficient(self, before: float, gap: float, root: float) -> float:
        return max(self.least, gap * root)

    def _potential(self, before: float, after: float) -> float:
        return max(before, min(after, 2.0 * before))
