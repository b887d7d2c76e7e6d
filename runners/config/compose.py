"""From configuration files and overrides to one resolved run."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import getitem
from typing import Annotated, Any, Literal

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import Field, NonNegativeInt, PositiveInt

from bench.component import component
from bench.errors import ConfigError
from runners.config.experiment import Experiment
from runners.config.identity import plain
from runners.config.papers import load_paper
from runners.config.runner import Runner
from runners.config.tree import CLASS, GROUPS, PARTS, merge, nested, placed, read_choice, read_suite, unknown_key


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


def from_overrides(overrides: Sequence[str], figure: Mapping[str, int] | None = None) -> Run:
    """Compose and resolve a list of overrides, such as ``["env=movielens", "horizon=500"]``.

    Overrides come before what a figure says of horizon and repetitions, that before what the paper sets for the chosen
    parts, that before the defaults of the parts; the scale (or a figure's ``max_horizon`` and ``max_repetitions`` in
    its place) caps the two unless an override sets them. Raises ConfigError when a key does not exist or a value does
    not fit.
    """
    parsed = [parse(override) for override in overrides]
    groups = {word.key_or_group: text_of(word) for word in parsed if word.key_or_group in GROUPS}
    settings, choices = _chosen(groups)
    values = [word for word in parsed if word.key_or_group not in GROUPS]
    for value in values:
        _override(settings, value)
    settings = _referred(settings)
    explicit = {value.key_or_group for value in values}
    for key in {"horizon", "repetitions"} - explicit:
        wanted = (figure or {}).get(key, settings[key])
        cap = (figure or {}).get(f"max_{key}", settings["scale"].get(f"max_{key}"))
        settings[key] = min(wanted, cap) if isinstance(wanted, int) and cap is not None else wanted
    run = run_settings({key: settings[key] for key in RunSettings.__annotations__})
    parts = {part: settings[part] for part in PARTS}
    for part, content in parts.items():
        if content and content.get("_target_", "") == "???":
            raise ConfigError(f"{part}._target_: found no value, expected the dotted path of a class")
    experiment = Experiment({**parts, "horizon": run.horizon, "seed": run.seed})
    return Run(experiment, run, choices, runner_settings(settings["runner"]))


@lru_cache(maxsize=1024)
def parse(override: str) -> Override:
    """Read one override. Raises ConfigError when it is none."""
    try:
        return OverridesParser.create().parse_overrides([override])[0]
    except OverrideParseException:
        raise ConfigError(f"{override}: found no valid override, expected key=value") from None


def text_of(override: Override) -> str:
    """Return the value of an override as it was written, without quotes around it."""
    return str(override.input_line).partition("=")[2].strip("'\"")


def _chosen(groups: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what each key holds, the paper's settings included, and the choice of each group."""
    config = read_suite("config")
    choices = {group: name for entry in config["defaults"] if isinstance(entry, dict) for group, name in entry.items()}
    choices |= groups
    settings = {key: value for key, value in config.items() if key != "defaults"}
    for group in GROUPS:  # an environment chooses its algorithm, an algorithm its task
        if group != "paper":
            choice = read_choice(group, choices[group])
            choices |= {other: name for other, name in choice.chooses.items() if other not in groups}
            settings[group] = deepcopy(choice.settings)
    paper = choices["paper"]
    choices = {group: "custom" if CLASS.fullmatch(name) else name for group, name in choices.items()}
    for key, value in load_paper(paper)["settings"].items():
        changes = value.get(choices[key]) if key in PARTS else value
        try:
            merge(settings, {key: changes} if changes is not None else {})
        except KeyError as error:
            if key in PARTS:
                from runners.config.classes import import_class  # slow to import

                import_class(key, settings[key])  # of a class that cannot be imported no setting is known
            with placed(f"paper/{paper}"):
                raise unknown_key(settings, error.args[0], KEYS) from None
    return settings, {group: choices[group] for group in GROUPS}


def _override(settings: dict[str, Any], override: Override) -> None:
    """Apply ``key=value``, ``+key=value`` or ``~key``. Raises ConfigError when the key does not exist."""
    key = override.key_or_group
    try:
        if override.is_delete():
            *parents, name = key.split(".")
            del reduce(getitem, parents, settings)[name]
        else:
            is_added = override.is_add() or override.is_force_add()
            merge(settings, nested(key, override.value()), add=is_added and "." in key)
    except (KeyError, TypeError):
        raise unknown_key(settings, key, KEYS) from None


def _referred(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with references, such as ``${horizon}``, replaced by what they refer to."""
    if "${" not in str(settings):
        return settings
    try:
        resolved: Any = OmegaConf.to_container(OmegaConf.create(plain(settings)), resolve=True)
    except OmegaConfBaseException as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{error.full_key}: found a reference to no value ({reason}), expected a value") from None
    return dict(resolved)


def runner_settings(values: Mapping[str, Any]) -> Runner:
    """Check the keys of the group ``runner``. Raises ConfigError, naming the key."""
    try:
        return Runner(**values)
    except ConfigError as error:
        raise ConfigError(f"runner{str(error).removeprefix('Runner')}") from None


def run_settings(values: dict[str, Any]) -> RunSettings:
    """Check keys of a run beside its parts; those not given are the suite's. Raises ConfigError, naming the key."""
    defaults = {key: read_suite("config")[key] for key in RunSettings.__annotations__}
    for key, value in values.items():
        if isinstance(value, bool):
            raise ConfigError(f"{key}: found {value}, expected {'a word' if key == 'output' else 'a whole number'}")
    try:
        return RunSettings(**(defaults | values))
    except ConfigError as error:
        raise ConfigError(str(error).removeprefix("RunSettings.")) from None
