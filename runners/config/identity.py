"""What a run's numbers depend on, as one hash: settings, data, and the source of the code that is run."""

import ast
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from bench import errors
from bench.errors import ConfigError

ALWAYS = ("bench.loop", "bench.trace", "bench.seeding")
"""Modules that every run goes through."""

_STANDARD = tuple({os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")})
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

_ERRORS = {name for name, value in vars(errors).items() if isinstance(value, type)}

Stamp = tuple[str, int, int]


class Source(NamedTuple):
    """A module's source: digest of its syntax tree, and the names that it may import."""

    digest: str
    imports: tuple[str, ...]


def plain(value: Any, where: str = "") -> Any:
    """Return settings as plain data (dicts, lists, strings, numbers, booleans, None); ConfigError if they are not."""
    if isinstance(value, Mapping):
        return {str(key): plain(item, f"{where}.{key}".lstrip(".")) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise ConfigError(f"{where or 'settings'}: found {value!r}, expected plain data (numbers, strings, lists, dicts)")


def hash_identity(identity: Mapping[str, Any]) -> str:
    """Return the first twenty hexadecimal digits of the sha256 of the canonical JSON of ``identity``."""
    canonical = json.dumps(plain(identity), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:20]


def source_digest(classes: Mapping[str, type]) -> str:
    """Return one digest of the modules that `module_digests` finds."""
    return hashlib.sha256(json.dumps(module_digests(classes), sort_keys=True).encode()).hexdigest()


def module_digests(classes: Mapping[str, type]) -> dict[str, str]:
    """Return the digests of all modules of the project and the user that ``classes`` are made of, by name.

    That is: the modules of every class they inherit from, the loop, and whatever these import anywhere in their text,
    except the standard library and installed packages. Modules count as syntax trees without what cannot move a number:
    docstrings, comments, texts of errors, annotations of functions, and whatever stands below ``if TYPE_CHECKING``.
    Imports are found by reading, so one that is put together at run time is not noticed. Raises ConfigError when the
    source of a class is not found, or is no longer that of the module in memory.
    """
    roots = frozenset((*ALWAYS, *_modules_of(classes)))
    stamps, _ = _digests.get(roots, ({}, {}))
    if not stamps or any(_stamp(_locate(name)) != stamp for name, stamp in stamps.items()):
        _digests[roots] = _digest(roots)
    return _digests[roots][1]


_digests: dict[frozenset[str], tuple[dict[str, Stamp], dict[str, str]]] = {}
_in_memory: dict[str, tuple[Any, str]] = {}


def _modules_of(classes: Mapping[str, type]) -> Iterator[str]:
    """Yield the modules of the classes and of those they inherit from, unless installed or standard."""
    for part, cls in classes.items():
        package = cls.__module__.partition(".")[0]
        for base in cls.__mro__:
            name = base.__module__
            if name.partition(".")[0] in sys.builtin_module_names:
                continue
            path = _locate(name)
            if path is None:
                raise ConfigError(
                    f"{part}._target_: found the class {base.__qualname__}, whose source file is not there (module "
                    f"{name}), expected a class in a file of its own"
                )
            if name.partition(".")[0] == package or _belongs(path):
                yield name


def _digest(roots: frozenset[str]) -> tuple[dict[str, Stamp], dict[str, str]]:
    packages = {name.partition(".")[0] for name in roots}
    stamps: dict[str, Stamp] = {}
    digests: dict[str, str] = {}
    seen: set[str] = set()
    todo = sorted(roots)
    while todo:
        name = todo.pop()
        if not name or name in seen:
            continue
        seen.add(name)
        todo.append(name.rpartition(".")[0])  # importing a.b runs a first
        path = _locate(name)
        if path is None or not (name.partition(".")[0] in packages or _belongs(path)):
            continue
        stamp = _stamp(path)
        if stamp is None:
            raise ConfigError(f"{path}: found no file, expected the source of the module {name}")
        source = _read(name, stamp)
        _refuse_outdated(name, path, source.digest)
        stamps[name] = stamp
        digests[name] = source.digest
        todo += source.imports
    return stamps, digests


def _refuse_outdated(name: str, path: str, digest: str) -> None:
    """Refuse a file that was edited since this process imported it: what is run would not be what is hashed."""
    if name not in sys.modules:
        return
    imported = sys.modules[name].__spec__
    before = _in_memory.get(name)
    if before is None or before[0] is not imported:  # imported anew
        _in_memory[name] = imported, digest
    elif before[1] != digest:
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


def _stamp(path: str | None) -> Stamp | None:
    if path is None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    return path, status.st_mtime_ns, status.st_size


@cache
def _read(name: str, stamp: Stamp) -> Source:
    path = stamp[0]
    content = Path(path).read_bytes()
    if not path.endswith(".py"):  # compiled: there is nothing to leave out
        return Source(hashlib.sha256(content).hexdigest(), ())
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: found no valid Python ({error}), expected the source of {name}") from None
    package = name if Path(path).name == "__init__.py" else name.rpartition(".")[0]
    text = json.dumps(_canonical(tree), separators=(",", ":"))
    return Source(hashlib.sha256(text.encode()).hexdigest(), tuple(sorted(set(_imports(tree, package)))))


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield all modules that may be imported anywhere in the tree; some of the names may turn out to be no modules."""
    for node in _walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                levels = package.split(".")
                outer = ".".join(levels[: len(levels) - node.level + 1])
                base = f"{outer}.{base}" if base else outer
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those that only type checkers see."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if _is_for_type_checkers(child):
            for statement in child.orelse:
                yield from _walk(statement)
        else:
            yield from _walk(child)


def _canonical(node: Any, annotated: bool = True) -> Any:
    """Return a syntax tree as plain data, without places and without what cannot move a number.

    Unlike `ast.dump`, it is the same for all versions of Python that parse the text alike. Annotations count where
    something may read them: in classes, whose settings they are, and in functions that are decorated.
    """
    if isinstance(node, ast.Constant):
        return ["Constant", type(node.value).__name__, repr(node.value)]
    if isinstance(node, list):
        return [_canonical(item, annotated) for item in _statements(node)]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.ClassDef):
        annotated = True
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        annotated = bool(node.decorator_list)
    ignored: tuple[str, ...] = () if annotated else ("returns", "annotation")
    if isinstance(node, ast.Call) and node.args and _is_error(node):
        ignored = ("args",)
    fields = {
        name: _canonical(value, annotated)
        for name, value in ast.iter_fields(node)
        if name not in ignored and value is not None and value != []
    }
    return [type(node).__name__, fields]


def _statements(nodes: list[Any]) -> Iterator[Any]:
    for node in nodes:
        if _is_for_type_checkers(node):
            yield from _statements(node.orelse)
        elif not (_is_text(node) or (isinstance(node, ast.ImportFrom) and node.module == "typing")):
            yield node


def _is_error(call: ast.Call) -> bool:
    """Whether a call makes one of the project's errors, all of whose arguments are texts."""
    return isinstance(call.func, ast.Name) and call.func.id in _ERRORS and all(map(_is_message, call.args))


def _is_message(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_message(node.left) and _is_message(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_for_type_checkers(node: Any) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
