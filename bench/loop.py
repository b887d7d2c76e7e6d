import math
import reprlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bench.configuration_check import ConfigurationCheck
from bench.errors import TaskError, TunerError
from bench.rewards import check_reward
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.trace import MAX_ROWS, Trace
from bench.tuners.base import Tuner


def run(task: Task, tuner: Tuner, *, rounds: int, seeds: Seeds | None = None, max_rows: int = MAX_ROWS) -> Trace:
    """Let ``tuner`` propose configurations to ``task`` for ``rounds`` rounds: ask, play, tell.

    The warm-up, whose length is the larger of what the task and the tuner want, is played at random before the tuner is
    started. A decision may cover several rounds. A log may end before or after the round that the problem expects.
    Seconds that the task reports, and for a ``timed`` task those of the tuner, are summed in the trace's ``costs``.

    Raises TunerError, naming the round, if a configuration does not set just what is tuned, or a value is not allowed;
    TaskError, naming round and configuration, if a reward or a sum of the trace is not a finite number.
    """
    seeds = seeds or Seeds()
    problem = task.start(rounds, seeds)
    trace = Trace(rounds, task.sums, max_rows)
    at_random = min(rounds, max(task.random_rounds, tuner.random_rounds(problem)))
    for _ in range(at_random):
        values = task.explore()
        if values is None:
            break
        _record(trace, values, {})

    if at_random < rounds:
        expected = min(rounds, problem.total_rounds)  # what a log is expected to yield; it may yield more
        asks = max(1, math.ceil((expected - at_random) / problem.rounds_per_ask))
        tuner.start(replace(problem, horizon=asks), seeds.child("tuner"))
        task.wish = tuner.wish
    find_fault = ConfigurationCheck(tuner.searched(problem.space), tuner.leaves_space).fault
    ask, tell = (_timed(tuner.ask, trace), _timed(tuner.tell, trace)) if task.timed else (tuner.ask, tuner.tell)
    while trace.round < rounds:
        configuration = ask()
        if fault := find_fault(configuration):
            raise TunerError(f"round {trace.round + 1}: {type(tuner).__name__}: {fault}")
        outcome = task.play(configuration)
        if outcome is None:
            break
        if not isinstance(outcome, Outcome):
            raise TaskError(f"round {trace.round + 1}: found {reprlib.repr(outcome)}, expected an Outcome or None")
        for values in outcome.steps or (outcome.values,):
            _record(trace, values, configuration)
        reward = outcome.reward
        if type(reward) is not float or not math.isfinite(reward):
            check_reward(reward, trace.round, configuration)
        tell(reward, outcome)
        if outcome.costs:
            trace.spend(outcome.costs)
    trace.finish()
    return trace


def _timed(call: Callable[..., Any], trace: Trace) -> Callable[..., Any]:
    """Return a method of a tuner that adds the seconds it takes to the trace's costs."""

    def timed(*arguments: Any) -> Any:
        start = time.process_time()
        answer = call(*arguments)
        trace.spend({"tuner": time.process_time() - start})
        return answer

    return timed


def _record(trace: Trace, values: dict[str, Any], configuration: Configuration) -> None:
    reward = values.get("reward")
    if type(reward) is not float or not math.isfinite(reward):
        check_reward(reward, trace.round + 1, configuration)
    trace.record(values, configuration)
