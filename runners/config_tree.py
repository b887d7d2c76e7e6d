"""The configuration files: where they are, which groups there are, what can be chosen, and what a choice holds."""

import copy
import importlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf

from bench.component import defaults
from bench.errors import ConfigError

PARTS = ("env", "algorithm", "tuner", "task")
GROUPS = (*PARTS, "paper", "scale", "runner")

_PACKAGE = Path(__file__).resolve().parent
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
        result = _load(self._normalize_file_name(config_path))
        return ConfigResult(self.provider, f"filled://{self.path}", copy.deepcopy(result.config), dict(result.header))


class FilledSearchPath(SearchPathPlugin):
    """Lets Hydra read the project's own configuration files as `FilledConfigs`."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        for element in search_path.get_path():
            if element.path.removeprefix("file://") == CONF:
                element.path = f"filled://{CONF}"


for _plugin in (FilledConfigs, FilledSearchPath):
    Plugins.instance().register(_plugin)


@cache
def _load(file: str) -> ConfigResult:
    result = FileConfigSource("main", f"file://{CONF}").load_config(file)
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
    config: Any = _load(f"{name}.yaml").config
    if name.partition("/")[0] in PARTS:
        config = _part(name, config)
    return OmegaConf.create() if config is None else config


def choices(group: str) -> list[str]:
    """Return the choices of a configuration group."""
    folder = CONFIGS / group
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml"))


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
            raise ConfigError(
                f"{group}: found '{value if equals else word}', expected one of: {', '.join(choices(group))}"
            )
