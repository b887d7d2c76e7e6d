"""From configuration files and overrides to one resolved run."""

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from hydra import compose as hydra_compose
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import OverrideParseException
from omegaconf import DictConfig, OmegaConf
from pydantic import Field, NonNegativeInt, PositiveInt

from bench.component import component
from bench.errors import ConfigError
from runners.config_tree import FREE, GROUPS
from runners.experiment import Experiment
from runners.pool import Runner

PARTS = ("env", "algorithm", "tuner", "task")


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
        Base seed.
    jobs
        Number of worker processes.
    output
        What ``runners.run`` prints.
    """

    horizon: Annotated[int, Field(ge=1, le=10**9)]
    repetitions: Annotated[int, Field(ge=1, le=10**6)]
    seed: NonNegativeInt
    jobs: PositiveInt
    output: Literal["text", "json"]


@dataclass(frozen=True)
class Run:
    """One experiment with everything that is not part of its identity."""

    experiment: Experiment
    settings: RunSettings
    choices: dict[str, str]
    runner: Runner


def from_config(
    cfg: DictConfig, choices: dict[str, str], explicit: Iterable[str], figure: Mapping[str, int] | None = None
) -> Run:
    """Resolve a composed configuration.

    What the user sets (``explicit``: dotted keys) comes before what a figure says of horizon and repetitions, that
    before what the paper sets for the chosen parts, that before the groups' own settings; the scale (or a figure's
    ``max_horizon`` and ``max_repetitions`` in its place) caps the two unless the user sets them.

    Raises
    ------
    ConfigError
        When a value is of the wrong type or out of range.
    """
    return _resolve(_plain(cfg), choices, set(explicit), figure or {})


def _resolve(plain: dict[str, Any], choices: dict[str, str], explicit: set[str], figure: Mapping[str, int]) -> Run:
    """Resolve plain settings, which are changed on the way."""
    for key in plain:
        if key not in (*GROUPS, *RunSettings.__annotations__):
            raise unknown_key(plain, key)
    _apply_paper(plain, choices, explicit)
    for key in ("horizon", "repetitions"):
        if key not in explicit:
            wanted = figure.get(key, plain[key])
            cap = figure.get(f"max_{key}", plain["scale"][f"max_{key}"])
            plain[key] = wanted if cap is None else min(wanted, cap)
    settings = run_settings({key: plain[key] for key in RunSettings.__annotations__})
    parts = {part: plain[part] for part in PARTS}
    for part, values in parts.items():
        if values and values.get("_target_", "") == "???":
            raise ConfigError(f"{part}._target_: found no value, expected the dotted path of a class")
    experiment = Experiment({**parts, "horizon": settings.horizon, "seed": settings.seed})
    return Run(experiment, settings, choices, runner_settings(plain["runner"]))


def from_overrides(overrides: Sequence[str], figure: Mapping[str, int] | None = None) -> Run:
    """Compose and resolve a list of overrides, such as ``["env=movielens", "horizon=500"]``.

    Raises
    ------
    ConfigError
        When a key does not exist or a value does not fit.
    """
    parsed = [_parse(override) for override in overrides]
    groups = [str(o.input_line) for o in parsed if o.key_or_group in GROUPS]
    values = [o for o in parsed if o.key_or_group not in GROUPS]
    plain, choices = _compose_groups(groups)
    for override in values:
        key = override.key_or_group
        free = key.startswith(tuple(f"{name}." for name in FREE))
        if not (free or override.is_add() or override.is_force_add() or _has(plain, key)):
            raise unknown_key(plain, key)
        _set(plain, key, override.value())
    return _resolve(plain, choices, {o.key_or_group for o in values}, figure or {})


@lru_cache(maxsize=1024)
def _parse(override: str) -> Override:
    try:
        return OverridesParser.create().parse_override(override)
    except OverrideParseException:
        raise ConfigError(f"{override}: found no valid override, expected key=value") from None


def _compose_groups(groups: Iterable[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Put together what each choice of a group changes, alone: there are few choices, but many combinations."""
    base, base_choices = _compose()
    plain, choices = copy.deepcopy(base), dict(base_choices)
    for group in groups:
        own, own_choices = _compose(group)
        for name in GROUPS:
            if own_choices.get(name) != base_choices.get(name) or group.startswith(f"{name}="):
                plain[name], choices[name] = copy.deepcopy(own[name]), own_choices[name]
    return plain, choices


@lru_cache(maxsize=256)
def _compose(*groups: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Compose with Hydra, which takes a tenth of a second."""
    cfg = hydra_compose("config", list(groups), return_hydra_config=True)
    choices = dict(cfg.hydra.runtime.choices)
    OmegaConf.set_struct(cfg, False)
    del cfg["hydra"]
    return _plain(cfg), choices


def _plain(cfg: DictConfig) -> dict[str, Any]:
    plain: dict[str, Any] = OmegaConf.to_container(cfg, resolve=True)  # type: ignore[assignment]
    return plain


def unknown_key(settings: Mapping[str, Any], key: str, more: Iterable[str] = ()) -> ConfigError:
    """Say which keys there are beside the one that does not exist."""
    parent, _, _ = key.rpartition(".")
    while not isinstance(_get(settings, parent), dict):
        parent, _, _ = parent.rpartition(".")
    names = sorted({*(name for name in _get(settings, parent) if name != "hydra"), *(() if parent else more)})
    return ConfigError(f"{key}: found an unknown key, expected one of: {', '.join(names) or '(none)'}")


def _get(settings: Any, key: str) -> Any:
    """Return what stands at a dotted key ("" for everything), None where nothing does."""
    for name in key.split(".") if key else ():
        settings = settings.get(name) if isinstance(settings, dict) else None
    return settings


def _has(settings: dict[str, Any], key: str) -> bool:
    parent, _, name = key.rpartition(".")
    node = _get(settings, parent)
    return isinstance(node, dict) and name in node


def _set(settings: dict[str, Any], key: str, value: Any) -> None:
    """Write a value at a dotted key; a mapping is merged into one that is there."""
    name, _, rest = key.partition(".")
    if rest or (isinstance(value, dict) and isinstance(settings.get(name), dict)):
        if not isinstance(settings.get(name), dict):
            settings[name] = {}
        for inner, item in {rest: value}.items() if rest else value.items():
            _set(settings[name], inner, item)
    else:
        settings[name] = copy.deepcopy(value)


def _apply_paper(plain: dict[str, Any], choices: dict[str, str], explicit: set[str]) -> None:
    """Write the paper's settings for the chosen parts, except where the user has set a key."""
    for key, value in paper_settings(plain["paper"], choices).items():
        if any(key == own or key.startswith(own + ".") or own.startswith(key + ".") for own in explicit):
            continue
        if not _has(plain, key):
            name = plain["paper"]["name"]
            raise ConfigError(f"conf/paper/{name}.yaml: found a setting for '{key}', which does not exist")
        _set(plain, key, value)


def paper_settings(paper: Mapping[str, Any], choices: dict[str, str]) -> dict[str, Any]:
    """Return the paper's settings that concern the chosen parts, flat: dotted key -> value.

    ``settings`` of a paper holds plain keys (``horizon``) and, under ``env``, ``algorithm`` and ``tuner``, a block for
    each choice; other blocks don't matter to the run.
    """
    flat: dict[str, Any] = {}
    for key, value in paper["settings"].items():
        if key in PARTS:
            block = value.get(choices[key])
            if block:
                flat |= _flatten(block, f"{key}.")
        else:
            flat[key] = value
    return flat


def runner_settings(values: Mapping[str, Any]) -> Runner:
    """Check the keys of the group ``runner``.

    Raises
    ------
    ConfigError
        Naming the key.
    """
    try:
        return Runner(**values)
    except ConfigError as error:
        raise ConfigError(re.sub(r"^Runner\b", "runner", str(error))) from None


def _flatten(node: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in node.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def run_settings(values: dict[str, Any]) -> RunSettings:
    for key, value in values.items():
        if isinstance(value, bool):
            raise ConfigError(f"{key}: found {value}, expected {'a word' if key == 'output' else 'a whole number'}")
    try:
        return RunSettings(**values)
    except ConfigError as error:
        raise ConfigError(str(error).removeprefix("RunSettings.")) from None
