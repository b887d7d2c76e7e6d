"""What the command lines share: Hydra without traces, one sentence for every error a user can mend."""

import itertools
import os
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import hydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from bench.errors import BenchError, ConfigError, one_line
from runners.config.groups import register
from runners.config.tree import (
    CLASS,
    CONF,
    GROUPS,
    PARTS,
    choices,
    path_of,
    read_suite,
    unknown_choice,
    unknown_key,
    user_folder,
)

_STOPPED = "stopped; finished work is kept, rerun to resume"
_GRACE_SECONDS = 8.0
"""How long workers may take to stop."""

register()


def main(name: str, job: Callable[[DictConfig], bool]) -> int:
    """Run ``job`` on the configuration called ``name`` with the command line's overrides, once or for a sweep.

    Returns the exit code, 0 when every job returned True. An error that a user can mend is one sentence on stderr; in a
    multirun it doesn't stop the other jobs.
    """
    results: list[bool] = []

    def guarded(cfg: DictConfig) -> None:
        try:
            results.append(job(cfg))
        except (BenchError, OmegaConfBaseException) as error:
            print("error:", one_line(_one_sentence(error)), file=sys.stderr)
            results.append(False)
        except BrokenPipeError:
            sys.exit(_unread())  # which Hydra does not comment on

    def jobs() -> bool:
        paper = next((word.partition("=")[2] for word in sys.argv if word.startswith("paper=")), "")
        check_commas(sys.argv[1:])
        sys.argv[1:] = [full_name(word, paper) for word in sys.argv[1:]]
        check_words(sys.argv[1:], _keys(name))
        _check_sweep(name, sys.argv[1:])
        if {"-h", "--help"} & set(sys.argv):
            _help(name, [word for word in sys.argv[1:] if not word.startswith("-")])
            return True
        os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions are raised instead of being printed with Hydra's advice
        with tempfile.TemporaryDirectory() as scratch:
            os.environ["BENCH_SCRATCH"] = scratch  # Hydra insists on writing a sweep's configuration
            hydra.main(config_path=CONF, config_name=name, version_base="1.3")(guarded)()
        return all(results)

    return command(jobs)


def _help(name: str, words: list[str]) -> None:
    """Print the choices of each group, and the configuration with ``words``; Hydra's own help takes seconds."""
    program = "run" if name == "config" else name
    print(f"usage: bandit-bench {program} [--multirun] [--cfg job] [group=choice ...] [key=value ...]")
    print(f"or:    python -m runners.{program} ...\n\nGroups:")
    for group in (*GROUPS, "figure"):
        names: dict[str, list[str]] = {}
        for choice in choices(group):
            folder, _, last = f"{group}/{choice}".rpartition("/")
            names.setdefault(folder, []).append(last)
        print("\n".join(f"{folder}: {', '.join(below)}" for folder, below in names.items()))
    with hydra.initialize_config_dir(CONF, version_base="1.3"):
        print(f"\nConfiguration:\n{OmegaConf.to_yaml(hydra.compose(name, words))}")
    print("--hydra-help shows what Hydra, which reads the command line, can do besides.")


def command(job: Callable[[], bool]) -> int:
    """Run a command; return its exit code. What a user can mend, Ctrl-C and a closed pipe are a sentence on stderr."""
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
        print("error:", one_line(_one_sentence(error)), file=sys.stderr)
        return 1
    finally:
        stop.end()
    return 0 if good else 1


def plain_command(doc: str | None, job: Callable[[list[str]], bool]) -> int:
    """Run a command that Hydra does not read the words of, or print its help; return its exit code."""

    def run() -> bool:
        words = sys.argv[1:]
        if {"-h", "--help"} & set(words):
            print(doc)
            return True
        return job(words)

    return command(run)


def read_words(words: Sequence[str], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a command's keys, each of the type of its default: a word, a whole number, true or false.

    Raises ConfigError when a word is not one of them.
    """
    given = dict(defaults)
    for word in words:
        key, _, text = word.partition("=")
        if key not in defaults:
            raise unknown_key({}, key, list(defaults))
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


class _Stop:
    """Ctrl-C and a batch system's SIGTERM: what is finished is kept, and workers are stopped.

    The first raises KeyboardInterrupt. Where that is lost (an exception in a destructor, a callback or compiled code)
    or takes too long, and at the second, the process ends at once: its workers end with it. From then on nothing but
    the sentence is printed to stderr: compiled code whose import was interrupted prints a traceback of its own.
    """

    def __init__(self) -> None:
        self.asked = False
        self._is_said = False
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
        """Say, once, that the command was stopped."""
        if self._is_said:  # the time for its end may be over while it ends
            return
        self._is_said = True
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


def full_name(word: str, paper: str) -> str:
    """Return ``figure=<figure>`` with the paper's name, and formats as a list; other words as they are."""
    key, _, name = word.partition("=")
    if key == "format" and "," in name and not name.startswith("["):
        return f"format=[{name}]"
    if key != "figure":
        return word
    if paper and "/" in name and "," not in name and name.partition("/")[0] != paper:
        raise ConfigError(f"figure: found '{name}', expected a figure of the paper '{paper}', or no paper beside it")
    if not paper and (figures := [figure for figure in choices("figure") if figure.endswith(f"/{name}")]):
        raise ConfigError(f"figure: found '{name}' without a paper, expected one of: {', '.join(figures)}")
    return f"figure={paper}/{name}" if paper and path_of(f"figure/{paper}/{name}") else word


def _one_sentence(error: BaseException) -> BaseException:
    """Turn Hydra's advice into one sentence with the key, what was found, and the valid choices."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, choice = str(error.missing_cfg_file).partition("/")
        return unknown_choice(group, choice)
    if isinstance(error, OverrideParseException):
        return ConfigError(f"{error.override}: found no valid override, expected key=value")
    if unknown := re.search(r"Could not override '([^'@]+)'", str(error)):
        return ConfigError(f"{unknown[1]}: found an unknown key, expected one that --help shows")
    return error


def check_commas(words: Sequence[str]) -> None:
    """Refuse a blank after a comma, which the shell takes for the end of a word."""
    for word, following in itertools.pairwise([*words, ""]):
        key, equals, value = word.partition("=")
        if equals and value.endswith(","):
            raise ConfigError(f"{key}: found a blank after the comma of '{word}', expected none: {word}{following}")


def check_words(words: Sequence[str], keys: Sequence[str]) -> None:
    """Refuse what Hydra stumbles over: an unknown key, a group that is deleted or set to something that is no name."""
    for word in words:
        key, equals, value = word.lstrip("~+").partition("=")
        if word.startswith("-") or re.split("[.@/]", key)[0] == "hydra":
            continue
        if key in (*GROUPS, "figure"):
            is_name = re.match(r"[A-Za-z_][\w/,]*$|(choice|glob)\(", value) or (key in PARTS and CLASS.match(value))
            if word.startswith("~") or not equals or not is_name or value == "null":
                raise unknown_choice(key, value if equals else word)
        elif equals and re.split("[.@]", key)[0] not in keys:
            raise unknown_key({}, key, keys)


def _check_sweep(name: str, words: list[str]) -> None:
    """Refuse several values of a group where only a sweep takes them."""
    for key, _, value in (word.partition("=") for word in words):
        if key in (*GROUPS, "figure") and "," in value and not {"-m", "--multirun"} & set(words):
            beside = "runners.compare, which compares them, or " if name == "config" else ""
            raise ConfigError(f"{key}: found '{value}', expected one name; for several use {beside}--multirun")


def _keys(name: str) -> list[str]:
    """Return the keys of a configuration, groups included."""
    config = read_suite(name)
    groups = {group for entry in config["defaults"] if isinstance(entry, dict) for group in entry}
    return sorted({*config, *groups} - {"defaults"})
