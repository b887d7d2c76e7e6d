"""Committed runs matched with today's runs, and the comparison of their values."""

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.data_kind import DataKind
from bench.errors import StoreError
from bench.report.figure import Figure
from runners.config.experiment import Experiment
from runners.config.figures import expand, load_figure
from runners.results.aggregate import Kept, thin
from runners.results.derive import thinning
from runners.results.folder import ResultFolder
from runners.results.store import Store

_CLASS_OR_FILE = re.compile(r"[^\W\d]\w*\.[^\W\d]|[/\\~]")
TOLERANCE = 1e-6
"""Relative tolerance between different processors or versions."""


class CommittedRun(NamedTuple):
    """A run of a committed result, with the matching experiment of today.

    ``result`` is the name of the result, such as ``cdt/figure2/paper``, and ``key`` the committed key of the run.
    ``lacks_data`` is whether the run's data is missing here, so that stand-ins would be run; ``experiment`` then has
    the fingerprint of the missing data. ``numbers`` are the committed repetitions, ``seconds`` the mean seconds of a
    repetition. ``same_machine`` is whether all repetitions were made on this kind of machine.
    """

    result: str
    folder: Path
    figure: Figure
    labels: dict[str, str]
    key: str
    experiment: Experiment
    lacks_data: bool
    numbers: Sequence[int]
    seconds: float
    same_machine: bool

    @property
    def name(self) -> str:
        return self.result.rpartition("/")[0]

    @property
    def is_asked(self) -> bool:
        """Whether today's settings and data are the ones of the committed repetitions."""
        return self.key == self.experiment.key

    @property
    def follows_last_digits(self) -> bool:
        """Whether this machine may try other configurations, because last digits differ on another kind of machine."""
        return not self.same_machine and follows_last_digits(self.experiment)

    @property
    def trains_first(self) -> bool:
        """Whether the run begins with a long training, unless the result of the training is cached."""
        return bool(getattr(self.experiment.classes.get("algorithm"), "trains_first", False))


def follows_last_digits(experiment: Experiment) -> bool:
    """Return whether the last digits of values affect which configurations are tried."""
    return bool(getattr(experiment.classes.get("tuner"), "follows_last_digits", False))


def extra_of(manifest: Mapping[str, Any]) -> list[str]:
    """Return the overrides in a result's command that apply to all its runs.

    Raises StoreError if an override names a class or a file, because a result must not cause an import or a read.
    """
    words_apart = ("figure=", "scale=", "repetitions=", "max_repetitions=", "surrogate=")
    words = [word for word in shlex.split(manifest["command"])[3:] if not word.startswith(words_apart)]
    for word in words:
        if "_target_" in word or _CLASS_OR_FILE.search(word.partition("=")[2]):
            raise StoreError(f"manifest.json, command: found '{word}', expected settings without a class or a file")
    return words


def committed_runs(name: str, folder: Path) -> list[CommittedRun]:
    """Return the runs of a figure's committed result that are still part of the figure.

    Damaged files raise errors of any kind.
    """
    result = ResultFolder(folder)
    manifest, seconds = result.manifest(), result.made()["seconds_per_repetition"]
    figure = load_figure(name)
    runs = expand(figure, manifest["scale"], extra_of(manifest))
    today = {json.dumps(labelled.labels, sort_keys=True): labelled for labelled in runs}
    numbers, same_machine = result.numbers(thinning(figure)), result.is_of_this_machine
    found = []
    for entry in manifest["runs"]:
        labelled = today.get(json.dumps(entry["labels"], sort_keys=True))
        if labelled is None:
            continue
        experiment = labelled.experiment
        lacks_data = experiment.data_kind.is_replaced and entry["data"] != DataKind.SURROGATE
        run = CommittedRun(
            result=f"{name}/{folder.name}",
            folder=folder,
            figure=figure,
            labels=entry["labels"],
            key=entry["key"],
            experiment=experiment.on_data(entry["data"]) if lacks_data else experiment,
            lacks_data=lacks_data,
            numbers=numbers.get(entry["key"], ()),
            seconds=seconds.get(entry["key"], 1.0),
            same_machine=same_machine,
        )
        found.append(run)
    return found


class Compared(NamedTuple):
    """The outcome of the comparison of a repetition that was played again.

    ``values`` is the number of compared values, ``difference`` describes the first value that differs, and
    ``last_digits`` is the largest relative difference within the tolerance.
    """

    values: int
    difference: str = ""
    last_digits: float = 0.0


def compare(then: Kept, figure: Figure, store: Store, run_id: str, number: int, *, same_machine: bool) -> Compared:
    """Compare a committed repetition with the one in ``store``.

    The comparison is exact, or within `TOLERANCE` if another kind of machine made the committed repetition.
    """
    now = thin(store.table(run_id, number), {}, figure.curve_columns(), None, then.rounds)
    return equal_values(then, now, 0.0 if same_machine else TOLERANCE)


def equal_values(then: Kept, now: Kept, tolerance: float = 0.0) -> Compared:
    """Compare the kept data of two repetitions, within a relative tolerance."""
    if then.rounds.tolist() != now.rounds.tolist():
        return Compared(1, f"rounds: committed {then.rounds[-1]}, now {now.rounds[-1]}")
    pairs: list[tuple[str, float | str, float | str]] = []
    for name in dict.fromkeys([*then.finals, *now.finals]):
        pairs.append((name, then.finals.get(name, math.nan), now.finals.get(name, math.nan)))
    for name, values in then.curves.items():
        others = now.curves.get(name, np.full(len(values), np.nan)).tolist()
        rounds = [f"{name} at round {number}" for number in then.rounds.tolist()]
        pairs += zip(rounds, values.tolist(), others, strict=True)
    apart = [(_apart(a, b), name, a, b) for name, a, b in pairs]
    unequal = [(name, a, b) for distance, name, a, b in apart if distance > tolerance]
    words = f"{unequal[0][0]}: committed {unequal[0][1]!r}, now {unequal[0][2]!r}" if unequal else ""
    return Compared(len(pairs), words, max((distance for distance, *_ in apart if distance <= tolerance), default=0.0))


def _apart(a: float | str, b: float | str) -> float:
    """Return the relative difference of two values, which is infinite if they are different words."""
    if a == b:
        return 0.0
    if isinstance(a, str) or isinstance(b, str):
        return math.inf
    if math.isnan(a) and math.isnan(b):
        return 0.0
    distance = abs(a - b) / max(abs(a), abs(b))
    return math.inf if math.isnan(distance) else distance
