"""A comparison of tuners as a figure, from the words of a command line."""

import itertools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hydra.core.override_parser.types import Override, ValueType

from bench.columns import column_of
from bench.errors import ConfigError
from runners.cli import check_commas, check_words
from runners.config.compose import KEYS, parse, text_of
from runners.config.tree import CLASS, GROUPS, read

if TYPE_CHECKING:  # slow to import
    from bench.report.page import Size

METHOD = "method"
_OPTIONS = {"name": "comparison", "column": "regret", "format": "", "size": ""}
_SIZES = ("horizon", "repetitions", "seed")
_MACHINE = ("jobs", "runner")
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,80}")
_LABEL = r"(?:([^\W\d][^=,()'\"\[\]{}]*)=)?"
_TUNER = re.compile(_LABEL + r"([\w.]*)(?:\((.*)\))?")
_PANEL = re.compile(_LABEL + r"(.*)")
_COMMA = re.compile(r",(?![^\[{]*[\]}])")  # outside of brackets


class Plan(NamedTuple):
    """The figure, overrides for all its runs and for where they run, most repetitions, formats and width of a PDF."""

    figure: dict[str, Any]
    scale: str
    sizes: list[str]
    machine: list[str]
    until_decided: int | None
    formats: tuple[str, ...]
    size: "Size"


def plan(words: list[str]) -> Plan:
    """Read a command line. Raises ConfigError when a word is no override, or names no choice of its group."""
    from bench.report.saving import extra_formats, print_size  # slow to import
    from runners.results.until_decided import most_repetitions

    check_commas(words)
    tuners = [word.partition("=")[2] for word in words if word.startswith("tuner=")]
    if len(tuners) > 1:
        raise ConfigError(f"tuner: given {len(tuners)} times, expected once, with commas between the tuners")
    parsed = [(_parse(text), names) for text, names in map(_without_labels, words) if not text.startswith("tuner=")]
    overrides = {word.key_or_group: word for word, _ in parsed}
    labels = {word.key_or_group: names for word, names in parsed}
    options = _OPTIONS | {key: text_of(overrides.pop(key)) for key in _OPTIONS if key in overrides}
    formats = extra_formats(options["format"])
    size = print_size(options["size"], formats)
    if not _NAME.fullmatch(options["name"]):
        raise ConfigError(f"name: found '{options['name']}', expected letters, digits, - and _")
    numbers = {key: word.value() for key, word in overrides.items() if not word.is_sweep_override()}
    until = most_repetitions(numbers.get("repetitions"), numbers.get("max_repetitions"))
    if until is not None:
        overrides = {key: word for key, word in overrides.items() if key not in ("repetitions", "max_repetitions")}
    axes = {METHOD: _tuners(tuners[0] if tuners else "")}
    if len(axes[METHOD]) < 2:
        raise ConfigError(f"tuner: found only '{tuners[0]}', expected at least two: tuner={tuners[0]},tl")
    axes |= {key: _values(word, labels[key]) for key, word in overrides.items() if word.is_sweep_override()}
    plain = {key: str(word.input_line) for key, word in overrides.items() if not word.is_sweep_override()}
    chosen = [override for values in axes.values() for overrides in values.values() for override in overrides]
    check_words([*plain.values(), *chosen], KEYS)

    def of(*groups: str) -> list[str]:
        return [word for key, word in plain.items() if key.partition(".")[0] in groups]

    common = [word for word in plain.values() if word not in of(*_SIZES, *_MACHINE, "scale", "paper")]
    figure = _figure(options, str(numbers.get("paper", "none")), axes, common)
    assumed = [key for key in overrides if key.partition(".")[0] not in _MACHINE]
    figure["sources"] = {key: ["assumed", "the command line"] for key in assumed}
    return Plan(figure, str(numbers.get("scale", "paper")), of(*_SIZES), of(*_MACHINE), until, formats, size)


def _parse(word: str) -> Override:
    key, _, text = word.partition("=")
    if key in GROUPS and "(" in text:
        raise ConfigError(f"{key}: found '{text}', expected names alone: settings in parentheses follow tuners only")
    parsed = parse(word)
    if parsed.value_type not in (ValueType.ELEMENT, ValueType.CHOICE_SWEEP, ValueType.SIMPLE_CHOICE_SWEEP):
        raise ConfigError(f"{parsed.key_or_group}: found '{word}', expected values with commas between them")
    return parsed


def _tuners(text: str) -> dict[str, list[str]]:
    """Return tuners, by the names they are shown by, each with its overrides."""
    if not text:
        raise ConfigError("tuner: found '', expected at least two with commas between them, such as tuner=cdt,tl")
    # By the names, and so in the colours, in which the suite's own figures show them
    methods = read("figure/tournament/ranks")["runs"][0][METHOD]
    names = {words[0].partition("=")[2]: str(label) for label, words in methods.items() if len(words) == 1}
    tuners: dict[str, list[str]] = {}
    for tuner in re.split(r",(?![^()]*\))", text):  # at commas outside of parentheses
        match = _TUNER.fullmatch(tuner)
        if not match:
            raise ConfigError(f"tuner: found '{tuner}', expected a name, or one with settings: cdt(radius_scale=0.5)")
        label, name, text = match.groups()
        words = _COMMA.split(text) if text else []
        settings = [word.strip().partition("=") for word in words]
        if not all(re.fullmatch(r"\w[\w.]*", key) and equals and value for key, equals, value in settings):
            raise ConfigError(f"tuner: found '{tuner}', expected settings as in {name}(key=value, key=value)")
        if not label:
            label = name.rpartition(".")[2] if CLASS.fullmatch(name) else names.get(name, name)
            label += f" ({', '.join(f'{key} = {value}' for key, _, value in settings)})" if settings else ""
        if label in tuners:
            raise ConfigError(f"tuner: found two called '{label}', expected different names: tuner=name={name},...")
        tuners[label] = [f"tuner={name}", *(f"tuner.{key}={value}" for key, _, value in settings)]
    return tuners


def _without_labels(word: str) -> tuple[str, list[str | None]]:
    """Return a word without the labels before its values, and these, None of a value without; [] if there are none."""
    key, equals, text = word.partition("=")
    pairs = [match.groups() for part in _COMMA.split(text) if (match := _PANEL.fullmatch(part))]
    if len(pairs) < 2 or not any(label for label, _ in pairs):
        return word, []
    return f"{key}{equals}{','.join(value for _, value in pairs)}", [label for label, _ in pairs]


def _values(override: Override, labels: list[str | None]) -> dict[str, list[str]]:
    """Return the labels of an axis of panels, by default made of the values, each with its override."""
    key = override.key_or_group
    prefix = str(override.input_line).partition("=")[0]
    panels: dict[str, list[str]] = {}
    for text, given in itertools.zip_longest(override.sweep_string_iterator(), labels):
        label = given or (text if key in GROUPS else f"{key} = {text}")
        if label in panels:
            raise ConfigError(f"{key}: found two called '{label}', expected different names")
        panels[label] = [f"{prefix}={text}"]
    return panels


def _figure(
    options: dict[str, str], paper: str, axes: dict[str, dict[str, list[str]]], common: list[str]
) -> dict[str, Any]:
    """Return the figure: curves, and a claim for the first tuner against each of the others."""
    column = options["column"]
    _, better, label = column_of(column)
    better = better or "more"
    panels = [axis for axis in axes if axis != METHOD]
    first, *others = axes[METHOD]
    where = f" ({', '.join(common)})" if common else ""
    claims = [
        {
            "id": other,
            "text": f"{first} ends with {better} {column} than {other}",
            "kind": "paired_difference",
            "left": {METHOD: first},
            "right": {METHOD: other},
            "expect": "less" if better == "less" else "greater",
            "per": panels,
        }
        for other in others
    ]
    return {
        "name": options["name"],
        "paper": paper,
        "title": f"{label.capitalize()} by tuner{where}",
        "kind": "curves",
        "column": column,
        "x_label": "round",
        "y_label": label,
        "panels": panels,
        "common": common,
        "runs": [axes],
        "claims": claims,
    }
