"""The files that a user's classes read: part of the fingerprint of the data, without the author's doing."""

import ast
import inspect
import json
import linecache
import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from bench.data.read import digest, files_read_by
from bench.envs.base import Environment
from bench.seeding import Seeds
from runners.config.by_value import INTERFACE, functions_of
from runners.config.classes import construct, is_module_of_suite, is_suites
from runners.config.identity import code_of

_OPEN = {
    "open", "read_text", "read_bytes", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_csv", "read_excel",
    "read_feather", "read_json", "read_parquet", "read_pickle", "read_sql", "read_table",
}  # fmt: skip
"""Names under which common libraries open files."""


def data_fingerprint(environment: Environment, settings: Mapping[str, Any], classes: Mapping[str, type]) -> str | None:
    """Return the identity of the data: what the environment says, else a checksum of the files that are read.

    These are, of a user's classes, the files that their settings name, and what they have read by
    `bench.data.read` after a start of the environment. None: there are none.
    """
    declared = environment.fingerprint
    own = {part: cls for part, cls in classes.items() if not is_suites(cls)}
    if declared is not None or not own:
        return declared
    files = [path for part in own for path in _paths(settings[part])]
    if _may_read(own):
        modules = {*_modules(own), *(cls.__module__ for cls in own.values())}
        files += files_read_by({name for name in modules if not is_module_of_suite(name)})
        if "env" in own:
            files += _read_at_start(own["env"], json.dumps(settings["env"]), settings["horizon"])
    unique = list(dict.fromkeys(path.resolve() for path in files))
    return digest(sorted(unique)) if unique else None


def opened_otherwise(classes: Mapping[str, type]) -> list[str]:
    """Return a line for each class of a user's own whose module seems to open files that nothing else notices."""
    lines = []
    for part, cls in classes.items():
        places = [] if is_suites(cls) else list(_opens(cls))
        if places:
            lines.append(
                f"{part}: {cls.__name__} seems to open files with {', '.join(dict.fromkeys(places))}: if one changes, "
                "finished repetitions are not run again; read it with bench.data.read.read, name it in a setting, or "
                "return its checksum as `fingerprint`"
            )
    return lines


def _paths(value: Any) -> Iterator[Path]:
    """Yield the files that a setting names, in any depth."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from () if key == "_target_" else _paths(item)
    elif isinstance(value, list):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, str) and value and "\0" not in value and len(value) < 4096:
        path = Path(os.path.expanduser(value))  # which leaves ~nobody as it is
        if path.is_file():
            yield path


def _modules(classes: Mapping[str, type]) -> Mapping[str, str]:
    importable = {part: cls for part, cls in classes.items() if cls.__module__ != "__main__"}
    return code_of(importable).modules if importable else {}


def _may_read(classes: Mapping[str, type]) -> bool:
    """Whether classes, or what they import from the user's files, import `bench.data.read`."""
    return "bench.data.read" in _modules(classes) or any(cls.__module__ == "__main__" for cls in classes.values())


@lru_cache(maxsize=32)
def _read_at_start(cls: type, settings: str, horizon: int) -> tuple[Path, ...]:
    """Return the files that an environment reads when it starts, in a process of its own, as it may do anything."""
    from joblib.externals.loky import ProcessPoolExecutor  # slow to import

    executor = ProcessPoolExecutor(1)
    try:
        return tuple(executor.submit(start_and_list, cls, settings, horizon).result(timeout=600))
    except Exception:  # it fails in the same way, with a message, where it is checked before the run
        return ()
    finally:
        executor.shutdown(wait=True, kill_workers=True)  # the command may end at once, or have been interrupted


def start_and_list(cls: type, settings: str, horizon: int) -> list[Path]:
    """Start an environment and return the files that a user's classes have read in this process."""
    environment = construct("env", cls, json.loads(settings))
    environment.start(horizon, Seeds())
    return files_read_by({name for name in sys.modules if not is_module_of_suite(name)})


def _opens(cls: type) -> Iterator[str]:
    """Yield the calls by whose name files are opened, in the files or cells that the methods of a class stand in.

    Not in the file of its module: in a worker, that of ``__main__`` is another program.
    """
    files = {function.__code__.co_filename for function in map(inspect.unwrap, functions_of(cls))}
    nodes = [node for file in sorted(files) for node in ast.walk(_tree(file))]
    imported = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    library = {alias.asname or alias.name for alias in imported if alias.name == INTERFACE}  # its `load` reads results
    for called in (node.func for node in nodes if isinstance(node, ast.Call)):
        if isinstance(called, ast.Attribute):
            if called.attr in _OPEN and ast.unparse(called.value) not in library:
                yield called.attr
        elif isinstance(called, ast.Name) and called.id == "open":
            yield "open"


def _tree(file: str) -> ast.AST:
    """Return the syntax tree of a file or a cell; an empty one of what has no source here."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])
