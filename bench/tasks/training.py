"""Tuning an algorithm that learns from a table."""

import time
from dataclasses import field
from typing import Any, ClassVar, Literal

from pydantic import InstanceOf

from bench.algorithms.supervised import SupervisedAlgorithm
from bench.component import component
from bench.envs.tabular import TabularEnvironment
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.tuners.base import Problem

_trained: dict[tuple[Any, ...], tuple[float, float]] = {}
"""Score and seconds of every training of this process, by everything that they depend on."""


@component
class Training(Task):
    """A round trains the algorithm with the configuration; the reward is the score of its predictions.

    The tuner's incumbent is the start, the algorithm's usual configuration, trained before the first round. Training is
    deterministic, so a process never trains the same configuration twice.

    Trace columns: ``reward``, summed; ``score``, the reward of the round; ``best_score``, the best so far, including
    the start's, and ``best_round``, in which it was first reached, 0 for the start; if ``best_score`` is given also
    ``regret``, summed, the best possible score less that of the round.
    Costs, in seconds of processor time, as if every round were trained: ``training``; ``tuning``, that and the time of
    the tuner between rounds. The same if a run trains each configuration once: ``training_spent``, ``tuning_spent``.

    Parameters
    ----------
    environment, algorithm
        The table, and the algorithm that learns from it.
    best_score
        The best score that any configuration reaches, on the ``real`` data and on the ``surrogate``; needed for regret.

    Source: habo, algorithm 2, line 4; section 25.2 for the regret.
    """

    timed: ClassVar[bool] = True

    environment: InstanceOf[TabularEnvironment]
    algorithm: InstanceOf[SupervisedAlgorithm]
    best_score: dict[Literal["real", "surrogate"], float] = field(default_factory=dict)
    sums: tuple[str, ...] = field(init=False, repr=False, default=("reward",))

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment, algorithm = self.environment, self.algorithm
        environment.start(rounds, seeds.child("env"))
        surrogate = environment.fingerprint == "surrogate"
        self._reachable = self.best_score.get("surrogate" if surrogate else "real")
        self.sums = ("reward",) if self._reachable is None else ("reward", "regret")
        self._table = (type(environment), repr(environment), environment.fingerprint, type(algorithm), repr(algorithm))
        self._space = algorithm.tuned
        self._rng = seeds.child("task").generator("warm_up")
        self._round = self._best_round = 0
        self._last = 0.0
        self._in_this_run: set[tuple[Any, ...]] = set()
        begin = algorithm.complete({})
        if self._key(begin) not in _trained:
            self._predict_and_score(begin)  # imports its library, which should not count as training
        self._best, _, _ = self._train(begin)
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
        score, training, spent = self._train(self.algorithm.complete(configuration))
        self._round += 1
        if score > self._best:
            self._best, self._best_round = score, self._round
        values = {"reward": score, "score": score, "best_score": self._best, "best_round": self._best_round}
        if self._reachable is not None:
            values["regret"] = self._reachable - score
        costs = {"training": training, "training_spent": spent}
        costs |= {"tuning": tuner + training, "tuning_spent": tuner + spent}
        self._last = time.process_time()
        return Outcome(score, values, costs=costs)

    def _train(self, configuration: Configuration) -> tuple[float, float, float]:
        """Return the score, the seconds of the training, and the seconds if it is new in this run, else 0."""
        key = self._key(configuration)
        if key not in _trained:
            begin = time.process_time()
            score = self._predict_and_score(configuration)
            _trained[key] = score, time.process_time() - begin
        score, seconds = _trained[key]
        spent = 0.0 if key in self._in_this_run else seconds
        self._in_this_run.add(key)
        return score, seconds, spent

    def _key(self, configuration: Configuration) -> tuple[Any, ...]:
        return (*self._table, *sorted(configuration.items()))

    def _predict_and_score(self, configuration: Configuration) -> float:
        environment = self.environment
        predictions = self.algorithm.predict(
            configuration,
            environment.train_features,
            environment.train_target,
            environment.test_features,
            environment.metric == "accuracy",
        )
        return environment.score(predictions)
