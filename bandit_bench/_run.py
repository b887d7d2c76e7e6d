"""One experiment: its repetitions with their traces."""

import html
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bandit_bench._parts import Part, Piece, check_words, is_direct, part_of, runner_of, settings_of
from bench.columns import column_of
from bench.errors import BenchError
from runners.config.folders import look_again

if TYPE_CHECKING:  # slow to import
    import pandas as pd

    from bench.tuners.base import Tuner
    from runners.config.compose import Run
    from runners.execute.fanout import Result
    from runners.results.store import Store


class RunResult:
    """An experiment and its repetitions.

    ``done`` lists the repetitions that have a result, and ``new`` the repetitions that this call ran. ``failed`` maps
    each failed repetition to its error. ``seconds`` is the duration of the call; ``notes`` holds warnings about the
    numbers.
    """

    def __init__(
        self, composed: "Run", store: "Store", result: "Result", seconds: float, notes: Sequence[str] = ()
    ) -> None:
        self.composed, self._store = composed, store
        self.done, self.new, self.failed = sorted(result.done), sorted(result.new), dict(sorted(result.failed.items()))
        self.seconds = seconds
        self.notes = list(notes)

    @property
    def run_id(self) -> str:
        """The name of the run's folder among the raw runs."""
        return self.composed.experiment.run_id

    @property
    def folder(self) -> Path:
        return self._store.folder(self.run_id)

    @property
    def settings(self) -> dict[str, Any]:
        return self.composed.experiment.settings

    @cached_property
    def traces(self) -> "pd.DataFrame":
        """One row per kept round of each repetition: ``repetition``, ``round``, and the columns of the trace.

        Up to 500 rounds are kept, evenly spaced; regret and other sums are over all rounds.
        """
        import pandas as pd

        self._require_some()
        parts = {number: self._store.read(self.run_id, number) for number in self.done}
        return pd.concat(parts, names=["repetition"]).reset_index("repetition").reset_index(drop=True)

    @cached_property
    def finals(self) -> "pd.DataFrame":
        """One row per repetition, with its number and the values at the last round."""
        return self.traces.groupby("repetition").tail(1).reset_index(drop=True)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """Mean, standard deviation and 95 % interval of the last values of every numeric column except choices.

        A choice is a candidate, or the index of an arm. Raises BenchError if all repetitions failed.
        """
        self._require_some()
        return self._metrics(intervals=True)

    @cached_property
    def means(self) -> dict[str, Any]:
        """The same values as `metrics` without the intervals, which avoids the slow import of SciPy."""
        return self._metrics(intervals=False)

    def _metrics(self, *, intervals: bool) -> dict[str, Any]:
        from bench.stats import mean, mean_interval, standard_deviation  # slow to import

        rounds = [self._store.last_round(self.run_id, number) for number in self.done]
        report: dict[str, Any] = {}
        for name in dict.fromkeys(name for last in rounds for name in last if name != "round"):
            finals = [last[name] for last in rounds if name in last]
            values: list[Any] = [None if value in ("None", None) or value != value else value for value in finals]
            values = [value if isinstance(value, str | None) else float(value) for value in values]
            summary: dict[str, Any] = {}
            if all(isinstance(value, float) for value in values) and not self._is_choice(name, values):
                ends = {"std": standard_deviation(values)}
                if intervals:
                    interval = mean_interval(values)
                    ends |= {"ci_low": interval.low, "ci_high": interval.high}
                summary = {"mean": mean(values)} | {key: end if end == end else None for key, end in ends.items()}
            report[f"final_{name}"] = summary | {"values": values}
        return report

    def _is_choice(self, name: str, values: Sequence[float]) -> bool:
        """Whether the values of a column are candidates or indices of arms, whose mean is meaningless."""
        algorithm = self.settings["algorithm"]
        if algorithm is None:
            return column_of(name)[:2] == ("", "") and all(value.is_integer() for value in values)
        parameter = (algorithm.get("space") or {}).get(name)
        return parameter is not None and set(values) <= set(parameter.get("candidates") or ())

    def _require_some(self) -> None:
        if not self.done:
            number, error = next(iter(self.failed.items()))
            trace = self._store.path(self.run_id, number, ".failed.json")
            raise BenchError(
                f"found no finished repetition: all {len(self.failed)} failed, the first with {error}; its traceback: "
                f"{trace}"
            )

    def _failures(self) -> str:
        """Return the number of failed repetitions and the error of the first; "" if no repetition failed."""
        if not self.failed:
            return ""
        number, error = next(iter(self.failed.items()))
        return f"{len(self.failed)} failed (repetition {number}: {error})"

    def __repr__(self) -> str:
        chosen = " ".join(f"{group}={self.composed.choices[group]}" for group in ("env", "algorithm", "tuner"))
        counts = "; ".join(filter(None, [f"{len(self.new)} new", self.reused("renew=True"), self._failures()]))
        return f"<RunResult: {chosen}, {len(self.done)} repetitions ({counts}), in {self.folder}>"

    def reused(self, renew: str = "renew=true") -> str:
        """Return the days of reused repetitions and the argument that runs them again; "" if none was reused."""
        from runners.results.store import reuse_line  # slow to import

        return reuse_line(self._store, {self.run_id: sorted({*self.done} - {*self.new})}, renew)

    def _repr_html_(self) -> str:
        table = str(self.finals.to_html(index=False, float_format="{:.5g}".format, border=0)) if self.done else ""
        lines = [*filter(None, [self._failures()]), *self.notes]
        return table + "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def run(
    tuner: Part = "tl",
    *,
    env: Part = "synthetic_linear",
    algorithm: Part | None = None,
    task: Part | None = None,
    paper: str = "none",
    horizon: int | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    jobs: int = 1,
    runner: str | Mapping[str, Any] | None = None,
    renew: bool = False,
) -> RunResult:
    """Run the missing repetitions of one experiment and return all repetitions; see `compare` for the arguments.

    ``renew`` is whether finished repetitions are run again. A repetition that fails is recorded and does not stop the
    other repetitions. Raises BenchError with the value found and the value expected if the experiment cannot be run.
    """
    check_words(paper=paper)
    look_again()
    if algorithm is None and is_direct(env):
        algorithm = "none"
    parts = {"tuner": tuner, "env": env, "algorithm": algorithm, "task": task}
    asked = sum((part_of(*each) for each in parts.items() if each[1] is not None), Piece({"paper": paper}))
    sizes = {"horizon": horizon, "repetitions": repetitions, "seed": seed, "jobs": jobs, "renew": renew}
    asked += settings_of(settings)
    asked += settings_of({key: value for key, value in sizes.items() if value is not None}) + runner_of(runner)
    return run_composed(asked.composed())


def tuner(name: Part, /, **settings: Any) -> "Tuner":
    """Return a tuner for use in your own loop, given by name with the settings of `run`, or by its class.

    ``settings`` override the settings of `run`. The tuner that a floor guards may be given by its name. Raises
    ConfigError for an unknown tuner or setting, or if a package is not installed.
    """
    from runners.config.classes import construct, require  # slow to import

    look_again()
    if name == "floor" and "." not in (guarded := str(settings.get("tuner", "ucb1"))):
        found = part_of("tuner", (guarded, settings.get("arguments", {}))).composed().experiment.settings["tuner"]
        settings |= {"tuner": found.pop("_target_"), "arguments": found}
    experiment = part_of("tuner", (name, settings)).composed().experiment
    require({"tuner": experiment.classes["tuner"]})
    made: Tuner = construct("tuner", experiment.classes["tuner"], experiment.settings["tuner"])
    return made


def run_composed(composed: "Run", *, says_data: bool = False) -> RunResult:
    """Run the missing repetitions of one experiment.

    ``says_data`` is whether notes on the data are printed before the run.
    """
    from runners.execute.fanout import not_determined, run_all  # slow to import
    from runners.execute.fit import check
    from runners.execute.workers import workers
    from runners.results.store import Store, finished, results_folder

    store, experiment, n = Store(results_folder()), composed.experiment, composed.settings.repetitions
    experiment.check_repetitions(n)
    is_missing = len(finished(store, {experiment.run_id: n}, renew=composed.settings.renew)[experiment.run_id]) < n
    if says_data:
        said = experiment.data_notes() if is_missing else []
        for line in (*(data.missing for data in experiment.missing_data()), *said):
            print(line, flush=True)
    jobs = 1 if n == 1 else composed.settings.jobs
    with workers(composed.runner, jobs) if is_missing else nullcontext():
        if is_missing:
            check([experiment], jobs=jobs, runner=composed.runner)
        start = time.perf_counter()
        result = run_all([experiment], n, store, jobs=jobs, runner=composed.runner)[experiment.run_id]
        seconds = time.perf_counter() - start
    notes = not_determined([(experiment, result.new)], store, limit=composed.runner.time_limit)
    for sentence in notes:
        print(f"warning: {sentence}", file=sys.stderr)
    return RunResult(composed, store, result, seconds, notes)
