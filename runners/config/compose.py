"""From choices and settings to one run, by plain merges of the files below ``conf``.

The files of the choices are merged first, then the paper's settings for the choices, then values by key. The scale caps
horizon and repetitions unless these are given by key. Hydra composes the same run from the arguments of a command line.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import Field

from bench.component import component
from bench.errors import ConfigError, message
from runners.config.experiment import Experiment
from runners.config.folders import remembered, user_folder
from runners.config.papers import leaves, paper_settings
from runners.config.runner import Runner
from runners.config.tree import (
    CLASS,
    GROUPS,
    PARTS,
    implied,
    merge,
    nested,
    plain,
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

    horizon: Annotated[int, Field(ge=1, le=10**9, strict=True)]
    repetitions: Annotated[int, Field(ge=1, le=10**6, strict=True)]
    seed: Annotated[int, Field(ge=0, strict=True)]
    jobs: Annotated[int, Field(ge=1, strict=True)]
    output: Literal["text", "json"]
    renew: Annotated[bool, Field(strict=True)]


UNTIL_DECIDED = "until_decided"
MAX_REPETITIONS = 400
"""The largest number of repetitions by default."""
KEYS = (*GROUPS, *RunSettings.__annotations__, "uncapped")


@dataclass(frozen=True)
class Run:
    """An experiment, and the facts about its run that are not part of the experiment's identity."""

    experiment: Experiment
    settings: RunSettings
    choices: dict[str, str]
    runner: Runner


class Value(NamedTuple):
    """A value at a dotted key.

    ``added`` is whether Hydra needs a plus because the chosen part does not have the key.
    """

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
    """Return the run composed of ``choices`` by group, with the suite's choices as defaults, and of ``values`` by key.

    In ``caps`` the keys ``horizon`` and ``repetitions`` of a figure replace the sizes of the paper, and ``max_horizon``
    and ``max_repetitions`` replace the limits of the scale. ``classes`` holds, by part, the classes that were handed
    over as objects. Raises ConfigError if a choice or key does not exist, or a value does not fit.
    """
    stated, chosen = _stated(user_folder(), tuple(choices.items()))
    settings = {key: _copy(value) for key, value in stated.items()}
    for key, size in settings.pop("size").items():
        cap = caps.get(f"max_{key}", settings["scale"][f"max_{key}"])
        settings[key] = least(caps.get(key, size), cap)
    values = list(values)
    for key, value, _ in values:
        if key.partition(".")[0] not in KEYS:
            of_parts = [f"{part}.{key}" for part in PARTS if key in (settings[part] or {})]
            raise unknown_key(key, [*of_parts, *KEYS])
        merge(settings, nested(key, value))
    if "${" in str(settings):
        settings = _resolved(settings)
    return _checked(settings, chosen, classes)


def least(*values: Any) -> Any:
    """Return the smallest number, or the first value that is not a whole number, which is reported later."""
    numbers = [value for value in values if value is not None]
    wrong = [value for value in numbers if not isinstance(value, int)]
    return wrong[0] if wrong else min(numbers)


def from_overrides(overrides: Sequence[str], caps: Mapping[str, int] = MappingProxyType({})) -> Run:
    """Compose a run from the overrides in a figure's file, such as ``["env=movielens", "horizon=500"]``, in YAML."""
    choices, values = choices_and_values(overrides)
    return compose(choices, values, caps=caps)


def choices_and_values(overrides: Sequence[str]) -> tuple[dict[str, str], list[Value]]:
    """Return the choices by group and the values by key in ``overrides``.

    Raises ConfigError unless each override is ``key=value``.
    """
    choices, values = {}, []
    for word in overrides:
        key, _, text = word.partition("=")
        if key in GROUPS:
            choices[key] = text
        else:
            values.append(Value(*_key_and_value(word), word.startswith("+")))
    return choices, values


def keys_of(choices: Iterable[str], values: Iterable[Value]) -> tuple[str, ...]:
    """Return the groups of choices and the keys of values, down to single values."""
    return (*choices, *(leaf for key, value, _ in values for leaf in leaves(value, key)))


@cache
def _key_and_value(word: str) -> tuple[str, Any]:
    """Return key and value of ``key=value`` or ``+key=value``. The value is cached and must not be changed."""
    key, equals, text = word.lstrip("+").partition("=")
    try:
        if re.fullmatch(r"\w[\w.]*", key) and equals:
            return key, load(f"value: {text}")["value"]
    except (yaml.YAMLError, ValueError, KeyError):
        pass
    raise ConfigError(f"{word}: found no valid override, expected key=value")


def run_of(settings: Mapping[str, Any], choices: Mapping[str, str]) -> Run:
    """Return the run that Hydra has composed. Raises ConfigError for an unknown key or a wrong value."""
    for key in settings:
        if key not in KEYS:
            raise unknown_key(key, KEYS)
    return _checked(settings, choices, {})


def _checked(settings: Mapping[str, Any], choices: Mapping[str, str], classes: Mapping[str, type]) -> Run:
    """Return the run of ``settings`` without references. Raises ConfigError for a wrong value."""
    choices = {group: "custom" if CLASS.fullmatch(choices[group]) else choices[group] for group in GROUPS}
    run = run_settings({key: settings.get(key) for key in RunSettings.__annotations__})
    parts = {part: settings[part] for part in PARTS}
    for part, content in parts.items():
        if content and content.get("_target_", "") == "???":
            raise ConfigError(f"{part}._target_: found no value, expected the dotted path of a class")
    experiment = Experiment({**parts, "horizon": run.horizon, "seed": run.seed}, *([classes] * bool(classes)))
    return Run(experiment, run, choices, runner_settings(settings["runner"]))


@remembered
@cache
def _stated(folder: Path | None, choices: tuple[tuple[str, str], ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings of the choices and of the paper, and all choices; ``folder`` is the user's folder.

    The settings are cached and must not be changed.
    """
    config, given = read("config"), dict(choices)
    lines = (line for line in config["defaults"] if isinstance(line, dict))
    chosen = {key: name for line in lines for key, name in line.items() if key in GROUPS} | given
    for group in ("env", "algorithm"):
        chosen |= {key: name for key, name in implied(group, chosen[group]).items() if key not in given}
    settings: dict[str, Any] = {key: config[key] for key in ("seed", "jobs", "output", "renew")}
    settings |= {group: _copy(read_choice(group, chosen[group])) for group in (*PARTS, "scale", "runner")}
    for part in PARTS:
        if changes := paper_settings(part, chosen["paper"], chosen[part]):
            settings[part] = settings[part] or {}
            merge(settings[part], changes)
    settings["size"] = config["uncapped"] | size_of(chosen["env"]) | paper_settings("uncapped", chosen["paper"])
    return settings, chosen


def _copy(value: Any) -> Any:
    """Return a copy of plain data, ten times as fast as `deepcopy`."""
    if isinstance(value, dict):
        return type(value)((key, _copy(item)) for key, item in value.items())
    return list(map(_copy, value)) if isinstance(value, list) else value


def _resolved(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with references such as ``${horizon}`` resolved by OmegaConf."""
    from omegaconf import OmegaConf  # slow to import, and rarely needed
    from omegaconf.errors import OmegaConfBaseException

    try:
        resolved: Any = OmegaConf.to_container(OmegaConf.create(plain(settings)), resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"{error.full_key}: {message(error).partition(chr(10))[0]}") from None
    return dict(resolved)


def runner_settings(values: Mapping[str, Any]) -> Runner:
    """Return the checked keys of the group ``runner``. Raises ConfigError, naming the key."""
    try:
        return Runner(**values)
    except ConfigError as error:
        raise error.under("runner") from None


def run_settings(values: dict[str, Any]) -> RunSettings:
    """Return the checked keys of a run outside its parts, with the suite's defaults.

    Raises ConfigError, naming the key.
    """
    config = read("config")
    defaults = {key: config["uncapped"].get(key, config[key]) for key in RunSettings.__annotations__}
    try:
        return RunSettings(**(defaults | values))
    except ConfigError as error:
        raise error.under("") from None


def most_repetitions(repetitions: Any, max_repetitions: Any) -> int | None:
    """Return the largest number of repetitions; None unless ``repetitions`` is ``until_decided``.

    Raises ConfigError for a wrong value of ``repetitions`` or ``max_repetitions``.
    """
    if repetitions != UNTIL_DECIDED:
        if max_repetitions is not None:
            raise ConfigError(f"max_repetitions={max_repetitions} requires repetitions={UNTIL_DECIDED}")
        if isinstance(repetitions, str) and not repetitions.lstrip("+-").isdigit():
            raise ConfigError(f"repetitions: found '{repetitions}', expected a whole number or {UNTIL_DECIDED}")
        return None
    from bench.report.claims.judgement import FIRST_LOOK  # a run has no claims

    text = str(MAX_REPETITIONS if max_repetitions is None else max_repetitions)
    if not text.isdigit() or not FIRST_LOOK <= int(text) <= 10**6:
        raise ConfigError(
            f"max_repetitions: found {max_repetitions}, expected a whole number from {FIRST_LOOK} (fewer decide "
            "nothing) to 1000000"
        )
    return int(text)
