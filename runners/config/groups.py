"""The configuration files for Hydra: the suite's and a user's groups, and the settings of papers."""

import argparse
import os
from typing import Any

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from runners.config.compose import least
from runners.config.folders import CONF, results_folder
from runners.config.papers import paper_settings
from runners.config.tree import (
    CLASS,
    GROUPS,
    PARTS,
    Open,
    choices,
    groups,
    path_of,
    plain,
    read,
    read_choice,
)


class Groups(ConfigSource):
    """The configuration files of the suite and of the user.

    A part has all settings of its class. The dotted path of a class can take the place of a choice. The group
    ``papers/<part>`` has, for the name ``<paper>/<choice>``, the settings of the paper.
    """

    @staticmethod
    def scheme() -> str:
        return "groups"

    def available(self) -> bool:
        return True

    def load_config(self, config_path: str) -> ConfigResult:
        group, _, name = config_path.partition("/")
        path = path_of(config_path)
        header: dict[str, str | None] = {"package": None}
        if group == "papers":
            content: dict[str, Any] = paper_settings(*name.split("/"))
        elif group in ("paper", "figure"):
            content, header = {group: name}, {"package": "_global_"}
        elif path is None:
            content = read_choice(group, name) or {}
        else:
            content, header = read(config_path), self._get_header_dict(path.read_text(encoding="utf-8"))
            if name and group in PARTS:  # with all settings of the class
                settings = read_choice(group, name)
                content = {**content, **({group: settings} if group in content else settings or {})}
        config = OmegaConf.create(plain(content))
        _open(config, content)
        return ConfigResult(self.provider, self.full_path(), config, header)

    def is_config(self, config_path: str) -> bool:
        group, _, name = config_path.partition("/")
        if group == "papers":
            return name.count("/") > 0 and bool(paper_settings(*name.split("/")))
        if group in (*GROUPS, "figure"):
            return name in choices(group) or (group in PARTS and bool(CLASS.fullmatch(name)))
        return path_of(config_path) is not None

    def is_group(self, config_path: str) -> bool:
        return config_path in ("", *groups()) or config_path.partition("/")[0] in ("papers", "figure")

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        if not config_path:
            return groups()
        names = [] if results_filter is ObjectType.GROUP or config_path.startswith("papers") else choices(config_path)
        return [name for name in names if name != "custom"]  # an empty default


def _open(node: Any, content: Any) -> None:
    """Allow keys of the user's choice in mappings of type `Open` to be set without a plus."""
    if isinstance(content, Open):
        OmegaConf.set_struct(node, False)
    for key, value in content.items() if isinstance(content, dict) else ():
        if isinstance(value, dict):
            _open(node[key], value)


class _SearchPath(SearchPathPlugin):
    """A plugin that finds the suite's files from every configuration, including a user's own (``--config-path``)."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        folder = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        folder.add_argument("--config-dir", "-cd")
        given, _ = folder.parse_known_args()
        if given.config_dir:
            os.environ["BENCH_CONF_DIR"] = os.path.abspath(given.config_dir)
        for element in search_path.get_path():
            if element.path.removeprefix("file://") == CONF:
                element.path = f"groups://{CONF}"
                return
        search_path.append("suite", f"groups://{CONF}")


def register() -> None:
    for plugin in (Groups, _SearchPath):
        Plugins.instance().register(plugin)


OmegaConf.register_new_resolver("least", least, replace=True)
OmegaConf.register_new_resolver("results", lambda: str(results_folder()), replace=True)
