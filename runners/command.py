"""Commands with and without Hydra: exit codes, and one sentence for each error that the user can correct."""

import atexit
import gc
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.errors import BenchError, ConfigError, message, one_line
from runners.config.folders import CONF, CONFIGS
from runners.config.tree import PARTS, choices, groups, unknown_key

if TYPE_CHECKING:  # slow to import
    from omegaconf import DictConfig

PLAIN = r"(?!(?:true|false|null|inf|nan|y|yes|n|no|on|off)$)[a-z_][\w.]*|0|[1-9][0-9]*"
"""A value that Hydra, YAML and a reader understand as the same word or number."""
_LONGEST = 4_000
"""Largest number of characters of a sentence; the choices of the largest group take 3,000."""


def command(action: Callable[[], bool | None]) -> int:
    """Run a command and return its exit code, which is 1 if ``action`` returns False or raises a user's error."""
    os.environ["MPLBACKEND"] = "agg"  # no command opens a window
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises its errors; this prints them
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a batch system's SIGTERM acts as Ctrl-C
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(20_000)  # there are few reference cycles, and imports create many objects
    atexit.register(gc.freeze)  # a final collection takes as long as a short run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a label may have letters that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.path.insert(0, os.getcwd())  # for a user's own classes, even if the command is not run with -m
        good = action() is not False
        sys.stdout.flush()
        return 0 if good else 1
    except (KeyboardInterrupt, RuntimeError) as error:
        if not isinstance(error.__cause__ or error, KeyboardInterrupt):  # wrapped by Python 3.11 while it makes a class
            raise
        print("stopped; finished work is kept, rerun to resume", file=sys.stderr)
        return 130
    except _correctable() as error:
        if isinstance(error, BrokenPipeError):  # the reader has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 141
        print("error:", sentence(error), file=sys.stderr)
        return 1


def _correctable() -> tuple[type[Exception], ...]:
    if "hydra" not in sys.modules:
        return BenchError, OSError
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    return BenchError, OSError, HydraException, OmegaConfBaseException


def sentence(error: BaseException) -> str:
    """Return an error's message as one line of limited length, with the valid keys if one is unknown."""
    text = message(error).partition("Config search path:")[0].strip()
    if isinstance(error, OSError) and error.strerror:  # Hydra's error about a missing choice has none
        text = f"{error.filename or 'files'}: {error.strerror}, expected a place that can be read and written"
    texts = [one_line(BenchError(re.sub(r"(?<=[.:,;])\s*\n\s*", " ", text)))]
    if "hydra" in sys.modules:
        texts = _with_cures(error, texts)
    return cut("; ".join(texts))


def _with_cures(error: BaseException, texts: list[str]) -> list[str]:
    """Return the sentences of an error, with the expected value if the error was raised by Hydra."""
    from hydra.errors import MissingConfigException, OverrideParseException
    from omegaconf import DictConfig
    from omegaconf.errors import OmegaConfBaseException

    if isinstance(error, MissingConfigException) and str(error.missing_cfg_file).partition("/")[0] in PARTS:
        texts.append("or your own class as my_module.MyClass")
    if isinstance(error, OverrideParseException):
        key, equals, value = str(error.override).partition("=")
        if not equals:
            return [f"{error.override}: found no value, expected key=value"]
        cure = "['a (1)',b]" if value.startswith("[") else "'" + value.replace("'", r"\'") + "'"
        texts = [
            f"{error.override}: {message(error).partition(chr(10))[0]}",
            f'write a value with other characters in quotes inside of quotes: "{key}={cure}"',
        ]
    cause = error.__cause__ or error
    if isinstance(cause, OmegaConfBaseException):
        texts += [message(cause).partition("\n")[0]] * (cause is not error)
        if isinstance(cause.parent_node, DictConfig) and cause.key not in cause.parent_node:
            texts.append(f"expected one of: {', '.join(map(str, cause.parent_node))}")
    return texts


def cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ... ({len(text):,} characters)"


def hydra_command(
    name: str,
    action: Callable[["DictConfig"], None],
    doc: str | None,
    *,
    plainly: Callable[[list[str]], bool] = lambda _: False,
) -> int:
    """Run ``action`` on the configuration ``name`` that Hydra composes with the command line; return the exit code.

    ``--help`` alone prints ``doc``, the groups and the keys without Hydra, which would take three times as long.
    ``plainly`` handles arguments that do not need Hydra, and returns whether it has handled them.
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
                "PYTHONOPTIMIZE: found it set, or python -O in use, expected neither: Hydra then cannot read "
                "functions such as range(1,3)"
            ) from None
        raise


def _help(name: str, doc: str | None) -> str:
    others = (*PARTS,) if name == "reproduce" else ("figure",)
    names = {group: [choice for choice in choices(group) if choice != "custom"] for group in groups()}
    listed = [f"{group}: {', '.join(of)}" for group, of in names.items() if group not in others]
    _, _, keys = (CONFIGS / f"{name}.yaml").read_text(encoding="utf-8").partition("\n\n")
    return f"""{doc}
usage: [group=choice ...] [key=value ...], and Hydra's own options (--hydra-help): --cfg job, --info, --multirun ...
The settings of a choice: bandit-bench list tuner cdt

Groups:
{chr(10).join(listed)}

Configuration:
{keys}"""


def plain_command(doc: str | None, action: Callable[[list[str]], bool]) -> int:
    """Run a command whose arguments are not read by Hydra, or print its help, and return its exit code."""
    words = sys.argv[1:]
    return command(lambda: print(doc) if {"-h", "--help"} & {*words} else action(words))


def read_words(words: Sequence[str], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a command's keys, converted to the types of the defaults: text, whole number, or boolean.

    Raises ConfigError for any other argument.
    """
    given = dict(defaults)
    for word in words:
        key, _, text = word.partition("=")
        if key not in defaults:
            raise unknown_key(key, defaults)
        if isinstance(defaults[key], bool):
            if text.lower() not in ("true", "false"):
                raise ConfigError(f"{key}: found '{text}', expected true or false")
            given[key] = text.lower() == "true"
        elif isinstance(defaults[key], int):
            if not text.isdecimal():
                raise ConfigError(f"{key}: found '{text}', expected a whole number")
            given[key] = int(text)
        else:
            given[key] = text
    return given


def instead_of_figures(shard: str | None, *, dry_run: bool) -> Any:
    """Return the action to take instead of making figures, or None if figures are made.

    With ``shard``, such as ``3/40``, the action runs a share of the repetitions; with ``dry_run`` it counts the missing
    repetitions.
    """
    if not shard and not dry_run:
        return None
    from runners.execute.missing import share, tell  # slow to import

    if shard and dry_run:
        raise ConfigError("dry_run: found true beside a shard, expected one of them")
    return share(str(shard)) if shard else tell
