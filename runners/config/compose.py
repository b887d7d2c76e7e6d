"""From choices and settings to one run, by plain merges of the files below ``conf``.

In order: what each choice says, what its paper sets for it, what is set by key; horizon and repetitions are then capped
by the scale, unless they are set. Hydra composes the words of a command line to the same.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import Field, NonNegativeInt, PositiveInt

from bench.component import component
from bench.errors import ConfigError
from runners.config.experiment import Experiment
from runners.config.folders import remembered, user_folder
from runners.config.nearest import file_of_data, no_override
from runners.config.papers import paper_settings
from runners.config.runner import Runner
from runners.config.tree import (
    CLASS,
    GROUPS,
    PARTS,
    Open,
    implied,
    merge,
    nested,
    read,
    read_choice,
    size_of,
    unknown_key,
)
from runners.config.yaml_text import load


@component
class RunSettings:
    """The keys of a run outside its parts.

    Parameters
    ----------
    horizon
        Number of rounds.
    repetitions
        Number of repetitions.
    seed
        Base seed: repetition r of every experiment with this seed sees the same contexts and noise.
    jobs
        Number of worker processes, one thread each.
    output
        Output of ``runners.run``: ``text``, or ``json``, one JSON object as the last line.
    renew
        Whether finished repetitions are run again.
    """

    horizon: Annotated[int, Field(ge=1, le=10**9)]
    repetitions: Annotated[int, Field(ge=1, le=10**6)]
    seed: NonNegativeInt
    jobs: PositiveInt
    output: Literal["text", "json"]
    renew: bool


KEYS = (*GROUPS, *RunSettings.__annotations__, "uncapped")


@dataclass(frozen=True)
class Run:
    """One experiment with everything outside its identity."""

    experiment: Experiment
    settings: RunSettings
    choices: dict[str, str]
    runner: Runner


class Value(NamedTuple):
    """A value at a dotted key; ``added``: whether the key may be unknown to the chosen part."""

    key: str
    value: Any
    added: bool = False


def compose(
    choices: Mapping[str, str],
    values: Iterable[Value] = (),
    *,
    caps: Mapping[str, int] = MappingProxyType({}),
    classes: Mapping[str, type] = MappingProxyType({}),
) -> Run:
    """Return the run of some choices by group, the others being the suite's, and of values by key.

    ``caps`` is what a figure says of its size: ``horizon`` and ``repetitions`` in place of the paper's, ``max_horizon``
    and ``max_repetitions`` in place of the scale's. ``classes``, by part, are those that were handed over as objects.
    Raises ConfigError where a choice or key does not exist or a value does not fit.
    """
    stated, chosen = _stated(user_folder(), tuple(choices.items()))
    settings = {key: _copy(value) for key, value in stated.items()}
    for key, size in settings.pop("size").items():
        cap = caps.get(f"max_{key}", settings["scale"][f"max_{key}"])
        settings[key] = min(value for value in (caps.get(key, size), cap) if value is not None)
    values = list(values)
    for key, value, _ in values:
        if key.partition(".")[0] not in KEYS:
            of_parts = [f"{part}.{key}" for part in PARTS if key in (settings[part] or {})]
            raise unknown_key({}, key, [*of_parts, *KEYS])
        merge(settings, nested(key, value), add=True)
    if "${" in str(settings):
        settings = _resolved(settings, settings)
    return _checked(settings, chosen, [value.key for value in values if value.added], classes)


def from_overrides(overrides: Sequence[str], caps: Mapping[str, int] = MappingProxyType({})) -> Run:
    """Compose the words of a figure's file: ``["env=movielens", "horizon=500"]``, each value in YAML."""
    choices, values = choices_and_values(overrides)
    return compose(choices, values, caps=caps)


def choices_and_values(overrides: Sequence[str]) -> tuple[dict[str, str], list[Value]]:
    """Return the choices of words by group, and their values. Raises ConfigError for a word that is not
    ``key=value``."""
    choices, values = {}, []
    for word in overrides:
        key, _, text = word.partition("=")
        if key in GROUPS:
            choices[key] = text
        else:
            values.append(Value(*_key_and_value(word), word.startswith("+")))
    return choices, values


@cache
def _key_and_value(word: str) -> tuple[str, Any]:
    """Return key and value of ``key=value`` or ``+key=value``; do not change the value."""
    key, equals, text = word.lstrip("+").partition("=")
    try:
        if re.fullmatch(r"\w[\w.]*", key) and equals:
            return key, load(f"value: {text}")["value"]
    except (yaml.YAMLError, ValueError, KeyError):
        pass
    raise ConfigError(no_override(word))


def run_of(settings: Mapping[str, Any], choices: Mapping[str, str], overrides: Sequence[str]) -> Run:
    """Return the run that Hydra has composed; ``overrides`` tell the added keys. Raises ConfigError."""
    added = [word.lstrip("+").partition("=")[0] for word in overrides if word.startswith("+")]
    for key in settings:
        if key not in KEYS:
            raise unknown_key({}, key, KEYS)
    return _checked(settings, choices, added, {})


def _checked(
    settings: Mapping[str, Any], choices: Mapping[str, str], added: Sequence[str], classes: Mapping[str, type]
) -> Run:
    """Return the run of settings without references. Raises ConfigError."""
    choices = {group: "custom" if CLASS.fullmatch(choices[group]) else choices[group] for group in GROUPS}
    for part in PARTS:
        if choices[part] != "custom":
            _check_keys(settings, _known(user_folder(), part, choices[part]), part, added)
    run = run_settings({key: settings.get(key) for key in RunSettings.__annotations__})
    parts = {part: settings[part] for part in PARTS}
    for part, content in parts.items():
        if content and content.get("_target_", "") == "???":
            raise ConfigError(f"{part}._target_: found no value, expected the dotted path of a class")
    experiment = Experiment({**parts, "horizon": run.horizon, "seed": run.seed}, *([classes] * bool(classes)))
    return Run(experiment, run, choices, runner_settings(settings["runner"]))


def _defaults() -> dict[str, str]:
    lines = (line for line in read("config")["defaults"] if isinstance(line, dict))
    return {key: name for line in lines for key, name in line.items() if key in GROUPS}


@remembered
@cache
def _stated(folder: Path | None, choices: tuple[tuple[str, str], ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings of choices and paper (do not change them), and all choices; ``folder`` is the user's."""
    config, given = read("config"), dict(choices)
    chosen = _defaults() | given
    for group in ("env", "algorithm"):
        chosen |= {key: name for key, name in implied(group, chosen[group]).items() if key not in given}
    settings: dict[str, Any] = {key: config[key] for key in ("seed", "jobs", "output", "renew")}
    settings |= {group: _copy(read_choice(group, chosen[group])) for group in (*PARTS, "scale", "runner")}
    for part in PARTS:
        if changes := paper_settings(part, chosen["paper"], chosen[part]):
            settings[part] = settings[part] or {}
            merge(settings[part], changes, add=True)
    settings["size"] = config["uncapped"] | size_of(chosen["env"]) | paper_settings("uncapped", chosen["paper"])
    return settings, chosen


def _copy(value: Any) -> Any:
    """Return a copy of plain data, in a tenth of the time of `deepcopy`."""
    if isinstance(value, dict):
        return type(value)((key, _copy(item)) for key, item in value.items())
    return list(map(_copy, value)) if isinstance(value, list) else value


@remembered
@cache
def _known(folder: Path | None, part: str, choice: str) -> dict[str, Any] | None:
    """Return the settings of a choice alone; ``folder`` is the user's."""
    return read_choice(part, choice)


def _check_keys(settings: Mapping[str, Any], known: Any, key: str, added: Sequence[str]) -> None:
    """Raise ConfigError for a key below ``key`` that is neither known nor added with a plus."""
    value = reduce(getitem, key.split("."), settings)
    if isinstance(known, Open) or not isinstance(value, dict) or key in added:
        return
    for name in value:
        dotted = f"{key}.{name}"
        if isinstance(known, dict) and name in known:
            if isinstance(known[name], dict):
                _check_keys(settings, known[name], dotted, added)
        elif not any(f"{word}.".startswith(f"{dotted}.") or dotted.startswith(f"{word}.") for word in added):
            if key == "env" and isinstance(value[name], str) and (data := file_of_data(value[name], dotted)):
                raise ConfigError(data)
            raise unknown_key(nested(key, known), dotted, KEYS)


_REFERENCE = re.compile(r"\$\{([\w.]+)\}")


def _resolved(value: Any, settings: Mapping[str, Any], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _resolved(item, settings, f"{key}.{name}".lstrip(".")) for name, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, settings, key) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    try:
        found = reduce(getitem, _REFERENCE.fullmatch(value)[1].split("."), settings)  # type: ignore[index]
    except (KeyError, TypeError):
        raise _no_reference(key, value) from None
    if isinstance(found, str) and "${" in found:
        raise ConfigError(f"{key}: found {value}, a reference to another, expected one to a value")
    return found


def _no_reference(key: str, found: str) -> ConfigError:
    return ConfigError(f"{key}: found a reference to no value ({found}), expected a value")


def runner_settings(values: Mapping[str, Any]) -> Runner:
    """Check the keys of the group ``runner``. Raises ConfigError, naming the key."""
    try:
        return Runner(**values)
    except ConfigError as error:
        raise error.under("runner") from None


def run_settings(values: dict[str, Any]) -> RunSettings:
    """Check the keys of a run outside its parts, with the suite's defaults. Raises ConfigError, naming the key."""
    config = read("config")
    defaults = {key: config["uncapped"].get(key, config[key]) for key in RunSettings.__annotations__}
    for key, value in values.items():
        if value is None:
            raise ConfigError(f"{key}: found no value, expected one")
        if isinstance(value, bool) and key != "renew":
            raise ConfigError(f"{key}: found {value}, expected {'a word' if key == 'output' else 'a whole number'}")
    try:
        return RunSettings(**(defaults | values))
    except ConfigError as error:
        raise error.under("") from None
