"""A command that is a plain ``@hydra.main``: all that Hydra's documentation says of one holds for it."""

from collections.abc import Callable

import hydra
from omegaconf import DictConfig

from runners.command import command
from runners.config.folders import CONF
from runners.config.groups import register


def main(name: str, action: Callable[[DictConfig], None]) -> int:
    """Do ``action`` with the configuration called ``name``, as Hydra reads the command line; return the exit code."""
    register()
    return command(hydra.main(config_path=CONF, config_name=name, version_base="1.3")(action))
