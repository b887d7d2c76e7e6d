"""What the command lines share: Hydra without traces, one sentence for every error a user can mend."""

import os
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from bench.errors import BenchError, ConfigError, one_line
from runners.config.compose import unknown_key
from runners.config.tree import (
    CONF,
    GROUPS,
    check_choices,
    check_commas,
    choices,
    path_of,
    unknown_choice,
    user_folder,
    with_classes,
)

_STOPPED = "stopped; finished work is kept, rerun to resume"
_GRACE_SECONDS = 8.0
"""How long workers may take to stop."""


def main(name: str, job: Callable[[DictConfig], bool]) -> int:
    """Run ``job`` on the configuration called ``name`` with the command line's overrides, once or for a sweep.

    Returns
    -------
    int
        The exit code: 0 when every job returned True. An error that a user can mend is one sentence on stderr; in a
        multirun it doesn't stop the other jobs.
    """
    results: list[bool] = []

    def guarded(cfg: DictConfig) -> None:
        try:
            results.append(job(cfg))
        except (BenchError, OmegaConfBaseException) as error:
            print("error:", one_line(_one_sentence(error, name)), file=sys.stderr)
            results.append(False)
        except BrokenPipeError:
            sys.exit(_unread())  # which Hydra does not comment on

    def jobs() -> bool:
        paper = next((word.partition("=")[2] for word in sys.argv if word.startswith("paper=")), "")
        check_commas(sys.argv[1:])
        sys.argv[1:] = with_classes(full_name(word, paper) for word in sys.argv[1:])
        _check_sweep(name, sys.argv[1:])
        check_choices(sys.argv[1:])
        os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions are raised instead of being printed with Hydra's advice
        with tempfile.TemporaryDirectory() as scratch:
            os.environ["BENCH_SCRATCH"] = scratch  # Hydra insists on writing a sweep's configuration
            hydra.main(config_path=CONF, config_name=name, version_base="1.3")(guarded)()
        return all(results)

    return command(name, jobs)


def command(name: str, job: Callable[[], bool]) -> int:
    """Run a command and return its exit code; ``name`` is the configuration whose keys an error may have to list.

    An error that a user can mend is one sentence on stderr; so are Ctrl-C, SIGTERM and a closed output pipe.
    """
    sys.path.insert(0, os.getcwd())  # a user's own classes, also where the command is not run with -m
    stop = _Stop()
    try:
        user_folder()
        good = job()
        sys.stdout.flush()
    except BaseException as error:
        if stop.asked or isinstance(error, KeyboardInterrupt):  # in compiled code it may have become another error
            stop.say()
            return 130
        if isinstance(error, BrokenPipeError):
            return _unread()
        if not isinstance(error, HydraException | OmegaConfBaseException | BenchError):
            raise
        print("error:", one_line(_one_sentence(error, name)), file=sys.stderr)
        return 1
    finally:
        stop.end()
    return 0 if good else 1


class _Stop:
    """Ctrl-C and a batch system's SIGTERM: what is finished is kept, and workers are stopped.

    The first raises KeyboardInterrupt. Where that is lost (an exception in a destructor, a callback or compiled code)
    or takes too long, and at the second, the process ends at once: its workers end with it. From then on nothing but
    the sentence is printed to stderr: compiled code whose import was interrupted prints a traceback of its own.
    """

    def __init__(self) -> None:
        self.asked = False
        self._stderr = 2
        self._hook = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        self._before = {number: signal.signal(number, self._interrupt) for number in (signal.SIGINT, signal.SIGTERM)}

    def end(self) -> None:
        """Undo it; a process that was stopped is not to be stopped again while it ends."""
        sys.unraisablehook = self._hook
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_IGN if self.asked else before)

    def _interrupt(self, *_: Any) -> None:
        if self.asked:
            self._leave()
        self.asked = True
        self._stderr = os.dup(2)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 2)
        os.close(silence)
        timer = threading.Timer(_GRACE_SECONDS, self._leave)
        timer.daemon = True
        timer.start()
        raise KeyboardInterrupt

    def _unraisable(self, unraisable: Any) -> None:
        if self.asked:
            self._leave()
        self._hook(unraisable)

    def say(self) -> None:
        """Say that the command was stopped."""
        show_cursor = "\x1b[?25h" if os.isatty(self._stderr) else ""
        os.write(self._stderr, f"{show_cursor}{_STOPPED}\n".encode())

    def _leave(self) -> None:
        """End this process at once."""
        self.say()
        os._exit(130)


def _unread() -> int:
    """Report that the reader of the output, such as ``head``, has closed it; return the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
    print("stopped: output pipe closed; finished work is kept, rerun to resume", file=sys.stderr)
    return 141


def explicit_keys() -> list[str]:
    """Return the dotted keys that the command line sets, without the choices of groups."""
    overrides = OverridesParser.create().parse_overrides(list(HydraConfig.get().overrides.task))
    return [override.key_or_group for override in overrides if override.key_or_group not in GROUPS]


def full_name(word: str, paper: str) -> str:
    """Return ``figure=<figure>`` with the paper's name, and formats as a list; other words as they are."""
    key, _, name = word.partition("=")
    if key == "format" and "," in name and not name.startswith("["):
        return f"format=[{name}]"
    if key == "figure" and paper and "/" in name and "," not in name and name.partition("/")[0] != paper:
        raise ConfigError(f"figure: found '{name}', expected a figure of the paper '{paper}', or no paper beside it")
    papers = [one for one in choices("figure") if key == "figure" and not paper and one.endswith(f"/{name}")]
    if papers:
        raise ConfigError(f"figure: found '{name}' without a paper, expected one of: {', '.join(papers)}")
    is_short = key == "figure" and paper and path_of(f"figure/{paper}/{name}")
    return f"figure={paper}/{name}" if is_short else word


def _check_sweep(name: str, words: list[str]) -> None:
    """Refuse several values of a group where only a sweep takes them."""
    if {"-m", "--multirun"} & set(words):
        return
    for key, _, value in (word.partition("=") for word in words):
        if key in (*GROUPS, "figure") and "," in value:
            beside = "runners.compare, which compares them, or " if name == "config" else ""
            raise ConfigError(f"{key}: found '{value}', expected one name; for several use {beside}--multirun")


def _one_sentence(error: BaseException, name: str) -> BaseException:
    """Turn Hydra's advice into one sentence with the key, what was found, and the valid choices."""
    if isinstance(error, BenchError):
        return error
    text = str(error)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, choice = str(error.missing_cfg_file).partition("/")
        return unknown_choice(group, choice)
    if isinstance(error, OverrideParseException):
        return ConfigError(f"{error.override}: found no valid override, expected key=value")
    unknown = re.search(r"Could not override '([^'@]+)'", text)
    if unknown and any(word.split("=")[0].lstrip("+~") == unknown[1] for word in sys.argv):
        return _unknown(unknown[1], name)
    return ConfigError(text)


def _unknown(key: str, name: str) -> BaseException:
    GlobalHydra.instance().clear()
    groups = [word.partition(",")[0] for word in sys.argv[1:] if word.split("=")[0] in GROUPS]
    with hydra.initialize_config_dir(CONF, version_base="1.3"):
        cfg = hydra.compose(name, groups)
        return unknown_key(cfg, key, [*{*map(str, cfg), "paper", *(["figure"] if name == "reproduce" else [])}])
