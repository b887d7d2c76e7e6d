"""The identity of a run: its key (the settings requested) and its stamp (the code and the packages that run it).

The key depends on the names and values of settings, and on the contents of the files that settings name. A class
without a dotted path (defined in a notebook's cell, in the main script, in a function, or in a module since reloaded)
is identified by its pickled bytes.
"""

import os
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bench.component import neutral_settings, path_settings
from bench.digest import digest
from bench.errors import ConfigError
from bench.jit import cache_apart
from bench.seeding import Seeds
from runners.config.classes import construct, file_of, is_suites, is_users, version
from runners.config.listed import class_at

COMPUTING = ("numba", "numpy", "obp", "optuna", "pandas", "scikit-learn", "scikit-optimize", "scipy", "torch")
"""Packages whose version may change a number."""

_ALWAYS = ("numba", "numpy", "pandas", "scipy")
_BENCH = Path(__file__).resolve().parents[2] / "bench"
_NO_SCIENCE = {"audit", "conformance", "gallery", "papers", "report"}
"""Folders of `bench` that do not affect repetitions."""

_seen: dict[str, tuple[Any, str]] = {}
"""Digests of users' modules, each with the imported module: a reload creates another."""
_beside: dict[str, dict[str, Any]] = {}
"""The relevant modules of each module of a class, with the module objects imported at the first look."""


class Code(NamedTuple):
    """The code of some classes: digests of the science and of a user's modules, and the versions of packages."""

    modules: dict[str, str]
    packages: dict[str, str | None]


def code_of(classes: Mapping[str, type]) -> Code:
    """Return the code of ``classes``.

    A user's modules are the modules of each class and its bases, and all modules loaded from their folders after the
    first of these modules. The packages are the packages that any run may use, and the packages that a class names in
    ``requires``. Raises ConfigError if a user's file was edited after this process imported it, or was reloaded after
    the module of the class.
    """
    names = {name for cls in classes.values() for name in users_modules(cls)}
    needed = {package for cls in classes.values() for package in getattr(cls, "requires", ())}
    needed |= {"scikit-learn"} if "scikit-optimize" in needed else set()  # suits its processes
    modules = {name: _of_module(name) for name in ("bench", *sorted(names))}
    return Code(modules, {name: version(name) for name in sorted({*_ALWAYS, *needed})})


def prepare_compiled(cls: type) -> None:
    """Make numba's cache of a user's functions match the present content of their files."""
    if not is_suites(cls):
        names = users_modules(cls)
        modules = [sys.modules[name] for name in {*names, cls.__module__} & sys.modules.keys()]
        cache_apart(modules, digest({name: _of_module(name) for name in names}, 12))


def other_here(code: Code) -> list[str]:
    """Return the loaded modules and the packages that differ from ``code``."""
    modules = {name: _of_module(name) for name in code.modules if name in sys.modules}
    packages = {name: version(name) for name in code.packages}
    found, expected = {**modules, **packages}, {**code.modules, **code.packages}
    return [name for name, value in found.items() if value != expected[name]]


def session_note(part: str, cls: type) -> str:
    return (
        f"{part} {cls.__name__}: defined in this session; its repetitions are kept for this session only; save it in a "
        "module to keep them"
    )


def token_of(cls: type) -> str:
    """Return an identifier of a class without a dotted path, different for every class object and every process."""
    import cloudpickle  # joblib sends it in this form

    try:
        return digest(cloudpickle.dumps(cls), 12)  # contains a number drawn for this class object in this process
    except Exception:  # a class that cannot be sent to workers is never reused
        return uuid.uuid4().hex[:12]


def users_modules(cls: type) -> list[str]:
    """Return the modules of the user that affect a user's class; none for a class of the suite."""
    home = cls.__module__
    if is_suites(cls):
        return []
    if home == "__main__" or home not in _beside or _beside[home].get(home) is not _imported(home):
        homes = [home, *(base.__module__ for base in cls.__mro__ if is_users(file_of(base.__module__)))]
        _beside[home] = {name: _imported(name) for each in homes for name in _loaded_with(each)}
    for name, before in _beside[home].items():
        if _imported(name) is not before:
            raise ConfigError(
                f"{file_of(name)}: found {name} reloaded after {home}, expected importlib.reload({home}), too"
            )
    return sorted(_beside[home])


def _loaded_with(home: str) -> Iterator[str]:
    """Yield the user's modules that are loaded from the folder of a module, or from below it.

    For an installed package only the package's own modules are returned. A class defined in a notebook's cell belongs
    to the current folder.
    """
    file = file_of(home)
    levels = 0 if home == "__main__" else home.count(".") + (Path(file).name == "__init__.py")
    folder = os.path.join(Path(file).parents[levels] if file else Path.cwd(), "")
    for name in list(sys.modules):
        is_own = name.partition(".")[0] == home.partition(".")[0] or is_users(file_of(name))
        if is_own and name not in ("__main__", "__mp_main__") and file_of(name).startswith(folder):
            yield name


def _imported(name: str) -> Any:
    return getattr(sys.modules.get(name), "__spec__", None)


def _of_module(name: str) -> str:
    if name == "bench":
        return _of_bench()
    found = digest(Path(file_of(name)).read_bytes(), 20)
    if _seen.get(name, ("", ""))[0] is not _imported(name):
        _seen[name] = _imported(name), found
    if _seen[name][1] != found and "IPython.extensions.autoreload" not in sys.modules:  # a reload edits it in place
        raise ConfigError(
            f"{file_of(name)}: found an edit since {name} was imported, expected importlib.reload({name}), or a restart"
        )
    return found


@cache
def _of_bench() -> str:
    files = sorted(path for path in _BENCH.rglob("*.py") if path.relative_to(_BENCH).parts[0] not in _NO_SCIENCE)
    return digest({path.relative_to(_BENCH).as_posix(): digest(path.read_bytes()) for path in files}, 20)


def counted(value: Any, classes: Mapping[str, type] | None = None, cls: type | None = None) -> Any:
    """Return the settings that the key depends on, without settings at their neutral values.

    ``classes`` holds classes by part. Classes of the suite count by name.
    """
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
    """Return the files named by any setting of a user's class, or by a suite's setting declared as `pathlib.Path`."""
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
    """Return a checksum of the files that settings name, or None if there are no such files.

    ``declared`` is the fingerprint of the environment. In a user's class, every setting that is the name of a file
    counts; in a class of the suite, only settings declared as a path. If the environment has no fingerprint, its
    settings count, too, and so do the files that it reads by `bench.data.read` while it starts.
    """
    parts = [part for part in classes if part != "env" or declared is None]
    files = [file for part in parts for file in _named_files(settings[part], classes[part])]
    if declared is None and not is_suites(cls := classes["env"]) and "bench.data.read" in sys.modules:
        from bench.data.read import files_read_by

        with suppress(Exception, SystemExit):  # the run reports the error
            construct("env", cls, settings["env"]).start(settings["horizon"], Seeds())
        files += files_read_by([cls.__module__, *users_modules(cls)])
    if not files:
        return None
    from bench.data.read import digest as digest_of  # slow to import

    return digest_of(sorted({file.resolve() for file in files}))
