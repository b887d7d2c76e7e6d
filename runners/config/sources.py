"""The source of a module as it counts for what made a run: a digest of its syntax tree, and what it may import."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.digest import digest
from bench.errors import ConfigError

Status = tuple[str, int, int]
"""Path, time of change and size of a file."""


class Source(NamedTuple):
    """A module's source: digest of its syntax tree, and the names that it may import."""

    digest: str
    imports: tuple[str, ...]


known: dict[tuple[str, Status], Source] = {}
"""What was read, by the name of the module and the status of its file: workers on this machine are given it."""


def status_of(path: str | None) -> Status | None:
    if path is None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    return path, status.st_mtime_ns, status.st_size


def read(name: str, status: Status) -> Source:
    """Return the source of a module, of a file with this status. Raises ConfigError if it is no valid Python."""
    if (name, status) not in known:
        known[name, status] = _read(name, status[0])
    return known[name, status]


def _read(name: str, path: str) -> Source:
    content = Path(path).read_bytes()
    if not path.endswith(".py"):  # compiled: there is nothing to leave out
        return Source(digest(content), ())
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: found no valid Python ({error}), expected the source of {name}") from None
    package = name if Path(path).name == "__init__.py" else name.rpartition(".")[0]
    return Source(digest(_canonical(tree)), tuple(sorted(set(_imports(tree, package)))))


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield all modules that may be imported anywhere in the tree; some of the names may turn out to be no modules."""
    for node in _statements(tree):
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


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all statements, at any depth: `ast.walk` goes through all expressions, too, and takes six times as long."""
    todo: list[ast.AST] = [tree]
    while todo:
        yield (node := todo.pop())
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            todo += inner if isinstance(inner, list) else ()


def _canonical(node: Any) -> Any:
    """Return a syntax tree as plain data, without places, docstrings and messages of errors: these move no number.

    Unlike `ast.dump`, it is the same for all versions of Python that parse the text alike.
    """
    if isinstance(node, list):
        return [_canonical(item) for item in node if not _is_text(item)]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Constant):
        return ["Constant", type(node.value).__name__, repr(node.value)]
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        node.exc.args = [item for item in node.exc.args if not _is_message(item)]
    fields = {}
    for name in node._fields:
        value = getattr(node, name, None)
        if value is not None and value != []:
            fields[name] = value if type(value) is str else _canonical(value)
    return [type(node).__name__, fields]


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_message(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
