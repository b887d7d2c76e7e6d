"""The basis of results, from the runs to the picture and the page: provenance, manifest and commands."""

import itertools
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer, model_validator

from bench.data_kind import DataKind

_SIZE = ("horizon", "repetitions")
"""Entries of each run in a manifest besides its overrides."""


def factored(
    labels: Sequence[Mapping[str, str]], overrides: Sequence[Sequence[str]]
) -> tuple[dict[str, Any], list[list[str]]]:
    """Return the compact form of the experiments' overrides in a manifest, whose inverse is `overrides_of`.

    The first result has the common overrides: `all`, the overrides that all experiments have, and `labels`, by axis and
    label, the overrides that all experiments with the label have. The second result has the remaining overrides of each
    experiment. The last of several overrides of one key is used.
    """
    last = [list({key_of(word): word for word in words if key_of(word) not in _SIZE}.values()) for words in overrides]
    every = [word for word in last[0] if all(word in words for words in last)] if last else []
    rest = [[word for word in words if word not in every] for words in last]
    shared: dict[str, dict[str, list[str]]] = {}
    for run, words in zip(labels, rest, strict=True):
        for axis, label in run.items():
            of_axis = shared.setdefault(axis, {})
            of_axis[label] = [word for word in of_axis.get(label, words) if word in words]
    for run, words in zip(labels, rest, strict=True):
        determined = {word for axis, label in run.items() for word in shared[axis][label]}
        words[:] = [word for word in words if word not in determined]
    by_label = {axis: {label: words for label, words in of.items() if words} for axis, of in shared.items()}
    return {"all": every, "labels": {axis: of for axis, of in by_label.items() if of}}, rest


def commands(manifest: Mapping[str, Any]) -> list[str]:
    """Return the command of each run."""
    return [shlex.join(["python", "-m", "runners.run", *words]) for words in overrides_of(manifest)]


def overrides_of(manifest: Mapping[str, Any]) -> list[list[str]]:
    """Return the overrides and the size of each run; the overrides are the inverse of `factored`."""
    shared = manifest.get("overrides") or {}
    lines = []
    for run in manifest.get("runs") or []:
        words = [*shared.get("all", ())]
        for axis, label in (run.get("labels") or {}).items():
            words += shared.get("labels", {}).get(axis, {}).get(label, ())
        words += run.get("overrides") or ()
        lines.append([*dict.fromkeys(words), *(f"{key}={run[key]}" for key in _SIZE if run.get(key))])
    return lines


_LABEL = re.compile(r"[^\W\d][^=,()'\"\[\]{}]*")
"""Labels that a command can give."""


def compare_commands(
    runs: Iterable[tuple[Mapping[str, str], Sequence[str]]], axis: str, column: str, tie: float
) -> list[str]:
    """Return, for each panel whose methods differ only in their tuner, a command that compares them.

    ``runs`` are labels with overrides and size, and the labels on ``axis`` are methods. If numbers of repetitions
    differ, the largest is used.
    """
    panels: dict[str, dict[str, Sequence[str]]] = {}
    for labels, own in runs:
        if axis in labels:
            panel = {name: label for name, label in labels.items() if name != axis}
            panels.setdefault(str(panel), {})[labels[axis]] = own
    lines = []
    for methods in panels.values():
        tuners, others, most = [], [], 0
        for label, own in methods.items():
            given = {key_of(word): word.partition("=")[2] for word in own}
            most = max(most, int(given.pop("repetitions", 0)))
            name = given.pop("tuner", "")
            of_tuner = [f"{key[6:]}={given.pop(key)}" for key in list(given) if key.startswith("tuner.")]
            shown = f"{label}=" if _LABEL.fullmatch(label) else ""
            tuners.append(f"{shown}{name}({','.join(of_tuner)})" if of_tuner else f"{shown}{name}")
            others.append(given if name else {})
        if len(tuners) > 1 and others[0] and all(other == others[0] for other in others):
            shared = [f"{key}={value}" for key, value in others[0].items()]
            asked = [f"tuner={','.join(tuners)}", *shared, f"repetitions={most}", f"column={column}", f"tie={tie:g}"]
            lines.append(shlex.join(["python", "-m", "runners.compare", *asked]))
    return lines


def key_of(word: str) -> str:
    """Return the setting that an override sets."""
    return word.lstrip("+").partition("=")[0]


PACKAGED_WORDS = "a small packaged sample of the data set, too small to conclude from"
"""Words for results on a library's sample in place of the full data set."""


_LEFT_OUT = ("until_decided", "smaller", "altered", "genuine", "other_than_published", "accepted", "parts")
"""Entries that a manifest omits if they are empty."""


class Provenance(BaseModel):
    """The scale, the size and the data of the runs behind a figure.

    ``repetitions`` and ``horizons`` are the requested numbers, each once, in order. ``surrogate`` are the environments
    with generated or altered data in place of the real data, and ``altered`` are the environments among them whose data
    differs from the published data. ``genuine`` are the labels of the experiments on real or synthetic data if other
    experiments use other data. ``packaged`` states that a packaged sample was used. ``until_decided`` is the largest
    number of repetitions if repetitions were added until the verdicts were decided. ``other_than_published`` is the
    reason why published numbers belong to other runs and are not judged. If all runs replay a log, ``accepted`` are the
    mean numbers of accepted rounds, and ``horizons`` are only limits; ``parts`` of the log are the largest number of
    repetitions. ``smaller`` is the scale's reduction of sizes other than the horizon and the repetitions.
    """

    model_config = ConfigDict(frozen=True)

    scale: str = ""
    repetitions: tuple[int, ...] = ()
    horizons: tuple[int, ...] = ()
    surrogate: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    genuine: tuple[dict[str, str], ...] = ()
    packaged: bool = False
    until_decided: int | None = None
    other_than_published: str = ""
    accepted: tuple[int, ...] = ()
    parts: int | None = None
    smaller: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_older(cls, given: Any) -> Any:
        """Convert ``sequential`` of results before version 0.4 to ``until_decided``.

        These results do not state the largest number of repetitions, which was 400 by default.
        """
        if isinstance(given, Mapping) and given.get("sequential") and "until_decided" not in given:
            return {**given, "until_decided": max([400, *given.get("repetitions", ())])}
        return given

    @model_serializer(mode="wrap")
    def _without_empty(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in dump(self).items() if value or key not in _LEFT_OUT}

    @property
    def mark(self) -> str:
        """The mark on pictures, or "" if all data is genuine or a sample of genuine data."""
        return "ALTERED DATA" if self.altered else "SURROGATE DATA" if self.surrogate else ""

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> "Provenance":
        """Return the provenance in a manifest, which is computed from the runs for older results."""
        if not isinstance(manifest, Mapping):
            raise ValueError(f"found {type(manifest).__name__}, expected an object")
        if "provenance" in manifest:
            return cls.model_validate(manifest["provenance"])
        runs = manifest.get("runs") or []
        kinds = [DataKind.of(run.get("data")) for run in runs]
        generated = [kind.is_replaced for kind in kinds]
        words = [word for line in itertools.compress(overrides_of(manifest), generated) for word in line]
        named = {word.removeprefix("env=") for word in words if word.startswith("env=")}
        return cls(
            scale=str(manifest.get("scale", "")),
            repetitions=_once(run.get("repetitions") for run in runs),
            horizons=_once(run.get("horizon") for run in runs),
            surrogate=tuple(sorted(named or {"unknown"})) if any(generated) else (),
            packaged=DataKind.PACKAGED in kinds,
        )

    def words(self) -> str:
        """Return the basis of the numbers as one line."""
        if not self.repetitions:
            return "computed, nothing was run"
        generated = ", ".join(name for name in self.surrogate if name not in self.altered)
        data = "; in longer runs settings may rank differently" if self.accepted else ""
        data += f"; surrogate data in place of the real ({generated})" if generated else ""
        data += f"; altered data, other than published ({', '.join(self.altered)})" if self.altered else ""
        data += f"; {PACKAGED_WORDS}" if self.packaged else ""
        data += f"; {self.other_than_published}" if self.other_than_published and not self.surrogate else ""
        data += f"; smaller than the paper's: {', '.join(self.smaller)}" if self.smaller else ""
        scale = f"scale {self.scale}: " if self.scale else ""
        return f"{scale}{self.size()}{data}"

    def size(self) -> str:
        """Return the number of repetitions and the lengths of the runs as text."""
        repetitions = number_of_repetitions(self.repetitions, sequential=self.until_decided is not None)
        if self.accepted:
            return f"{repetitions} of about {number_of_rounds(self.accepted).replace('round', 'accepted round')}"
        return f"{repetitions} of {number_of_rounds(self.horizons)}"


def number_of_repetitions(numbers: Iterable[int], *, sequential: bool) -> str:
    """Return numbers of repetitions as text.

    ``sequential`` states whether the numbers were chosen by looking at the verdicts.
    """
    distinct = sorted(set(numbers))
    if sequential and len(distinct) > 1:
        return f"{distinct[0]:,} to {distinct[-1]:,} repetitions"
    return f"{' or '.join(f'{value:,}' for value in distinct)} {'repetition' if distinct == [1] else 'repetitions'}"


def number_of_rounds(horizons: Iterable[int]) -> str:
    """Return lengths of runs as text; one or two lengths are listed, and more lengths are given as a range."""
    lengths = sorted(set(horizons))
    shown, between = (lengths, " or ") if len(lengths) <= 2 else ((lengths[0], lengths[-1]), " to ")
    return f"{between.join(f'{value:,}' for value in shown)} {'round' if lengths == [1] else 'rounds'}"


def _once(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(sorted({int(value) for value in values if value}))
