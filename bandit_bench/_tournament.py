"""A user's own tuners on the tournament's tasks, compared with the committed repetitions of all others."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from bandit_bench._parts import Axis, Parts, Piece, axis_of, labels_by_axis, runner_of, settings_of
from bandit_bench._plan import METHOD, NAME
from bandit_bench._standings import FAMILY, TASK, TournamentResult, task_of, written
from bench.errors import ConfigError, one_line
from bench.report.labels import canonical
from runners.config.compose import choices_and_values, compose
from runners.config.figures import LabelledRun, load_figure
from runners.config.folders import COMMITTED, look_again
from runners.config.tree import one_of

SCALES = {"quick": ("short", 5), "reduced": ("short", 30), "paper": ("ranks", 30)}
"""The figure of each scale (of 2,000 or 10,000 rounds) and the number of repetitions; scale quick has fewer tasks."""
TAKEN = (
    "expected tuner, only, scale, repetitions, jobs, name, renew, dry_run, or a key of the tuner or runner, such as "
    "tuner.threshold"
)
"""The valid arguments, for messages."""


@dataclass(frozen=True)
class TournamentPlan:
    """A plan of runs on the tournament's tasks, and of the committed repetitions to compare with."""

    scale: str
    repetitions: int
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"tournament/{SCALES[self.scale][0]}"

    @cached_property
    def folder(self) -> Path:
        folder = COMMITTED / self.name / "paper"
        if not (folder / "manifest.json").is_file():
            raise ConfigError(f"{folder}: found no committed results, expected those of {self.name}: install a wheel")
        return folder

    @cached_property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        return found

    @cached_property
    def tasks(self) -> dict[tuple[str, str], list[str]]:
        """The overrides that choose each task, by family and name.

        Raises ConfigError if ``only`` names an unknown axis or label.
        """
        figure, found = load_figure(self.name), {}
        left_out = figure.at("quick").leave_out.get(TASK, ()) if self.scale == "quick" and not self.only else ()
        for block in figure.runs:
            for family, of_family in block[FAMILY].items():
                for task, of_task in block[TASK].items() if METHOD in block else ():
                    found[family, task] = [*of_family, *of_task]
        for axis, labels in self.only.items():
            known = dict.fromkeys(key[axis == TASK] for key in found)
            for label in labels:
                if axis not in (FAMILY, TASK) or canonical(label) not in known:
                    raise ConfigError(f"only: found '{axis}={label}', {one_of(label, known)}, by family or task")
        wanted = [{canonical(label) for label in self.only.get(axis, ())} for axis in (FAMILY, TASK)]
        chosen = {key: words for key, words in found.items() if key[1] not in map(canonical, left_out)}
        return {
            key: words
            for key, words in chosen.items()
            if all(not labels or label in labels for label, labels in zip(key, wanted, strict=True))
        }

    def runs(self, tuners: Axis) -> Iterator[LabelledRun]:
        """Yield the runs of the given tuners on all tasks, with the settings of the committed runs."""
        figure = load_figure(self.name)
        caps = figure.model_dump(include={"horizon"}, exclude_none=True) | {"repetitions": self.repetitions}
        for (family, task), words in self.tasks.items():
            for label, piece in tuners.items():
                choices, values = choices_and_values(["paper=tournament", *words])
                whole = Piece(choices, tuple(values)) + piece
                run = compose({"scale": "paper", **whole.choices}, whole.values, caps=caps, classes=whole.classes)
                labels = {FAMILY: family, TASK: task, METHOD: canonical(label)}
                yield LabelledRun(**vars(run), labels=labels, overrides=whole.words, keys=whole.keys)

    def others(self, tasks: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
        """Return the manifest's entries of committed runs on ``tasks``, each with the number of repetitions to use."""
        entries = [entry for entry in self.manifest["runs"] if task_of(entry["labels"]) in tasks]
        return [entry | {"repetitions": min(self.repetitions, entry["repetitions"])} for entry in entries]


def tournament(
    tuners: Parts,
    *,
    scale: str = "quick",
    repetitions: int | None = None,
    only: Mapping[str, str | Sequence[str]] | None = None,
    settings: Mapping[str, Any] | None = None,
    jobs: int = 1,
    runner: str | Mapping[str, Any] | None = None,
    name: str = "",
    renew: bool = False,
    dry_run: bool = False,
    command: str = "",
) -> TournamentResult | None:
    """Run your own tuners on the tournament's tasks, and compare each with the committed results of all other tuners.

    The repetitions have the same seeds as the committed repetitions, so differences are paired. The results, with a
    page, are written to ``results/compare/<name>``.

    Parameters
    ----------
    tuners
        Your tuners, as in `compare`: a class, an object, a name with settings, or a list of these.
    scale
        ``"quick"`` (one task of each family, 2,000 rounds, 5 repetitions), ``"reduced"`` (all tasks, 30
        repetitions) or ``"paper"`` (10,000 rounds).
    repetitions
        A smaller number of repetitions than the scale's; the first committed repetitions are then used.
    only
        The tasks to play, as ``{"family": "arms"}`` or ``{"task": ["triangle", "sine"]}``; by default the scale's
        tasks.
    settings
        Keys that apply to all your tuners, such as ``{"tuner.threshold": 0.5}``.
    jobs, runner, renew
        As in `compare`.
    name
        The last part of the folder's path, by default ``tournament-`` and the names of the tuners.
    dry_run
        Whether only the expected time is printed; the function then returns None.
    command
        For the command line: its arguments.

    A task that a tuner cannot play, or whose data is missing, is left out with a note. Raises BenchError if no task is
    left, or a setting is wrong.
    """
    look_again()
    if scale not in SCALES:
        raise ConfigError(f"scale: found '{scale}', {one_of(scale, SCALES)}")
    most = SCALES[scale][1]
    if repetitions is not None and not 2 <= repetitions <= most:
        raise ConfigError(f"repetitions: found {repetitions}, expected 2 to {most}, the most at scale {scale}")
    if name and not NAME.fullmatch(name):
        raise ConfigError(f"name: found '{name}', expected letters, digits, - and _, a letter or digit first")
    plan = TournamentPlan(scale, repetitions or most, labels_by_axis(only, "only={family: arms}"))
    known = {entry["labels"].get(METHOD, "") for entry in plan.manifest["runs"]}
    own = settings_of(settings) + settings_of({"jobs": jobs}) + runner_of(runner)
    for key, _, _ in own.values:
        if key.partition(".")[0] not in ("tuner", "jobs", "runner"):
            raise ConfigError(f"{key}: found an argument that the tournament does not take, {TAKEN}")
    axis = {
        label + " (yours)" * (canonical(label) in known): piece + own
        for label, piece in axis_of("tuner", tuners).items()
    }
    name = name or re.sub(r"[^A-Za-z0-9]+", "-", "-".join(["tournament", *axis])).strip("-")[:80]
    return _played(plan, axis, name, renew=renew, dry_run=dry_run, command=command)


def _played(
    plan: TournamentPlan, tuners: Axis, name: str, *, renew: bool, dry_run: bool, command: str
) -> TournamentResult | None:
    from runners.execute.fanout import not_determined, run_all  # slow to import
    from runners.execute.fit import fits
    from runners.execute.missing import Lacking, estimate
    from runners.execute.workers import workers
    from runners.results.store import Store, finished, results_folder, reuse_line

    store, n = Store(results_folder()), plan.repetitions
    every = list(plan.runs(tuners))
    left_out = {task_of(run.labels): data.missing for run in every for data in run.experiment.missing_data()}
    runs = [run for run in every if task_of(run.labels) not in left_out]
    jobs, runner = every[0].settings.jobs, every[0].runner
    with workers(runner, jobs):
        found = fits([run.experiment for run in runs], ["regret"], jobs=jobs, runner=runner)
        for run in runs:
            if error := found[run.experiment.run_id].error:
                left_out.setdefault(task_of(run.labels), f"{run.labels[METHOD]}: {error}")
        for (_, task), reason in left_out.items():
            print(f"left out: {task}: {one_line(ConfigError(reason))}", flush=True)
        runs = [run for run in runs if task_of(run.labels) not in left_out]
        if not runs:
            raise ConfigError(f"tournament: {next(iter(left_out.values()))}")
        by_id = {run.experiment.run_id: run.experiment for run in runs}
        before = finished(store, dict.fromkeys(by_id, n), renew=renew and not dry_run)
        lacking = [Lacking(one, n, sorted({*range(n)} - before[run_id])) for run_id, one in by_id.items()]
        print(estimate(lacking, jobs), flush=True)
        if dry_run:
            return None
        results = run_all(by_id.values(), n, store, jobs=jobs, runner=runner)
    ran = [(one, results[run_id].new) for run_id, one in by_id.items()]
    notes = not_determined(ran, store, limit=runner.time_limit)
    for run in runs:
        for number, error in results[run.experiment.run_id].failed.items():
            notes.append(f"{', '.join(run.labels.values())}: repetition {number} failed: {error}")
    if line := reuse_line(store, before, "renew=true" if command else "renew=True"):
        notes.append(f"Reused repetitions: {line}")
    done = {run_id: sorted(result.done) for run_id, result in results.items()}
    complete = not left_out and all(len(numbers) == n for numbers in done.values())
    runs = [run for run in runs if done[run.experiment.run_id]]
    if not runs:
        raise ConfigError(f"tournament: all repetitions failed: {notes[0]}")
    others = plan.others([task_of(run.labels) for run in runs])
    command = command or f"bandit_bench.tournament([{', '.join(tuners)}], ...), in your own notebook or script"
    about = {"figure": f"compare/{name}", "title": "", "scale": plan.scale, "command": command, "settings": []}
    about["overrides"] = plan.manifest["overrides"]
    return written(name, about, plan.folder, others, runs, done, notes, is_complete=complete)
