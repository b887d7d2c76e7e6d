"""Seconds of runs, measured without other work: one thread, one run after the other, in this process."""

import gc
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from bench.columns import is_measured
from bench.errors import TaskError
from bench.loop import run
from bench.seeding import Seeds
from bench.tuners.base import Problem
from runners.config.experiment import Experiment, build, run_repetition
from runners.execute.fanout import Result, failed
from runners.execute.limits import one_thread
from runners.results.capture import environment, kind_of_machine
from runners.results.store import Store, read_json, write_text

if TYPE_CHECKING:  # slow to import, and not needed by a measuring worker
    import pandas as pd

    from runners.config.figures import LabelledRun

WARM_UP_ROUNDS = 1000
"""Rounds of the untimed run before the first, which compiles and reads data."""

Part = Literal["run", "tuner"]
"""The timed part: whole runs, or the tuner's ``ask`` and ``tell`` only."""

_FILES: dict[Part, str] = {"run": "seconds.json", "tuner": "seconds_of_tuner.json"}


def measure(labelled_runs: "Sequence[LabelledRun]", store: Store, part: Part = "run") -> dict[str, Result]:
    """Time every run until it has the requested number of measurements, and return the results by run id.

    Repetition 0 is used. All runs take turns, so that a slower machine affects them equally. Every measurement is
    stored at once, in ``seconds.json`` with the run's results, and reused on the same processor with the same versions
    of Python and packages. A failure is stored, too.

    If only tuners are timed, a run is played once, and its rewards are then told again to the tuner, which asks for the
    same configurations; only this second part is timed. The order of the runs is reversed in every second turn, so that
    each of two runs is first equally often.
    """
    runs = {labelled.experiment.run_id: labelled.experiment for labelled in labelled_runs}
    in_order = sorted(labelled_runs, key=lambda labelled: labelled.settings.repetitions)
    times = {labelled.experiment.run_id: labelled.settings.repetitions for labelled in in_order}
    results = {run_id: Result() for run_id in runs}
    kept = {run_id: _reusable(store, run_id, part) for run_id in runs}
    with one_thread():
        for run_id, experiment in runs.items():
            if len(kept[run_id]) < times[run_id]:
                store.prepare(run_id, experiment.description)
                _warm_up(experiment)
    with one_thread(), _frozen():
        for number in range(max(times.values(), default=0)):
            for run_id in list(runs)[::-1] if part == "tuner" and number % 2 else runs:
                result = results[run_id]
                if number >= times[run_id] or result.failed:
                    continue
                if number == len(kept[run_id]):
                    try:
                        kept[run_id].append((_once if part == "run" else _tuner_once)(runs[run_id]))
                    except (Exception, SystemExit) as error:
                        text = failed(store, runs[run_id], 0, error).error
                        result.failed = dict.fromkeys(range(number, times[run_id]), text)
                        continue
                    content = {"environment": environment(), "measurements": kept[run_id]}
                    write_text(store.folder(run_id) / _FILES[part], json.dumps(content, indent=1) + "\n")
                    result.new.add(number)
                result.done.add(number)
    return results


def measurements(store: Store, run_id: str, part: Part = "run") -> list[dict[str, float]]:
    """Return the measurements of a run, each with ``seconds``, ``cpu_seconds`` and ``rounds``; empty if none exist."""
    measured: list[dict[str, float]] = read_json(store.folder(run_id) / _FILES[part]).get("measurements", [])
    return measured


def finals_of(
    labelled_runs: "Sequence[LabelledRun]", done: Sequence[Sequence[int]], store: Store, part: Part = "run"
) -> "pd.DataFrame":
    """Return one row per run and measurement.

    The columns are the axes, ``repetition`` (the number of the measurement), ``rounds``, ``seconds`` and
    ``cpu_seconds``.
    """
    import pandas as pd

    from runners.results.aggregate import as_written

    axes = list(dict.fromkeys(axis for labelled in labelled_runs for axis in labelled.labels))
    rows: list[dict[str, Any]] = []
    for labelled, numbers in zip(labelled_runs, done, strict=True):
        labels = {axis: labelled.labels.get(axis, "") for axis in axes}
        measured = measurements(store, labelled.experiment.run_id, part)
        for number in numbers:
            seconds = {name: as_written(value) for name, value in measured[number].items() if is_measured(name)}
            rows.append({**labels, "repetition": number, "rounds": measured[number]["rounds"], **seconds})
    return pd.DataFrame(rows, columns=[*axes, "repetition", "rounds", "seconds", "cpu_seconds"])


@contextmanager
def _frozen() -> Iterator[None]:
    """Exclude all existing objects from garbage collection, which would take .3 s before each measurement."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _warm_up(experiment: Experiment) -> None:
    with suppress(Exception, SystemExit):  # an error recurs in the measured run, which records it
        short = min(experiment.settings["horizon"], WARM_UP_ROUNDS)
        run_repetition(Experiment({**experiment.settings, "horizon": short}, experiment.handed), 0)


def _once(experiment: Experiment) -> dict[str, float]:
    gc.collect()
    cpu, start = time.process_time(), time.perf_counter()
    trace = run_repetition(experiment, 0)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    if not trace.round:
        raise TaskError("the log ended before the first accepted round")
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "rounds": trace.round}


def _tuner_once(experiment: Experiment) -> dict[str, float]:
    settings = experiment.settings
    task, tuner = build(experiment)
    started: list[tuple[Problem, Seeds | None]] = []
    told: list[float] = []
    start, tell = tuner.start, tuner.tell

    def recording_start(problem: Problem, seeds: Seeds | None = None) -> None:
        started.append((problem, seeds))
        start(problem, seeds)

    def recording_tell(reward: float, outcome: Any = None, ticket: int | None = None) -> None:
        told.append(reward)
        tell(reward, outcome, ticket)

    tuner.start, tuner.tell = recording_start, recording_tell  # type: ignore[method-assign]
    run(task, tuner, rounds=settings["horizon"], seeds=Seeds(settings["seed"], 0))
    if not told:
        raise TaskError("the log ended before the first accepted round")
    start(*started[0])
    ask = tuner.ask
    gc.collect()
    cpu, begin = time.process_time(), time.perf_counter()
    for reward in told:
        ask()
        tell(reward)
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "rounds": len(told)}


def _reusable(store: Store, run_id: str, part: Part) -> list[dict[str, float]]:
    """Return the measurements of a run that were made on this kind of machine."""
    before = read_json(store.folder(run_id) / _FILES[part]).get("environment") or {}
    return measurements(store, run_id, part) if kind_of_machine(before) == kind_of_machine(environment()) else []
