import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat

from bench.component import component
from bench.errors import ConfigError
from bench.jit import kernel
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem, Wish
from bench.tuners.exponential_weights import ExponentialWeights, Softmax, draw


@component
class EXP3(CandidateTuner):
    """Draw candidates in proportion to the exponentials of estimated rewards, in one of two forms.

    In the form *reward*, P_i is proportional to exp(eta S_i), and after a reward X of A, S_i += 1 - 1[A = i] (1 - X) /
    P_i, without uniform exploration. In the form *weight*, P_i = (1 - gamma) w_i / sum w + gamma / K and w_A *=
    exp(gamma X / (K P_A)). Estimates are unbiased; the bounds assume rewards in [0, 1]. Raises ConfigError if a setting
    of the other form is given. Source: habo, section 18; Lattimore and Szepesvari 2020, algorithm 9 (reward); Auer et
    al. 2002 (weight).

    Parameters
    ----------
    form
        ``reward`` or ``weight``.
    eta
        Learning rate of the reward form; None: sqrt(ln K / (t K)) in round t, with regret at most 2 sqrt(K T ln K).
    gamma
        Share of uniform draws in the weight form; None: min{1, sqrt(K ln K / ((e - 1) T))}.
    """

    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_chance")

    form: Literal["reward", "weight"] = "reward"
    eta: PositiveFloat | None = None
    gamma: Annotated[float, Field(gt=0, le=1)] | None = None

    def __post_init__(self) -> None:
        name, value = ("gamma", self.gamma) if self.form == "reward" else ("eta", self.eta)
        if value is not None:
            raise ConfigError(
                f"found {value} with form: {self.form}, expected null: it belongs to the other form",
                owner="EXP3",
                setting=name,
            )

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        rng = seeds.generator("exp3")
        self._weights = ExponentialWeights(n, problem.horizon, rng, beta=self.gamma)
        self._estimates = Softmax(n, rng)
        self._log_ratio = math.log(n) / n
        self._round = 1

    @property
    def _rate(self) -> float:
        return math.sqrt(self._log_ratio / self._round) if self.eta is None else self.eta

    def _choose(self) -> int:
        if self.form == "weight":
            chosen, self._chance = self._weights.draw()
            return chosen
        chosen = self._estimates.draw(self._rate)
        self._chance = self._estimates.drawn_from[chosen]
        return chosen

    def _tell(self, reward: float, outcome: Any) -> None:
        if self.form == "weight":
            self._weights.learn((self._chosen, self._chance), reward)
            return
        _learn_estimates(self._estimates.scores, self._chance, self._chosen, reward)
        self._round += 1

    def probabilities(self) -> dict[str, np.ndarray]:
        weight = self.form == "weight"
        return {"configuration": self._weights.probabilities if weight else self._estimates.probabilities(self._rate)}


@kernel
def _learn_estimates(estimates: np.ndarray, chance: float, chosen: int, reward: float) -> None:
    for i in range(estimates.size):
        estimates[i] += 1.0
    estimates[chosen] -= (1.0 - reward) / chance


@component
class EXP3S(CandidateTuner):
    """EXP3 in which every candidate receives a share of the total weight in each round, to follow a change.

    p_i = (1 - gamma) w_i / sum w + gamma / K; after the reward X of the candidate A, w_A *= exp(gamma X / (K p_A)), and
    e alpha / K times the previous sum of all weights is added to each weight. The weights are scaled to the sum 1.
    Source: Auer, Cesa-Bianchi, Freund and Schapire 2002, section 8 and corollary 8.2.

    Parameters
    ----------
    changes
        Expected number of changes; S, the hardness of a sequence of candidates, is one more.
    gamma
        Share of uniform draws; null: min{1, sqrt(K (S ln(K T) + e) / ((e - 1) T))}.
    alpha
        Share of the total weight given to all; null: 1 / T.
    """

    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_chance")

    changes: NonNegativeFloat = 1.0
    gamma: Annotated[float, Field(gt=0, le=1)] | None = None
    alpha: Annotated[float, Field(gt=0, le=1)] | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        horizon = problem.horizon
        hardness = self.changes + 1.0
        tuned = math.sqrt(n * (hardness * math.log(n * horizon) + math.e) / ((math.e - 1.0) * horizon))
        self._gamma = min(1.0, tuned) if self.gamma is None else self.gamma
        self._alpha = 1.0 / horizon if self.alpha is None else self.alpha
        self._weights = np.full(n, 1.0 / n)
        self._rng = seeds.generator("exp3")

    def _choose(self) -> int:
        chances = self._chances
        chosen = draw(chances, self._rng)
        self._chance = float(chances[chosen])
        return chosen

    @property
    def _chances(self) -> np.ndarray:
        return (1.0 - self._gamma) * self._weights + self._gamma / len(self._weights)

    def _tell(self, reward: float, outcome: Any) -> None:
        _learn_and_share(self._weights, self._gamma, self._alpha, self._chosen, self._chance, reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._chances}


@kernel
def _learn_and_share(
    weights: np.ndarray, gamma: float, alpha: float, chosen: int, chance: float, reward: float
) -> None:
    n = weights.size
    weights[chosen] *= np.exp(min(max(gamma * reward / (n * chance), -700.0), 700.0))
    total = 0.0
    for i in range(n):
        weights[i] += np.e * alpha / n
        total += weights[i]
    for i in range(n):
        weights[i] /= total


@component
class EXP4Agreement(CandidateTuner):
    """Draw a candidate by exponential weights, and use its reward for all candidates that advise the same arm.

    The candidates are EXP4's experts: a candidate advises the arm that the algorithm would pull with this candidate.
    Let q be the probability of the arm pulled, summed over the candidates that agree. The estimated reward is 1 - (1 -
    reward) / q for the candidates that agree and 1 for the others. In round t the weights are exponentials of eta_t
    times the summed estimates, with eta_t = sqrt(ln N / (1 + sum of 1/q so far)), because 1/q is in expectation the
    number of different arms that are advised. If the task does not report which candidates agree, the tuner is EXP3.
    Source: Auer, Cesa-Bianchi, Freund and Schapire 2002, section 7; Lattimore and Szepesvari 2020, algorithm 11. The
    learning rate is that of their theorem 18.1 with a running estimate of the number of arms.
    """

    label: ClassVar[str] = "EXP4 by agreement"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_drawn_from")

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._softmax = Softmax(n, seeds.generator("exp4"))
        self._alone = np.eye(n, dtype=bool)
        self._n_arms = 1.0

    @property
    def wish(self) -> Wish:
        return Wish(agreement=tuple(self._candidates))

    @property
    def _rate(self) -> float:
        return math.sqrt(math.log(max(len(self._candidates), 2)) / self._n_arms)

    def _choose(self) -> int:
        chosen = self._softmax.draw(self._rate)
        self._drawn_from = self._softmax.drawn_from
        return chosen

    def _tell(self, reward: float, outcome: Any) -> None:
        agreement = None if outcome is None else outcome.agreement
        agree = self._alone[self._chosen] if agreement is None else agreement
        self._n_arms += 1.0 / _learn_of_all(self._softmax.scores, self._drawn_from, agree, reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._softmax.probabilities(self._rate)}


@kernel
def _learn_of_all(scores: np.ndarray, chances: np.ndarray, agree: np.ndarray, reward: float) -> float:
    chance = 0.0
    for i in range(scores.size):
        if agree[i]:
            chance += chances[i]
    for i in range(scores.size):
        scores[i] += 1.0
        if agree[i]:
            scores[i] -= (1.0 - reward) / chance
    return chance
