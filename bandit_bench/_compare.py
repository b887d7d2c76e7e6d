"""Comparisons: run the missing repetitions of every combination, draw a figure, and judge the differences."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from bandit_bench._comparison import ComparisonResult
from bandit_bench._parts import Axis, Parts, axis_of, check_words, is_direct, runner_of, settings_of
from bandit_bench._plan import LOOK, METHOD, ComparisonPlan
from bench.errors import ConfigError
from bench.report.formats import extra_formats, print_size
from bench.report.labels import canonical
from runners.config.compose import most_repetitions
from runners.config.figures import LabelledRun
from runners.config.folders import look_again
from runners.config.tree import one_of

if TYPE_CHECKING:
    from bench.report.formats import Size
    from runners.execute.missing import Instead


def compare(
    tuners: Parts,
    *,
    env: Parts = "synthetic_linear",
    algorithm: Parts | None = None,
    task: Parts | None = None,
    paper: str = "none",
    horizon: int | None = None,
    repetitions: int | Literal["until_decided"] | None = None,
    max_repetitions: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    sweep: Mapping[str, Sequence[Any] | Mapping[str, Any]] | None = None,
    lines: str | Sequence[str] = "tuner",
    column: str | None = None,
    name: str = "",
    jobs: int = 1,
    runner: str | Mapping[str, Any] | None = None,
    strict: bool = False,
    renew: bool = False,
    tie: float | None = None,
    scale: str = "paper",
    formats: tuple[str, ...] = (),
    size: "Size" = "",
    command: str = "",
    instead: "Instead | None" = None,
    **look: Any,
) -> ComparisonResult:
    """Compare tuners, or algorithms, and return curves, final values and verdicts.

    A part is a name (``"cdt"``), a class, an object of a `component` class, or a pair of one of these and a dict of
    settings. Several parts are given as a list, or as a dict by label. Several environments, algorithms or values make
    panels. Finished repetitions are reused unless the code has changed. The results are written to
    ``results/compare/<name>``.

    Parameters
    ----------
    tuners
        The compared tuners; the first tuner is compared with every other one.
    env, algorithm, task
        The problem. By default the environment chooses the algorithm, and the algorithm chooses the task.
    paper
        The paper whose settings apply.
    horizon, repetitions, seed
        The number of rounds, the number of repetitions, and the base seed. With ``repetitions="until_decided"``
        repetitions are added until the verdicts are decided, at most ``max_repetitions``.
    settings
        Further keys, such as ``{"env.dim": 5}`` or ``{"tuner.radius_scale": 0.5}``; a key of the tuner applies to
        all tuners.
    sweep
        Keys with several values, each of which makes a panel: ``{"env.dim": [5, 25]}``, or by label ``{"env.dim":
        {"small": 5}}``.
    lines
        The axis of the lines: ``"tuner"``, ``"algorithm"``, another key with several values, or a list of these.
    column
        The compared column of the trace. The default is regret; if there is no regret, it is the mean reward per
        accepted round of a log (sums are refused), the best score of training, or the true value of a learnt
        policy. Low values of regret are better, high values of any other column.
    name
        The last part of the folder's path; by default made from the compared parts.
    jobs, runner
        The number of processes, and the back end: ``"loky"``, ``"dask"``, or keys of `runner` such as
        ``{"time_limit": 60}``.
    strict
        Whether one line that cannot be run stops the other lines.
    renew
        Whether finished repetitions are run again.
    tie
        The largest difference that counts as a tie, as a share of the mean of the second tuner; by default .05.
    scale
        ``"quick"`` or ``"smoke"`` for shorter runs and fewer repetitions.
    formats, size
        Formats in addition to SVG and PNG, such as ``("pdf", "tex")``, and the width of the PDF: ``"column"`` or
        ``"text"``.
    command, instead
        For the command line: its arguments, and a function that is called with the figure instead of making the
        figure.
    look
        Options of the drawing: ``y_scale="log"``, ``x_scale="log"``, ``colors={label: colour}``, and ``rounds``,
        the number of rounds of a curve (default 60, at most 500).

    Raises BenchError with the value found and the value expected if no line can be run.
    """
    for key in look.keys() - {*LOOK}:
        raise ConfigError(f"{key}: found an argument that compare does not have, {one_of(key, LOOK)} for the drawing")
    check_words(paper=paper, name=name, column=column or "", scale=scale)
    look_again()
    axes = {"tuner": axis_of("tuner", tuners), "env": axis_of("env", env)}
    if algorithm is None and is_direct(env):
        algorithm = "none"
    axes |= {key: axis_of(key, part) for key, part in (("algorithm", algorithm), ("task", task)) if part is not None}
    axes |= {key.lstrip("+"): axis_of(key, values) for key, values in (sweep or {}).items()}
    until = most_repetitions(repetitions, max_repetitions)
    sizes = {"horizon": horizon, "repetitions": repetitions if until is None else None, "seed": seed}
    plan = ComparisonPlan(
        axes=axes,
        lines=(lines,) if isinstance(lines, str) else tuple(lines or [""]),
        common=settings_of(settings),
        sizes=settings_of({key: value for key, value in sizes.items() if value is not None}),
        machine=settings_of({"jobs": jobs}) + runner_of(runner),
        paper=paper,
        scale=scale,
        column=column or "",
        name=name,
        until_decided=until,
        tie=tie,
        look=look,
    )
    formats = extra_formats(formats)
    size = print_size(size, formats)
    runs = plan.runs()  # wrong arguments are refused before slow imports
    plan.check_number()
    plan = replace(plan, column=_compared(plan.column, runs[0].experiment))
    from bench.report.figure import read_figure
    from runners.execute.asked_figure import AskedFigure
    from runners.execute.reproduce_figure import reproduce_figure
    from runners.execute.stand_ins import announcement, missing_data
    from runners.execute.workers import workers
    from runners.results.comparison_pages import write_comparisons
    from runners.results.store import Store, alone, finished, results_folder, reuse_line

    store, back_end = Store(results_folder()), runs[0].runner
    wanted = {run.experiment.run_id: until or run.settings.repetitions for run in runs}
    before = finished(store, wanted, renew=renew and not instead)
    with workers(back_end, jobs):
        methods, notes, data_notes = _that_fit(plan, runs, strict=strict)
        left = {canonical(method) for method in methods}
        runs = [run for run in runs if run.labels[METHOD] in left]
        figure = read_figure(plan.figure(methods, runs, _tuned(plan, runs)))
        for line in [*announcement({figure.name: missing_data(runs)}), *data_notes, *(notes if instead else [])]:
            print(line, flush=True)
        asked = AskedFigure(
            figure,
            f"compare/{figure.name}",
            plan.scale,
            plan.sizes.words,
            command or f"bandit_bench.compare([{', '.join(plan.methods)}], ...), in your own notebook or script",
            until_decided=until,
            formats=formats,
            size=size,
            runs=runs,
        )
        if instead:
            instead([asked], jobs, back_end)
            return ComparisonResult(results_folder() / asked.where, figure, is_complete=False)
        refusal = (
            f"name: found '{figure.name}', which another command is writing, expected a free name: choose another, or "
            "wait until it has finished"
        )
        with alone(results_folder() / "compare" / f".{figure.name}.lock", refusal):
            result = reproduce_figure(asked, jobs=jobs, runner=back_end)
            notes += result.notes
            for note in () if command else result.notes:  # the command prints all notes below its tables
                print(f"warning: {note}", file=sys.stderr)
            write_comparisons(results_folder(), result.folder.name)
    is_complete = result.complete and len(methods) == len(plan.methods)
    if line := reuse_line(store, before, "renew=true" if command else "renew=True"):
        notes.append(f"Reused repetitions: {line}")
    return ComparisonResult(result.folder, figure, is_complete=is_complete, notes=notes)


def _that_fit(plan: ComparisonPlan, runs: Sequence[LabelledRun], *, strict: bool) -> tuple[Axis, list[str], list[str]]:
    """Return the lines that can be run in every panel, with notes on the lines and on the data before the run.

    Logs the reasons why other lines cannot be run. Raises ConfigError if fewer than two lines are left, if no line has
    the column, or, with ``strict``, for the first line that cannot be run.
    """
    from runners.config.classes import require  # slow to import
    from runners.execute.fit import check_columns, fits
    from runners.results.store import Store, results_folder

    store, methods = Store(results_folder()), plan.methods
    _refuse_in_logs(plan.column, [run.experiment for run in runs])
    for run in runs if plan.until_decided is None else ():
        run.experiment.check_repetitions(run.settings.repetitions)
    new = [run for run in runs if not set(range(run.settings.repetitions)) <= store.done(run.experiment.run_id)]
    if not new:
        check_columns({plan.column: "column"}, [run.experiment for run in runs], {}, store, as_curves=True)
        return methods, [], []
    every = [run.experiment for run in new]
    require(*({part: cls for part, cls in one.classes.items() if part not in one.own} for one in every))
    by_id = {one.run_id: one for one in every}
    found = fits(by_id.values(), [plan.column], jobs=runs[0].settings.jobs, runner=runs[0].runner)
    reasons: dict[str, str] = {}
    errors = {fit.error for fit in found.values()}
    if len(errors) == 1 and (error := errors.pop()):  # an error of the data, not of a line
        raise ConfigError(error)
    for run in new:
        error, labels = found[run.experiment.run_id].error, dict(run.labels)
        if error:
            method = labels.pop(METHOD)
            own = error.replace(f"{method}: ", "", 1)
            reasons.setdefault(method, ", ".join([method, *map(str, labels.values())]) + f": {own}")
    left = {method: piece for method, piece in methods.items() if canonical(method) not in reasons}
    if reasons and (strict or len(left) < 2):
        raise ConfigError(next(iter(reasons.values())))
    for reason in reasons.values():
        print(f"error: left out: {reason}", file=sys.stderr)
    fitting = [found[run.experiment.run_id] for run in new if run.labels[METHOD] not in reasons]
    kept = [run.experiment for run in runs if run.labels[METHOD] not in reasons]
    check_columns({plan.column: "column"}, kept, found, store, as_curves=True)
    is_unequal = len({fit.searches for fit in fitting} - {None}) > 1
    notes = list(dict.fromkeys(text for fit in fitting for text in fit.apart)) if is_unequal else []
    by_data = {(repr(one.settings["env"]), *one.handed.values()): one for one in every}
    data = dict.fromkeys(line for experiment in by_data.values() for line in experiment.data_notes())
    return left, notes, list(data)


def _refuse_in_logs(column: str, experiments: Iterable[Any]) -> None:
    """Raise ConfigError if ``column`` in a log is regret or a sum over rounds, whose number differs between runs."""
    for cls in {experiment.classes["env"] for experiment in experiments}:
        if getattr(cls, "rejects", False) and column in cls.sums:
            raise ConfigError(
                f"column: found '{column}', a sum over accepted rounds, whose number differs from run to run in "
                f"{cls.__name__}, expected a mean, such as {cls.compared}"
            )
        if column == "regret" and getattr(cls, "rejects", False):
            raise ConfigError(
                f"column: found 'regret', which {cls.__name__} cannot compute, because a log lacks the rewards of "
                f"other actions, expected another column, such as column={cls.compared}, or none"
            )


def _compared(column: str, experiment: Any) -> str:
    """Return the requested column, or else the default column of the task or environment, or else regret."""
    classes = experiment.classes
    by_default: str = getattr(classes["task"], "compared", "") or getattr(classes["env"], "compared", "regret")
    return column or by_default


def _tuned(plan: ComparisonPlan, runs: Sequence[LabelledRun]) -> str:
    """Return the tuned hyper-parameters of each algorithm, with the environments if they differ."""
    if len(plan.axes.get("algorithm", ())) > 1:
        return ""
    where: dict[str, dict[str, None]] = {}
    for run in runs:
        settings, cls = run.experiment.settings.get("algorithm") or {}, run.experiment.classes.get("algorithm")
        tuned = f"{', '.join(settings['tune'])} of {cls.__name__}" if cls and settings.get("tune") else ""
        where.setdefault(tuned, {})[str(run.labels.get("env", ""))] = None
    several = len(where) > 1
    texts = [tuned + f" in {', '.join(envs)}" * several for tuned, envs in where.items() if tuned]
    return f"Tuned: {'; '.join(texts)}" if texts else ""
