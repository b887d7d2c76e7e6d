"""A comparison, from the words of a command line."""

import itertools
import re
import shlex
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, ValueType
from hydra.errors import OverrideParseException

from bandit_bench._parts import Axis, put
from bandit_bench._plan import LOOK, ComparisonPlan
from bench.errors import ConfigError
from bench.report.formats import extra_formats, print_size
from runners.cli import check_commas
from runners.config.compose import KEYS
from runners.config.nearest import no_override
from runners.config.repetitions import most_repetitions
from runners.config.tree import GROUPS, PARTS
from runners.config.words import check_words

_OPTIONS = {"name": "", "column": "", "lines": "tuner", "format": "", "size": "", "strict": "false"}
_SIZES = ("horizon", "repetitions", "seed")
_MACHINE = ("jobs", "runner")
_LABEL = r"(?:([^\W\d][^=,()'\"\[\]{}]*)=)?"
_PART = re.compile(_LABEL + r"([\w.]*)(?:\((.*)\))?")
_PANEL = re.compile(_LABEL + r"(.*)")
_COMMA = re.compile(r",(?![^\[{]*[\]}])")  # outside of brackets
_BETWEEN_PARTS = re.compile(r",(?![^()]*\))")  # outside of parentheses


def asked(words: list[str]) -> ComparisonPlan:
    """Read a command line. Raises ConfigError where a word is not an override, or names no choice of its group."""
    check_commas(words)
    look, words_left = _look(words)
    axes: dict[str, Axis] = {}
    overrides: dict[str, Override] = {}
    for word in words_left:
        key, _, text = word.partition("=")
        if key in PARTS:
            if key in axes:
                raise ConfigError(f"{key}: given twice, expected once, with commas between several: {key}=a,b")
            axes[key] = _parts(key, text)
            continue
        plain, labels = _without_labels(word)
        parsed = _parse(plain)
        overrides[parsed.key_or_group] = parsed
        if parsed.is_sweep_override():
            axes[parsed.key_or_group] = _values(parsed, labels)
    if "tuner" not in axes:
        raise ConfigError("tuner: found '', expected at least two with commas between them, such as tuner=cdt,tl")
    options = _OPTIONS | {key: text_of(overrides.pop(key)) for key in _OPTIONS if key in overrides}
    axes = {key: axis for key, axis in axes.items() if key not in _OPTIONS}
    lines = tuple(options["lines"].strip("[]").replace(" ", "").split(","))
    if options["strict"] not in ("true", "false"):
        raise ConfigError(f"strict: found '{options['strict']}', expected true or false")
    formats = extra_formats(options["format"])
    numbers = {key: word.value() for key, word in overrides.items() if not word.is_sweep_override()}
    until = most_repetitions(numbers.get("repetitions"), numbers.get("max_repetitions"))
    if until is not None:
        overrides = {key: word for key, word in overrides.items() if key not in ("repetitions", "max_repetitions")}
    plain_words = {key: str(word.input_line) for key, word in overrides.items() if not word.is_sweep_override()}
    chosen = [word for values in axes.values() for of_label in values.values() for word in of_label]
    check_words([*plain_words.values(), *chosen], KEYS)

    def of(*groups: str) -> list[str]:
        return [word for key, word in plain_words.items() if key.partition(".")[0] in groups]

    return ComparisonPlan(
        axes=axes,
        lines=lines,
        common=[word for word in plain_words.values() if word not in of(*_SIZES, *_MACHINE, "scale", "paper")],
        sizes=of(*_SIZES),
        machine=of(*_MACHINE),
        paper=str(numbers.get("paper", "none")),
        scale=str(numbers.get("scale", "paper")),
        column=options["column"],
        name=options["name"],
        until_decided=until,
        strict=options["strict"] == "true",
        formats=formats,
        size=print_size(options["size"], formats),
        look=look,
        command=shlex.join(["python", "-m", "runners.compare", *words]),
    )


def _look(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Return how a comparison is to be drawn, and the other words."""
    look: dict[str, Any] = {}
    for word in words:
        key, _, text = word.partition("=")
        if key == "colors":
            pairs = [pair.partition(":") for pair in text.strip("{}").split(",")]
            if not all(name.strip() and color.strip() for name, _, color in pairs):
                raise ConfigError(f"colors: found '{text}', expected a colour by label: colors=TL:black,CDT:#d55e00")
            look[key] = {name.strip(): color.strip() for name, _, color in pairs}
        elif key in LOOK:
            look[key] = text
    return look, [word for word in words if word.partition("=")[0] not in LOOK]


def _parse(word: str) -> Override:
    key, _, text = word.partition("=")
    if key in GROUPS and "(" in text:
        raise ConfigError(f"{key}: found '{text}', expected a name alone: settings in parentheses follow parts only")
    try:
        parsed = OverridesParser.create().parse_overrides([word])[0]
    except OverrideParseException:
        raise ConfigError(no_override(word)) from None
    if parsed.value_type not in (ValueType.ELEMENT, ValueType.CHOICE_SWEEP, ValueType.SIMPLE_CHOICE_SWEEP):
        raise ConfigError(f"{parsed.key_or_group}: found '{word}', expected values with commas between them")
    return parsed


def _parts(group: str, text: str) -> Axis:
    """Return the parts that are named, by the labels they are shown by, each with its words."""
    axis: Axis = {}
    for part in _BETWEEN_PARTS.split(text):
        match = _PART.fullmatch(part)
        if not match or not match[2]:
            more = "; a label before it begins with a letter, as in A=cdt, and has no '=' in it" if "=" in part else ""
            more += "; run from the folder of a class's file, and name it as my_module.MyTuner" if "/" in part else ""
            raise ConfigError(
                f"{group}: found '{part}', expected a name, or one with settings: cdt(radius_scale=0.5){more}"
            )
        label, name, inside = match.groups()
        settings = [word.strip().partition("=") for word in (_COMMA.split(inside) if inside else [])]
        if not all(re.fullmatch(r"\w[\w.]*", key) and equals and value for key, equals, value in settings):
            raise ConfigError(f"{group}: found '{part}', expected settings as in {name}(key=value, key=value)")
        put(axis, group, name, {key: value for key, _, value in settings}, label or "")
    return axis


def _without_labels(word: str) -> tuple[str, list[str | None]]:
    """Return a word without the labels before its values, and these, None of a value without; [] if there are none."""
    key, equals, text = word.partition("=")
    pairs = [match.groups() for part in _COMMA.split(text) if (match := _PANEL.fullmatch(part))]
    if len(pairs) < 2 or not any(label for label, _ in pairs):
        return word, []
    return f"{key}{equals}{','.join(value for _, value in pairs)}", [label for label, _ in pairs]


def _values(override: Override, labels: list[str | None]) -> Axis:
    """Return the labels of an axis, by default the values themselves, each with its override."""
    key = override.key_or_group
    prefix = str(override.input_line).partition("=")[0]
    axis: Axis = {}
    for text, given in itertools.zip_longest(override.sweep_string_iterator(), labels):
        label = given or text
        if label in axis:
            raise ConfigError(f"{key}: found two called '{label}', expected different labels")
        axis[label] = [f"{prefix}={text}"]
    return axis


def text_of(override: Override) -> str:
    """Return the value of an override as it was written, without quotes around it."""
    return str(override.input_line).partition("=")[2].strip("'\"")
