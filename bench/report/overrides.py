"""The overrides of a figure's experiments, stored once: for all of them, for a label, or for one alone."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

_SIZE = ("horizon", "repetitions")
"""What a manifest says of each run beside its overrides."""


def factored(
    labels: Sequence[Mapping[str, str]], overrides: Sequence[Sequence[str]]
) -> tuple[dict[str, Any], list[list[str]]]:
    """Return what a manifest stores of the experiments' overrides; `commands` is its inverse.

    Parameters
    ----------
    labels, overrides
        Of each experiment. Of several overrides of one key the last counts.

    Returns
    -------
    shared : dict
        `all`: overrides that all experiments have; `labels`: axis -> label -> overrides that all with the label have.
    rest : list
        The overrides of each experiment that its labels do not determine.
    """
    last = [list({_key(word): word for word in words if _key(word) not in _SIZE}.values()) for words in overrides]
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
    """Return the command that runs each experiment of a manifest; an older one lists them."""
    shared = manifest.get("overrides") or {}
    lines = []
    for run in manifest.get("runs") or []:
        words = [*shared.get("all", ())]
        for axis, label in (run.get("labels") or {}).items():
            words += shared.get("labels", {}).get(axis, {}).get(label, ())
        words += run.get("overrides") or ()
        size = [f"{key}={run[key]}" for key in _SIZE if run.get(key)]
        line = shlex.join(["python", "-m", "runners.run", *dict.fromkeys(words), *size])
        lines.append(str(run.get("command") or line))
    return lines


def _key(word: str) -> str:
    return word.lstrip("+").partition("=")[0]
