"""The configuration files: their places, groups, choices, and contents."""

import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from bench.component import defaults
from bench.errors import ConfigError, either
from runners.config.folders import CONFIGS, remembered, user_folder
from runners.config.listed import class_at, listed
from runners.config.yaml_text import load

PARTS = ("env", "algorithm", "tuner", "task")
CLASS = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
"""The dotted path of a class, which can take the place of a choice."""
GROUPS = (*PARTS, "paper", "scale", "runner")
_OF_PAPERS = {"paper": "papers/{}/settings.yaml", "published": "papers/{}/published.yaml",
              "headlines": "papers/{}/headlines.yaml", "looks": "papers/{}/looks.yaml"}  # fmt: skip

_LEAVES = frozenset((type(None), bool, int, float, str))
"""The types of plain data that are not containers."""


class Open(dict[str, Any]):
    """A mapping whose keys the user may choose freely."""


def _file(name: str) -> str:
    """Return the path of a name such as ``figure/cdt/figure2`` inside a folder of configuration files."""
    group, _, choice = name.partition("/")
    if group == "figure":
        return "papers/{}/figures/{}.yaml".format(*choice.split("/", 1)) if "/" in choice else ""
    return _OF_PAPERS.get(group, f"{name}.yaml").format(choice)


def path_of(name: str) -> Path | None:
    """Return the file of a name such as ``figure/cdt/figure2``, the suite's or the user's, or None.

    A name outside the groups, such as Hydra's ``config``, is the suite's. Raises ConfigError if the suite and the user
    have different files of the same name.
    """
    folders = [CONFIGS, *filter(None, [user_folder()])]
    paths = [path for folder in folders if (path := folder / _file(name)).is_file()]
    if len(paths) > 1 and "/" in name and paths[0].read_bytes() != paths[1].read_bytes():
        raise ConfigError("found a name that the suite already uses, expected another", file=shown(name))
    return paths[0] if paths else None


def shown(name: str) -> str:
    """Return the path to show in messages for a name, beginning with ``conf`` or with the user's folder."""
    folder, file = user_folder(), _file(name)
    is_elsewhere = folder and folder != Path("conf").resolve() and (folder / file).is_file()
    return f"{folder if is_elsewhere else 'conf'}/{file}"


@contextmanager
def placed(name: str) -> Iterator[None]:
    """Add the name of the file to errors about the content of the file ``name``."""
    try:
        yield
    except ConfigError as error:
        if not error.file and path_of(name):
            error.file = shown(name)
        raise


def expect(kind: type, value: Any, key: str) -> Any:
    """Return the list or mapping at a key of a file. Raises ConfigError for another type."""
    if not isinstance(value, kind):
        expected = "a list: [a, b], or a dash before each entry" if kind is list else "keys and values: {key: value}"
        raise ConfigError(f"{key}: found {reprlib.repr(value)}, expected {expected}")
    return value


def read(name: str) -> dict[str, Any]:
    """Return the content of a file, such as ``figure/cdt/figure2``. It is cached and must not be changed."""
    path = path_of(name)
    if path is None:
        raise ConfigError("found no such file, expected one", file=shown(name))
    return _load(path, name)


@remembered
@cache
def _load(path: Path, name: str) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        content: Any = load(text)
    except yaml.MarkedYAMLError as error:
        marks = (mark.line for mark in (error.problem_mark, error.context_mark) if mark)
        line = 1 + next((line for line in marks if line < text.count("\n")), 0)  # an open bracket
        reason = " ".join(filter(None, [error.context, error.problem]))
        raise ConfigError(f"found no valid YAML ({reason})", file=f"{shown(name)}:{line}") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot be read ({error}), expected keys and values in YAML", file=shown(name)) from None
    if not (isinstance(content, dict) and all(isinstance(key, str) for key in content)):
        text = f"found {reprlib.repr(content)}, expected keys and values in YAML, with names as keys"
        raise ConfigError(text, file=shown(name))
    return content


def read_choice(group: str, name: str) -> dict[str, Any] | None:
    """Return the content of the choice ``name`` of ``group``.

    For a part, the content has all settings of the class; it is None for the choice of no part, such as
    ``algorithm=none``.
    """
    if group in PARTS and CLASS.fullmatch(name):
        return Open(_target_=name)
    if name not in choices(group):
        raise unknown_choice(group, name)
    settings = _stated(group, name)
    target = settings.get("_target_") if settings and group in PARTS else None
    if settings and isinstance(target, str) and target != "???":
        changes, settings = settings, {"_target_": target, **class_defaults(target)}
        merge(settings, changes)
        settings = {key: Open() if value == {} else value for key, value in settings.items()}
    return settings


def implied(group: str, name: str) -> dict[str, str]:
    """Return the choices in other groups that a choice's file implies by lines ``override /group: choice``."""
    if CLASS.fullmatch(name) or path_of(f"{group}/{name}") is None:
        return {}
    lines = (line for line in read(f"{group}/{name}").get("defaults", []) if isinstance(line, dict))
    pairs = [pair for line in lines for pair in line.items()]
    return {key.removeprefix("override /"): choice for key, choice in pairs if key.startswith("override /")}


def size_of(env: str) -> dict[str, Any]:
    """Return the horizon or number of repetitions that an environment's file sets in place of the suite's."""
    if CLASS.fullmatch(env) or path_of(f"env/{env}") is None:
        return {}
    found: dict[str, Any] = read(f"env/{env}").get("uncapped", {})
    return found


def _stated(group: str, name: str) -> dict[str, Any] | None:
    if name in listed(group) and path_of(f"{group}/{name}") is None:
        return {"_target_": listed(group)[name]}
    content = read(f"{group}/{name}")
    stated = content[group] if group in content else {k: v for k, v in content.items() if k != "defaults"}
    bases = [line for line in content.get("defaults", []) if isinstance(line, str) and line != "_self_"]
    if bases and stated is not None:  # choices of the same group, which this one changes
        own, stated = stated, {}
        for base in bases:
            merge(stated, _stated(group, base) or {})
        merge(stated, own)
    return stated


def class_of(group: str, name: str) -> str:
    """Return the dotted path of the class of one of the suite's choices, without an import; "" if there is no class."""
    known = name in suite_choices(group) or name in listed(group)
    target = ((_stated(group, name) if known else None) or {}).get("_target_", "???")
    return "" if target == "???" else str(target)


def class_defaults(target: str) -> dict[str, Any]:
    """Return the default settings of a class; none if the import of the class fails, which a run then reports."""
    cls = class_at(target)
    try:
        return defaults(cls) if cls else {}
    except Exception:  # a user's class may fail in any way
        return {}


def merge(settings: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Merge ``changes`` into nested settings, in place."""
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(settings.get(key), dict):
            merge(settings[key], value)
        else:
            settings[key] = value if type(value) in _LEAVES else deepcopy(value)


def nested(key: str, value: Any) -> dict[str, Any]:
    for name in reversed(key.split(".")):
        value = {name: value}
    return dict(value)


def plain(value: Any, where: str = "") -> Any:
    """Return settings as plain data (dicts, lists, strings, numbers, booleans, None).

    Raises ConfigError for any other data.
    """
    if isinstance(value, Mapping):
        return {
            str(key): item if type(item) in _LEAVES else plain(item, f"{where}.{key}".lstrip("."))
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [item if type(item) in _LEAVES else plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in _LEAVES:
        return value
    found = " ".join(reprlib.repr(value).split())
    raise ConfigError(f"{where or 'settings'}: found {found}, expected plain data (numbers, strings, lists, dicts)")


@remembered
@cache
def suite_choices(group: str) -> list[str]:
    """Return the suite's choices of a configuration group. The list is cached and must not be changed."""
    return _choices(CONFIGS, group)


def choices(group: str) -> list[str]:
    """Return the choices of a group, from the suite, from installed packages, and from the user's own files.

    Raises ConfigError if a choice of a user or of an installed package has the name of a choice of the suite.
    """
    folder, names = user_folder(), {*suite_choices(group), *listed(group)}
    for name in listed(group).keys() & {*suite_choices(group)}:
        raise ConfigError(
            f"{group}: found '{name}' in an installed package ({listed(group)[name]}), a name that the suite already "
            "uses, expected another"
        )
    users = set(_choices(folder, group)) if folder else set()
    for name in names & users:
        path_of(f"{group}/{name}")  # raises an error if the two differ
    return sorted(names | users)


def _choices(folder: Path, group: str) -> list[str]:
    paths = (
        path.relative_to(folder).with_suffix("").parts
        for path in folder.glob(_file(f"{group}/*{'/*' * (group == 'figure')}"))
    )
    # <group>/<choice>, papers/<paper>/settings or papers/<paper>/figures/<figure>
    return sorted("/".join(parts[1::2]) if group == "figure" else parts[1] for parts in paths)


def groups() -> list[str]:
    """Return the configuration groups of the suite, and the user's own groups, such as ``experiment``."""
    folder = user_folder()
    own = {path.name for path in folder.iterdir() if path.is_dir()} - {"papers"} if folder else set()
    return sorted({*GROUPS, "figure", *own})


def unknown_choice(group: str, found: str) -> ConfigError:
    """Return an error for an unknown choice, which lists the choices of the group."""
    others = ", or your own class as module.Class" if group in PARTS else ""
    if group in ("paper", "figure") and not user_folder():
        others = ", or your own in the folder conf or BENCH_CONF_DIR"
    return ConfigError(f"{group}: found '{found}', {one_of(found, choices(group))}{others}")


def unknown_key(key: str, valid: Iterable[str]) -> ConfigError:
    """Return an error for an unknown key, which lists the valid keys."""
    return ConfigError(f"{key}: found an unknown key, {one_of(key.rpartition('.')[2], valid)}")


def one_of(found: str, valid: Iterable[str]) -> str:
    """Return the words that list the valid names, after a hint at a similar valid name if there is one."""
    from difflib import get_close_matches  # slow to import

    names = list(valid)
    lower, word = {name.lower(): name for name in names}, found.lower()
    nearest = [name for name in lower if word and re.search(rf"[./]{re.escape(word)}$", name)]
    nearest += get_close_matches(word, lower, 1)
    nearest += [name for name in lower if len(word) > 2 and name.startswith(word)]
    hint = f"did you mean '{lower[nearest[0]]}'? " if nearest else ""
    return f"{hint}expected one of: {either(names)}"
