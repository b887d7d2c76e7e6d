"""What is asked, as keys count it: settings by name and value, and the contents of the files that they name."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.component import neutral_settings, path_settings
from bench.seeding import Seeds
from runners.config.classes import construct, is_suites
from runners.config.identity import users_modules
from runners.config.listed import class_at


def counted(value: Any, classes: Mapping[str, type] | None = None, cls: type | None = None) -> Any:
    """Return settings as keys count them, with ``classes`` by part: of the suite's by name, without what is neutral."""
    if isinstance(value, list):
        return [counted(item) if isinstance(item, list | dict) else item for item in value]
    if not isinstance(value, dict):
        return value
    target = value.get("_target_")
    if not isinstance(target, str):
        return {name: counted(item, cls=(classes or {}).get(name)) for name, item in value.items()}
    neutral = neutral_settings(cls or class_at(target) or object)
    kept = {name: item for name, item in value.items() if not (name in neutral and neutral[name] == item)}
    short = target.rpartition(".")[2] if target.startswith("bench.") else target
    return {name: counted(item) if isinstance(item, list | dict) else item for name, item in kept.items()} | {
        "_target_": short
    }


def _named_files(settings: Mapping[str, Any], cls: type) -> list[Path]:
    """Return the files that settings name: of a user's class any, of the suite's those declared as `pathlib.Path`."""
    names = (settings.keys() if not is_suites(cls) else path_settings(cls)) - {"_target_"}
    return [file for name in names for file in _files(settings.get(name))]


def _files(value: Any) -> Iterator[Path]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _files(item)
    elif isinstance(value, str) and value and "\0" not in value and len(value) < 4096:
        path = Path(os.path.expanduser(value))  # which leaves ~nobody as it is
        if path.is_file():
            yield path


def checksum_of_files(settings: Mapping[str, Any], classes: Mapping[str, type], declared: str | None) -> str | None:
    """Return a checksum of the files that settings name, None if there are none, given the environment's fingerprint.

    Of a part of a user's own any setting counts that is the name of a file, of the suite's those that are declared as a
    path. Where the environment has no fingerprint, they count of it, too, as do the files that a user's environment
    has read by `bench.data.read` until it has started.
    """
    parts = [part for part in classes if part != "env" or declared is None]
    files = [file for part in parts for file in _named_files(settings[part], classes[part])]
    if declared is None and not is_suites(cls := classes["env"]) and "bench.data.read" in sys.modules:
        from bench.data.read import files_read_by

        with suppress(Exception, SystemExit):  # which is said when it is run
            construct("env", cls, settings["env"]).start(settings["horizon"], Seeds())
        files += files_read_by([cls.__module__, *users_modules(cls)])
    if not files:
        return None
    from bench.data.read import digest  # slow to import

    return digest(sorted({file.resolve() for file in files}))
