"""From configuration files and overrides to one resolved run."""

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from hydra import compose as hydra_compose
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import Field, NonNegativeInt, PositiveInt

from bench.component import component
from bench.errors import ConfigError
from runners.config.experiment import Experiment
from runners.config.papers import load_paper
from runners.config.runner import Runner
from runners.config.tree import GROUPS, PARTS, one_of, shown, unknown_choice


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


KEYS = (*GROUPS, *RunSettings.__annotations__)


@dataclass(frozen=True)
class Run:
    """One experiment with everything that is not part of its identity."""

    experiment: Experiment
    settings: RunSettings
    choices: dict[str, str]
    runner: Runner


def from_config(cfg: DictConfig, choices: Mapping[str, str], overrides: Sequence[str]) -> Run:
    """Resolve what Hydra has composed with ``overrides``, which come before what the paper sets.

    Raises
    ------
    ConfigError
        When a value is of the wrong type or out of range.
    """
    own = {group: choices[group] for group in GROUPS}
    settings = load_paper(own["paper"])["settings"]
    chosen = {key: value.get(own[key], {}) if key in PARTS else value for key, value in settings.items()}
    values = _split(overrides)[1]
    return _resolve(_plain(_write_paper(cfg, chosen, own["paper"]), values), own, values, {})


def from_overrides(overrides: Sequence[str], figure: Mapping[str, int] | None = None) -> Run:
    """Compose and resolve a list of overrides, such as ``["env=movielens", "horizon=500"]``.

    Overrides come before what a figure says of horizon and repetitions, that before what the paper sets for the chosen
    parts, that before the defaults of the parts; the scale (or a figure's ``max_horizon`` and ``max_repetitions`` in
    its place) caps the two unless an override sets them.

    Raises
    ------
    ConfigError
        When a key does not exist or a value does not fit.
    """
    groups, values = _split(overrides)
    nodes, plain, choices = _compose_groups(groups)
    changed = {override.key_or_group.partition(".")[0] for override in values}
    cfg = OmegaConf.create({key: nodes[key] for key in nodes if key in changed}, flags={"struct": True})
    return _resolve({**plain, **_plain(cfg, values)}, choices, values, figure or {})


def _split(overrides: Sequence[str]) -> tuple[tuple[str, ...], list[Override]]:
    """Return the overrides that choose a file of a group, and the others."""
    parsed = [_parse(override) for override in overrides]
    groups = tuple(str(one.input_line) for one in parsed if one.key_or_group in GROUPS)
    return groups, [one for one in parsed if one.key_or_group not in GROUPS]


@lru_cache(maxsize=1024)
def _parse(override: str) -> Override:
    try:
        return OverridesParser.create().parse_override(override)
    except OverrideParseException:
        raise ConfigError(f"{override}: found no valid override, expected key=value") from None


@lru_cache(maxsize=1024)
def _compose_groups(groups: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Return what each key holds, the paper's settings included, also as plain data, and the choice of each group.

    Choices that lead to no others are composed alone: there are few of them, but many combinations.
    """
    linked = [word for word in groups if word.partition("=")[0] in ("env", "algorithm", "task")]
    nodes, choices = _compose(*linked)
    for word in groups:
        name = word.partition("=")[0]
        if word not in linked:
            own, own_choices = _compose(word)
            nodes, choices = {**nodes, name: own[name]}, {**choices, name: own_choices[name]}
    paper = choices["paper"]
    parts = {part: _part_with_paper(part, choices[part], paper, nodes[part]) for part in PARTS}
    own_values = {key: value for key, value in load_paper(paper)["settings"].items() if key not in PARTS}
    nodes = {**nodes, **own_values, **parts, "paper": paper}
    return nodes, _plain(OmegaConf.create(nodes), []), choices


@lru_cache(maxsize=256)
def _compose(*groups: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Compose with Hydra, which takes a tenth of a second."""
    try:
        cfg = hydra_compose("config", list(groups), return_hydra_config=True)
    except MissingConfigException as error:
        group, _, choice = str(error.missing_cfg_file).partition("/")
        raise unknown_choice(group, choice) from None
    return {key: cfg[key] for key in KEYS}, {group: cfg.hydra.runtime.choices[group] for group in GROUPS}


_parts: dict[tuple[str, str, str], DictConfig | None] = {}


def _part_with_paper(part: str, choice: str, paper: str, node: DictConfig | None) -> DictConfig | None:
    """Return the settings of a chosen part, changed by those that the paper has for it."""
    if (part, choice, paper) not in _parts:
        cfg = OmegaConf.create({part: copy.deepcopy(node)}, flags={"struct": True})
        own = load_paper(paper)["settings"].get(part, {}).get(choice)
        _parts[part, choice, paper] = _write_paper(cfg, {part: own} if own else {}, paper)[part]
    return _parts[part, choice, paper]


def _write_paper(cfg: DictConfig, settings: Mapping[str, Any], paper: str) -> DictConfig:
    """Write a paper's settings into a configuration, and return it.

    Raises
    ------
    ConfigError
        When there is no such key.
    """
    for key, value in settings.items():
        try:
            OmegaConf.update(cfg, key, value, merge=True)
        except OmegaConfBaseException as error:
            where = getattr(error, "full_key", None) or key
            raise ConfigError(
                f"{shown(f'paper/{paper}')}: found a setting for '{where}', which does not exist"
            ) from None
    return cfg


def _plain(cfg: DictConfig, values: Sequence[Override]) -> dict[str, Any]:
    """Apply values to a configuration and return it as plain data.

    Raises
    ------
    ConfigError
        When a key does not exist, or an interpolation leads nowhere.
    """
    for override in values:
        if not override.is_delete():  # which Hydra has done
            added = override.is_add() or override.is_force_add()
            try:
                OmegaConf.update(cfg, override.key_or_group, override.value(), merge=True, force_add=added)
            except OmegaConfBaseException:
                raise unknown_key(cfg, override.key_or_group) from None
    for key in cfg:
        if key not in KEYS:
            raise unknown_key(cfg, str(key))
    try:
        plain: Any = OmegaConf.to_container(cfg, resolve=True)
    except OmegaConfBaseException as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{error.full_key}: found a reference to nothing ({reason}), expected a value") from None
    return dict(plain)


def _resolve(plain: dict[str, Any], choices: dict[str, str], values: list[Override], figure: Mapping[str, int]) -> Run:
    explicit = {override.key_or_group for override in values}
    for key in ("horizon", "repetitions"):
        if key not in explicit:
            wanted = figure.get(key, plain[key])
            cap = figure.get(f"max_{key}", plain["scale"][f"max_{key}"])
            plain[key] = wanted if cap is None else min(wanted, cap)
    settings = run_settings({key: plain[key] for key in RunSettings.__annotations__})
    parts = {part: plain[part] for part in PARTS}
    for part, own in parts.items():
        if own and own.get("_target_", "") == "???":
            raise ConfigError(f"{part}._target_: found no value, expected the dotted path of a class")
    experiment = Experiment({**parts, "horizon": settings.horizon, "seed": settings.seed})
    return Run(experiment, settings, choices, runner_settings(plain["runner"]))


def unknown_key(cfg: DictConfig, key: str, valid: Sequence[str] = KEYS) -> ConfigError:
    """Say which keys there are in place of one that does not exist; ``valid``: those of the top level."""
    parent, _, _ = key.rpartition(".")
    while parent and not isinstance(OmegaConf.select(cfg, parent), DictConfig):
        parent, _, _ = parent.rpartition(".")
    names = {str(name) for name in OmegaConf.select(cfg, parent)} if parent else set(valid)
    return ConfigError(f"{key}: found an unknown key, {one_of(key.rpartition('.')[2], sorted(names))}")


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


def run_settings(values: dict[str, Any]) -> RunSettings:
    """Check the keys of a run beside its parts.

    Raises
    ------
    ConfigError
        Naming the key.
    """
    for key, value in values.items():
        if isinstance(value, bool):
            raise ConfigError(f"{key}: found {value}, expected {'a word' if key == 'output' else 'a whole number'}")
    try:
        return RunSettings(**values)
    except ConfigError as error:
        raise ConfigError(str(error).removeprefix("RunSettings.")) from None
