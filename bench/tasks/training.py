import math
import time
from dataclasses import field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import InstanceOf

from bench.algorithms.supervised import SupervisedAlgorithm
from bench.component import component
from bench.data_kind import DataKind
from bench.envs.tabular import TabularEnvironment
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.tuners.base import Problem

_trained: dict[tuple[Any, ...], tuple[float, float, float]] = {}
"""Score, held-out score and seconds of every training in this process, keyed by all inputs."""


@component
class Training(Task):
    """Training of an algorithm with the configuration in each round; the reward is the score of the predictions.

    The initial incumbent is the algorithm's usual configuration, trained before the first round. Training is
    deterministic, so a process never trains the same configuration twice.

    The trace columns are ``reward``, summed; ``score``, the reward of the round; ``best_score``, the best score so far,
    including the initial score, and ``mean_best_score``, its mean over the rounds so far; ``held_out_score``, the score
    of the best configuration so far (the first on a tie) on the held-out rows, if there are any; ``configurations``,
    the number of different configurations so far, including the initial one; and ``regret_so_far``, summed, the best
    score so far less the score of the round. If ``best_score`` is given, there is also ``regret``, summed, the best
    possible score less the score of the round. The costs are in seconds of processor time. ``training``, and
    ``tuning``, which adds the tuner's time between rounds, are computed as if every round were trained;
    ``training_spent`` and ``tuning_spent`` are computed as if each configuration were trained once per run. Source:
    habo, algorithm 2, line 4; section 25.2 for the regret.

    Parameters
    ----------
    best_score
        The best score that a configuration can reach on the ``real`` data and on the ``surrogate``, needed for regret.
    """

    compared: ClassVar[str] = "best_score"
    timed: ClassVar[bool] = True

    environment: InstanceOf[TabularEnvironment]
    algorithm: InstanceOf[SupervisedAlgorithm]
    best_score: dict[Literal["real", "surrogate"], float] = field(default_factory=dict)
    sums: tuple[str, ...] = field(init=False, repr=False, default=("reward", "regret_so_far"))

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment, algorithm = self.environment, self.algorithm
        environment.start(rounds, seeds.child("env"))
        is_surrogate = environment.fingerprint == DataKind.SURROGATE
        self._reachable = self.best_score.get("surrogate" if is_surrogate else "real")
        self.sums = ("reward", "regret_so_far", *(() if self._reachable is None else ("regret",)))
        data = (type(environment), repr(environment), environment.split, environment.fingerprint)
        self._table = (*data, type(algorithm), repr(algorithm))
        self._space = algorithm.tuned
        self._rng = seeds.child("task").generator("warm_up")
        self._round = 0
        self._total_best = 0.0
        self._last = 0.0
        self._in_this_run: set[tuple[Any, ...]] = set()
        begin = algorithm.complete({})
        if self._key(begin) not in _trained:
            self._predict_and_score(begin)  # the first call imports its library, which is not training
        self._best, self._held_out, _, _ = self._train(begin)
        return Problem(
            space=self._space,
            horizon=rounds,
            rounds=rounds,
            incumbent=({name: begin[name] for name in self._space.names}, self._best),
        )

    def explore(self) -> dict[str, Any] | None:
        return self.play(self._space.sample(self._rng)).values

    def play(self, configuration: Configuration) -> Outcome:
        tuner = time.process_time() - self._last if self._round else 0.0
        score, held_out, training, spent = self._train(self.algorithm.complete(configuration))
        self._round += 1
        if score > self._best:
            self._best, self._held_out = score, held_out
        self._total_best += self._best
        values = {
            "reward": score,
            "score": score,
            "best_score": self._best,
            "mean_best_score": self._total_best / self._round,
            "configurations": len(self._in_this_run),
            "regret_so_far": self._best - score,
        }
        if len(self.environment.held_out_target):
            values["held_out_score"] = self._held_out
        if self._reachable is not None:
            values["regret"] = self._reachable - score
        costs = {"training": training, "training_spent": spent}
        costs |= {"tuning": tuner + training, "tuning_spent": tuner + spent}
        self._last = time.process_time()
        return Outcome(score, values, costs=costs)

    def _train(self, configuration: Configuration) -> tuple[float, float, float, float]:
        """Return the score, the held-out score and the seconds of the training.

        The last number is the seconds again if the configuration is new in this run, or else 0.
        """
        key = self._key(configuration)
        if key not in _trained:
            begin = time.process_time()
            scores = self._predict_and_score(configuration)
            _trained[key] = *scores, time.process_time() - begin
        score, held_out, seconds = _trained[key]
        spent = 0.0 if key in self._in_this_run else seconds
        self._in_this_run.add(key)
        return score, held_out, seconds, spent

    def _key(self, configuration: Configuration) -> tuple[Any, ...]:
        return (*self._table, *sorted(configuration.items()))

    def _predict_and_score(self, configuration: Configuration) -> tuple[float, float]:
        environment = self.environment
        n_test = len(environment.test_target)
        predictions = self.algorithm.predict(
            configuration,
            environment.train_features,
            environment.train_target,
            np.concatenate([environment.test_features, environment.held_out_features]),
            environment.metric == "accuracy",
        )
        score = environment.score(predictions[:n_test], environment.test_target)
        if len(environment.held_out_target) == 0:
            return score, math.nan
        return score, environment.score(predictions[n_test:], environment.held_out_target)
