"""Every class that a configuration file names; every registered class is tested."""

from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

from hydra.utils import get_class

from runners.config.figures import load_figure
from runners.config.folders import CONFIGS
from runners.config.tree import read_choice, suite_choices

if TYPE_CHECKING:
    from bench.report.figure import Figure

CONF = CONFIGS


def names(group: str) -> list[str]:
    """Return the choices of a group that name a class of the project."""
    return [name for name in suite_choices(group) if name not in ("custom", "none")]


def settings(group: str, name: str) -> dict[str, Any]:
    """Return the settings of a choice, from its file if it states them, else the defaults of its class."""
    return deepcopy(read_choice(group, name) or {})


def build(group: str, name: str, **changes: Any) -> Any:
    """Build the class that a choice names, with the settings of the choice and ``changes``."""
    values = settings(group, name)
    return get_class(values.pop("_target_"))(**(values | changes))


@cache
def figure(name: str) -> "Figure":
    """Return the configuration of a figure, which is cached and must not be changed."""
    return load_figure(name)
