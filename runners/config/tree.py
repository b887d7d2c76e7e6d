"""The configuration files: where they are, which groups there are, what can be chosen, and what a choice holds."""

import copy
import importlib
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf
from yaml import MarkedYAMLError

from bench.component import defaults
from bench.errors import ConfigError

PARTS = ("env", "algorithm", "tuner", "task")
CLASS = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
"""The dotted path of a class, which a part can be in place of a choice."""
GROUPS = (*PARTS, "paper", "scale", "runner")

_PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = None if (_PACKAGE / "conf").is_dir() else _PACKAGE.parent
"""The project's own folder; None where it is installed from a wheel, which carries the files in ``runners/conf``."""

CONFIGS = (CHECKOUT or _PACKAGE) / "conf"
CONF = str(CONFIGS)


class FilledConfigs(FileConfigSource):
    """The configuration files, those of parts filled up with the defaults of the classes that they name."""

    @staticmethod
    def scheme() -> str:
        return "filled"

    def load_config(self, config_path: str) -> ConfigResult:
        result = _load(self.path, self._normalize_file_name(config_path))
        return ConfigResult(self.provider, f"filled://{self.path}", copy.deepcopy(result.config), dict(result.header))


class FilledSearchPath(SearchPathPlugin):
    """Lets Hydra read the suite's configuration files, and then a user's, as `FilledConfigs`."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        for element in search_path.get_path():
            if element.path.removeprefix("file://") == CONF:
                element.path = f"filled://{CONF}"
        if folder := user_folder():
            search_path.append("user", f"filled://{folder}")


for _plugin in (FilledConfigs, FilledSearchPath):
    Plugins.instance().register(_plugin)


def user_folder() -> Path | None:
    """Return the folder of a user's own files: ``BENCH_CONF_DIR``, else ``conf`` in the current folder, if it exists.

    Raises
    ------
    ConfigError
        When ``BENCH_CONF_DIR`` is no folder.
    """
    given = os.environ.get("BENCH_CONF_DIR")
    folder = Path(given or "conf").expanduser()
    if not folder.is_dir():
        if given:
            raise ConfigError(f"BENCH_CONF_DIR: found '{given}', expected a folder with files such as tuner/mine.yaml")
        return None
    return None if folder.samefile(CONFIGS) else folder.resolve()


def path_of(name: str) -> Path | None:
    """Return the file of a name such as ``tuner/cdt``, the suite's or the user's; None if there is none.

    Raises
    ------
    ConfigError
        When both have one, and they differ.
    """
    folders = [CONFIGS, *filter(None, [user_folder()])]
    paths = [path for folder in folders if (path := folder / f"{name}.yaml").is_file()]
    if len(paths) > 1 and paths[0].read_bytes() != paths[1].read_bytes():
        raise ConfigError(f"{shown(name)}: found a file of this name in the suite, too, expected another name")
    return paths[0] if paths else None


def shown(name: str) -> str:
    """Return the file of a name as messages show it, beginning with ``conf`` or as the user has named the folder."""
    folder = user_folder()
    is_elsewhere = folder is not None and folder != Path("conf").resolve() and (folder / f"{name}.yaml").is_file()
    return f"{folder if is_elsewhere else 'conf'}/{name}.yaml"


@contextmanager
def placed(name: str) -> Iterator[None]:
    """Let errors about a file's content name the file, and the line where it says what they found."""
    try:
        yield
    except ConfigError as error:
        text, path = str(error), path_of(name)
        if path is None or ".yaml" in text:
            raise
        quoted = re.findall(r"(?:found(?: the \w+)?|unknown(?: key)?|key) '([^']+)'", text)
        key = text.partition(":")[0].rpartition(".")[2]
        lines = path.read_text(encoding="utf-8").splitlines()
        found = [re.compile(rf"(?<!\w){re.escape(word.rpartition('.')[2])}(?!\w)") for word in (*quoted, key)]
        at = next((f":{i}" for word in found for i, line in enumerate(lines, 1) if word.search(line)), "")
        raise ConfigError(f"{shown(name)}{at}: {text}") from None


@cache
def _load(folder: str, file: str) -> ConfigResult:
    name = file.removesuffix(".yaml")
    if "/" in name:
        path_of(name)  # refuses two of a name
    try:
        result = FileConfigSource("main", f"file://{folder}").load_config(file)
    except MarkedYAMLError as error:
        is_open = "<stream end>" in (error.problem or "")  # said of the last line, while the bracket opens before
        mark = error.context_mark if is_open else error.problem_mark
        line = mark.line + 1 if mark else 1
        reason = " ".join(filter(None, [error.context, error.problem]))
        raise ConfigError(f"{shown(name)}:{line}: found no valid YAML ({reason})") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{shown(name)}: cannot be read ({error}), expected keys and values in YAML") from None
    part = _part(file, result.config)
    target = dict.get(OmegaConf.to_container(part), "_target_") if part else None  # type: ignore[arg-type]
    if isinstance(target, str) and target != "???":
        part.merge_with(OmegaConf.merge({"_target_": target}, class_defaults(target), part))
        for _, value in part.items_ex(resolve=False):
            if value == {}:
                OmegaConf.set_struct(value, False)  # a mapping with keys of the user's choice
    return result


def _part(file: str, config: Any) -> Any:
    """Return the settings of a part, which stand below its name where its file chooses other parts, too."""
    group = file.partition("/")[0]
    return config.get(group, config) if group in PARTS else None


def class_defaults(target: str) -> dict[str, Any]:
    """Return the settings that a class has by itself; none where it cannot be imported, which a run then reports."""
    module, _, name = target.rpartition(".")
    try:
        return defaults(getattr(importlib.import_module(module), name))
    except Exception:  # a user's module may fail in any way while it is imported
        return {}


def read(name: str) -> DictConfig:
    """Return what a file holds, such as ``tuner/cdt``, not to be changed; of a part all the settings of its class."""
    path = path_of(name)
    if path is None:
        raise ConfigError(f"{shown(name)}: found no such file, expected one")
    config: Any = _load(str(path).removesuffix(f"/{name}.yaml"), f"{name}.yaml").config
    if name.partition("/")[0] in PARTS:
        config = _part(name, config)
    return OmegaConf.create() if config is None else config


def suite_choices(group: str) -> list[str]:
    """Return the suite's choices of a configuration group."""
    return _choices(CONFIGS / group)


def choices(group: str) -> list[str]:
    """Return the choices of a configuration group: the suite's, and the user's own."""
    folder = user_folder()
    return sorted({*suite_choices(group), *(_choices(folder / group) if folder else ())})


def _choices(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml"))


def one_of(found: str, valid: Iterable[str]) -> str:
    """Say what is expected in place of what was found, the nearest first."""
    names = list(valid)
    nearest = get_close_matches(found, names, 1)
    hint = f"did you mean '{nearest[0]}'? " if nearest else ""
    return f"{hint}expected one of: {', '.join(names) or '(none)'}"


def unknown_choice(group: str, found: str) -> ConfigError:
    """Say which choices a group has in place of one that does not exist."""
    return ConfigError(f"{group}: found '{found}', {one_of(found, choices(group))}")


def with_classes(words: Iterable[str]) -> list[str]:
    """Return a command line where a class that is given as a part, ``tuner=mod.Class``, is the choice ``custom``."""
    words = list(words)
    given = [word.partition("=") for word in words]
    parts = {part for part, _, value in given if part in PARTS and CLASS.fullmatch(value)}
    chosen: list[str] = []
    for word, (key, _, value) in zip(words, given, strict=True):
        is_setting = "." in key and key.partition(".")[0] in parts
        own = [f"{key}=custom", f"{key}._target_={value}"] if key in parts else [f"++{word}" if is_setting else word]
        chosen += own
    return chosen


def check_commas(words: Sequence[str]) -> None:
    """Refuse a blank after a comma, which the shell takes for the end of a word.

    Raises
    ------
    ConfigError
        Naming the key, and how the word is to be written.
    """
    for word, following in itertools.pairwise([*words, ""]):
        key, equals, value = word.partition("=")
        if equals and value.endswith(","):
            raise ConfigError(f"{key}: found a blank after the comma of '{word}', expected none: {word}{following}")


def check_choices(words: Iterable[str]) -> None:
    """Refuse what Hydra stumbles over: a group that is deleted, or set to something that is no name.

    Raises
    ------
    ConfigError
        Naming the group and its choices.
    """
    for word in words:
        group, equals, value = word.lstrip("~+").partition("=")
        if group not in (*GROUPS, "figure") or word.startswith("-"):
            continue
        if (
            word.startswith("~")
            or not equals
            or not re.match(r"[A-Za-z_][\w/,]*$|(choice|glob)\(", value)
            or value == "null"
        ):
            raise unknown_choice(group, value if equals else word)
