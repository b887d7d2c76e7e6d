"""Running many repetitions of many experiments on all processors, and keeping each as soon as it is there."""

import itertools
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

from bench.errors import ConfigError, TaskError
from bench.seeding import Seeds
from runners.config.classes import describe
from runners.config.experiment import Experiment, build, part_classes, play
from runners.config.experiment import check as check_experiment
from runners.config.runner import Runner
from runners.execute.limits import one_thread, time_limit
from runners.execute.pool import Task, WorkerDiedError, workers
from runners.execute.progress import Progress
from runners.results.capture import environment
from runners.results.store import Store

Key = tuple[str, int]
"""A repetition: the name of its run, and its number."""


class Answer(NamedTuple):
    """What became of a repetition: it is ``new``, ``done`` by another process, or ``failed`` with a line of error."""

    key: Key
    status: Literal["new", "done", "failed"]
    error: str = ""


class FanOut:
    """Workers for repetitions and other calls, of which more can be added while answers come; ``jobs`` 1: this process.

    A repetition that fails is recorded with its traceback, and the others go on. Another process that works on the
    same folder does no harm: a repetition that both run has the same bytes.
    """

    def __init__(self, store: Store, *, jobs: int, runner: Runner | None = None, words: str = "") -> None:
        if jobs < 1:
            raise ConfigError(f"jobs: found {jobs}, expected a whole number, at least 1")
        self.progress = Progress(words)
        self._store = store
        self._jobs = jobs
        self._runner = runner or Runner()
        self._queue: deque[Task] = deque()
        self._asked: set[Key] = set()
        self._classes: set[Any] = set()
        self._behind: dict[str, list[Callable[[], None]] | None] = {}
        """By data that is being prepared, what is to be done when it is there; None: it is there."""

    def add(self, experiment: Experiment, repetitions: Iterable[int], *, check: bool = False) -> None:
        """Ask for repetitions that were not asked for before; one worker prepares data before others start on it.

        With ``check`` its parts are started once before, to find what a user can mend: `answers` then raises it.
        """
        numbers = [number for number in repetitions if (experiment.run_id, number) not in self._asked]
        if not numbers:
            return
        self._asked |= {(experiment.run_id, number) for number in numbers}
        self.progress.expect(experiment.settings["horizon"], len(numbers))
        run = partial(self._run, experiment, numbers)
        start = Task(run, check_experiment if check else _start, (experiment,))
        step = partial(self._queue.append, start) if check else run
        data = repr(experiment.settings["env"])
        if self._jobs == 1 or experiment.fingerprint is None or self._behind.get(data, ()) is None:
            step()
        elif data in self._behind:
            self._behind[data].append(step)  # type: ignore[union-attr]
        else:
            self._behind[data] = []
            self._queue.append(start._replace(key=partial(self._prepared, data, run)))

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Ask for a call, which comes before all repetitions that are not begun; what it raises, `answers` raises."""
        self._queue.appendleft(Task(None, function, arguments))

    def answers(self, feed: Iterable[None] = ()) -> Iterator[Any]:
        """Yield an `Answer` for each repetition, and what each call returns, as they come; what one raises is raised.

        ``feed`` asks for something at each step: one step is made at the beginning, and one after each answer.
        """
        if not (self._queue or feed):
            return
        steps = iter(feed)
        with self.progress.bar(self._runner.progress), one_thread(), workers(self._runner, self._jobs) as pool:
            for _ in itertools.chain(itertools.islice(steps, 1), [None], steps):
                for task, future in pool.run(self._queue):
                    if callable(task.key):
                        future.result()
                        task.key()
                        continue
                    if task.key is None:
                        yield future.result()
                    else:
                        experiment, repetition, *_ = task.arguments
                        self.progress.advance(experiment.settings["horizon"])
                        try:
                            yield future.result()
                        except WorkerDiedError as error:
                            yield self._lost(experiment, repetition, error)
                    next(steps, None)

    def _prepared(self, data: str, run: Callable[[], None]) -> None:
        """Go on with the experiment that prepared its data, and with those that wait for the same data."""
        steps, self._behind[data] = self._behind[data], None
        for step in [*(steps or ()), run]:
            step()

    def _run(self, experiment: Experiment, numbers: Sequence[int]) -> None:
        """Queue repetitions that nothing has to be prepared for."""
        self._store.prepare(experiment.run_id, experiment.identity)
        limit = self._runner.time_limit
        tasks = [
            Task((experiment.run_id, number), _repeat, (experiment, number, self._store, limit)) for number in numbers
        ]
        classes = tuple(part_classes(experiment.settings).values())
        if classes not in self._classes:  # soon, so that workers compile different things and not all the same
            self._classes.add(classes)
            self._queue.appendleft(tasks.pop(0))
        self._queue.extend(tasks)

    def _lost(self, experiment: Experiment, repetition: int, error: WorkerDiedError) -> Answer:
        """Record a repetition whose worker died twice, unless its result was written before that."""
        if self._store.path(experiment.run_id, repetition).is_file():
            return Answer((experiment.run_id, repetition), "new")
        return failed(self._store, experiment, repetition, error, str(error.__cause__))


@dataclass
class Result:
    """What there is of one experiment: ``new`` repetitions are those of ``done`` that were run just now, here."""

    done: set[int] = field(default_factory=set)
    new: set[int] = field(default_factory=set)
    failed: dict[int, str] = field(default_factory=dict)


def run_all(
    experiments: Iterable[Experiment], repetitions: int, store: Store, *, jobs: int, runner: Runner | None = None
) -> dict[str, Result]:
    """Run what is missing of each experiment's repetitions, each in one thread; return results by run id.

    Raises ConfigError for a wrong runner, StoreError when results cannot be written; what is finished is kept.
    """
    by_id = {experiment.run_id: experiment for experiment in experiments}
    results = {run_id: Result(store.sound(run_id, range(repetitions))) for run_id in by_id}
    missing = [(by_id[run_id], set(range(repetitions)) - result.done) for run_id, result in results.items()]
    total = sum(len(numbers) for _, numbers in missing)
    for answer in play_all(missing, store, jobs=min(jobs, max(total, 2)), runner=runner or Runner()):
        run_id, repetition = answer.key
        if answer.status == "failed":
            results[run_id].failed[repetition] = answer.error
        else:
            results[run_id].done.add(repetition)
        if answer.status == "new":
            results[run_id].new.add(repetition)
    return results


def play_all(
    wanted: Iterable[tuple[Experiment, Iterable[int]]], store: Store, *, jobs: int, runner: Runner, words: str = ""
) -> Iterator[Answer]:
    """Run repetitions of some experiments, the longest first, and yield answers as they come; a bar shows how far."""
    fan = FanOut(store, jobs=jobs, runner=runner, words=words)
    for experiment, numbers in sorted(wanted, key=lambda item: -item[0].settings["horizon"]):
        fan.add(experiment, sorted(numbers))
    return fan.answers()


def _repeat(experiment: Experiment, repetition: int, store: Store, limit: float | None) -> Answer:
    """Run one repetition, unless another process has done so, and keep its result or its failure."""
    key = experiment.run_id, repetition
    if store.path(*key).is_file():
        return Answer(key, "done")
    start = time.perf_counter()
    try:
        _check_identity(experiment)
        with time_limit(limit):
            trace = play(experiment, repetition)
        columns = trace.columns()
        if not columns:
            raise TaskError("the log ended before the first accepted round")
    except (Exception, SystemExit) as error:
        return failed(store, experiment, repetition, error)
    seconds = time.perf_counter() - start
    store.write(*key, columns, {"seconds": seconds, "costs": trace.costs, "environment": environment()})
    return Answer(key, "new")


def failed(store: Store, experiment: Experiment, repetition: int, error: BaseException, trace: str = "") -> Answer:
    """Keep how a repetition failed, with the error's traceback if no other is given."""
    text, trace = describe(error), trace or "".join(traceback.format_exception(error))
    record = {"error": text, "traceback": trace, "repetition": repetition, "settings": experiment.settings}
    store.fail(experiment.run_id, repetition, record)
    return Answer((experiment.run_id, repetition), "failed", text)


_checked: set[str] = set()


def _check_identity(experiment: Experiment) -> None:
    """Refuse to run other code or data than what the run is named after (edited meanwhile, or not on this machine)."""
    if experiment.run_id in _checked:
        return
    here = Experiment(experiment.settings)
    if here.run_id != experiment.run_id:
        raise ConfigError(
            f"run {experiment.run_id}: found other code or data than when it was started (data now: "
            f"{here.fingerprint}), expected the same; start it again"
        )
    _checked.add(experiment.run_id)


def _start(experiment: Experiment) -> None:
    """Start a task once, which prepares its data; what fails here is left to the repetitions."""
    with suppress(Exception):
        build(experiment.settings)[0].start(1, Seeds(experiment.settings["seed"]))
