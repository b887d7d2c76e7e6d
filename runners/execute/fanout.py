"""Running many repetitions of many experiments on all processors, and keeping each as soon as it is there."""

import time
import traceback
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from bench.errors import ConfigError, TaskError
from bench.seeding import Seeds
from runners.config.experiment import Experiment, build, part_classes, play
from runners.config.experiment import check as check_experiment
from runners.config.runner import Runner
from runners.config.tracebacks import describe
from runners.execute.limits import one_thread, time_limit
from runners.execute.pool import Task, WorkerDiedError, workers
from runners.execute.progress import progress_bar
from runners.results.capture import environment
from runners.results.store import Store

Key = tuple[str, int]
"""A repetition: the name of its run, and its number."""


@dataclass
class Result:
    """What there is of one experiment.

    Parameters
    ----------
    experiment
        Which.
    done
        Repetitions, of those asked for, that have a result now.
    new
        Those of them that were run just now, here; in the first result only where several are of the same experiment.
    failed
        Repetitions without a result, with the first line of the error.
    """

    experiment: Experiment
    done: set[int] = field(default_factory=set)
    new: set[int] = field(default_factory=set)
    failed: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """What a call of `run_all` did: a result for each piece of work, in its order, and the seconds it took."""

    results: list[Result]
    seconds: float


class Answer(NamedTuple):
    """What became of a repetition or a call.

    Parameters
    ----------
    key
        ``(run_id, repetition)``, or the key of the call.
    status
        ``new``: run just now; ``done``: another process has run it; ``failed``; ``called``: the call returned.
    error
        The first line of the error of a failed repetition.
    value
        What the call returned.
    seconds
        How long a repetition took, where it is known.
    """

    key: Hashable
    status: Literal["new", "done", "failed", "called"]
    error: str = ""
    value: Any = None
    seconds: float = 0.0


class FanOut:
    """Workers for repetitions and other calls; more of both can be added while answers come.

    A repetition that fails is recorded with its traceback, and the others go on. Another process that works on the
    same folder does no harm: a repetition that both run has the same bytes.

    Parameters
    ----------
    store
        Where results are kept.
    jobs
        Number of worker processes; 1: everything runs in this process.
    runner
        Where they are, and how long a repetition may take; by default on this machine, and as long as it takes.

    Raises
    ------
    ConfigError
        When ``jobs`` is wrong.
    """

    def __init__(self, store: Store, *, jobs: int, runner: Runner | None = None) -> None:
        if jobs < 1:
            raise ConfigError(f"jobs: found {jobs}, expected a whole number, at least 1")
        self._store = store
        self._jobs = jobs
        self._runner = runner or Runner()
        self._queue: deque[Task] = deque()
        self._asked: dict[Key, Experiment] = {}
        self._classes: set[Any] = set()
        self._waiting: dict[str, list[Task] | None] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Have workers inside; numerical libraries keep to one thread."""
        with one_thread(), workers(self._runner, self._jobs):
            yield

    def add(self, experiment: Experiment, repetitions: Iterable[int], *, check: bool = False) -> None:
        """Ask for repetitions; those that have been asked for before are left out.

        Where data has to be prepared for an environment, one worker does so before any other starts on it.

        Parameters
        ----------
        experiment
            Which experiment.
        repetitions
            Which of its repetitions.
        check
            Whether to start its parts once, before anything is run or written, to find what a user can mend: the
            error is then raised by `answers`.
        """
        numbers = [number for number in repetitions if (experiment.run_id, number) not in self._asked]
        if not numbers:
            return
        self._asked |= {(experiment.run_id, number): experiment for number in numbers}
        prepare = Task(("prepared", experiment.run_id, numbers[0]), _prepare, (experiment, numbers, check))
        data = None if self._jobs == 1 or experiment.fingerprint is None else repr(experiment.settings["env"])
        if data is not None and data not in self._waiting:
            self._waiting[data] = []
            self._queue.append(prepare)
        elif data is not None and (waiting := self._waiting[data]) is not None:
            waiting.append(prepare)
        else:
            self._go_on(prepare)

    def call(self, key: Hashable, function: Callable[..., Any], *arguments: Any) -> None:
        """Ask for a call, which comes before all repetitions that are not begun; what it raises, `answers` raises."""
        self._queue.appendleft(Task(key, function, arguments))

    def answers(self) -> Iterator[Answer]:
        """Yield one answer for everything that is asked for, as they come; to be called while `running`.

        Raises
        ------
        StoreError
            When results cannot be written; what is finished is kept.
        BenchError
            What a check or a call raises.
        """
        with workers(self._runner, self._jobs) as pool:
            for task, future in pool.run(self._queue):
                if task.function is _prepare:
                    future.result()
                    self._prepared(*task.arguments[:2])
                elif task.key not in self._asked:
                    yield Answer(task.key, "called", value=future.result())
                else:
                    try:
                        yield future.result()
                    except WorkerDiedError as error:
                        experiment, repetition = task.arguments[:2]
                        yield self._lost(experiment, repetition, error)

    def _go_on(self, prepare: Task) -> None:
        """Queue an experiment whose data is there: its check if it has one, else its repetitions."""
        experiment, numbers, check = prepare.arguments
        if check:
            self._queue.append(prepare)
        else:
            self._ready(experiment, numbers)

    def _prepared(self, experiment: Experiment, numbers: list[int]) -> None:
        """Go on with an experiment whose data is prepared, and with those that wait for the same data."""
        data = repr(experiment.settings["env"])
        waiting = self._waiting.get(data)
        if waiting is not None:
            self._waiting[data] = None
            for prepare in waiting:
                self._go_on(prepare)
        self._ready(experiment, numbers)

    def _ready(self, experiment: Experiment, numbers: list[int]) -> None:
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
        return _failed(self._store, experiment, repetition, error, str(error.__cause__))


def run_all(
    work: Sequence[tuple[Experiment, int]],
    store: Store,
    *,
    jobs: int,
    runner: Runner | None = None,
) -> Summary:
    """Make sure that every experiment has its repetitions: run what is missing, each in one thread.

    Parameters
    ----------
    work
        Experiments, each with its number of repetitions; what is asked for twice is run once.
    store, jobs, runner
        As in `FanOut`.

    Raises
    ------
    ConfigError
        When an experiment's settings, ``jobs`` or the runner's are wrong.
    StoreError
        When results cannot be written; what is finished is kept.
    """
    start = time.perf_counter()
    wanted: dict[str, int] = {}
    for experiment, number in work:
        wanted[experiment.run_id] = max(number, wanted.get(experiment.run_id, 0))
    experiments = {experiment.run_id: experiment for experiment, _ in reversed(work)}
    state = {run_id: Result(experiments[run_id]) for run_id in wanted}
    missing: list[tuple[Experiment, list[int]]] = []
    for run_id, number in wanted.items():
        state[run_id].done = store.sound(run_id, range(number))
        missing.append((experiments[run_id], sorted(set(range(number)) - state[run_id].done)))
    missing.sort(key=lambda one: -one[0].settings["horizon"])  # no long one is left to the end
    total = sum(len(numbers) for _, numbers in missing)
    fan = FanOut(store, jobs=1 if jobs == 1 else max(min(jobs, total), 2) if jobs > 1 else jobs, runner=runner)
    if total:
        with progress_bar((runner or Runner()).progress) as progress, fan.running():
            for experiment, numbers in missing:
                progress.expect("", experiment.settings["horizon"], len(numbers))
                fan.add(experiment, numbers)
            for answer in fan.answers():
                key: Key = answer.key  # type: ignore[assignment]
                run_id, repetition = key
                result = state[run_id]
                if answer.status == "failed":
                    result.failed[repetition] = answer.error
                else:
                    result.done.add(repetition)
                    if answer.status == "new":
                        result.new.add(repetition)
                progress.advance("", experiments[run_id].settings["horizon"], answer.seconds)
    return Summary(_by_work(work, state), time.perf_counter() - start)


def _by_work(work: Sequence[tuple[Experiment, int]], state: dict[str, Result]) -> list[Result]:
    """Share the results out to the pieces of work, which may ask for the same experiment with different numbers."""
    results = []
    for experiment, repetitions in work:
        result = state[experiment.run_id]
        new = {repetition for repetition in result.new if repetition < repetitions}
        result.new -= new
        done = {repetition for repetition in result.done if repetition < repetitions}
        failed = {repetition: error for repetition, error in result.failed.items() if repetition < repetitions}
        results.append(Result(experiment, done, new, failed))
    return results


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
        return _failed(store, experiment, repetition, error, traceback.format_exc())
    seconds = time.perf_counter() - start
    store.write(*key, columns, {"seconds": seconds, "costs": trace.costs, "environment": environment()})
    return Answer(key, "new", seconds=seconds)


def _failed(store: Store, experiment: Experiment, repetition: int, error: BaseException, trace: str) -> Answer:
    text = describe(error)
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


def _prepare(experiment: Experiment, _numbers: list[int], check: bool) -> None:
    """Start a task once, which prepares its data; what fails here is left to the repetitions, unless it is checked."""
    if check:
        check_experiment(experiment)
        return
    with suppress(Exception):
        build(experiment.settings)[0].start(1, Seeds(experiment.settings["seed"]))
