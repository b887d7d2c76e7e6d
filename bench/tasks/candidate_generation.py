from bisect import bisect_left
from typing import Any

import numpy as np

from bench.algorithms.candidate_generation import CandidateGeneration
from bench.envs.ali_display_ad import AliDisplayAd
from bench.errors import ConfigError, SpaceError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task, check_parts
from bench.tuners.base import Problem

_THRESHOLDS = 101
"""Evenly spaced thresholds among which the best is sought."""
_PARTS = 10
"""Parts of a run, in the order of its users; the best threshold of each part is computed separately."""


class CandidateGenerationTask(Task):
    """Generation of candidates: a round is a user with the ads shown, and the reward is the candidates' F-score.

    Let A be the shown ads and A+ the clicked ads. An ad is a candidate if its cosine with the user is at least the
    threshold. The F-score is 2 |candidates in A+| / (|A+| + |candidates in A|), or 0 if the denominator is 0.

    The trace columns ``reward`` and ``regret`` are summed. ``regret`` is the F-score of this user's best threshold in
    [0, 1] less the reward; no tuner can reduce it to 0, because the best threshold is known only afterwards and differs
    between users. ``best_threshold`` is the best of 101 thresholds for the users of this tenth of the run.
    ``one_threshold`` and ``ten_thresholds`` are the F-scores of a whole run with one threshold, and with one threshold
    per tenth, chosen on every second user and judged on the other users; without drift the two are equal.

    Raises ConfigError if the environment or the algorithm has the wrong type. Source: online_hpo, section 7.1 (the
    closed form of F; the quotient of precision and recall printed there lacks the factor 2).
    """

    sums = ("reward", "regret")

    def __init__(self, environment: AliDisplayAd, algorithm: CandidateGeneration) -> None:
        expected = "ali_display_ad with candidate_generation"
        check_parts(expected, (environment, AliDisplayAd), (algorithm, CandidateGeneration))
        self.environment = environment
        self.algorithm = algorithm

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment, algorithm = self.environment, self.algorithm
        [parameter] = algorithm.hyper_parameters.parameters
        for value in (parameter.low, parameter.high, parameter.default, *parameter.candidates):
            if not _is_share(value):
                raise SpaceError(f"found {value!r}, expected a number from 0 to 1", parameter.name)
        environment.start(rounds, seeds.child("env"))
        log, users = environment.log, environment.users
        n_ads = np.diff(log.starts)[users]
        self._starts = np.concatenate(([0], np.cumsum(n_ads))).tolist()
        first = np.array(self._starts[:-1])
        places = np.arange(n_ads.sum()) + np.repeat(log.starts[users] - first, n_ads)
        cosines, scores, best = f_scores(algorithm.scores(log)[places], log.clicked[places], first)
        self._cosines, self._scores, self._best = cosines.tolist(), scores.tolist(), best.tolist()
        self._best_thresholds, self._one, self._ten = drift(cosines, scores, first)
        self._round = 0
        self._space = algorithm.tuned
        self._default = parameter.default
        self._rng = seeds.child("task").generator("warm_up")
        return Problem(space=self._space, horizon=rounds, rounds=rounds)

    def explore(self) -> dict[str, Any] | None:
        outcome = self.play(self._space.sample(self._rng))
        return None if outcome is None else outcome.values

    def play(self, configuration: Configuration) -> Outcome | None:
        threshold = configuration.get("threshold", self._default)
        if not _is_share(threshold):
            raise ConfigError(f"threshold: found {threshold!r}, expected a number from 0 to 1")
        r = self._round
        if r == len(self._best):
            return None
        self._round += 1
        end = self._starts[r + 1]
        place = bisect_left(self._cosines, threshold, self._starts[r], end)
        reward = self._scores[place] if place < end else 0.0
        values = {
            "reward": reward,
            "regret": self._best[r] - reward,
            "best_threshold": self._best_thresholds[r * _PARTS // len(self._best)],
            "one_threshold": self._one,
            "ten_thresholds": self._ten,
        }
        return Outcome(reward, values)


def _is_share(threshold: Any) -> bool:
    return isinstance(threshold, int | float) and 0.0 <= threshold <= 1.0


def f_scores(cosines: np.ndarray, clicked: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the F-scores of all distinct thresholds, and the best F-score of each round.

    ``cosines`` and ``clicked`` have shape (places,), round after round; ``first``, shape (rounds,), is the first place
    of each round; every round has ads. Returns the cosines in float64, ascending within each round; the F-score if an
    ad and all after it in its round are candidates, shape (places,); and the best F-score of each round with a
    threshold in [0, 1], shape (rounds,).
    """
    n = np.diff(np.append(first, len(cosines)))
    owner = np.repeat(np.arange(len(first)), n)
    order = np.lexsort((cosines, owner))
    cosines, clicked = cosines[order].astype(np.float64), clicked[order]
    before = np.concatenate(([0], np.cumsum(clicked)))  # clicks at earlier places
    end = first + n
    hits = before[end][owner] - before[:-1]
    n_clicked = before[end] - before[first]
    scores = 2.0 * hits / (n_clicked[owner] + end[owner] - np.arange(len(owner)))
    # No threshold lies between equal cosines, or below 0
    reachable = cosines >= 0.0
    reachable[1:] &= (cosines[1:] > cosines[:-1]) | (owner[1:] > owner[:-1])
    return cosines, scores, np.maximum.reduceat(np.where(reachable, scores, 0.0), first)


def drift(cosines: np.ndarray, scores: np.ndarray, first: np.ndarray) -> tuple[list[float], float, float]:
    """Return the best threshold of each tenth of the rounds, and the F-scores of a common and of separate thresholds.

    The first F-score is for one threshold in all rounds, and the second for one threshold in each tenth. Thresholds are
    chosen on every second round and judged on the other rounds, in both directions. ``cosines`` and ``scores`` come
    from `f_scores`; ``first`` is the first place of each round, shape (rounds,).
    """
    last = np.append(first[1:], len(cosines))
    earned = np.zeros((_THRESHOLDS, len(first)))
    thresholds = np.linspace(0.0, 1.0, _THRESHOLDS)
    for row, threshold in zip(earned, thresholds, strict=True):
        place = first + np.add.reduceat((cosines < threshold).astype(np.int64), first)
        reached = place < last
        row[reached] = scores[place[reached]]
    part = np.arange(len(first)) * _PARTS // len(first)
    halves = [np.arange(len(first)) % 2 == half for half in (0, 1)]
    apart = together = 0.0
    for chosen, judged in (halves, halves[::-1]):
        together += earned[earned[:, chosen].sum(axis=1).argmax(), judged].sum()
        for k in range(_PARTS):
            best = earned[:, chosen & (part == k)].sum(axis=1).argmax()
            apart += earned[best, judged & (part == k)].sum()
    sums = [earned[:, part == k].sum(axis=1) for k in range(_PARTS)]
    return [float(thresholds[total.argmax()]) for total in sums], float(together), float(apart)
