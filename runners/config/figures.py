"""Figures as data, and the experiments that they consist of."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.component import neutral_settings
from bench.errors import ConfigError
from bench.report.labels import canonical
from bench.report.provenance import key_of, number_of_rounds
from bench.report.reading import READING, Reading
from bench.tasks.feedback import Feedback
from runners.config.compose import Run, choices_and_values, from_overrides, keys_of
from runners.config.filled import filled
from runners.config.folders import remembered, user_folder
from runners.config.papers import leaves
from runners.config.tree import PARTS, choices, class_defaults, one_of, path_of, placed, suite_choices, unknown_choice

if TYPE_CHECKING:  # slow to import
    import pandas as pd

    from bench.report.figure import Figure


@dataclass(frozen=True)
class LabelledRun(Run):
    """An experiment of a figure, with its label on each axis and the arguments of ``runners.run`` that run it alone.

    ``keys`` holds the choices and settings in ``overrides``, down to single values.
    """

    labels: dict[str, str]
    overrides: list[str]
    keys: tuple[str, ...] = ()
    is_limit: bool = False
    """Whether it is one of the fixed configurations of a limit, not a method of the figure."""


def figure_names(paper: str | None = None) -> list[str]:
    """Return the names ``paper/figure`` of the suite's figures, or of all figures of a paper, which may be a user's."""
    return suite_choices("figure") if paper is None else [n for n in choices("figure") if n.startswith(f"{paper}/")]


def load_figure(name: str) -> "Figure":
    """Return a figure's configuration.

    Missing keys are taken from the figure that the key ``like`` names. Labels of an axis, given as a list or as
    ``all``, are taken from the paper's ``labels``, and readings given by name from the paper's ``readings``, without
    labels that the figure lacks. Numbers in ``published`` are taken from the paper's table. A claim with ``for_each``
    becomes one claim for each word. Raises ConfigError if there is no such figure, label, reading or table, or a key is
    wrong.
    """
    return _loaded(user_folder(), name)


@remembered
@cache
def _loaded(_folder: Path | None, name: str) -> "Figure":
    from bench.report.figure import read_figure

    if name not in choices("figure"):
        raise unknown_choice("figure", name)
    with placed(f"figure/{name}"):
        figure = read_figure(filled(name), is_own=True)
        if named := figure.repetitions_of:
            with_own = [other for other in figure_names(figure.paper) if "repetitions_of" not in filled(other)]
            if f"{figure.paper}/{named}" not in with_own:
                names = [other.partition("/")[2] for other in with_own]
                raise ConfigError(f"repetitions_of: found '{named}', {one_of(named, names)}")
    return figure


def expand(figure: "Figure", scale: str, extra: list[str], *, readings: bool = True) -> list[LabelledRun]:
    """Return every experiment of ``figure`` at ``scale``; ``extra`` overrides are applied to all experiments.

    The runs of the first reading come first, then the runs of the other readings, with a label `reading`, then the
    fixed configurations of limits. Without ``readings`` there are only the runs of the first reading. Labels that the
    scale leaves out count as missing results. Runs that a reading does not change are the same experiments. Raises
    ConfigError for a reading that changes no run, and for a source without a setting.
    """
    file, at_scale = f"figure/{figure.paper}/{figure.name}", figure.at(scale)
    caps = figure.model_dump(include={"horizon", "repetitions"}, exclude_none=True)
    caps |= at_scale.model_dump(include={"max_horizon", "max_repetitions"}, exclude_unset=True)
    smaller = at_scale.overrides
    left_out = {axis: [canonical(label) for label in labels] for axis, labels in at_scale.leave_out.items()}

    def runs_of(blocks: "Figure", reading: Reading | None = None) -> list[LabelledRun]:
        found = []
        for labels, words in _product(blocks, reading):
            if any(labels.get(axis) in out for axis, out in left_out.items()):
                continue
            own = {key_of(word) for word in words}  # the figure's own words win
            overrides = [f"paper={figure.paper}", *words, *(word for word in smaller if key_of(word) not in own)]
            run = from_overrides([f"scale={scale}", *overrides, *extra], caps)
            labels |= {READING: reading.name} if reading else {}
            found.append(LabelledRun(**vars(run), labels=labels, overrides=overrides, keys=_keys(tuple(overrides))))
        return found

    with placed(file):
        runs = first = runs_of(figure)
        for reading in figure.readings[1:] if readings else ():
            under = runs_of(figure, reading)
            pairs = zip(first, under, strict=True)
            if not smaller and all(run.experiment.settings == other.experiment.settings for run, other in pairs):
                raise ConfigError(f"reading: found '{reading.name}', which changes no run, expected one that does")
            runs = runs + under
        if figure.sources and path_of(file) and not (extra or smaller or left_out):
            keys = dict.fromkeys(general for run in runs for general, _, _ in settings_of(run))
            for key in figure.sources:
                if key not in keys:
                    raise ConfigError(f"sources: found '{key}', {one_of(key, keys)}")
        if readings and (limits := figure.limit_runs()):
            blocks = list(limits.blocks(figure.panels or ["panel"]))
            for run in runs_of(figure.model_copy(update={"runs": blocks})):
                number = min(run.settings.repetitions, limits.repetitions)
                fixed = replace(run, settings=replace(run.settings, repetitions=number), is_limit=True)
                runs = [*runs, fixed]
    return runs


@cache
def _keys(overrides: tuple[str, ...]) -> tuple[str, ...]:
    return keys_of(*choices_and_values(overrides))


_FEEDBACK = neutral_settings(Feedback)


def settings_of(run: Run) -> Iterator[tuple[str, str, Any]]:
    """Yield each setting of a run: name in overrides (``env.dim``), name with choice (``env.movielens.dim``) and value.

    For a user's class, the class takes the place of the choice, and its defaults are included.
    """
    for key in ("horizon", "repetitions"):
        yield key, key, getattr(run.settings, key)
    for part in PARTS:
        settings, name = run.experiment.settings[part] or {}, run.choices[part]
        if name == "custom":
            settings, name = class_defaults(settings["_target_"]) | settings, settings["_target_"].rpartition(".")[2]
        for rest, value in leaves(settings).items():
            if part == "task" and rest in _FEEDBACK and _FEEDBACK[rest] == value:  # as before the setting existed
                continue
            if rest != "_target_" and (part != "task" or value):  # a task's neutral settings
                yield f"{part}.{rest}", f"{part}.{name}.{rest}", value


def other_than_published(figure: "Figure", runs: Sequence[LabelledRun]) -> str:
    """Return the reason why published numbers do not belong to a figure's runs, or "" if they do.

    Published numbers belong to the runs of scale ``paper``, with any number of repetitions.
    """
    if not figure.published:
        return ""
    published = {tuple(run.labels.items()): run for run in expand(figure, "paper", [], readings=False)}
    pairs = [(published[key], run) for run in runs if (key := tuple(run.labels.items())) in published]
    sides = [[run.experiment.settings | {"seed": 0} for run in pair] for pair in pairs]
    if all(of_paper == ours for of_paper, ours in sides):
        return ""
    wanted, ours = ({run.settings.horizon for run in side} for side in zip(*pairs, strict=True))
    size = "the settings of scale=paper" if wanted == ours else number_of_rounds(wanted)
    return f"the published numbers are for {size}, and not judged here"


def by_reading(figure: "Figure", runs: Sequence[Any]) -> dict[str, list[int]]:
    """Return the positions of the experiments in ``runs``, as a list for each reading.

    The readings are in the figure's order. A figure without readings has one list, under the key "".
    """
    if not figure.readings:
        return {"": list(range(len(runs)))}
    positions: dict[str, list[int]] = {}
    for position, run in enumerate(runs):
        positions.setdefault(run.labels.get(READING, figure.readings[0].name), []).append(position)
    return positions


def without_reading(run: LabelledRun) -> LabelledRun:
    return replace(run, labels={axis: label for axis, label in run.labels.items() if axis != READING})


def _product(figure: "Figure", reading: Reading | None) -> Iterator[tuple[dict[str, str], list[str]]]:
    common = figure.common
    unfolded = figure.unfold.axis if figure.unfold else None
    for block in figure.runs:
        axes = [
            [(axis, label, overrides) for label, overrides in entry.items()]
            for axis, entry in block.items()
            if axis != unfolded
        ]
        for point in itertools.product(*axes):
            labels = {axis: label for axis, label, _ in point}
            words = [word for _, _, overrides in point for word in overrides]
            nested = ["." in word.partition("=")[0] for word in words]
            groups = [word for word, is_nested in zip(words, nested, strict=True) if not is_nested]
            overrides = [*groups, *common, *(word for word, is_nested in zip(words, nested, strict=True) if is_nested)]
            yield labels, reading.applied(labels, overrides) if reading else overrides


def unfold(figure: "Figure", table: "pd.DataFrame") -> "pd.DataFrame":
    """Add to a table of results the axis that a figure's ``unfold`` makes of trace columns, with one row per column.

    A table of final values has these columns; a table of curves has their names in ``column`` (`curve_table`).
    """
    if figure.unfold is None or not len(table):
        return table
    import pandas as pd

    axis, name = figure.unfold.axis, figure.unfold.column
    parts = []
    for label, column in figure.unfold.labels.items():
        values: dict[str, Any] = {axis: label}
        if "column" in table:
            own = table[table["column"].str.partition("@")[0] == column]  # with those of one repetition, as regret@3
            parts.append(own.assign(**values, column=own["column"].str.replace(column, name, n=1, regex=False)))
        elif column in table:
            values[name] = table[column]
            parts.append(table.assign(**values))
    long = pd.concat(parts, ignore_index=True)
    return long[[axis, *(column for column in long if column != axis)]]
