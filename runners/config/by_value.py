"""Classes that Python callers handed over and no path names, by the path in the words of their settings."""

from typing import Any

_held: dict[str, type] = {}


def hold(cls: type) -> str:
    """Return the dotted path that settings name a class by; one that no path names is held."""
    from runners.config.classes import is_named, target_of

    _held.pop(target_of(cls), None)
    if not is_named(cls):
        _held[target_of(cls)] = cls
    return target_of(cls)


def held(path: Any) -> type | None:
    return _held.get(path) if isinstance(path, str) else None
