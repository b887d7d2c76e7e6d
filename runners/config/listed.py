"""Classes by their dotted paths, and choices listed by installed packages."""

import importlib
import importlib.metadata
from functools import cache
from typing import Any

from bench.errors import ConfigError

_KINDS = {"tuner": "tuners", "env": "environments", "algorithm": "algorithms"}
"""The groups for packages, and the last part of their entry points' names."""


@cache
def listed(group: str) -> dict[str, str]:
    """Return the dotted paths of the classes that installed packages list for a group, by name; none for other groups.

    A package lists classes as entry points ``bandit_bench.tuners``, ``.environments`` or ``.algorithms``. Raises
    ConfigError if two packages list the same name.
    """
    found: dict[str, str] = {}
    if group not in _KINDS:  # all installed packages would be opened
        return found
    for point in _points().select(group=f"bandit_bench.{_KINDS[group]}"):
        target = point.value.replace(":", ".")
        if found.setdefault(point.name, target) != target:
            raise ConfigError(
                f"{group}: found '{point.name}' twice in installed packages: {found[point.name]}, {target}"
            )
    return found


@cache
def _points() -> Any:  # its type differs between versions of Python
    return importlib.metadata.entry_points()  # opens all installed packages


def class_at(path: str) -> type | None:
    """Return the class at a dotted path, or None if the import fails; a run that needs the class reports the error."""
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except Exception:  # a user's module may fail in any way while it is imported
        return None
    return found if isinstance(found, type) else None
