"""The content of a figure's file with its references resolved: labels, readings, claims, published numbers."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from bench.errors import ConfigError
from bench.report.labels import labels_of
from runners.config.papers import load_paper, published
from runners.config.tree import choices, expect, merge, one_of, path_of, read


def filled(name: str) -> dict[str, Any]:
    """Return the unchecked content of a figure's file with references resolved."""
    content = read(f"figure/{name}")
    figure = deepcopy(read(f"figure/{name.partition('/')[0]}/{content['like']}")) if "like" in content else {}
    figure.pop("name", None)  # its own name is that of its file
    merge(figure, content)
    figure.pop("like", None)
    for key, expected in zip(("paper", "name"), name.split("/"), strict=True):
        if figure.setdefault(key, expected) != expected:
            raise ConfigError(f"{key}: found '{figure[key]}', expected '{expected}', the name of its file")
    if (paper := figure["paper"]) not in choices("paper"):
        raise ConfigError(
            f"paper: found '{paper}' without {paper}/settings.yaml, expected one, if only with name: {paper}"
        )
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
    if path_of(f"looks/{figure['paper']}"):
        figure.setdefault("looks", read(f"looks/{figure['paper']}"))
    figure["claims"] = [claim for template in figure.get("claims", []) for claim in claims_for_each(template)]
    if "published" in figure:
        figure["published"] = published(figure["paper"], figure["published"])
        of_paper = load_paper(figure["paper"])["settings"]
        if not {"published_repetitions", "repetitions"} & figure.keys() and "repetitions" not in of_paper:
            raise ConfigError(
                "published: found numbers without the number of repetitions behind them, expected "
                "published_repetitions, or repetitions in the paper's settings"
            )
    return figure


def claims_for_each(template: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a claim for each combination of the words in ``for_each``.

    The words replace their names in braces.
    """
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
            raise ConfigError(f"found the {axis} '{label}', {one_of(label, shared)}")
    return {label: shared[label] for label in labels}


def _shared_reading(name: str, reading: Any, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a reading; for a name, return the paper's reading, restricted to the labels of the figure.

    If the paper's reading is ``like`` another reading, the overrides of the other reading come first.
    """
    if isinstance(reading, dict):
        return reading
    readings: dict[str, Any] = load_paper(name.partition("/")[0]).get("readings", {})
    if reading not in readings:
        raise ConfigError(f"found the reading '{reading}', {one_of(reading, readings)}")
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
