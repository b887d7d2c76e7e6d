"""Classes and settings that have another name than when results were filed under it."""

from functools import cache
from pathlib import Path

import yaml

from bench.errors import ConfigError
from runners.config.tree import CONFIGS, user_folder

FILE = "renamed.yaml"
"""In the folder of configuration files, the suite's or a user's: ``renamed``, present names by earlier ones."""


def earlier_names() -> dict[str, str]:
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
