"""A command that is a plain ``@hydra.main``: all that Hydra's documentation says of one holds for it."""

import sys
from collections.abc import Callable

import hydra
from omegaconf import DictConfig

from bench.errors import ConfigError
from runners.command import command
from runners.config.folders import CONF
from runners.config.groups import register


def main(name: str, action: Callable[[DictConfig], None]) -> int:
    """Do ``action`` with the configuration called ``name``, as Hydra reads the command line; return the exit code."""
    register()
    read = hydra.main(config_path=CONF, config_name=name, version_base="1.3")(action)

    def answer() -> None:
        try:
            read()
        except AttributeError as error:
            if sys.flags.optimize and type(error.obj).__name__ == "TerminalNodeImpl":  # its parser relies on an assert
                raise ConfigError(
                    "PYTHONOPTIMIZE: found it set, or python -O, with which Hydra cannot read functions such as "
                    "range(1,3), expected neither"
                ) from None
            raise

    return command(answer)
