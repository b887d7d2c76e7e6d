"""What made a run, as one hash: the source of the code that is run, and the versions of the packages that compute."""

import importlib.machinery
import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from bench.errors import ConfigError
from runners.config.by_value import INTERFACE, held_as
from runners.config.classes import version
from runners.config.sources import Status, read, status_of

ALWAYS = ("bench.loop", "bench.trace", "bench.seeding")
"""Modules that every run goes through."""

COMPUTING = ("numba", "numpy", "obp", "optuna", "pandas", "scikit-learn", "scikit-optimize", "scipy", "torch")
"""Packages whose version may move a number."""

_OTHERS = {"pooch", "pydantic", "requests", "rich", "tqdm"}
"""Packages that the suite's modules import and that compute nothing."""

_STANDARD = tuple({os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")})
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class Code(NamedTuple):
    """What classes are made of: modules of the project and the user with their digests, and packages by version."""

    modules: dict[str, str]
    packages: dict[str, str | None]


def code_of(classes: Mapping[str, type]) -> Code:
    """Return the modules of the project and the user that ``classes`` are made of, and the packages they compute with.

    Modules are those of every class they inherit from, the loop, and whatever these import anywhere in their text,
    except the standard library and installed packages. They count as syntax trees without docstrings and without the
    messages of errors that are raised, so comments and layout don't; of a class that no file can be imported for (see
    `by_value`) its own source counts. Packages are those that these modules import, and those of `COMPUTING` that they
    require in turn. Imports are found by reading, so one that is put together at run time is not noticed. Raises
    ConfigError when the source of a class is not found, or is no longer that of the module in memory.
    """
    held = {f"{cls.__module__}.{cls.__qualname__}": own for cls in classes.values() if (own := held_as(cls))}
    roots = frozenset((*ALWAYS, *_modules_of(classes)))
    used = frozenset(name for own in held.values() for name in own.modules)
    found = _found.get((roots, used))
    if found is None or any(status_of(_locate(name)) != status for name, status in found[0].items()):
        _found[roots, used] = found = _find(roots, used)
    digests = found[1] | {name: own.digest for name, own in held.items()}
    return Code(digests, {name: version(name) for name in found[2]})


_found: dict[tuple[frozenset[str], frozenset[str]], tuple[dict[str, Status], dict[str, str], tuple[str, ...]]] = {}
_in_memory: dict[str, tuple[Any, str]] = {}


def _modules_of(classes: Mapping[str, type]) -> Iterator[str]:
    """Yield the modules of the classes and of those they inherit from, unless installed or standard."""
    for part, cls in classes.items():
        package = cls.__module__.partition(".")[0]
        for base in cls.__mro__:
            name = base.__module__
            if name.partition(".")[0] in sys.builtin_module_names or (name == cls.__module__ and held_as(cls)):
                continue
            path = _locate(name)
            if path is None:
                raise ConfigError(
                    f"{part}._target_: found the class {base.__qualname__}, whose source file is missing (module "
                    f"{name}), expected a class in its own file"
                )
            if name.partition(".")[0] == package or _belongs(path):
                yield name


def _find(roots: frozenset[str], used: frozenset[str]) -> tuple[dict[str, Status], dict[str, str], tuple[str, ...]]:
    """Return the status of each file, the digest of each module, and the names of the packages."""
    packages = {name.partition(".")[0] for name in roots}
    statuses: dict[str, Status] = {}
    digests: dict[str, str] = {}
    others: set[str] = set()
    seen: set[str] = set()
    todo = sorted(roots | used)
    while todo:
        name = todo.pop()
        if not name or name in seen or name.partition(".")[0] == INTERFACE:
            continue
        seen.add(name)
        todo.append(name.rpartition(".")[0])  # importing a.b runs a first
        path = _locate(name)
        if path is None or not (name.partition(".")[0] in packages or _belongs(path)):
            others.add(name.partition(".")[0])
            continue
        status = status_of(path)
        if status is None:
            raise ConfigError(f"{path}: found no file, expected the source of the module {name}")
        source = read(name, status)
        _refuse_outdated(name, path, source.digest)
        statuses[name] = status
        digests[name] = source.digest
        todo += source.imports
    return statuses, digests, _distributions(others - packages - sys.stdlib_module_names)


def _distributions(modules: set[str]) -> tuple[str, ...]:
    """Return the packages that hold some modules, and those that compute which they require."""
    direct = {name for module in modules for name in _distribution(module)} - _OTHERS
    return tuple(sorted(direct | {name for package in direct for name in _required(package)}))


@cache
def _distribution(module: str) -> tuple[str, ...]:
    """Return the packages that hold a module; none if it is not installed."""
    if _locate(module) is None:
        return ()
    return (module,) if version(module) else tuple(_all_distributions().get(module, ()))


@cache
def _all_distributions() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()  # reads the list of files of every package


@cache
def _required(package: str) -> frozenset[str]:
    texts = importlib.metadata.requires(package) or ()
    names = {re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0].lower() for text in texts if "extra ==" not in text}
    return frozenset(names.intersection(COMPUTING))


def _refuse_outdated(name: str, path: str, found: str) -> None:
    """Refuse a file that was edited since this process imported it: what is run would not be what is hashed."""
    if name not in sys.modules:
        return
    imported = sys.modules[name].__spec__
    before = _in_memory.get(name)
    if before is None or before[0] is not imported:  # imported anew
        _in_memory[name] = imported, found
    elif before[1] != found:
        raise ConfigError(
            f"{path}: found code that is newer than what this process has imported, expected a restart (or a reload "
            f"of the module {name})"
        )


def _locate(name: str) -> str | None:
    """Return the file of a module without importing anything; None where there is no such module or no file."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__file__", None)
    spec = _find_spec(name)
    return spec.origin if spec is not None and spec.has_location else None


def _find_spec(name: str) -> importlib.machinery.ModuleSpec | None:
    parent = name.rpartition(".")[0]
    try:
        if not parent:
            return importlib.util.find_spec(name)
        if parent in sys.modules:
            locations = getattr(sys.modules[parent], "__path__", None)
        else:
            spec = _find_spec(parent)
            locations = spec.submodule_search_locations if spec is not None else None
        return importlib.machinery.PathFinder.find_spec(name, locations) if locations is not None else None
    except (ImportError, ValueError):
        return None


def _belongs(path: str) -> bool:
    """Whether a file is neither installed nor part of Python."""
    return not path.startswith(_STANDARD) and not any(folder in path for folder in _INSTALLED)
