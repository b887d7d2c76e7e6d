"""The loop that every experiment is: ask, play, tell."""

import math
import time
from dataclasses import replace

from bench.errors import TaskError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Task
from bench.trace import MAX_ROWS, Trace
from bench.tuners.base import Tuner


def run(task: Task, tuner: Tuner, *, rounds: int, seeds: Seeds | None = None, max_rows: int = MAX_ROWS) -> Trace:
    """Let ``tuner`` propose configurations to ``task`` for ``rounds`` rounds.

    The warm-up, whose length is the larger of what the task and the tuner want, is played at random before the tuner
    is started. A decision may cover several rounds. A log may end before or after the round that the problem expects.
    Seconds that the task reports, and for a ``timed`` task those of the tuner, are summed in the trace's ``costs``.

    Returns
    -------
    Trace
        The run's values at up to ``max_rows`` rounds.

    Raises
    ------
    TaskError
        If a reward is not finite; the message names the round and the configuration.
    """
    seeds = seeds or Seeds()
    problem = task.start(rounds, seeds)
    trace = Trace(rounds, task.sums, max_rows)
    at_random = min(rounds, max(task.random_rounds, tuner.random_rounds(problem)))
    for _ in range(at_random):
        values = task.explore()
        if values is None:
            break
        _check(values["reward"], trace.round + 1, None)
        trace.record(values, {})

    if at_random < rounds:
        expected = min(rounds, problem.total_rounds)  # what a log is expected to yield; it may yield more
        asks = max(1, math.ceil((expected - at_random) / problem.rounds_per_ask))
        tuner.start(replace(problem, horizon=asks), seeds.child("tuner"))
        task.wish = tuner.wish
    timed = task.timed
    start = 0.0
    while trace.round < rounds:
        if timed:
            start = time.process_time()
        configuration = tuner.ask()
        if timed:
            trace.spend({"tuner": time.process_time() - start})
        outcome = task.play(configuration)
        if outcome is None:
            break
        for values in outcome.steps or (outcome.values,):
            _check(values["reward"], trace.round + 1, configuration)
            trace.record(values, configuration)
        _check(outcome.reward, trace.round, configuration)
        if not timed:
            tuner.tell(outcome.reward, outcome)
            continue
        start = time.process_time()
        tuner.tell(outcome.reward, outcome)
        trace.spend({"tuner": time.process_time() - start, **outcome.costs})
    trace.finish()
    return trace


def _check(reward: float, round_: int, configuration: Configuration | None) -> None:
    if not math.isfinite(reward):
        played = "a random pull" if configuration is None else f"the configuration {configuration}"
        raise TaskError(f"round {round_}: found the reward {reward} for {played}, expected a finite number")
