"""Comparisons: run what is missing of every combination, draw a figure, and judge what differs."""

import inspect
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from bandit_bench._comparison import ComparisonResult
from bandit_bench._parts import Axis, Part, Parts, axis_of, is_direct, literal, runner_words, setting_words, words_of
from bandit_bench._plan import LOOK, METHOD, ComparisonPlan
from bench.errors import ConfigError
from bench.report.labels import canonical
from runners.config.compose import Run, from_overrides
from runners.config.folders import look_again
from runners.config.nearest import one_of
from runners.config.repetitions import most_repetitions


def compare(
    tuners: Parts,
    *,
    env: Parts = "synthetic_linear",
    algorithm: Parts | None = None,
    task: Part | None = None,
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
    **look: Any,
) -> ComparisonResult:
    """Compare tuners, or algorithms, and return curves, final values and verdicts.

    A part is a name (``"cdt"``), a class, an object made of a `component` class, or a pair of one of these and a dict
    of settings; several are a list, or a dict by label. Several environments, algorithms or values make panels. What
    has been run before is not run again, unless its code has changed; the results are in ``results/compare/<name>``.

    Parameters
    ----------
    tuners
        What is compared; the first is held against each of the others.
    env, algorithm, task
        What they are compared on. By default an environment chooses its algorithm, an algorithm its task.
    paper
        The paper whose settings apply.
    horizon, repetitions, seed
        Rounds, repetitions (``"until_decided"``: as many as verdicts need, at most ``max_repetitions``), base seed.
    settings
        Further keys, such as ``{"env.dim": 5}`` or ``{"tuner.radius_scale": 0.5}``, the latter for all tuners.
    sweep
        Keys with several values, each a panel: ``{"env.dim": [5, 25]}``, or by label ``{"env.dim": {"small": 5}}``.
    lines
        What makes the lines: ``"tuner"``, ``"algorithm"``, another key of several values, or several of these.
    column
        The column of the trace that is compared, by default regret, or the mean reward per accepted round of a log,
        which has no regret and where sums are refused. Of regret and seconds less is better, of others more.
    name
        The last part of the folder; by default made of what is compared.
    jobs, runner
        Number of processes; ``"loky"``, ``"dask"``, or keys of `runner` such as ``{"time_limit": 60}``.
    strict
        Whether one line that cannot be run stops the others.
    look
        How it is drawn: ``y_scale="log"``, ``x_scale="log"``, ``colors={label: colour}``, and ``rounds``, how many
        rounds of a curve are kept (default 60; of a trace at most 500 are there).

    Raises BenchError, naming what was found and what is expected, where nothing can be run.
    """
    _check_look(look)
    look_again()
    axes = {"tuner": axis_of("tuner", tuners), "env": axis_of("env", env)}
    if algorithm is not None:
        axes["algorithm"] = axis_of("algorithm", algorithm)
    elif is_direct(env):
        axes["algorithm"] = {"none": ["algorithm=none"]}
    for key, values in (sweep or {}).items():
        axes[key] = _axis(key, values)
    common = words_of("task", task) if task is not None else []
    common += setting_words(settings)
    until = most_repetitions(repetitions, max_repetitions)
    sizes = {"horizon": horizon, "repetitions": repetitions if until is None else None, "seed": seed}
    return compare_as_planned(
        ComparisonPlan(
            axes=axes,
            lines=(lines,) if isinstance(lines, str) else tuple(lines),
            common=common,
            sizes=[f"{key}={value}" for key, value in sizes.items() if value is not None],
            machine=[f"jobs={jobs}", *runner_words(runner)],
            paper=paper,
            column=column or "",
            name=name,
            until_decided=until,
            strict=strict,
            look=look,
        )
    )


def compare_as_planned(plan: ComparisonPlan) -> ComparisonResult:
    """Carry out a plan. Raises BenchError where nothing can be run or written."""
    run = _first_run(plan)  # what is wrong is said before what takes long is imported
    plan.check_number()
    plan = replace(plan, column=_compared(plan.column, run.experiment))

    from bench.gallery.stored import COMPARISON
    from bench.report.figure import read_figure
    from runners.config.figures import expand
    from runners.execute.figure_run import AskedFigure
    from runners.execute.reproduce_figure import reproduce_figure
    from runners.execute.stand_ins import announcement, missing_data
    from runners.execute.workers import workers
    from runners.results.comparison_pages import write_comparisons
    from runners.results.store import alone, results_folder, write_text

    figure = read_figure(plan.figure())
    where = f"compare/{figure.name}"
    jobs = run.settings.jobs
    with workers(run.runner, jobs):
        runs = expand(figure, plan.scale, list(plan.sizes), readings=False)
        methods, notes, data_notes = _that_fit(plan, runs, jobs, run.runner)
        content = plan.figure(methods, _tuned(plan, runs))
        figure = read_figure(content)
        for line in announcement({content["name"]: missing_data(figure)}):
            print(line, flush=True)
        for line in data_notes:
            print(line, flush=True)
        refusal = (
            f"name: found '{content['name']}', which another command is writing, expected a free name: choose "
            "another, or wait until it has finished"
        )
        with alone(results_folder() / "compare" / f".{content['name']}.lock", refusal):
            result = reproduce_figure(
                AskedFigure(
                    figure,
                    where,
                    plan.scale,
                    list(plan.sizes),
                    plan.in_words,
                    until_decided=plan.until_decided,
                    formats=plan.formats,
                    size=plan.size,
                ),
                jobs=jobs,
                runner=run.runner,
            )
            write_text(result.folder / COMPARISON, json.dumps(content, indent=1) + "\n")
            write_comparisons(results_folder())
    is_complete = result.complete and len(methods) == len(plan.methods)
    return ComparisonResult(result.folder, figure, is_complete=is_complete, notes=notes)


def _first_run(plan: ComparisonPlan) -> Run:
    """Return the first of a plan's runs, and compose one with each of its labels. Raises ConfigError."""
    (block,) = plan.figure()["runs"]
    first = {axis: next(iter(labels.values())) for axis, labels in block.items()}
    run = from_overrides(plan.overrides([word for words in first.values() for word in words]))
    for axis, labels in block.items():
        for other in list(labels.values())[1:]:
            from_overrides(plan.overrides([word for words in (first | {axis: other}).values() for word in words]))
    return run


def _compared(column: str, experiment: Any) -> str:
    """Return the column that is compared: the one asked for, else that of the environment, else regret."""
    by_default: str = getattr(experiment.classes["env"], "compared", "regret")
    return column or by_default


def _refuse_in_logs(column: str, experiments: Iterable[Any]) -> None:
    """Refuse regret in a log, and what adds up over rounds, whose number differs from run to run (ConfigError)."""
    for cls in {experiment.classes["env"] for experiment in experiments}:
        if getattr(cls, "rejects", False) and column in cls.sums:
            raise ConfigError(
                f"column: found '{column}', the sum over accepted rounds, and the number of these rounds differs from "
                f"run to run in {cls.__name__}, expected a mean, such as {cls.compared}"
            )
        if column == "regret" and getattr(cls, "rejects", False):
            raise ConfigError(
                f"column: found 'regret', which {cls.__name__} does not know, as a log does not say what other actions "
                f"would have earned, expected another, such as column={cls.compared}, or none"
            )


def _tuned(plan: ComparisonPlan, runs: Sequence[Any]) -> str:
    """Return which hyper-parameters of which algorithm are tuned, and in which environments, if not in all."""
    if len(plan.axes.get("algorithm", ())) > 1:
        return ""
    where: dict[str, dict[str, None]] = {}
    for run in runs:
        settings, cls = run.experiment.settings.get("algorithm") or {}, run.experiment.classes.get("algorithm")
        tuned = f"{', '.join(settings['tune'])} of {cls.__name__}" if settings.get("tune") else ""
        where.setdefault(tuned, {})[str(run.labels.get("env", ""))] = None
    several = len(where) > 1
    texts = [tuned + f" in {', '.join(envs)}" * several for tuned, envs in where.items() if tuned]
    return f"Tuned: {'; '.join(texts)}" if texts else ""


def _that_fit(plan: ComparisonPlan, runs: Sequence[Any], jobs: int, runner: Any) -> tuple[Axis, list[str], list[str]]:
    """Return the lines that can be run everywhere, what is to be noted of them, and of the data before the run.

    Says why others cannot.

    Raises ConfigError where fewer than two are left, or where none has the column, and with ``strict`` at once.
    """
    from runners.config.classes import is_suites, require  # slow to import
    from runners.execute.fit import fits
    from runners.results.store import Store, results_folder

    store, methods = Store(results_folder()), plan.methods
    _refuse_in_logs(plan.column, [run.experiment for run in runs])
    for run in runs if plan.until_decided is None else ():
        run.experiment.check_repetitions(run.settings.repetitions)
    new = [run for run in runs if not set(range(run.settings.repetitions)) <= store.done(run.experiment.run_id)]
    if not new:
        return methods, [], []
    require(*({part: cls for part, cls in run.experiment.classes.items() if is_suites(cls)} for run in new))
    found = fits({run.experiment.run_id: run.experiment for run in new}.values(), plan.column, jobs=jobs, runner=runner)
    reasons: dict[str, str] = {}
    errors = {found[run.experiment.run_id].error for run in new}
    if len(errors) == 1 and (error := errors.pop()):  # of the data, say, not of a line
        raise ConfigError(error)
    for run in new:
        error, labels = found[run.experiment.run_id].error, dict(run.labels)
        if error:
            method = labels.pop(METHOD)
            own = error.replace(f"{method}: ", "", 1)
            reasons.setdefault(method, ", ".join([method, *map(str, labels.values())]) + f": {own}")
    left = {method: words for method, words in methods.items() if method not in reasons}
    if reasons and (plan.strict or len(left) < 2):
        raise ConfigError(next(iter(reasons.values())))
    for reason in reasons.values():
        print(f"error: left out: {reason}", file=sys.stderr)
    fitting = [found[run.experiment.run_id] for run in new if run.labels[METHOD] in left]
    _check_column(plan.column, [fit.columns for fit in fitting])
    said = dict.fromkeys(line for fit in fitting for line in fit.data)
    for line in said:
        print(line, flush=True)
    is_unequal = len({fit.searches for fit in fitting} - {None}) > 1
    notes = list(dict.fromkeys(text for fit in fitting for text in fit.apart)) if is_unequal else []
    by_data = {repr(run.experiment.settings["env"]): run.experiment for run in new}
    data = dict.fromkeys(line for experiment in by_data.values() for line in experiment.data_notes())
    return left, notes, [line for line in data if line not in said]


def _check_column(column: str, columns: Iterable[Sequence[str]]) -> None:
    """Refuse a column that no trace has; nothing is said where the columns of a trace are not known."""
    known = list(columns)
    if known and all(known) and not any(column in names for names in known):
        names = dict.fromkeys(name for names in known for name in names if name != "round")
        raise ConfigError(f"column: found '{column}', expected one of: {', '.join(names)}")


def _check_look(look: Mapping[str, Any]) -> None:
    """Refuse an argument that `compare` does not have (ConfigError)."""
    for key in look.keys() - {*LOOK}:
        names = [name for name, kind in inspect.signature(compare).parameters.items() if kind.kind != kind.VAR_KEYWORD]
        where = {"size": "plot(size=...) and to_latex(size=...)", "format": "plot().savefig('name.pdf') or to_latex()"}
        cure = f"expected it of the result: {where[key]}" if key in where else one_of(key, [*names, *LOOK])
        raise ConfigError(f"{key}: found an argument that compare does not have, {cure}")


def _axis(key: str, values: Any) -> Axis:
    """Return the labels of a key's values, by default the values themselves, each with its override."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ConfigError(f"sweep: found {key} = {values!r}, expected several values, such as [5, 25]")
    pairs = values.items() if isinstance(values, Mapping) else [(value, value) for value in values]
    axis: Axis = {}
    for given, value in pairs:
        (word,) = setting_words({key: value})
        label = canonical(given) if isinstance(given, str | float) else literal(given)
        if label in axis:
            raise ConfigError(f"{key}: found two called '{label}', expected different labels")
        axis[label] = [word]
    return axis
