"""Many repetitions of many experiments on all processors, each stored as soon as it is finished."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute.limits import Call, WorkerDiedError
from runners.execute.progress import Progress
from runners.execute.repetition import Answer, failed, repeat
from runners.execute.workers import calls, workers
from runners.results.store import Store


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

    Raises ConfigError for a wrong runner, OSError when results cannot be written; finished repetitions are kept.
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
    """Run repetitions of some experiments, the longest first, and yield answers as they arrive, with a progress bar.

    A repetition that fails is recorded with its traceback, and the others continue. Other processes may work on the
    same folder: a repetition that both run has the same bytes.
    """
    limit = runner.time_limit
    asked = [(one, sorted(numbers)) for one, numbers in wanted]
    asked = sorted(((one, numbers) for one, numbers in asked if numbers), key=lambda item: -item[0].settings["horizon"])
    if not asked:
        return
    for experiment, _ in asked:
        store.prepare(experiment.run_id, experiment.description)
    # Workers begin with one of each, because they compile different things
    tasks = [(one, numbers[0]) for one, numbers in asked]
    tasks += [(one, number) for one, numbers in asked for number in numbers[1:]]
    progress = Progress([one.settings["horizon"] for one, _ in tasks], words)
    queue = deque(Call(repeat, one, number, store, limit, seconds=limit) for one, number in tasks)
    with workers(runner, jobs), progress.bar(runner.progress):
        for call, result in calls(queue):
            experiment, number = call.arguments[:2]
            progress.advance(experiment.settings["horizon"])
            is_lost = isinstance(result, WorkerDiedError)
            yield failed(store, experiment, number, result) if is_lost else result
