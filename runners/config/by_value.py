"""Classes that no other process can import: of a notebook's cell, of the main script, of inside a function.

They are held here by a dotted path, by which the settings of a run name them, and go to workers as they are.
"""

import ast
import builtins
import dis
import importlib
import inspect
import linecache
import pickle
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple

from bench.digest import digest
from bench.errors import ConfigError

_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"}
INTERFACE = "bandit_bench"
"""Whatever it offers stands in modules of `bench`, of which those count that a class derives from."""


class Held(NamedTuple):
    """A class, a digest of its source and of all that it uses of its own module, and the other modules it uses."""

    cls: type
    digest: str
    modules: tuple[str, ...]


_held: dict[str, Held] = {}


def hold(cls: type) -> str:
    """Return the dotted path that settings name a class by; one that cannot be imported is held, as it is now.

    Raises ConfigError where its source is not to be had.
    """
    path = _path(cls)
    if cls.__module__ == "__main__" or getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is not cls:
        _held[path] = Held(cls, *_described(cls))
    return path


def held(path: Any) -> Held | None:
    """Return what is held by a path, None if nothing is."""
    return _held.get(path) if isinstance(path, str) else None


def held_as(cls: type) -> Held | None:
    """Return what is held of a class, None if nothing is."""
    found = _held.get(_path(cls))
    return found if found and found.cls is cls else None


def class_at(path: str) -> type | None:
    """Return the class at a dotted path, None where there is none: a run that needs it says so."""
    if path in _held:
        return _held[path].cls
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except Exception:  # a user's module may fail in any way while it is imported
        return None
    return found if isinstance(found, type) else None


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}".replace("<locals>.", "")


def packed(settings: Mapping[str, Any]) -> bytes:
    """Return what is held of the classes that settings name, for another process; empty if nothing is."""
    targets = [part.get("_target_") for part in settings.values() if isinstance(part, dict)]
    found = {target: _held[target] for target in targets if target in _held}
    if not found:
        return b""
    from joblib.externals.loky.backend.reduction import dumps  # slow to import

    return bytes(dumps(found))  # by cloudpickle, which sends classes as they are


def unpack(content: bytes) -> None:
    """Hold what another process has packed."""
    if not content:
        return
    found = pickle.loads(content)  # noqa: S301, from the process that started this one
    for own in found.values():
        for base in own.cls.__mro__:
            for item in vars(base).get("__dataclass_fields__", {}).values():
                for name in ("default", "default_factory"):  # pickling makes other objects of this one
                    if isinstance(getattr(item, name), type(MISSING)):
                        setattr(item, name, MISSING)
    _held.update(found)


def _described(cls: type) -> tuple[str, tuple[str, ...]]:
    """Return the digest of the syntax trees and values that a class is made of, and the modules that it uses."""
    parts: dict[str, Any] = {}
    modules: set[str] = set()
    todo: list[tuple[str, Any]] = [(cls.__qualname__, cls)]
    while todo:
        name, value = todo.pop()
        value = inspect.unwrap(getattr(value, "py_func", value))  # of a compiled function
        if name in parts or name == INTERFACE:
            continue
        where = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        is_code = isinstance(value, type | types.FunctionType)
        if is_code and where == cls.__module__ and _has_no_code(value):
            parts[name] = [base.__qualname__ for base in value.__bases__]
            todo += [(base.__qualname__, base) for base in value.__bases__]
            own = {key: item for key, item in vars(value).items() if not key.startswith(("__", "_abc_"))}
            own["annotations"] = repr(vars(value).get("__annotations__"))
            fields = vars(value).get("__dataclass_fields__", {})
            own |= {
                f"{key}()": factory
                for key, field in fields.items()
                for made in (field, field.default)  # which of pydantic has a factory itself
                if callable(factory := getattr(made, "default_factory", None))
            }
            todo += [(f"{name}.{key}", item) for key, item in own.items()]
        elif is_code and where == cls.__module__:
            tree = _tree(value)
            parts[name] = ast.dump(_without_docstrings(tree))
            todo += _used(tree, value)
        elif is_code or isinstance(value, types.ModuleType | types.BuiltinFunctionType):
            parts[name] = [where, getattr(value, "__qualname__", "")]
            modules.add(str(where))
        else:
            parts[name] = _of_value(cls, name, value)
    return digest(parts), tuple(sorted(modules - {"builtins", INTERFACE}))


def _has_no_code(value: Any) -> bool:
    """Whether it is a class without methods, such as one with other defaults, whose source no line of code leads to."""
    if not isinstance(value, type):
        return False
    own = list(functions_of(value))
    if "__dataclass_params__" in vars(value):  # whose decorator adds some: others with each version of Python
        own = [function for function in own if function.__module__ == value.__module__ and not _is_generated(function)]
    return not own


def _is_generated(function: types.FunctionType) -> bool:
    return function.__name__.startswith("__") and inspect.unwrap(function).__code__.co_filename == "<string>"


def _tree(value: Any) -> Any:
    """Return the syntax tree of a class or function, as Python has read it, from a file or a cell."""
    functions = [value] if isinstance(value, types.FunctionType) else functions_of(value)
    codes = [inspect.unwrap(function).__code__ for function in functions]
    wanted = value.__qualname__.replace("<locals>.", "")
    for file, line in dict.fromkeys((code.co_filename, code.co_firstlineno) for code in codes):
        try:
            module = ast.parse("".join(linecache.getlines(file)))
        except SyntaxError:  # a cell with commands of IPython
            module = _of_cell(file)
        for name, node in _definitions(module):
            last = getattr(node, "end_lineno", 0)
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if name == wanted and first <= line <= last:
                return node
    if value.__name__ == "<lambda>":
        raise ConfigError(f"found {value.__qualname__}, expected a function with a name: write it with def")
    kind = "class" if isinstance(value, type) else "function"
    raise ConfigError(
        f"found the {kind} {value.__qualname__} whose source cannot be read, expected one in a "
        "notebook's cell, a script or a module: save it in a file, such as my_module.py, and import it from there"
    )


def _of_cell(file: str) -> ast.Module:
    """Return the syntax tree of a notebook's cell that is not all Python."""
    try:
        from IPython.core.inputtransformer2 import TransformerManager

        return ast.parse(TransformerManager().transform_cell("".join(linecache.getlines(file))))
    except (ImportError, SyntaxError):
        return ast.Module([], [])


def functions_of(cls: type) -> Iterator[types.FunctionType]:
    """Yield the methods that a class defines itself, those of properties, too."""
    for value in vars(cls).values():
        function = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(function, types.FunctionType):
            yield function


def _definitions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all classes and functions in a tree with their names, also those inside of others."""
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{child.name}", child
            name = f"{prefix}{child.name}."
        yield from _definitions(child, name)


def _without_docstrings(tree: ast.AST) -> ast.AST:
    copy = ast.parse(ast.unparse(tree))
    for node in ast.walk(copy):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return copy


def _used(tree: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names that a class or function looks up outside of itself, with what they are now."""
    functions = [value] if isinstance(value, types.FunctionType) else list(functions_of(value))
    around: dict[str, Any] = dict(vars(sys.modules.get(value.__module__, builtins)))
    for function in map(inspect.unwrap, functions):
        if function.__module__ == value.__module__:
            around |= function.__globals__
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            around |= {name: cell.cell_contents for name, cell in cells if name != "__class__"}
    code = compile(ast.Module([tree], []), "<source>", "exec")
    for name in sorted(set(_loaded([code]))):
        if name in around and not name.startswith("__"):
            yield name, around[name]


def _loaded(codes: Iterable[types.CodeType]) -> Iterator[str]:
    for code in codes:
        yield from (str(step.argval) for step in dis.get_instructions(code) if step.opname in _LOADS)
        yield from _loaded(constant for constant in code.co_consts if isinstance(constant, types.CodeType))


def _of_value(cls: type, name: str, value: Any) -> str:
    """Return what counts of a value that a class uses by name."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    try:
        return digest(pickle.dumps(value, protocol=5))
    except Exception:  # whatever its class does
        if " at 0x" not in repr(value):
            return repr(value)
    raise ConfigError(
        f"found {cls.__qualname__}, which uses '{name}', a {type(value).__name__} that cannot be kept with "
        "results, expected plain data: make it a setting of the class, or put both into a file and import it"
    )
