"""Running many repetitions of many experiments on all processors, and keeping each as soon as it is there."""

import itertools
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from bench.errors import ConfigError, TaskError
from runners.config.classes import is_suites
from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute.limits import TimeOverError, one_thread
from runners.execute.processes import Call, WorkerDiedError
from runners.execute.progress import Progress
from runners.execute.repetition import Answer, RepetitionId, check_correctable, failed, repeat, start
from runners.execute.workers import workers
from runners.results.store import Store


class FanOut:
    """Workers for repetitions and other calls, of which more can be added while answers come; ``jobs`` 1: this process.

    A repetition that fails is recorded with its traceback, and the others go on. Another process that works on the
    same folder does no harm: a repetition that both run has the same bytes. Classes of a user's own never run in this
    process, nor what has a limit of time.
    """

    def __init__(self, store: Store, *, jobs: int, runner: Runner | None = None, words: str = "") -> None:
        if jobs < 1:
            raise ConfigError(f"jobs: found {jobs}, expected a whole number, at least 1")
        self.progress = Progress(words)
        self._store = store
        self._jobs = jobs
        self._runner = runner or Runner()
        self._session = uuid.uuid4().hex
        self._queue: deque[Call] = deque()
        self._asked: set[RepetitionId] = set()
        self._classes: set[Any] = set()
        self._waiting: dict[Any, list[_Start] | None] = {}
        """By data that is being prepared, or a class that is first started, what waits for it; None: that is done."""

    def add(
        self, experiment: Experiment, repetitions: Iterable[int], *, check: bool = False, is_known: bool = False
    ) -> None:
        """Ask for repetitions that were not asked for before; one worker prepares data before others start on it.

        With ``check`` its parts are started once before, to find what a user can correct: `answers` then raises it.
        One worker does so for each class before others do, so that they do not all compile the same. Of experiments
        that the suite itself asks for (``is_known``), only the first of each class and each data is checked.
        """
        numbers = [number for number in repetitions if (experiment.run_id, number) not in self._asked]
        if not numbers:
            return
        self._asked |= {(experiment.run_id, number) for number in numbers}
        self.progress.expect(experiment.settings["horizon"], len(numbers))
        self._prepare(_Start(experiment, numbers, check=check, is_known=is_known))

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Ask for a call, which comes before all repetitions that are not begun; what it raises, `answers` raises."""
        self._queue.appendleft(Call(function, arguments))

    def answers(self, feed: Iterable[None] = ()) -> Iterator[Any]:
        """Yield an `Answer` for each repetition, and what each call returns, as they come; what one raises is raised.

        ``feed`` asks for something at each step: one step is made at the beginning, the others while workers are busy,
        with one job one after each answer.
        """
        if not (self._queue or feed):
            return
        steps = itertools.chain(feed, [None])
        with self.progress.bar(self._runner.progress), one_thread(), workers(self._runner, self._jobs) as pool:
            for _ in steps:
                for task, future in pool.run(self._queue, steps):
                    for answer in self._answers_of(task, future):
                        yield answer
                        if self._jobs == 1:
                            next(steps, None)

    def _answers_of(self, task: Call, future: "Future[Any]") -> Iterator[Any]:
        """Yield what a finished task is an answer to."""
        if isinstance(task, _Start):
            try:
                future.result()
                self._queue_repetitions(task)
            except WorkerDiedError as error:
                self._store.prepare(task.experiment.run_id, task.experiment.description)
                for lost in self._repetitions(task):
                    yield self._lost(lost, error)
            for key in task.prepares:
                waiting, self._waiting[key] = self._waiting[key] or [], None
                for start in waiting:
                    self._prepare(start)
        elif isinstance(task, _Repetition):
            try:
                answer = future.result()
                self.progress.advance(task.experiment.settings["horizon"])
                yield answer
            except (WorkerDiedError, TimeOverError) as error:
                yield self._lost(task, error)
        else:
            yield future.result()

    def _prepare(self, start: "_Start") -> None:
        """Queue a start that prepares something, a check, or repetitions that need neither; or let it wait."""
        keys = start.needs if self._jobs > 1 or start.is_known else ()
        for key in keys:
            if (waiting := self._waiting.get(key)) is not None:
                waiting.append(start)
                return
        start.prepares = [key for key in keys if key not in self._waiting]
        self._waiting.update({key: [] for key in start.prepares})
        if start.prepares or (start.is_check and not start.is_known):
            self._queue.append(start)
        else:
            self._queue_repetitions(start)

    def _repetitions(self, start: "_Start") -> list["_Repetition"]:
        limit = self._runner.time_limit
        return [_Repetition(start.experiment, number, self._store, limit, self._session) for number in start.numbers]

    def _queue_repetitions(self, start: "_Start") -> None:
        """Queue the repetitions of what was started."""
        experiment = start.experiment
        self._store.prepare(experiment.run_id, experiment.description)
        repetitions = self._repetitions(start)
        classes = tuple(experiment.classes.values())
        if classes not in self._classes:  # soon, so that workers compile different things and not all the same
            self._classes.add(classes)
            self._queue.appendleft(repetitions.pop(0))
        self._queue.extend(repetitions)

    def _lost(self, lost: "_Repetition", error: TaskError) -> Answer:
        """Record a repetition that was lost with its worker, unless its result was written before that."""
        experiment, repetition = lost.experiment, lost.repetition
        self.progress.advance(experiment.settings["horizon"])
        if self._store.has(experiment.run_id, repetition):
            return Answer((experiment.run_id, repetition), "new")
        return failed(self._store, experiment, repetition, error, str(error.__cause__ or error))


class _Start(Call):
    """An experiment is started once, which prepares its data, or checked; then its repetitions are run."""

    def __init__(self, experiment: Experiment, numbers: Sequence[int], *, check: bool, is_known: bool = False) -> None:
        super().__init__(check_correctable if check else start, (experiment,), apart=not experiment.is_suites)
        self.experiment, self.numbers, self.is_check = experiment, numbers, check
        self.is_known = check and is_known and experiment.is_suites
        self.needs: list[Any] = [] if experiment.fingerprint is None else [repr(experiment.settings["env"])]
        """Its data, and for a check its classes: what one worker has to have prepared or compiled."""
        self.needs += [cls for part, cls in experiment.classes.items() if check and part in ("algorithm", "tuner")]
        self.prepares: list[Any] = []
        """What of it this start prepares."""


class _Repetition(Call):
    """A repetition."""

    def __init__(
        self, experiment: Experiment, repetition: int, store: Store, limit: float | None, session: str
    ) -> None:
        arguments = (experiment, repetition, store, limit, session)
        super().__init__(repeat, arguments, seconds=limit, apart=limit is not None or not experiment.is_suites)
        self.experiment, self.repetition = experiment, repetition


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
    for answer in run_each(missing, store, jobs=jobs, runner=runner or Runner()):
        run_id, repetition = answer.id
        if answer.status == "failed":
            results[run_id].failed[repetition] = answer.error
        else:
            results[run_id].done.add(repetition)
        if answer.status == "new":
            results[run_id].new.add(repetition)
    return results


def run_each(
    wanted: Iterable[tuple[Experiment, Iterable[int]]], store: Store, *, jobs: int, runner: Runner, words: str = ""
) -> Iterator[Answer]:
    """Run repetitions of some experiments, the longest first, and yield answers as they come; a bar shows how far."""
    fan = FanOut(store, jobs=jobs, runner=runner, words=words)
    for experiment, numbers in sorted(wanted, key=lambda item: -item[0].settings["horizon"]):
        fan.add(experiment, sorted(numbers))
    return fan.answers()


def check_by_worker(experiment: Experiment, runner: Runner) -> None:
    """Find what a user can correct before anything is run or written; a user's classes are tried by a worker.

    Raises BenchError; any other error is left to the repetitions, which record its traceback.
    """
    with workers(runner, 1) as pool:
        for _, future in pool.run(deque([_Start(experiment, (), check=True)])):
            try:
                future.result()
            except WorkerDiedError as error:
                own = {part: cls for part, cls in experiment.classes.items() if not is_suites(cls)}
                names = ", ".join(f"{part} {cls.__name__}" for part, cls in own.items())
                raise TaskError(f"{names}: {error} when it was started and asked once, expected a reward") from None
