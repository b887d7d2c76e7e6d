"""Running many repetitions of many experiments on all processors, and keeping each as soon as it is there."""

import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from bench.errors import TaskError
from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute.limits import one_thread
from runners.execute.progress import Progress
from runners.execute.repetition import (
    Answer,
    RepetitionId,
    check_correctable,
    ended_for_limit,
    failed,
    own_names,
    repeat,
    start,
)
from runners.execute.workers import Call, WorkerDiedError, calls, workers
from runners.results.store import Store


class FanOut:
    """Repetitions and other calls, of which more can be added while answers come.

    A repetition that fails is recorded with its traceback, and the others go on. Another process that works on the
    same folder does no harm: a repetition that both run has the same bytes.
    """

    def __init__(self, store: Store, *, jobs: int, runner: Runner | None = None, words: str = "") -> None:
        self.progress = Progress(words)
        self._store = store
        self._jobs = jobs
        self._runner = runner or Runner()
        self._is_here = jobs == 1 and self._runner.backend == "loky"
        self._session = uuid.uuid4().hex
        self._queue: deque[Call] = deque()
        self._asked: set[RepetitionId] = set()
        self._waiting: dict[str, list[Call]] = {}
        """By the settings of an environment whose data is not prepared, the repetitions that wait for it."""
        self._prepared: set[str] = set()
        self._is_open = False
        self._experiments: dict[str, Experiment] = {}

    def add(self, experiment: Experiment, repetitions: Iterable[int]) -> None:
        """Ask for repetitions that were not asked for before; one worker prepares data before others start on it."""
        numbers = [number for number in repetitions if (experiment.run_id, number) not in self._asked]
        if not numbers:
            return
        self._asked |= {(experiment.run_id, number) for number in numbers}
        self.progress.expect(experiment.settings["horizon"], len(numbers))
        self._experiments[experiment.run_id] = experiment
        if self._is_open:
            self._store.prepare(experiment.run_id, experiment.description)
        limit = self._runner.time_limit
        new = [_Repetition(experiment, number, self._store, limit, self._session) for number in numbers]
        data = "" if self._is_here or experiment.fingerprint is None else repr(experiment.settings["env"])
        if not data or data in self._prepared:
            self._queue.extend(new)
            return
        if data not in self._waiting:
            self._queue.append(_Preparation(data, experiment))
        self._waiting.setdefault(data, []).extend(new)

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Ask for a call, which comes before all repetitions that are not begun; what it raises, `answers` raises."""
        self._queue.appendleft(Call(function, *arguments))

    def answers(self) -> Iterator[Any]:
        """Yield an `Answer` for each repetition, and what each call returns, as they come; raise what one raises."""
        if not self._queue:
            return
        here = one_thread() if self._is_here else nullcontext()
        with workers(self._runner, self._jobs), here, self.progress.bar(self._runner.progress):
            for experiment in self._experiments.values():  # nothing is written where there can be no workers
                self._store.prepare(experiment.run_id, experiment.description)
            self._is_open = True
            for call, result in calls(self._queue):
                if isinstance(call, _Preparation):
                    self._prepared.add(call.data)
                    self._queue.extend(self._waiting.pop(call.data))
                    continue
                if isinstance(call, _Repetition):
                    self.progress.advance(call.experiment.settings["horizon"])
                    if isinstance(result, TaskError):
                        result = failed(self._store, call.experiment, call.repetition, result)
                elif isinstance(result, WorkerDiedError):
                    raise result
                yield result


class _Preparation(Call):
    """The start of an experiment, which prepares its data."""

    def __init__(self, data: str, experiment: Experiment) -> None:
        super().__init__(start, experiment)
        self.data = data


class _Repetition(Call):
    """A repetition."""

    def __init__(
        self, experiment: Experiment, repetition: int, store: Store, limit: float | None, session: str
    ) -> None:
        super().__init__(repeat, experiment, repetition, store, limit, session, seconds=limit)
        self.experiment, self.repetition, self._store, self._session = experiment, repetition, store, session

    def kept(self) -> Answer | None:
        """Return what its worker has kept of it before it died."""
        named = self.experiment.run_id, self.repetition
        if self._store.has(*named):
            return Answer(named, "new")
        return ended_for_limit(self._store, named, self._session)


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


def check(experiments: Sequence[Experiment], *, jobs: int, runner: Runner) -> None:
    """Find what a user can correct before anything is run or written: each is started and asked once.

    Raises BenchError; any other error is left to the repetitions, which record its traceback.
    """
    queue = deque(Call(check_correctable, one, runner.time_limit, seconds=runner.time_limit) for one in experiments)
    with workers(runner, jobs):
        for call, result in calls(queue):
            if isinstance(result, TaskError):
                names = own_names(call.arguments[0])
                raise TaskError(f"{names}: {result} when it was started and asked once, expected a reward")
