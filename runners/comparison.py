"""The arguments of a comparison, from the words of a command line."""

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bandit_bench._parts import label_of
from bandit_bench._plan import LOOK
from bench.errors import ConfigError
from bench.report.formats import extra_formats, print_size
from runners.command import PLAIN
from runners.config.tree import PARTS, read_choice
from runners.reproduce import instead_of_figures

if TYPE_CHECKING:  # slow to import
    from hydra.core.override_parser.types import Override

_ARGUMENTS = ("horizon", "repetitions", "max_repetitions", "seed", "jobs", "strict", "renew", "tie")
_TEXTS = ("paper", "scale", "name", "column")
_LISTS = ("lines", "format", "colors")
_OWN = ("runner", "size", "shard", "dry_run")
_PLAIN = re.compile(PLAIN, re.ASCII | re.IGNORECASE)
_TOKEN = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|.""", re.DOTALL)
_PART = re.compile(r"([\w.]+)(?:\((.*)\))?", re.DOTALL)
_LABEL = re.compile(r"([^\W\d][^=,()'\"\[\]{}]*)=(.*)", re.DOTALL)


def arguments(words: Sequence[str]) -> dict[str, Any]:
    """Return what `bandit_bench._compare.compare_with` is called with. Raises ConfigError naming a wrong word.

    Values are read by Hydra's parser. Commas of parts and of settings stand between lines or panels, each of which a
    label may precede; parts take settings in parentheses.
    """
    given: dict[str, Any] = {
        "settings": {},
        "sweep": {},
        "command": shlex.join(["python", "-m", "runners.compare", *words]),
    }
    seen: set[str] = set()
    own: dict[str, Any] = {}
    runner: dict[str, Any] = {}
    for word, following in pairwise([*words, ""]):
        key, equals, text = word.partition("=")
        key = key.removeprefix("++").removeprefix("+")
        if not equals or not key or key.startswith("~"):
            raise ConfigError(f"{word}: found no key with a value, expected key=value")
        if text.endswith(","):
            raise ConfigError(f"{key}: found a space after the comma in '{word}', expected none: {word}{following}")
        if key in seen:
            raise ConfigError(f"{key}: given twice, expected once, with commas between several: {key}=a,b")
        seen.add(key)
        if key in PARTS:
            given["tuners" if key == "tuner" else key] = _labelled([_part(key, piece) for piece in split(text)], key)
        elif key in _LISTS:
            own[key] = split(text.strip("[]{}"))
        elif key.startswith("runner."):
            runner[key.removeprefix("runner.")] = _value(key, text)
        elif len(values := _values(key, text)) > 1:
            given["sweep"][key] = _labelled(values, key)
        elif key in (*_OWN, *_ARGUMENTS, *LOOK):
            own[key] = values[0][1]
        elif key in _TEXTS:
            given[key] = str(values[0][1])
        else:
            given["settings"][key] = values[0][1]
    if "tuners" not in given:
        raise ConfigError("tuner: found '', expected at least two with commas between them, such as tuner=cdt,tl")
    if "runner" in own or runner:
        chosen = read_choice("runner", str(own.pop("runner", "loky"))) or {}
        given["runner"] = {key: value for key, value in (chosen | runner).items() if value is not None}
    given["formats"] = extra_formats(own.pop("format", None))
    given["size"] = print_size(own.pop("size", None), given["formats"])
    given["instead"] = instead_of_figures(own.pop("shard", None), dry_run=own.pop("dry_run", False))
    if "colors" in own:
        own["colors"] = dict(_color(pair) for pair in own["colors"])
    return given | own


def split(text: str) -> list[str]:
    """Return what stands between the commas that are outside of quotes, parentheses, brackets and braces."""
    pieces, depth = [""], 0
    for token in _TOKEN.findall(text):
        depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
        if token == "," and not depth:
            pieces.append("")
        else:
            pieces[-1] += token
    return pieces


def _parse(key: str, text: str) -> "Override":
    from hydra.core.override_parser.overrides_parser import OverridesParser  # slow to import

    (parsed,) = OverridesParser.create().parse_overrides([f"{key}={text}"])
    return parsed


def _value(key: str, text: str) -> Any:
    if _PLAIN.fullmatch(text):  # for which it is not worth while to import Hydra
        return int(text) if text.isdigit() else text
    return _parse(key, text).value()


def _part(group: str, piece: str) -> tuple[str, Any]:
    """Return the label ("": none) and the part of words such as ``Mine=my_module.MyTuner(threshold=0.9)``."""
    label, rest = _with_label(piece)
    match = _PART.fullmatch(rest)
    if not match:
        raise ConfigError(f"{group}: found '{piece}', expected a name, or one with settings: cdt(radius_scale=0.5)")
    name, inside = match.groups()
    settings = [word.strip().partition("=") for word in split(inside or "") if word.strip()]
    if not all(key and value for key, _, value in settings):
        raise ConfigError(f"{group}: found '{piece}', expected settings as in {name}(key=value, key=value)")
    return label, (name, {key: _value(key, value) for key, _, value in settings}) if settings else name


def _values(key: str, text: str) -> list[tuple[str, Any]]:
    """Return the values of a key, each with its label: by default the value as it was written."""
    pieces = split(text)
    if len(pieces) == 1 and re.match(r"(choice|range|glob|sort|shuffle|tag|interval)\(", text):
        override = _parse(key, text)
        return list(zip(override.sweep_string_iterator(), override.sweep_iterator(), strict=True))
    if len(pieces) == 1:
        return [(text, _value(key, text))]
    return [(label or value, _value(key, value)) for label, value in map(_with_label, pieces)]


def _with_label(piece: str) -> tuple[str, str]:
    match = _LABEL.fullmatch(piece)
    return (match[1], match[2]) if match else ("", piece)


def _labelled(pairs: Sequence[tuple[str, Any]], key: str) -> Any:
    """Return parts or values by label; a list where no part has one."""
    if not any(label for label, _ in pairs):
        return [part for _, part in pairs]
    by_label: dict[str, Any] = {}
    for given, part in pairs:
        name, settings = part if isinstance(part, tuple) else (part, {})
        label = given or label_of(key, name, settings)
        if label in by_label:
            raise ConfigError(f"{key}: found two called '{label}', expected different labels")
        by_label[label] = part
    return by_label


def _color(pair: str) -> tuple[str, str]:
    name, _, color = (word.strip(" '\"") for word in pair.partition(":"))
    if not (name and color):
        raise ConfigError(f"colors: found '{pair}', expected a colour by label: colors=TL:black,CDT:#d55e00")
    return name, color
