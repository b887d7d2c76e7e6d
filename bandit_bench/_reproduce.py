"""Reproduction of papers' figures."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from bandit_bench._comparison import ComparisonResult
from bandit_bench._parts import check_words, labels_by_axis, literal, runner_of
from bench.errors import ConfigError
from bench.report.formats import extra_formats, print_size
from runners.config.compose import most_repetitions, run_settings
from runners.config.figures import figure_names, load_figure
from runners.config.filled import filled
from runners.config.folders import look_again, results_folder
from runners.config.runner import Runner
from runners.config.tree import read_choice

if TYPE_CHECKING:  # slow to import
    from bench.report.figure import Figure
    from bench.report.formats import Size
    from runners.execute.asked_figure import AskedFigure, WrittenFigure
    from runners.execute.missing import Instead

Scale = Literal["smoke", "quick", "reduced", "paper"]


@dataclass(frozen=True)
class ReproductionPlan:
    """The requested figures, by name, and their options; see `reproduce`.

    ``instead`` is called with the figures, and no figure is made; it may, for example, run a share of their
    repetitions.
    """

    names: Sequence[str]
    scale: str = "quick"
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    horizon: int | None = None
    repetitions: int | str | None = None
    max_repetitions: int | None = None
    seed: int = 0
    readings: bool | None = None
    surrogate: bool = False
    renew: bool = False
    jobs: int = 1
    runner: Runner = field(default_factory=Runner)
    formats: tuple[str, ...] = ()
    size: "Size" = ""
    instead: "Instead | None" = None


def reproduce(
    figure: str = "",
    *,
    paper: str = "",
    scale: Scale = "quick",
    only: Mapping[str, str | Sequence[str]] | None = None,
    horizon: int | None = None,
    repetitions: int | Literal["until_decided"] | None = None,
    max_repetitions: int | None = None,
    seed: int = 0,
    readings: bool | None = None,
    surrogate: bool = False,
    jobs: int = 1,
    runner: str | Mapping[str, Any] | None = None,
) -> dict[str, ComparisonResult]:
    """Make a figure, such as ``"cdt/figure2"``, or all figures of a paper, and return the results by name.

    Finished repetitions are reused. At scale paper a figure with the key `repetitions_of` is made together with the
    figure that the key names. ``only`` makes a part of a figure, given by labels for each axis, such as ``{"panel":
    "LinUCB, simulation"}``, with the claims and published numbers about these labels, under the first reading.
    ``horizon``, ``repetitions`` and ``seed`` override the sizes of the scale. ``readings`` is whether all readings are
    run; by default the scale decides. ``surrogate`` is whether, at scale paper, stand-ins may replace missing data.

    Raises BenchError if a setting is wrong, or a figure cannot be written.
    """
    look_again()
    plan = plan_of(
        figure, paper, only, scale=scale, horizon=horizon, repetitions=repetitions, max_repetitions=max_repetitions,
        seed=seed, readings=readings, surrogate=surrogate, jobs=jobs, runner=runner_of(runner).composed().runner,
    )  # fmt: skip
    from runners.results.pages import write_gallery  # slow to import

    made = make(plan)
    write_gallery(results_folder())
    for run in made:
        if run.error:
            raise ConfigError(f"{run.name}: {run.error}")
    return {run.name: ComparisonResult(run.folder, run.asked.figure, is_complete=run.complete) for run in made}


def plan_of(
    figure: str | None, paper: str | None, only: Any = None, formats: Any = (), size: Any = "", **others: Any
) -> ReproductionPlan:
    """Return the plan of one figure, of all figures of a paper, or of all figures of all papers.

    Raises ConfigError naming the wrong key.
    """
    check_words(figure=figure or "", paper=paper or "", scale=others["scale"])
    if figure and paper and not figure.startswith(f"{paper}/"):
        raise ConfigError(f"paper: found '{paper}' with figure={figure}, expected its paper, or none")
    names = [figure] if figure else figure_names(paper or None)
    if not names:
        raise ConfigError(f"paper: found '{paper}', which has no figures, expected a paper that has some")
    labels = labels_by_axis(only, """'only={panel: "LinUCB, simulation"}'""")
    formats = extra_formats(formats)
    return ReproductionPlan(names, only=labels, formats=formats, size=print_size(size, formats), **others)


def make(plan: ReproductionPlan) -> "list[WrittenFigure]":
    """Make the planned figures without their pages and return them; the list is empty if ``instead`` is given."""
    from runners.execute.reproduce_figure import reproduce_figures
    from runners.execute.stand_ins import announcement, drawn_from_committed, lacks_data, missing_data, refuse
    from runners.execute.workers import spread, workers
    from runners.execute.write_figure import redraw
    from runners.results.folder import ResultFolder  # slow to import
    from runners.results.pages import load_headlines

    asked = {name: _asked(plan, name) for name in plan.names}
    asked |= {name: _asked(plan, name) for name in [one.repetitions_of for one in asked.values()] if name}
    asked = {n: one if one.repetitions_of else replace(one, runs=one.experiments()) for n, one in asked.items()}
    load_headlines(plan.names[0].partition("/")[0])
    missing = {name: missing_data(one.experiments()) for name, one in asked.items() if not one.repetitions_of}
    is_strict = plan.scale == "paper" and not plan.surrogate
    lacking = [name for name, needed in missing.items() if plan.scale == "paper" and lacks_data(needed)]
    for name, one in asked.items():
        if (one.repetitions_of or name) in lacking:
            asked[name] = replace(one, command=f"{one.command} surrogate=yes")
    stored = []
    for name in lacking:
        if committed := asked[name].committed() if is_strict else None:
            stored.append((asked[name], committed))
            print(drawn_from_committed(name, missing.pop(name), committed), flush=True)
    if is_strict:
        refuse(missing)
    for line in announcement(missing):
        print(line, flush=True)
    if plan.instead:
        plan.instead([asked[name] for name in missing], plan.jobs, plan.runner)
        return []
    with workers(plan.runner, plan.jobs):
        made = [one.tell() for one in spread(plan.runner, plan.jobs)(redraw, stored)]
        made += reproduce_figures([asked[name] for name in missing], jobs=plan.jobs, runner=plan.runner)
        folders = {one.name: one.folder for one in made}
        drawn = [(one, folders[one.repetitions_of]) for one in asked.values() if one.repetitions_of]
        drawn = [(one, ResultFolder(folder).beside(one.figure.name).path) for one, folder in drawn]
        return made + [one.tell() for one in spread(plan.runner, plan.jobs)(redraw, drawn)]


def _asked(plan: ReproductionPlan, name: str) -> "AskedFigure":
    """Return a figure as requested. Raises ConfigError naming the wrong key."""
    from runners.execute.asked_figure import AskedFigure  # slow to import

    until = most_repetitions(plan.repetitions, plan.max_repetitions)
    checked = ("horizon", "seed", "jobs", *(["repetitions"] if until is None else []))
    run_settings({key: getattr(plan, key) for key in checked if getattr(plan, key) is not None})
    given = ("horizon", "repetitions", "seed", "max_repetitions")
    sizes = [f"{key}={getattr(plan, key)}" for key in given if getattr(plan, key)]
    extra = [size for size in sizes if until is None or "repetitions=" not in size]
    usual = bool((read_choice("scale", plan.scale) or {}).get("readings")) and not plan.only
    readings = usual if plan.readings is None else plan.readings
    if readings and plan.only:
        raise ConfigError("readings: found true with only, expected false: a part is made under the first reading")
    sizes += [f"readings={str(readings).lower()}"] * (readings != usual)
    sizes += [f"only={literal(dict(plan.only))}"] * bool(plan.only)
    is_paper = plan.scale == "paper"
    is_custom = extra or plan.only or (is_paper and not readings) or (until is not None and not is_paper)
    figure = part_of(name, plan.only) if plan.only else load_figure(name)
    return AskedFigure(
        figure,
        f"{name}/{plan.scale}{'-custom' if is_custom else ''}",
        plan.scale,
        extra,
        shlex.join(["python", "-m", "runners.reproduce", f"figure={name}", f"scale={plan.scale}", *sizes]),
        is_reference=is_paper and readings and not plan.only,
        until_decided=figure.at(plan.scale).until_decided if plan.repetitions is None else until,
        formats=plan.formats,
        readings=readings,
        size=plan.size,
        renew=plan.renew,
        part=plan.only,
    )


def part_of(name: str, only: Mapping[str, Sequence[str]]) -> "Figure":
    """Return the part of a figure with the labels in ``only``, under the first reading.

    The claims and published numbers about these labels are kept; limits are left out. Raises ConfigError for an unknown
    axis or label.
    """
    from bench.report.figure import read_figure  # slow to import
    from bench.report.labels import canonical

    figure, whole = filled(name), load_figure(name)
    for axis, labels in only.items():
        known = dict.fromkeys(label for block in whole.runs for label in block.get(axis, ()))
        for label in labels:
            if canonical(label) not in known:
                axes = dict.fromkeys(axis for block in whole.runs for axis in block)
                expected = (
                    f"one of these, or several in a list: {'; '.join(known)}"
                    if known
                    else f"one of its axes: {', '.join(axes)}"
                )
                raise ConfigError(f"only: found '{axis}={label}', expected {expected}")
    wanted = {axis: {canonical(label) for label in labels} for axis, labels in only.items()}
    blocks = [
        {axis: {k: v for k, v in labels.items() if k in wanted.get(axis, {k})} for axis, labels in block.items()}
        for block in whole.runs
    ]
    blocks = [block for block in blocks if all(block.values()) and wanted.keys() <= block.keys()]
    figure = {key: value for key, value in figure.items() if key not in ("readings", "limits", "bounds")}
    figure |= {"runs": blocks}
    left = {label for block in blocks for labels in block.values() for label in labels}
    figure = whole.restrict(figure, left)
    bare, kept = figure | {"claims": [], "published": []}, figure | {"claims": [], "published": []}
    for key in ("claims", "published"):
        for entry in figure.get(key, []):
            with suppress(ConfigError):
                read_figure(bare | {key: [entry]}, is_own=True)
                kept[key] = [*kept[key], entry]
    return read_figure(kept, is_own=True)
