"""Running many repetitions of many experiments on all processors, and keeping each as soon as it is there."""

import os
import time
import traceback
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from bench.errors import BenchError, ConfigError, TaskError
from bench.seeding import Seeds
from runners.capture import environment
from runners.experiment import Experiment, build, part_classes, play
from runners.experiment import check as check_experiment
from runners.live import LiveRun
from runners.pool import Runner, end_with, limit_threads, one_thread, pool, time_limit, workers
from runners.progress import progress_bar
from runners.store import Store

POLL_SECONDS = 0.2
"""How often to look whether another process has finished."""

_IDLE_DEATHS = 2

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
    status: Literal["new", "done", "busy", "failed", "called"]
    error: str = ""
    value: Any = None
    seconds: float = 0.0


class _Pair(NamedTuple):
    experiment: Experiment
    repetition: int

    @property
    def key(self) -> Key:
        return self.experiment.run_id, self.repetition


class _Call(NamedTuple):
    key: Hashable
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class FanOut:
    """One pool of workers for repetitions and other calls; more of both can be added while answers come.

    What another live process is running is waited for, and taken over if that process dies. A repetition that fails is
    recorded with its traceback, and the others go on.

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
        self._queue: deque[_Pair | _Call] = deque()
        self._suspects: deque[_Pair | _Call] = deque()
        self._busy: list[_Pair] = []
        self._earlier: dict[str, dict[int, dict[str, Any]]] = {}
        self._asked: set[Key] = set()
        self._classes: set[Any] = set()
        self._data: dict[str, list[_Call] | None] = {}
        self._idle = 0

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
        pairs = [_Pair(experiment, repetition) for repetition in repetitions]
        pairs = [pair for pair in pairs if pair.key not in self._asked]
        self._asked |= {pair.key for pair in pairs}
        if not pairs:
            return
        call = _Call(("prepared", experiment.run_id, pairs[0].repetition), _prepare, (experiment, pairs, check))
        data = None if self._jobs == 1 or experiment.fingerprint is None else repr(experiment.settings["env"])
        if data is None:
            if check:
                self._queue.append(call)
            else:
                self._ready(pairs)
        elif data not in self._data:
            self._data[data] = []
            self._queue.append(call)
        elif (waiting := self._data[data]) is not None:
            waiting.append(call)
        elif check:
            self._queue.append(call)
        else:
            self._ready(pairs)

    def call(self, key: Hashable, function: Callable[..., Any], *arguments: Any) -> None:
        """Ask for a call, which comes before all repetitions that are not begun; what it raises, `answers` raises."""
        self._queue.appendleft(_Call(key, function, arguments))

    def answers(self) -> Iterator[Answer]:
        """Yield one answer for everything that is asked for, in the order in which they come.

        Raises
        ------
        StoreError
            When results cannot be written; what is finished is kept.
        BenchError
            What a check or a call raises.
        """
        while True:
            if self._queue:
                answers = self._run(self._queue)
            elif self._suspects:  # each in a pool of its own, where it does no harm to others
                answers = self._run(deque([self._suspects.popleft()]), alone=True)
            elif self._busy:
                answers = self._look()
            else:
                return
            for answer in answers:
                if isinstance(answer.key, tuple) and answer.key[0] == "prepared":
                    self._prepared(*answer.value)
                else:
                    yield answer

    def _ready(self, pairs: list[_Pair]) -> None:
        """Queue repetitions that nothing has to be prepared for."""
        experiment = pairs[0].experiment
        run_id = experiment.run_id
        self._store.prepare(run_id, experiment.identity)
        if run_id not in self._earlier:
            self._earlier[run_id] = self._store.failures(run_id)
        classes = tuple(part_classes(experiment.settings).values())
        if classes not in self._classes:  # soon, so that workers compile different things and not all the same
            self._classes.add(classes)
            self._queue.appendleft(pairs.pop(0))
        self._queue.extend(pairs)

    def _prepared(self, experiment: Experiment, pairs: list[_Pair], check: bool) -> None:
        """Go on with an experiment whose data is prepared, and with those that wait for the same data."""
        data = repr(experiment.settings["env"])
        waiting = self._data.get(data)
        if waiting is not None:
            self._data[data] = None
            for call in waiting:
                if call.arguments[2]:
                    self._queue.append(call)
                else:
                    self._ready(call.arguments[1])
        self._ready(pairs)

    def _run(self, queue: deque[_Pair | _Call], alone: bool = False) -> Iterator[Answer]:
        """Run what is queued in one pool, or in this process for one job, and yield answers as they come.

        When a worker dies (out of memory, a crash in compiled code), joblib gives up the whole pool. Whatever was
        running is then run once more, alone; what is lost there, too, has failed.
        """
        from joblib import delayed  # slow to import
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        handed: dict[Hashable, _Pair | _Call] = {}
        answered = False

        def calls() -> Iterator[Any]:
            while queue:  # also what is added while the others run
                one = queue.popleft()
                handed[one.key] = one
                yield delayed(_do)(one, self._store, os.getpid(), self._runner.time_limit)

        try:
            n_workers = 1 if self._jobs == 1 else max(2, self._jobs)  # never here: it might crash
            for answer in pool(self._runner, n_workers)(calls()):
                one = handed.pop(answer.key)
                answered = True
                if answer.status == "busy" and isinstance(one, _Pair):
                    self._busy.append(one)
                else:
                    yield answer
        except Exception as error:
            if not isinstance(error, TerminatedWorkerError) and type(error).__name__ != "KilledWorker":  # dask's
                raise
            began = [one for one in handed.values() if isinstance(one, _Call) or self._store.claimed(*one.key)]
            rest = [one for one in handed.values() if one not in began]
            self._idle = 0 if answered or began else self._idle + 1
            lost = began if alone else []
            if self._idle > _IDLE_DEATHS:
                lost, rest = [*lost, *rest, *queue], []
                queue.clear()
            elif not alone:
                self._suspects.extend(began)
            (self._suspects if alone else self._queue).extendleft(reversed(rest))
            for one in lost:
                answer = self._lost(one, error)
                if answer.status != "busy":
                    yield answer

    def _lost(self, one: _Pair | _Call, death: Exception) -> Answer:
        """Record what was lost with a second worker."""
        error = TaskError(
            f"found that its worker process died, and another one, too ({type(death).__name__}), for instance for lack "
            "of memory, expected it to end"
        )
        if isinstance(one, _Call):
            raise error
        with self._store.claim(*one.key) as mine:  # and leave no claim of the dead behind
            if mine:
                return _failed(self._store, one, error, str(death))
        self._busy.append(one)  # it is another process's, or was finished just before
        return Answer(one.key, "busy")

    def _look(self) -> Iterator[Answer]:
        """Wait for what other processes have claimed, until there is something to run."""
        while self._busy and not self._queue:
            waiting = []
            for pair in self._busy:
                answer = self._fate(pair)
                if answer.status == "busy":
                    waiting.append(pair)
                else:
                    yield answer
            # Their process has died
            free = {pair.key for pair in waiting if _is_free(self._store, pair)}
            self._queue.extend(pair for pair in waiting if pair.key in free)
            self._busy = [pair for pair in waiting if pair.key not in free]
            if self._busy and not self._queue:
                time.sleep(POLL_SECONDS)

    def _fate(self, pair: _Pair) -> Answer:
        """Return what has become of a repetition that another process has claimed."""
        if self._store.path(*pair.key).exists():
            return Answer(pair.key, "done")
        failure = self._store.failure(*pair.key)
        if failure and failure != self._earlier[pair.experiment.run_id].get(pair.repetition, {}):
            return Answer(pair.key, "failed", failure.get("error", ""))
        return Answer(pair.key, "busy")


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
        state[run_id].done = store.done(run_id) & set(range(number))
        missing.append((experiments[run_id], sorted(set(range(number)) - state[run_id].done)))
    missing.sort(key=lambda one: -one[0].settings["horizon"])  # no long one is left to the end
    total = sum(len(numbers) for _, numbers in missing)
    fan = FanOut(store, jobs=1 if jobs == 1 else max(min(jobs, total), 2) if jobs > 1 else jobs, runner=runner)
    if total:
        with progress_bar((runner or Runner()).progress, results=store.root) as progress, fan.running():
            runs = [LiveRun(run_id=run_id, labels={}, repetitions=number) for run_id, number in wanted.items()]
            progress.announce("", None, runs)
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


def _is_free(store: Store, pair: _Pair) -> bool:
    with store.claim(*pair.key) as mine:
        return mine


def _do(one: _Pair | _Call, store: Store, parent: int, limit: float | None) -> Answer:
    """Run one repetition, unless it is claimed or done, and keep its result or its failure; or make a call."""
    end_with(parent)
    if isinstance(one, _Call):
        limit_threads()
        return Answer(one.key, "called", value=one.function(*one.arguments))
    with store.claim(*one.key) as mine:
        if not mine:
            return Answer(one.key, "busy")
        limit_threads()
        start = time.perf_counter()
        try:
            _check_identity(one.experiment)
            with time_limit(limit):
                trace = play(one.experiment, one.repetition)
            columns = trace.columns()
            if not columns:
                raise TaskError("found no round at all before the log's end, expected at least one")
        except (Exception, SystemExit) as error:
            return _failed(store, one, error, traceback.format_exc())
        seconds = time.perf_counter() - start
        store.write(*one.key, columns, {"seconds": seconds, "costs": trace.costs, "environment": environment()})
    return Answer(one.key, "new", seconds=seconds)


def _failed(store: Store, pair: _Pair, error: BaseException, trace: str) -> Answer:
    first_line = str(error).strip().partition("\n")[0]
    text = first_line if isinstance(error, BenchError) else f"{type(error).__name__}: {first_line}".removesuffix(": ")
    record = {"error": text, "traceback": trace, "repetition": pair.repetition, "settings": pair.experiment.settings}
    store.fail(*pair.key, record)
    return Answer(pair.key, "failed", text)


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


def _prepare(experiment: Experiment, pairs: list[_Pair], check: bool) -> tuple[Experiment, list[_Pair], bool]:
    """Start a task once, which prepares its data; what fails here is left to the repetitions, unless it is checked."""
    if check:
        check_experiment(experiment)
    else:
        with suppress(Exception):
            build(experiment.settings)[0].start(1, Seeds(experiment.settings["seed"]))
    return experiment, pairs, check
