"""Settings as results are filed under them, whatever name a class or a setting has been given since."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bench.component import neutral_settings
from bench.errors import ConfigError
from runners.config.by_value import class_at
from runners.config.folders import CONFIGS, user_folder

FILE = "renamed.yaml"
"""In the folder of configuration files, the suite's or a user's: ``renamed``, present names by earlier ones."""


def filed(settings: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return settings as keys count them, and which of their names are not today's."""
    names = _earlier_names()
    used: set[str] = set()
    return _filed(settings, names, used), [f"{names[name]}: {name}" for name in sorted(used)]


def _earlier_names() -> dict[str, str]:
    """Return the names that keys have for classes (``CDT``) and settings (``CDT.radius``), by those of today."""
    folders = [CONFIGS, *filter(None, [user_folder()])]
    return {today: earlier for folder in folders for today, earlier in _read(folder / FILE).items()}


def _read(path: Path) -> dict[str, str]:
    try:
        status = path.stat()
    except OSError:
        return {}
    return _parsed(path, status.st_mtime_ns)


@cache
def _parsed(path: Path, _: int) -> dict[str, str]:
    """Return the names of a file, the earlier ones by those of today."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{path}: found no valid YAML ({str(error).partition(chr(10))[0]})") from None
    names = content.get("renamed") if isinstance(content, dict) and set(content) <= {"renamed"} else None
    if not isinstance(names, dict) or not all(isinstance(name, str) for pair in names.items() for name in pair):
        raise ConfigError(f"{path}: found {content!r}, expected one key, renamed, with present names by earlier ones")
    today = list(names.values())
    twice = {name for name in today if today.count(name) > 1}
    if twice:
        raise ConfigError(f"{path}: found two earlier names of {', '.join(sorted(twice))}, expected the one in results")
    return {name: earlier for earlier, name in names.items()}


def _filed(settings: Any, names: Mapping[str, str], used: set[str]) -> Any:
    """Return settings as results are filed, under earlier ``names``, of which those that count are ``used``."""
    if isinstance(settings, list):
        return [_filed(item, names, used) if isinstance(item, list | dict) else item for item in settings]
    if not isinstance(settings, dict):
        return settings
    target = settings.get("_target_")
    if not isinstance(target, str):
        return {name: _filed(value, names, used) for name, value in settings.items()}
    cls = class_at(target) or object
    today = _short(target)
    neutral = neutral_settings(cls)
    counted = {
        name: _filed(value, names, used) if isinstance(value, list | dict) else value
        for name, value in settings.items()
        if name != "_target_" and not (name in neutral and neutral[name] == value)
    }
    if not names:
        return {"_target_": today, **counted}
    lineage = [today, *(_short(f"{base.__module__}.{base.__qualname__}") for base in cls.__mro__)]
    entries = {  # a setting that is inherited may be renamed where it comes from
        name: next((entry for of in lineage if (entry := f"{of}.{name}") in names), name) for name in counted
    }
    used |= names.keys() & {today, *entries.values()}
    filed = {names.get(entries[name], name).rpartition(".")[2]: value for name, value in counted.items()}
    return {"_target_": names.get(today, today), **filed}


def _short(target: str) -> str:
    """Return what a class is called in keys: the suite's by name, a user's by its dotted path."""
    return target.rpartition(".")[2] if target.startswith("bench.") else target
