"""A command that is a plain ``@hydra.main``: all that Hydra's documentation says of one holds for it."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.errors import ConfigError
from runners.command import command
from runners.config.folders import CONF, CONFIGS
from runners.config.tree import PARTS, choices, groups

if TYPE_CHECKING:  # slow to import
    from omegaconf import DictConfig


def main(
    name: str,
    action: Callable[["DictConfig"], None],
    doc: str | None,
    *,
    plainly: Callable[[list[str]], bool] = lambda _: False,
) -> int:
    """Do ``action`` with the configuration called ``name``, as Hydra reads the command line; return the exit code.

    ``--help`` alone prints ``doc``, groups and keys without Hydra, which takes three times as long to list them.
    ``plainly`` does what it can do without Hydra, and returns whether it could.
    """
    words = sys.argv[1:]
    if words in (["--help"], ["-h"]):
        return command(lambda: print(_help(name, doc)))
    return command(lambda: None if plainly(words) else _asked_of_hydra(name, action))


def _asked_of_hydra(name: str, action: Callable[["DictConfig"], None]) -> None:
    import hydra

    from runners.config.groups import register

    register()
    try:
        hydra.main(config_path=CONF, config_name=name, version_base="1.3")(action)()
    except AttributeError as error:
        if sys.flags.optimize and type(error.obj).__name__ == "TerminalNodeImpl":  # its parser relies on an assert
            raise ConfigError(
                "PYTHONOPTIMIZE: found it set, or python -O, with which Hydra cannot read functions such as "
                "range(1,3), expected neither"
            ) from None
        raise


def _help(name: str, doc: str | None) -> str:
    others = (*PARTS,) if name == "reproduce" else ("figure",)
    names = {group: [choice for choice in choices(group) if choice != "custom"] for group in groups()}
    listed = [f"{group}: {', '.join(of)}" for group, of in names.items() if group not in others]
    _, _, keys = (CONFIGS / f"{name}.yaml").read_text(encoding="utf-8").partition("\n\n")
    return f"""{doc}
usage: [group=choice ...] [key=value ...], and what Hydra takes (--hydra-help): --cfg job, --info, --multirun ...
The settings of a choice: bandit-bench list tuner cdt

Groups:
{chr(10).join(listed)}

Configuration:
{keys}"""
