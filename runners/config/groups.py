"""The configuration files as Hydra sees them: groups with choices, under the names of the command line."""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from runners.config.identity import plain
from runners.config.tree import CLASS, CONF, GROUPS, PARTS, choices, path_of, read, read_choice

_NESTED = (*GROUPS, "figure")


class Groups(ConfigSource):
    """The suite's and the user's files; parts take any key: which there are is checked where a run is composed."""

    @staticmethod
    def scheme() -> str:
        return "groups"

    def available(self) -> bool:
        return True

    def load_config(self, config_path: str) -> ConfigResult:
        group, _, name = config_path.partition("/")
        if name and group not in ("figure", "paper"):
            choice = read_choice(group, name)
            defaults = [{f"override /{other}": chosen} for other, chosen in choice.chooses.items()]
            config = OmegaConf.create({"defaults": defaults, group: plain(choice.settings)})
            if choice.settings is not None and group in (*PARTS, "runner"):
                OmegaConf.set_struct(config[group], False)
            return ConfigResult(self.provider, self.full_path(), config, {"package": "_global_"})
        return ConfigResult(self.provider, self.full_path(), OmegaConf.create(read(config_path)), {"package": None})

    def is_config(self, config_path: str) -> bool:
        group, _, name = config_path.partition("/")
        if not name:
            return group not in GROUPS and path_of(group) is not None
        return group in _NESTED and (name in choices(group) or (group in PARTS and bool(CLASS.fullmatch(name))))

    def is_group(self, config_path: str) -> bool:
        return config_path.partition("/")[0] in ("", *_NESTED)

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        if not config_path:
            return sorted(_NESTED)
        return [] if results_filter is ObjectType.GROUP else choices(config_path)


class _SearchPath(SearchPathPlugin):
    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        for element in search_path.get_path():
            if element.path.removeprefix("file://") == CONF:
                element.path = f"groups://{CONF}"


def register() -> None:
    """Let Hydra read configurations from here."""
    for plugin in (Groups, _SearchPath):
        Plugins.instance().register(plugin)
