import math
from typing import Any

import numpy as np

from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner, Wish
from bench.tuners.softmax import LARGEST_REWARD, Softmax


@component
class EXP4Agreement(Tuner):
    """Draw a candidate by exponential weights; its reward counts for all that would have pulled the same arm.

    Candidates are EXP4's experts: each advises the arm that the algorithm would pull with it. With q the chance of the
    arm pulled, the sum of the chances of those that agree, the estimated reward is 1 - (1 - reward) / q for these and 1
    for the others. In round t weights are exponentials of eta_t times summed estimates, eta_t = sqrt(ln N / (1 + sum of
    1/q so far)): 1/q is, in expectation, the number of different arms that are advised. A task that cannot tell who
    agrees leaves EXP3, in which no two candidates agree.
    Source: Auer, Cesa-Bianchi, Freund and Schapire 2002, section 7; Lattimore and Szepesvari 2020, algorithm 11.
    Learning rate: their theorem 18.1 with a running number of arms.
    """

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        self._softmax = Softmax(len(self._candidates), seeds.generator("exp4"))
        self._alone = np.eye(len(self._candidates), dtype=bool)
        self._n_arms = 1.0
        self._chosen = 0

    @property
    def wish(self) -> Wish:
        return Wish(agreement=tuple(self._candidates))

    @property
    def _rate(self) -> float:
        return math.sqrt(math.log(max(len(self._candidates), 2)) / self._n_arms)

    def _ask(self) -> Configuration:
        self._chosen = self._softmax.draw(self._rate)
        return self._candidates[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        agreement = None if outcome is None else outcome.agreement
        agree = self._alone[self._chosen] if agreement is None else agreement
        reward = min(max(reward, -LARGEST_REWARD), LARGEST_REWARD)
        self._n_arms += 1.0 / _learn(self._softmax.scores, self._softmax.drawn_from, agree, reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._softmax.probabilities(self._rate)}


@kernel
def _learn(scores: np.ndarray, chances: np.ndarray, agree: np.ndarray, reward: float) -> float:
    chance = 0.0
    for i in range(scores.size):
        if agree[i]:
            chance += chances[i]
    for i in range(scores.size):
        scores[i] += 1.0
        if agree[i]:
            scores[i] -= (1.0 - reward) / chance
    return chance
