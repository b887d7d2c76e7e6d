"""What made a run: the bytes of the science and of a user's files, and the versions of the packages that compute.

A class that no path names (of a notebook's cell, the main script, inside a function, of a module before its reload) is
known by what is sent of it to a worker.
"""

import os
import sys
import sysconfig
import uuid
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bench.component import neutral_settings, path_settings
from bench.digest import digest
from bench.errors import ConfigError
from bench.jit import cache_apart
from runners.config.classes import is_module_of_suite, is_suites, version
from runners.config.listed import class_at

COMPUTING = ("numba", "numpy", "obp", "optuna", "pandas", "scikit-learn", "scikit-optimize", "scipy", "torch")
"""Packages whose version may move a number."""

_ALWAYS = ("numba", "numpy", "pandas", "scipy")
_BENCH = Path(__file__).resolve().parents[2] / "bench"
_NO_SCIENCE = {"audit", "conformance", "gallery", "papers", "report"}
"""Folders of `bench` that no repetition is made by."""
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})

_seen: dict[str, tuple[object, str]] = {}
"""Digests of a user's modules, each with what was imported then (a reload makes another)."""
_beside: dict[str, tuple[object, tuple[str, ...]]] = {}
"""Which modules a class's module has brought along, when it was first looked at after its import."""

_prepared: set[tuple[str, str]] = set()


class Code(NamedTuple):
    """What classes are made of: digests of the science and of a user's modules, and packages by version."""

    modules: dict[str, str]
    packages: dict[str, str | None]


def code_of(classes: Mapping[str, type]) -> Code:
    """Return what ``classes`` are made of.

    A user's modules are those of each class and its bases, and all that are loaded from their folders after its import.
    Packages are those that any run may use, and those that a class names in ``requires``. Raises ConfigError where a
    user's file was edited since this process imported it.
    """
    names = {name for cls in classes.values() for name in users_modules(cls)}
    needed = {package for cls in classes.values() for package in getattr(cls, "requires", ())}
    modules = {name: _of_module(name) for name in ("bench", *sorted(names))}
    return Code(modules, {name: version(name) for name in sorted({*_ALWAYS, *needed})})


def prepare_compiled(cls: type) -> None:
    """Let what numba caches of a user's functions be that of her files as they are."""
    names = users_modules(cls)
    state = digest({name: _of_module(name) for name in names}, 12)
    if not is_suites(cls) and (cls.__module__, state) not in _prepared:
        _prepared.add((cls.__module__, state))
        cache_apart([sys.modules[name] for name in {*names, cls.__module__} if name in sys.modules], state)


def other_here(code: Code) -> list[str]:
    """Return which modules that are loaded in this process, and which packages, are not those of ``code``."""
    modules = {name: _of_module(name) for name in code.modules if name in sys.modules}
    packages = {name: version(name) for name in code.packages}
    found, expected = {**modules, **packages}, {**code.modules, **code.packages}
    return [name for name, value in found.items() if value != expected[name]]


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


def named_files(settings: Mapping[str, Any], cls: type) -> list[Path]:
    """Return the files that settings name: of a user's class any, of the suite's those declared as `pathlib.Path`."""
    names = (settings.keys() if not is_suites(cls) else path_settings(cls)) - {"_target_"}
    return [file for name in names for file in _files(settings.get(name))]


def _files(value: Any) -> Iterator[Path]:
    """Yield the files that a setting names, in any depth."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _files(item)
    elif isinstance(value, str) and value and "\0" not in value and len(value) < 4096:
        path = Path(os.path.expanduser(value))  # which leaves ~nobody as it is
        if path.is_file():
            yield path


def session_note(part: str, cls: type) -> str:
    return (
        f"{part} {cls.__name__}: defined in this session; its repetitions are kept for this session only; save it in a "
        "module to keep them"
    )


def token_of(cls: type) -> str:
    """Return what tells a class that no path names from all others, also of another session, and of other helpers."""
    import cloudpickle  # by which joblib sends them

    try:
        return digest(cloudpickle.dumps(cls), 12)  # has a number that is drawn for this class object in this process
    except Exception:  # what cannot be sent to workers is never the same again
        return uuid.uuid4().hex[:12]


def users_modules(cls: type) -> tuple[str, ...]:
    """Return the user's modules that count for a class of hers, none for one of the suite's."""
    if is_suites(cls):
        return ()
    module = sys.modules.get(cls.__module__)
    imported = getattr(module, "__spec__", None) or module
    if cls.__module__ not in _beside or _beside[cls.__module__][0] is not imported or cls.__module__ == "__main__":
        homes = {base.__module__ for base in cls.__mro__ if not is_suites(base) and base.__module__ != "builtins"}
        _beside[cls.__module__] = imported, tuple(sorted({name for home in homes for name in _loaded_with(home)}))
    return _beside[cls.__module__][1]


def _loaded_with(home: str) -> Iterator[str]:
    """Yield the modules that are loaded from the folder that a module is imported from, and below; no installed one.

    Of an installed package its own.
    """
    file = getattr(sys.modules.get(home), "__file__", None)
    if file is None and home not in ("__main__", ""):  # of a library in C
        return
    levels = 0 if home == "__main__" else home.count(".") + (Path(file or "").name == "__init__.py")
    folder = str(Path(file).resolve().parents[levels] if file else Path.cwd())
    for name, module in list(sys.modules.items()):
        path = os.path.realpath(getattr(module, "__file__", None) or "")
        is_programs = name in ("__main__", "__mp_main__") or is_module_of_suite(name)
        is_installed = path.startswith(_INSTALLED) and name.partition(".")[0] != home.partition(".")[0]
        if path.startswith(os.path.join(folder, "")) and not is_programs and not is_installed:
            yield name


def _of_module(name: str) -> str:
    """Return the digest of a module's file."""
    if name == "bench":
        return _of_bench()
    module = sys.modules[name]
    path = Path(str(module.__file__))
    try:
        found = digest(path.read_bytes(), 20)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}), expected the file of {name}") from None
    imported = module.__spec__ or module
    if name not in _seen or _seen[name][0] is not imported:
        _seen[name] = imported, found
    if _seen[name][1] != found and "IPython.extensions.autoreload" not in sys.modules:  # which imports in place
        raise ConfigError(
            f"{path}: found an edit since {name} was imported, expected importlib.reload({name}), or a restart"
        )
    return found


@cache
def _of_bench() -> str:
    files = sorted(path for path in _BENCH.rglob("*.py") if path.relative_to(_BENCH).parts[0] not in _NO_SCIENCE)
    return digest({path.relative_to(_BENCH).as_posix(): digest(path.read_bytes()) for path in files}, 20)
