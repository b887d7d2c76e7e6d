"""Commands that compare the methods of a figure's panel."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from bench.report.limits import is_limit
from bench.report.provenance import key_of, overrides_of
from bench.report.reading import READING
from bench.report.tasks import METHOD

_LABEL = re.compile(r"[^\W\d][^=,()'\"\[\]{}]*")
"""Labels that a command can give."""


def compare_commands(manifest: Mapping[str, Any]) -> list[str]:
    """Return a command for each panel that compares its methods, where these differ only in their tuner.

    Where they have different numbers of repetitions it asks for the largest.
    """
    panels: dict[str, dict[str, list[str]]] = {}
    for run, words in zip(manifest.get("runs") or [], overrides_of(manifest), strict=True):
        labels = dict(run.get("labels") or {})
        if METHOD in labels and READING not in labels and not is_limit(labels):
            method = labels.pop(METHOD)
            panels.setdefault(str(labels), {})[method] = words
    lines = []
    for methods in panels.values():
        tuners, others, most = [], [], 0
        for label, words in methods.items():
            own = [word for word in words if key_of(word).partition(".")[0] == "tuner"]
            others.append([word for word in words if word not in own and key_of(word) != "repetitions"])
            most = max(most, *(int(word.partition("=")[2]) for word in words if key_of(word) == "repetitions"), 0)
            name = next((word.partition("=")[2] for word in own if key_of(word) == "tuner"), "")
            settings = ",".join(word.removeprefix("tuner.") for word in own if key_of(word) != "tuner")
            shown = f"{label}=" if _LABEL.fullmatch(label) else ""
            tuners.append(f"{shown}{name}{f'({settings})' if settings else ''}" if name else "")
        if len(tuners) > 1 and all(tuners) and all(words == others[0] for words in others):
            words = [f"tuner={','.join(tuners)}", *others[0], f"repetitions={most}"]
            lines.append(shlex.join(["python", "-m", "runners.compare", *words]))
    return lines
