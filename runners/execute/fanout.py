"""Many repetitions of many experiments on all processors, each stored as soon as it is finished."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute.limits import Call, WorkerDiedError
from runners.execute.progress import Progress
from runners.execute.repetition import Answer, RepetitionId, failed, repeat
from runners.execute.workers import calls, workers
from runners.results.store import Store


class FanOut:
    """Repetitions and other calls; more can be added while answers arrive.

    A repetition that fails is recorded with its traceback, and the others continue. Other processes may work on the
    same folder: a repetition that both run has the same bytes.
    """

    def __init__(self, store: Store, *, jobs: int, runner: Runner | None = None, words: str = "") -> None:
        self.progress = Progress(words)
        self._store, self._jobs, self._runner = store, jobs, runner or Runner()
        self._queue: deque[Call] = deque()
        self._asked: set[RepetitionId] = set()

    def add(self, experiment: Experiment, repetitions: Iterable[int]) -> None:
        """Request repetitions that were not requested before."""
        limit = self._runner.time_limit
        numbers = [number for number in repetitions if (experiment.run_id, number) not in self._asked]
        if numbers:
            self._store.prepare(experiment.run_id, experiment.description)
        for number in numbers:
            self._asked.add((experiment.run_id, number))
            self._queue.append(Call(repeat, experiment, number, self._store, limit, seconds=limit))
            self.progress.expect(experiment.settings["horizon"])

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Request a call, which precedes all repetitions that have not begun; `answers` raises its error."""
        self._queue.appendleft(Call(function, *arguments))

    def answers(self) -> Iterator[Any]:
        """Yield an `Answer` for each repetition, and the result of each call, as they arrive; raise a call's error."""
        if not self._queue:
            return
        with workers(self._runner, self._jobs), self.progress.bar(self._runner.progress):
            for call, result in calls(self._queue):
                if call.function is repeat:
                    experiment, number = call.arguments[:2]
                    self.progress.advance(experiment.settings["horizon"])
                    if isinstance(result, WorkerDiedError):
                        result = failed(self._store, experiment, number, result)
                elif isinstance(result, WorkerDiedError):
                    raise result
                yield result


@dataclass
class Result:
    """The repetitions of one experiment: ``new`` repetitions are the part of ``done`` that was missing."""

    done: set[int] = field(default_factory=set)
    new: set[int] = field(default_factory=set)
    failed: dict[int, str] = field(default_factory=dict)


def run_all(
    experiments: Iterable[Experiment], repetitions: int, store: Store, *, jobs: int, runner: Runner | None = None
) -> dict[str, Result]:
    """Run the missing repetitions of each experiment, each in one thread; return results by run id.

    Raises ConfigError for a wrong runner, StoreError when results cannot be written; finished repetitions are kept.
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
            results[run_id].new.add(repetition)
    return results


def run_each(
    wanted: Iterable[tuple[Experiment, Iterable[int]]], store: Store, *, jobs: int, runner: Runner, words: str = ""
) -> Iterator[Answer]:
    """Run repetitions of some experiments, the longest first, and yield answers as they arrive, with a progress bar."""
    fan = FanOut(store, jobs=jobs, runner=runner, words=words)
    for experiment, numbers in sorted(wanted, key=lambda item: -item[0].settings["horizon"]):
        fan.add(experiment, sorted(numbers))
    return fan.answers()
