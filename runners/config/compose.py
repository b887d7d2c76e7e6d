"""From configuration files and overrides to one resolved run."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import cache, lru_cache, reduce
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, Literal

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import Field, NonNegativeInt, PositiveInt

from bench.component import component
from bench.errors import ConfigError, message
from runners.config.classes import import_class
from runners.config.experiment import Experiment
from runners.config.folders import CONF, remembered, user_folder
from runners.config.groups import register, settings_alone, without_hydras_own
from runners.config.nearest import file_of_data, no_override
from runners.config.runner import Runner
from runners.config.tree import (
    CLASS,
    GROUPS,
    PARTS,
    Open,
    merge,
    nested,
    plain,
    read,
    read_choice,
    unknown_choice,
    unknown_key,
)
from runners.config.words import check_words


@component
class RunSettings:
    """The keys of a run beside its parts.

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
        What ``runners.run`` prints: ``text``, or ``json``, one JSON object as the last line.
    """

    horizon: Annotated[int, Field(ge=1, le=10**9)]
    repetitions: Annotated[int, Field(ge=1, le=10**6)]
    seed: NonNegativeInt
    jobs: PositiveInt
    output: Literal["text", "json"]


KEYS = (*GROUPS, *RunSettings.__annotations__, "uncapped")


@dataclass(frozen=True)
class Run:
    """One experiment with everything that is not part of its identity."""

    experiment: Experiment
    settings: RunSettings
    choices: dict[str, str]
    runner: Runner


def from_overrides(overrides: Sequence[str], figure: Mapping[str, Any] | None = None) -> Run:
    """Compose and resolve a list of overrides, such as ``["env=movielens", "horizon=500"]``.

    Overrides come before what a figure says of horizon and repetitions, that before what the paper sets for the chosen
    parts, that before the defaults of the parts; the scale (or a figure's ``max_horizon`` and ``max_repetitions`` in
    its place) caps the two unless an override sets them. Raises ConfigError when a key does not exist or a value does
    not fit.

    Hydra composes the choices, once for each combination; values are then set as Hydra sets them.
    """
    parsed = [parse(override) for override in overrides]
    check_words(overrides, KEYS)
    for word in [word for word in parsed if word.is_sweep_override()]:
        raise _several(word, parsed)
    values = [
        word for word in parsed if word.key_or_group.partition(".")[0] in KEYS and word.key_or_group not in GROUPS
    ]
    folder = user_folder()
    composed, choices = _composed(folder, tuple(str(word.input_line) for word in parsed if word not in values))
    changed = {"scale", "uncapped", *(word.key_or_group.partition(".")[0] for word in values)}
    settings = {key: _copy(value) if key in changed else value for key, value in composed.items()}
    for key, value in (figure or {}).items():
        settings["scale" if key.startswith("max_") else "uncapped"][key] = value
    for word in values:
        _override(settings, word)
    return run_of(settings, choices, overrides)


def _copy(value: Any) -> Any:
    """Return a copy of what Hydra composes, mappings and lists of plain data, in a tenth of the time of `deepcopy`."""
    if isinstance(value, dict):
        return {key: _copy(item) if isinstance(item, dict | list) else item for key, item in value.items()}
    return list(map(_copy, value)) if isinstance(value, list) else value


def _several(word: Override, parsed: Sequence[Override]) -> ConfigError:
    """Return how several values of a key are refused: with how a list is written if its value may be one."""
    key, expected = word.key_or_group, "expected one; for several use --multirun"
    part, _, name = key.partition(".")
    if part in PARTS and name:
        lines = [
            str(other.input_line) for other in parsed if other.key_or_group in GROUPS and not other.is_sweep_override()
        ]
        settings = _composed(user_folder(), tuple(lines))[0][part]
        kinds = {field.name: str(field.type) for field in fields(import_class(part, settings))}
        if "list[" in kinds.get(name, ""):
            start, _, text = str(word.input_line).partition("=")
            expected = f"expected one, or a list in brackets: {start}=[{text}]; for several runs use --multirun"
    return ConfigError(f"{key}: found several values in {word.input_line}, {expected}")


def run_of(settings: Mapping[str, Any], choices: Mapping[str, str], overrides: Sequence[str]) -> Run:
    """Return the run that Hydra has composed; ``overrides`` say which keys were added. Raises ConfigError."""
    settings = _resolved(settings)
    added = [parse(word).key_or_group for word in overrides if word.startswith("+")]
    choices = {group: "custom" if CLASS.fullmatch(choices[group]) else choices[group] for group in GROUPS}
    for key in settings:
        if key not in KEYS:
            raise unknown_key({}, key, KEYS)
    folder = user_folder()
    for part in PARTS:
        if choices[part] != "custom":
            _check_keys(settings, _known(folder, part, choices[part]), part, added)
    run = run_settings({key: settings.get(key) for key in RunSettings.__annotations__})
    parts = {part: settings[part] for part in PARTS}
    for part, content in parts.items():
        if content and content.get("_target_", "") == "???":
            raise ConfigError(f"{part}._target_: found no value, expected the dotted path of a class")
    experiment = Experiment({**parts, "horizon": run.horizon, "seed": run.seed})
    return Run(experiment, run, choices, runner_settings(settings["runner"]))


@remembered
@lru_cache(maxsize=1024)
def _composed(folder: Path | None, words: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what Hydra composes of choices, with references, and the choice of each group: not to be changed.

    A choice whose file speaks of its own group alone changes nothing else where it stands in place of another such
    choice, so Hydra composes each combination of the others once.
    """
    lines = {parse(word).key_or_group: word for word in words}
    paper = lines.get("paper", "").partition("=")[2] or "none"
    own = {group: of_group for group, line in lines.items() if (of_group := _own(folder, paper, line)) is not None}
    settings, choices = _hydra(folder, tuple(line for group, line in lines.items() if group not in own))
    replaced = [f"{group}={choices[group]}" for group in own]
    if lines.keys() - set(GROUPS) or None in [_own(folder, paper, line) for line in replaced]:
        return _hydra(folder, tuple(lines.values()))
    return {**settings, **own}, {**choices, **{group: lines[group].partition("=")[2] for group in own}}


@remembered
@cache
def _own(folder: Path | None, paper: str, line: str) -> dict[str, Any] | None:
    """Return the settings of a group as ``group=choice`` and a paper set them, None where they are not all it sets."""
    group, _, choice = line.partition("=")
    return settings_alone(group, choice, paper)


@remembered
@cache
def _hydra(folder: Path | None, words: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings that Hydra composes, with references, and the choice of each group; ``folder`` the user's."""
    register()
    with nullcontext() if GlobalHydra().is_initialized() else initialize_config_dir(CONF, version_base="1.3"):
        try:
            config = compose("config", without_hydras_own(words, folder), return_hydra_config=True)
        except MissingConfigException as error:
            group, _, choice = str(error.missing_cfg_file).partition("/")
            raise unknown_choice(group, choice) from None
        except HydraException as error:
            reason = message(error).partition("\n")[0]
            raise ConfigError(f"{' '.join(words)}: found {reason}, expected group=choice and key=value") from None
    choices = {group: str(config.hydra.runtime.choices[group]) for group in GROUPS}
    settings: Any = OmegaConf.to_container(config)
    return {key: value for key, value in settings.items() if key != "hydra"}, choices


@lru_cache(maxsize=1024)
def parse(override: str) -> Override:
    """Read one override. Raises ConfigError when it is none."""
    try:
        parsed = OverridesParser.create().parse_overrides([override])[0]
        if not parsed.key_or_group:
            raise OverrideParseException(override, "no key")
        return parsed
    except OverrideParseException:
        raise ConfigError(no_override(override)) from None


def text_of(override: Override) -> str:
    """Return the value of an override as it was written, without quotes around it."""
    return str(override.input_line).partition("=")[2].strip("'\"")


def _override(settings: dict[str, Any], override: Override) -> None:
    """Apply ``key=value``, ``+key=value`` or ``~key``. Raises ConfigError when the key to delete does not exist."""
    key = override.key_or_group
    try:
        if override.is_delete():
            *parents, name = key.split(".")
            del reduce(getitem, parents, settings)[name]
        else:
            merge(settings, nested(key, override.value()), add=True)
    except (KeyError, TypeError):
        raise unknown_key(settings, key, KEYS) from None


def _check_keys(settings: Mapping[str, Any], known: Any, key: str, added: Sequence[str]) -> None:
    """Refuse a key below ``key`` that is neither known nor added with a plus."""
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


@remembered
@cache
def _known(folder: Path | None, part: str, choice: str) -> dict[str, Any] | None:
    """Return the settings that a choice has by itself; ``folder`` is the user's."""
    return read_choice(part, choice)


def _resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with references, such as ``${horizon}``, replaced by what they refer to."""
    parts = {part: settings[part] for part in PARTS if part in settings}
    try:
        if "${" not in str(parts):  # the usual case, a hundred times as fast
            named = [key for key, value in settings.items() if key in ("uncapped", "scale") or "${" in str(value)]
            return {**settings, **_refer(json.dumps({key: settings[key] for key in named}))}
    except OmegaConfBaseException:  # or a reference to a part
        pass
    try:
        return _refer(json.dumps(plain(settings)))
    except OmegaConfBaseException as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{error.full_key}: found a reference to no value ({reason}), expected a value") from None


@lru_cache(maxsize=256)
def _refer(settings: str) -> dict[str, Any]:
    resolved: Any = OmegaConf.to_container(OmegaConf.create(json.loads(settings)), resolve=True)
    return dict(resolved)


def runner_settings(values: Mapping[str, Any]) -> Runner:
    """Check the keys of the group ``runner``. Raises ConfigError, naming the key."""
    try:
        return Runner(**values)
    except ConfigError as error:
        raise error.under("runner") from None


def run_settings(values: dict[str, Any]) -> RunSettings:
    """Check keys of a run beside its parts; those not given are the suite's. Raises ConfigError, naming the key."""
    config = read("config")
    defaults = {key: config["uncapped"].get(key, config[key]) for key in RunSettings.__annotations__}
    for key, value in values.items():
        if value is None:
            raise ConfigError(f"{key}: found no value, expected one")
        if isinstance(value, bool):
            raise ConfigError(f"{key}: found {value}, expected {'a word' if key == 'output' else 'a whole number'}")
    try:
        return RunSettings(**(defaults | values))
    except ConfigError as error:
        raise error.under("") from None
