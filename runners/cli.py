"""What the command lines share: Hydra without traces, one sentence for every error a user can mend."""

import itertools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence

import hydra
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from bench.errors import BenchError, ConfigError, one_line
from runners.command import command, one_sentence, unread
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
)

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
            print("error:", one_line(one_sentence(error)), file=sys.stderr)
            results.append(False)
        except BrokenPipeError:
            sys.exit(unread())  # which Hydra does not comment on

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
