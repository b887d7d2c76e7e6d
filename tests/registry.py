"""Every class that a configuration file names; what is registered is tested."""

from pathlib import Path
from typing import Any

from hydra.utils import get_class
from omegaconf import OmegaConf

CONF = Path(__file__).resolve().parents[1] / "conf"


def names(group: str) -> list[str]:
    """Return the choices of a group that name a class of the project."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml") if path.stem not in ("custom", "none"))


def settings(group: str, name: str) -> dict[str, Any]:
    """Return the settings that the configuration file holds."""
    values: Any = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"))
    values.pop("defaults", None)
    return values.get(group, values)  # below its own name where it changes another group too


def build(group: str, name: str, **changes: Any) -> Any:
    """Build the class that the configuration names, with its settings there and ``changes``."""
    values = settings(group, name)
    return get_class(values.pop("_target_"))(**(values | changes))
