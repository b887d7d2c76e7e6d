import math
import reprlib
import time
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from numbers import Integral
from typing import Any

from bench.configuration_check import ConfigurationCheck
from bench.errors import BenchError, ConfigError, TaskError, TunerError
from bench.rewards import short
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import ESTIMATES, Outcome, Task, convert_reward, told
from bench.tasks.delivery import Delivery, held
from bench.tasks.feedback import draws, read_history
from bench.trace import MAX_ROWS, Trace
from bench.tuners.base import Tuner
from bench.tuners.schedule import RecordingCheck, Schedule


def run(task: Task, tuner: Tuner, *, rounds: int, seeds: Seeds | None = None, max_rows: int = MAX_ROWS) -> Trace:
    """Run ``task`` with the configurations that ``tuner`` proposes for ``rounds`` rounds, and return the trace.

    In each step the tuner is asked, the task plays the configuration, and the tuner is told the reward. A warm-up of
    random rounds precedes the tuner's start; its length is the larger of the lengths that the task and the tuner
    require. A decision may cover several rounds. A log may end before or after the expected number of rounds. The
    seconds that the task reports, and for a ``timed`` task the seconds of the tuner, are summed in the trace's
    ``costs``.

    A task with ``yoked`` is run twice, first with separate seeds: see `bench.tasks.feedback.Feedback`.

    The task receives a copy of the configuration. Rewards and values are converted to float64 once, for the trace and
    the tuner alike. The tuner is told only the values that it requests or the task reveals, because other values may
    reveal the regret.

    Raises TunerError with the round if a configuration sets hyper-parameters other than the tuned ones or a value is
    not allowed. Raises TaskError with the round and the configuration if a reward or a sum of the trace is not a finite
    number. Raises either error with the name of the call if user code would end the program. Other errors of user code
    get a note with the round and the configuration.
    """
    if not isinstance(rounds, Integral) or rounds < 0:
        raise ConfigError(f"rounds: found {short(rounds)}, expected a whole number, at least 0")
    seeds = seeds or Seeds()
    if task.feedback.yoked is None:
        return _run(task, tuner, rounds, seeds, max_rows)
    chosen: list[Configuration] = []
    _run(task, tuner, rounds, seeds.child("first_run"), max_rows, chosen)
    return _run(task, Schedule(tuner, chosen, task.feedback.yoked == "shuffled"), rounds, seeds, max_rows)


def _run(
    task: Task, tuner: Tuner, rounds: int, seeds: Seeds, max_rows: int, chosen: list[Configuration] | None = None
) -> Trace:
    """Run the task once, and append the configurations to ``chosen``."""
    if task.feedback.delay_algorithm != 0 and not task.delays_algorithm:
        raise ConfigError(
            f"task.delay_algorithm: found {task.feedback.delay_algorithm} with {type(task).__name__}, expected 0: only "
            "an algorithm that plays in a contextual environment learns late (task=contextual_bandit)"
        )
    try:
        problem = task.feedback.problem(task.start(rounds, seeds))
        expected = min(rounds, problem.total_rounds)  # expected rounds of a log; it may have more
        trace = Trace(rounds, task.sums, max_rows, task.traced_rounds)
    except BaseException as error:
        _leave(error, task, "start")
        raise
    try:
        at_random = min(rounds, max(task.random_rounds, tuner.random_rounds(task.feedback.told(problem))))
        for _ in range(at_random):
            values = task.explore()
            if values is None:
                break
            trace.record(values, {})
    except BaseException as error:
        _leave(error, task, "explore", trace.round + 1)
        raise

    path = _path(task, tuner, trace, seeds)
    if at_random < rounds:
        asks = max(1, math.ceil((expected - at_random) / problem.rounds_per_ask))
        try:
            tuner.start(task.feedback.told(replace(problem, horizon=asks)), seeds.child("tuner"))
            task.wish = tuner.wish
            space = tuner.searched(problem.space)
            if history := task.feedback.history:
                tuner.learn(read_history(history, space))
            leaves = tuner.leaves_space
            check = ConfigurationCheck(space, leaves) if chosen is None else RecordingCheck(space, leaves, chosen)
        except BaseException as error:
            _leave(error, tuner, "start")
            raise
        _play(task, tuner, trace, check, path)
    trace.finish()
    return trace


def _path(task: Task, tuner: Tuner, trace: Trace, seeds: Seeds) -> Tuner | Delivery:
    """Return the object to ask and tell: the tuner itself, or a `Delivery` that delays its rewards."""
    feedback = task.feedback
    if feedback.at_once:
        return tuner
    if tuner.remembers is None:
        raise TunerError(
            f"{type(tuner).__name__}: found {feedback.words}, expected none: it cannot take late rewards until its "
            "class lists in `remembers` the attributes that `_ask` sets and `_tell` reads"
        )
    return Delivery(tuner, trace, draws(feedback.delay, seeds.child("task").generator("delay")), feedback.batch)


def _play(task: Task, tuner: Tuner, trace: Trace, check: ConfigurationCheck, path: Tuner | Delivery) -> None:
    ask, tell = _copied(tuner, path.ask), path.tell
    if task.timed:
        ask, tell = _timed(ask, trace), _timed(tell, trace)
    hold = task.feedback.hold
    play = task.play if hold == 1 else held(task, trace, hold)
    read, record, rounds = check.read, trace.record, trace.rounds
    names = (*task.reveals, *(ESTIMATES if task.wish.estimates else ()))
    part: Task | Tuner = tuner
    configuration: Configuration | None = None
    call, ahead = "ask", 1
    try:
        while trace.round < rounds:
            proposed = ask()
            try:
                configuration = read(proposed)
            except ValueError as fault:
                raise TunerError(f"round {trace.round + 1}: {type(tuner).__name__}: {fault}") from None
            part, call = task, "play"
            outcome = play(configuration.copy())
            if outcome is None:
                break
            if type(outcome) is not Outcome and not isinstance(outcome, Outcome):
                raise TaskError(f"round {trace.round + 1}: found {reprlib.repr(outcome)}, expected an Outcome or None")
            reward = outcome.reward
            if type(reward) is not float or not isfinite(reward):
                reward = convert_reward(outcome, trace.round + (len(outcome.steps) or 1), configuration)
            ahead = 0
            if steps := outcome.steps:
                if len(steps) > rounds - trace.round:
                    raise TaskError(
                        f"round {trace.round + 1}: found an outcome of {len(steps)} rounds, expected at most the "
                        f"{rounds - trace.round} that are left"
                    )
                for values in steps:
                    record(values, configuration)
            else:
                record(outcome.values, configuration)
            if costs := outcome.costs:
                trace.spend(costs)
            part, call = tuner, "tell"
            tell(reward, told(outcome, reward, names))
            call, ahead, configuration = "ask", 1, None
    except BaseException as error:
        _leave(error, part, call, trace.round + ahead, configuration)
        raise


def _leave(
    error: BaseException, part: Any, call: str, round_: int = 0, configuration: Configuration | None = None
) -> None:
    """Add the call, the round and the configuration to an error raised by user code.

    An exception gets a note; an error that would end the program becomes TunerError or TaskError. Ctrl-C and the
    suite's own errors stay unchanged.
    """
    if isinstance(error, BenchError | KeyboardInterrupt):
        return
    place = f"round {round_}" if round_ else "start"
    if isinstance(error, Exception):
        BaseException.add_note(error, place if configuration is None else f"{place}, {reprlib.repr(configuration)}")
        return
    kind = TunerError if isinstance(part, Tuner) else TaskError
    raise kind(
        f"{place}: {type(part).__name__}.{call}: found {type(error).__name__}, which would end the program, expected "
        "an answer or an error that derives from Exception"
    ).with_traceback(error.__traceback__) from None


def _copied(tuner: Tuner, ask: Callable[[], Any]) -> Callable[[], Any]:
    """Return an ``ask`` that copies the answers, so that a tuner with its own ``ask`` cannot change them later."""
    if getattr(tuner.ask, "__func__", None) is Tuner.ask:
        return ask

    def copied() -> Any:
        configuration = ask()
        return configuration.copy() if type(configuration) is dict else configuration

    return copied


def _timed(call: Callable[..., Any], trace: Trace) -> Callable[..., Any]:
    """Wrap a tuner's method so that the seconds of each call are added to the trace's costs."""

    def timed(*arguments: Any) -> Any:
        start = time.process_time()
        answer = call(*arguments)
        trace.spend({"tuner": time.process_time() - start})
        return answer

    return timed
