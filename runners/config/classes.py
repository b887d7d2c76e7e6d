"""The classes that settings name: import, construction, required packages, and places of their errors."""

import copy
import importlib
import importlib.metadata
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bench.algorithms.base import Algorithm
from bench.component import defaults
from bench.envs.base import Environment
from bench.errors import BenchError, ConfigError, message
from bench.packages import how_to_install
from bench.tasks.base import Task
from bench.tuners.base import Tuner
from runners.config.folders import CHECKOUT
from runners.config.tree import one_of

BASES: dict[str, type] = {"env": Environment, "algorithm": Algorithm, "tuner": Tuner, "task": Task}
"""The base class of each part."""

INTERFACE = "bandit_bench"
_OF_DATA = "; a file of data is the env.path of env=classification or env=log"
SUITES = (INTERFACE, "bench", "runners")
"""The suite's own packages."""


def is_named(cls: type) -> bool:
    """Whether a dotted path leads to ``cls`` in any process, which is false for a class in a cell or a function."""
    if cls.__module__ == "__main__":
        return False
    return getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls


def file_of(module: str) -> str:
    """Return the file of a loaded module; "" if the module has no file."""
    return getattr(sys.modules.get(module), "__file__", None) or ""


def is_users(file: str) -> bool:
    """Whether a file is a user's, and so belongs neither to the suite, nor to an installed package, nor to Python."""
    return bool(file) and not file.startswith(_NOT_THE_USERS) and not any(place in file for place in _INSTALLED)


def import_class(part: str, settings: Any) -> type:
    """Return the class that ``_target_`` in the settings of a part names.

    The current folder is searched, too. Raises ConfigError if the class cannot be imported or does not suit the part.
    """
    target = settings.get("_target_") if isinstance(settings, dict) else None
    key = f"{part}._target_"
    module_name, _, class_name = str(target).rpartition(".")
    if not isinstance(target, str) or module_name in ("", "__main__"):
        raise ConfigError(f"{key}: found {target!r}, expected the dotted path of a class in its own module")
    if not {os.getcwd(), ""} & set(sys.path):
        sys.path.insert(0, os.getcwd())
    if module_name.partition(".")[0] not in SUITES:
        _check_names(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        name = error.name or module_name
        is_itself = f"{module_name}.".startswith(f"{name}.")
        needed = "whose module" if is_itself else f"which imports '{name}', a module that"
        raise ConfigError(
            f"{key}: found '{target}', {needed} is neither in the current folder ({os.getcwd()}) nor installed, "
            f"expected a module that can be imported: check its name, run from the folder of {name.partition('.')[0]}, "
            f"or set PYTHONPATH to it{_OF_DATA * (part == 'env')}"
        ) from error
    except (Exception, SystemExit) as error:  # a user's module may fail in any way while it is imported
        raise ConfigError(
            f"{key}: found '{target}', whose module cannot be imported: {describe(error)}, expected an importable class"
        ) from error
    cls, base = getattr(module, class_name, None), BASES[part]
    if not (isinstance(cls, type) and issubclass(cls, base)):
        names = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module_name]
        if cls is None:
            raise ConfigError(f"{key}: found no class '{class_name}' in {module_name}, {one_of(class_name, names)}")
        raise ConfigError(f"{key}: found '{target}', expected a class that derives from {INTERFACE}.{base.__name__}")
    return cls


@cache
def _check_names(folder: str) -> None:
    """Refuse a folder that contains a file with the name of a module that workers would import from elsewhere."""
    known = {*SUITES, *(sys.stdlib_module_names & sys.modules.keys())}
    for name in sorted(known) if folder != str(CHECKOUT) else ():
        for path in (os.path.join(folder, f"{name}.py"), os.path.join(folder, name, "__init__.py")):
            if os.path.isfile(path):
                raise ConfigError(f"{path}: found the name of a module that the suite imports, expected another name")


def is_suites(cls: type) -> bool:
    """Whether a class belongs to the suite; any other class is a user's and may do anything."""
    return cls.__module__.partition(".")[0] in SUITES


def construct(part: str, cls: type, settings: dict[str, Any], **parts: Any) -> Any:
    """Build a part from a copy of its settings, so that a part cannot change the settings of the next repetition.

    Raises ConfigError, naming the key, if the class refuses a setting, or lacks a required method or one of ``parts``.
    """
    fields = {str(name): copy.deepcopy(value) for name, value in settings.items() if name != "_target_"}
    if lacking := sorted(getattr(cls, "__abstractmethods__", ())):
        raise ConfigError(
            f"{part}: found {cls.__name__} without {', '.join(lacking)}, expected a class that defines it"
        )
    for name in not_settings(cls):
        if name in fields:
            raise ConfigError(
                f"{part}.{name}: found a setting of {cls.__name__}, a class without @component, expected @component "
                f"(from {INTERFACE} import component) in the line above `class {cls.__name__}`"
            )
    names = defaults(cls.common) if hasattr(cls, "common") else {}  # settings common to all parts of the kind
    own = inspect.signature(cls).parameters if parts or fields.keys() & names.keys() else {}
    takes_any = is_suites(cls) or any(argument.kind is argument.VAR_KEYWORD for argument in own.values())
    for name in parts.keys() - own.keys() if not takes_any else ():
        text = f"expected it: `{name}: {INTERFACE}.{name.title()}`"
        raise ConfigError(f"{part}: found {cls.__name__} without the field '{name}', {text}")
    common = {name: fields.pop(name) for name in names if name in fields and name not in own}
    try:
        built = cls(**parts, **fields)
        for name in fields.keys() & getattr(cls, "__pydantic_fields__", {}).keys():
            if isinstance(fields[name], bool) and not isinstance(getattr(built, name), bool):
                raise ConfigError(f"{part}.{name}: found {fields[name]}, expected a number")  # a boolean became 0 or 1
        if common:
            built.feedback = cls.common(**common)  # type: ignore[attr-defined]
        return built
    except ConfigError as error:
        is_its = error.owner in (cls.__name__, getattr(cls, "common", cls).__name__)
        raise error.under(part) if is_its else error from None
    except (Exception, SystemExit) as error:
        if is_suites(cls) and not isinstance(error, TypeError | ValueError):
            raise
        takes = ", ".join(fields) or "no settings"
        text = f"{part}: {cls.__name__} cannot be built: {describe(error)}, expected a class that takes {takes}"
        raise ConfigError(text) from error


def not_settings(cls: type) -> list[str]:
    """Return the annotated names of a class that are not settings because the class lacks @component."""
    own = vars(cls)
    if {"__dataclass_fields__", "__init__"} & own.keys():
        return []
    return [name for name, kind in inspect.get_annotations(cls).items() if "ClassVar" not in str(kind)]


OPTIONAL = ("obp", "optuna", "scikit-learn", "scikit-optimize", "torch")


@cache
def version(name: str) -> str | None:
    """Return the version of a package; None if the package is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def require(*runs: Mapping[str, type]) -> None:
    """Raise ConfigError if a class ``requires`` a package that is not installed.

    Each of ``runs`` holds the classes of a run by part.
    """
    lacking = {
        (part, cls.__name__, name)
        for classes in runs
        for part, cls in classes.items()
        for name in getattr(cls, "requires", ())
        if version(name) is None
    }
    if lacking:
        parts, classes, names = (", ".join(sorted(set(column))) for column in zip(*lacking, strict=True))
        how = how_to_install(*names.split(", "))
        raise ConfigError(f"{parts}: found no package {names} for {classes}, expected it installed: {how}")


_NOT_THE_USERS = tuple(
    str(path)
    for path in (
        *(Path(__file__).parents[2] / name for name in ("bench", INTERFACE)),
        Path(__file__).parents[1],
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    )
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def describe(error: BaseException) -> str:
    """Return the first line of an error, with the last line of a user's own file in its traceback.

    An error of this project is described by its message only. Any other error is described with round, configuration
    and class, such as ``round 3, {'x': 0.5}: ValueError: no such arm (my_tuner.py:7 in _ask)``.
    """
    text = message(error).partition("\n")[0]
    if not isinstance(error, BenchError):
        notes = (str(note) for note in getattr(error, "__notes__", ()))
        where = next((f"{note}: " for note in notes if note.startswith("round ")), "")
        text = where + f"{type(error).__name__}: {text}".removesuffix(": ")
    passed = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in passed if not frame.filename.startswith(("<", *_NOT_THE_USERS))]
    if frames:
        text += f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})"
    return text
