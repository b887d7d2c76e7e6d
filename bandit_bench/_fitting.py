"""Checks of a comparison before its run: the lines that can be run, and the missing data."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from bandit_bench._parts import Axis
from bandit_bench._plan import METHOD, ComparisonPlan
from bench.errors import ConfigError
from bench.report.labels import canonical
from runners.config.classes import is_suites, require
from runners.config.figures import LabelledRun
from runners.execute.fit import check_columns, fits
from runners.results.store import Store, results_folder


def that_fit(
    plan: ComparisonPlan, runs: Sequence[LabelledRun], jobs: int, runner: Any
) -> tuple[Axis, list[str], list[str]]:
    """Return the lines that can be run everywhere, with notes on them and on the data before the run.

    Logs the reasons for the other lines. Raises ConfigError if fewer than two are left, or none has the column, and
    with ``strict`` for the first that cannot be run.
    """
    store, methods = Store(results_folder()), plan.methods
    _refuse_in_logs(plan.column, [run.experiment for run in runs])
    for run in runs if plan.until_decided is None else ():
        run.experiment.check_repetitions(run.settings.repetitions)
    new = [run for run in runs if not set(range(run.settings.repetitions)) <= store.done(run.experiment.run_id)]
    if not new:
        check_columns({plan.column: "column"}, [run.experiment for run in runs], {}, store)
        return methods, [], []
    require(*({part: cls for part, cls in run.experiment.classes.items() if is_suites(cls)} for run in new))
    found = fits(
        {run.experiment.run_id: run.experiment for run in new}.values(), [plan.column], jobs=jobs, runner=runner
    )
    reasons: dict[str, str] = {}
    errors = {found[run.experiment.run_id].error for run in new}
    if len(errors) == 1 and (error := errors.pop()):  # an error of the data, not of a line
        raise ConfigError(error)
    for run in new:
        error, labels = found[run.experiment.run_id].error, dict(run.labels)
        if error:
            method = labels.pop(METHOD)
            own = error.replace(f"{method}: ", "", 1)
            reasons.setdefault(method, ", ".join([method, *map(str, labels.values())]) + f": {own}")
    left = {method: piece for method, piece in methods.items() if canonical(method) not in reasons}
    if reasons and (plan.strict or len(left) < 2):
        raise ConfigError(next(iter(reasons.values())))
    for reason in reasons.values():
        print(f"error: left out: {reason}", file=sys.stderr)
    fitting = [found[run.experiment.run_id] for run in new if run.labels[METHOD] not in reasons]
    kept = [run.experiment for run in runs if run.labels[METHOD] not in reasons]
    check_columns({plan.column: "column"}, kept, found, store)
    is_unequal = len({fit.searches for fit in fitting} - {None}) > 1
    notes = list(dict.fromkeys(text for fit in fitting for text in fit.apart)) if is_unequal else []
    by_data = {(repr(run.experiment.settings["env"]), *run.experiment.handed.values()): run.experiment for run in new}
    data = dict.fromkeys(line for experiment in by_data.values() for line in experiment.data_notes())
    return left, notes, list(data)


def _refuse_in_logs(column: str, experiments: Iterable[Any]) -> None:
    """Raise ConfigError for regret in a log, and for sums over rounds, whose number differs between runs."""
    for cls in {experiment.classes["env"] for experiment in experiments}:
        if getattr(cls, "rejects", False) and column in cls.sums:
            raise ConfigError(
                f"column: found '{column}', the sum over accepted rounds, and the number of these rounds differs from "
                f"run to run in {cls.__name__}, expected a mean, such as {cls.compared}"
            )
        if column == "regret" and getattr(cls, "rejects", False):
            raise ConfigError(
                f"column: found 'regret', which {cls.__name__} does not know, as a log lacks the rewards of other "
                f"actions, expected another column, such as column={cls.compared}, or none"
            )
