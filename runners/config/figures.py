"""Figures as data: which there are, and which experiments they ask for."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bench.component import neutral_settings
from bench.errors import ConfigError
from bench.report.labels import canonical, labels_of
from bench.report.provenance import number_of_rounds
from bench.report.reading import READING, Reading
from bench.tasks.feedback import Feedback
from runners.config.compose import Run, from_overrides
from runners.config.papers import leaves, load_paper, published
from runners.config.tree import (
    PARTS,
    choices,
    class_defaults,
    expect,
    merge,
    one_of,
    path_of,
    placed,
    read,
    suite_choices,
    unknown_choice,
)

if TYPE_CHECKING:  # slow to import
    import pandas as pd

    from bench.report.figure import Figure


@dataclass(frozen=True)
class LabelledRun(Run):
    """One experiment of a figure: its label on each axis, what to add to ``python -m runners.run`` to run just this."""

    labels: dict[str, str]
    overrides: list[str]

    @property
    def is_limit(self) -> bool:
        """Whether it is one of the configurations that make a limit, and no method of the figure."""
        from bench.report.limits import is_limit  # slow to import

        return is_limit(self.labels)


def figure_names(paper: str | None = None) -> list[str]:
    """Return the names ``paper/figure`` of the suite's figures, or of all of one paper, which may be a user's own."""
    return suite_choices("figure") if paper is None else [n for n in choices("figure") if n.startswith(f"{paper}/")]


def load_figure(name: str) -> "Figure":
    """Return a figure's configuration.

    What it takes from elsewhere is filled in: all that it leaves unsaid from the figure that it is ``like``; the labels
    of an axis (a list of them, or ``all``) from the paper's ``labels``; readings of which it gives the name alone from
    the paper's ``readings``, as far as they concern labels that it has; ``published`` from the paper's table. A claim
    with ``for_each`` is written once for each of the words. Where a figure unfolds trace columns into an axis, its
    ``runs`` have that axis. Raises ConfigError when there is no such figure, label, reading or table, or it is not as
    expected.
    """
    from bench.report.figure import read_figure

    if name not in choices("figure"):
        raise unknown_choice("figure", name)
    with placed(f"figure/{name}"):
        return read_figure(filled(name))


def filled(name: str) -> dict[str, Any]:
    """Return what a figure's file says, with what it takes from elsewhere, not checked."""
    content = read(f"figure/{name}")
    figure = deepcopy(read(f"figure/{name.partition('/')[0]}/{content['like']}")) if "like" in content else {}
    merge(figure, content, add=True)
    figure.pop("like", None)
    for key, expected in zip(("paper", "name"), name.split("/"), strict=True):
        if figure.setdefault(key, expected) != expected:
            raise ConfigError(f"{key}: found '{figure[key]}', expected '{expected}', as its file is called", at=[key])
    for key in ("runs", "claims", "readings"):
        expect(list, figure.get(key, []), key)
    for block in figure.get("runs", []):
        for axis, entry in expect(dict, block, "runs").items():
            block[axis] = _shared_labels(name, axis, entry)
        if {"axis", "labels"} <= set(figure.get("unfold", ())):
            block[figure["unfold"]["axis"]] = {label: [] for label in figure["unfold"]["labels"]}
    for block in (figure.get("limits") or {}).get("candidates", []):
        for axis, entry in block.items():
            block[axis] = entry if isinstance(entry, dict) else _shared_labels(name, axis, entry)
    if "readings" in figure:
        figure["readings"] = [_shared_reading(name, reading, figure["runs"]) for reading in figure["readings"]]
    figure["claims"] = [claim for template in figure.get("claims", []) for claim in claims_for_each(template)]
    if "published" in figure:
        labels: dict[str, dict[str, None]] = {}
        for block in figure.get("runs", []):
            for axis, entry in block.items():
                labels.setdefault(axis, {}).update(dict.fromkeys(labels_of(entry)))
        figure["published"] = published(figure["paper"], figure["published"], labels)
        of_paper = load_paper(figure["paper"])["settings"]
        if not {"published_repetitions", "repetitions"} & figure.keys() and "repetitions" not in of_paper:
            raise ConfigError(
                "published: found numbers, but not of how many repetitions they are means, expected "
                "published_repetitions, or repetitions in the paper's settings",
                at=["published"],
            )
    return figure


def claims_for_each(template: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a claim for each combination of the words in ``for_each``, which stand for their names in braces."""
    words = expect(dict, expect(dict, template, "claims").pop("for_each", {}), "for_each")
    for combination in itertools.product(*words.values()):
        yield _in_words(template, dict(zip(words, combination, strict=True)))


def _in_words(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _in_words(item, words) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_words(item, words) for item in value]
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(f"{{{name}}}", word)
    return value


def _shared_labels(name: str, axis: str, entry: Any) -> dict[str, Any]:
    if isinstance(entry, dict):
        return entry
    shared: dict[str, Any] = load_paper(name.partition("/")[0])["labels"].get(axis, {})
    labels = shared if entry == "all" else entry
    for label in expect(list, list(labels) if isinstance(labels, dict) else labels, axis):
        if label not in shared:
            raise ConfigError(f"found the {axis} '{label}', {one_of(label, shared)}", at=[label])
    return {label: shared[label] for label in labels}


def _shared_reading(name: str, reading: Any, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a reading; of the paper's, where only the name is given, what concerns labels of the figure.

    The paper's may be ``like`` another, whose overrides come before its own.
    """
    if isinstance(reading, dict):
        return reading
    readings: dict[str, Any] = load_paper(name.partition("/")[0]).get("readings", {})
    if reading not in readings:
        raise ConfigError(f"found the reading '{reading}', {one_of(reading, readings)}", at=[reading])
    entry = dict(readings[reading])
    overrides = []
    for part in [*readings.get(entry.pop("like", ""), {}).get("overrides", []), *entry.get("overrides", [])]:
        if isinstance(part, dict):
            only = {
                axis: [label for label in labels if any(label in labels_of(block.get(axis, {})) for block in runs)]
                for axis, labels in part["only"].items()
            }
            if not all(only.values()):
                continue
            part = {**part, "only": only}
        overrides.append(part)
    return {"name": reading, **entry, "overrides": overrides}


def expand(figure: "Figure", scale: str, extra: list[str], *, readings: bool = True) -> list[LabelledRun]:
    """Return every experiment of ``figure`` at ``scale``; ``extra`` overrides are applied to all of them.

    Without ``readings`` those of the first reading alone, and no limits, whose fixed configurations else come last.

    What the scale leaves out is not run; it counts as a result that is still missing. Of a figure with readings, the
    runs of the first come first, as they would without; those of the others have a label `reading`. Runs that a reading
    does not change are the same experiments.
    """
    file = f"figure/{figure.paper}/{figure.name}"
    limits: dict[str, int] = figure.model_dump(include={"horizon", "repetitions"}, exclude_none=True)
    smaller: list[str] = []
    left_out: dict[str, list[str]] = {}
    if at_scale := figure.scales.get(scale):
        limits |= at_scale.model_dump(include={"max_horizon", "max_repetitions"}, exclude_unset=True)
        smaller = at_scale.overrides
        left_out = {axis: [canonical(label) for label in labels] for axis, labels in at_scale.leave_out.items()}

    def composed(blocks: "Figure", reading: Reading | None) -> Iterator[LabelledRun]:
        for labels, words in _product(blocks, reading):
            if any(labels.get(axis) in out for axis, out in left_out.items()):
                continue
            overrides = [f"paper={figure.paper}", *words, *smaller]
            with placed(file):
                run = from_overrides([f"scale={scale}", *overrides, *extra], limits)
            labels |= {READING: reading.name} if reading else {}
            yield LabelledRun(**vars(run), labels=labels, overrides=overrides)

    drawn = first = list(composed(figure, None))
    for reading in figure.readings[1:] if readings else []:
        under = list(composed(figure, reading))
        pairs = zip(first, under, strict=True)
        if not smaller and all(run.experiment.settings == other.experiment.settings for run, other in pairs):
            with placed(file):
                raise ConfigError(
                    f"reading: found '{reading.name}', which changes no run, expected one that does", at=[reading.name]
                )
        drawn = drawn + under
    if path_of(file) and not (extra or smaller or left_out):  # which may leave out the parts that a source is of
        keys = dict.fromkeys(general for run in drawn for general, _, _ in settings_of(run))
        for key in figure.sources:
            if key not in keys:
                with placed(file):
                    raise ConfigError(f"sources: found '{key}', {one_of(key, keys)}", at=[key])
    if readings and (fixed := figure.limit_runs()):
        axes = figure.panels or ["panel"]
        for run in composed(figure.model_copy(update={"runs": list(fixed.blocks(axes))}), None):
            repetitions = min(run.settings.repetitions, fixed.repetitions)
            settings = replace(run.settings, repetitions=repetitions)
            drawn.append(replace(run, settings=settings))
    return drawn


_FEEDBACK = neutral_settings(Feedback)


def settings_of(run: Run) -> Iterator[tuple[str, str, Any]]:
    """Yield a run's settings: as overrides name them (``env.dim``), with the choice (``env.movielens.dim``), value.

    A class of a user's own stands in place of the choice, also with its defaults.
    """
    for key in ("horizon", "repetitions"):
        yield key, key, getattr(run.settings, key)
    for part in PARTS:
        settings, name = run.experiment.settings[part] or {}, run.choices[part]
        if name == "custom":
            settings, name = class_defaults(settings["_target_"]) | settings, settings["_target_"].rpartition(".")[2]
        for rest, value in leaves(settings).items():
            if part == "task" and rest in _FEEDBACK and _FEEDBACK[rest] == value:  # as before there was such a setting
                continue
            if rest != "_target_" and (part != "task" or value):  # what a task is not given
                yield f"{part}.{rest}", f"{part}.{name}.{rest}", value


def other_than_published(figure: "Figure", drawn: Sequence[LabelledRun]) -> str:
    """Return why a figure's published numbers do not belong to its runs, at another scale than the paper's; "" if so.

    They do where the runs are those of scale ``paper``, in whatever number of repetitions.
    """
    if not figure.published:
        return ""
    published = {tuple(run.labels.items()): run for run in expand(figure, "paper", [], readings=False)}
    pairs = [(published[key], run) for run in drawn if (key := tuple(run.labels.items())) in published]
    sides = [[run.experiment.settings | {"seed": 0} for run in pair] for pair in pairs]
    if all(of_paper == ours for of_paper, ours in sides):
        return ""
    wanted, ours = ({run.settings.horizon for run in runs} for runs in zip(*pairs, strict=True))
    size = "the settings of scale=paper" if wanted == ours else number_of_rounds(wanted)
    return f"the published numbers are for {size}, and not judged here"


def by_reading(figure: "Figure", drawn: Sequence[Any]) -> dict[str, list[int]]:
    """Return the positions of the experiments by reading, the first first; of a figure without readings it is ""."""
    if not figure.readings:
        return {"": list(range(len(drawn)))}
    positions: dict[str, list[int]] = {}
    for position, run in enumerate(drawn):
        positions.setdefault(run.labels.get(READING, figure.readings[0].name), []).append(position)
    return positions


def without_reading(run: LabelledRun) -> LabelledRun:
    """Return an experiment with the labels that it has under the first reading."""
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
    """Give a table of results the axis that a figure's ``unfold`` makes of trace columns: a row for each of them.

    The table has final values, in these columns; or curves, with the columns' names in ``column``.
    """
    if figure.unfold is None or not len(table):
        return table
    import pandas as pd

    axis, name = figure.unfold.axis, figure.unfold.column
    parts = []
    for label, column in figure.unfold.labels.items():
        values: dict[str, Any] = {axis: label}
        if "column" in table:
            parts.append(table[table["column"] == column].assign(**values, column=name))
        elif column in table:
            values[name] = table[column]
            parts.append(table.assign(**values))
    long = pd.concat(parts, ignore_index=True)
    return long[[axis, *(column for column in long if column != axis)]]
