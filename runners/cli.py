"""What the command lines share: Hydra without traces, one sentence for every error a user can correct."""

import argparse
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from bench.errors import BenchError, ConfigError, one_line
from runners.command import command, is_of_memory, is_of_output, one_sentence, unread, unwritten, without_memory
from runners.config.folders import CONF, user_folder
from runners.config.groups import register, without_hydras_own
from runners.config.tree import GROUPS, choices, groups, path_of, read, refuse_hydra
from runners.config.words import check_words

register()


def main(name: str, action: Callable[[DictConfig], bool]) -> int:
    """Do ``action`` with the configuration called ``name`` with the command line's overrides, once or for a sweep.

    Returns the exit code, 0 when it always returned True. An error that a user can correct is one sentence on stderr;
    in a multirun it doesn't stop the others.
    """
    results: list[bool] = []

    def guarded(cfg: DictConfig) -> None:
        try:
            results.append(action(cfg))
        except (BenchError, OmegaConfBaseException) as error:
            print("error:", one_line(one_sentence(error)), file=sys.stderr)
            results.append(False)
        except BrokenPipeError:
            sys.exit(unread())  # which Hydra does not comment on
        except (OSError, MemoryError, ImportError) as error:
            if isinstance(error, OSError) and is_of_output(error):
                sys.exit(unwritten(error))
            if is_of_memory(error):
                sys.exit(without_memory(error))
            raise

    def answer() -> bool:
        args = get_args_parser().parse_args()
        _refuse(args)
        paper = next((word.partition("=")[2] for word in args.overrides if word.startswith("paper=")), "")
        check_commas(args.overrides)
        words = [for_hydra(word, paper) for word in args.overrides]
        if args.shell_completion:
            sys.argv[0] = "bandit-bench"  # what is completed
        else:
            check_words(words, _keys(name))
        _check_sweep(name, words, several=args.multirun)
        if args.help:
            _help(args.config_name or name, words)
            return True
        changed = dict(zip(args.overrides, words, strict=True))
        sys.argv[1:] = [changed.get(word, word) for word in sys.argv[1:]]
        if args.cfg == "job" and not args.resolve:
            sys.argv.append("--resolve")  # references and caps as they are run
        os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions are raised instead of being printed with Hydra's advice
        with tempfile.TemporaryDirectory() if args.multirun else nullcontext(".") as scratch:
            os.environ["BENCH_SCRATCH"] = scratch  # Hydra insists on writing a sweep's configuration
            try:
                if (config := _composed(args, words, args.config_name or name)) is not None:
                    guarded(config)
                else:
                    hydra.main(config_path=CONF, config_name=name, version_base="1.3")(guarded)()
            except HydraException:
                if name == "config" and not args.multirun:  # which says what is expected
                    from runners.config.compose import from_overrides  # slow to import

                    from_overrides(words)
                raise
        return all(results)

    return command(answer)


def _composed(args: argparse.Namespace, words: list[str], name: str) -> DictConfig | None:
    """Compose what is run; None for what only Hydra's own main does, which composes twice, a tenth of a second each."""
    asked = (args.multirun, args.cfg, args.resolve, args.package, args.info, args.shell_completion, args.hydra_help)
    if any(asked) or any(word.is_sweep_override() for word in OverridesParser.create().parse_overrides(words)):
        return None
    with hydra.initialize_config_dir(CONF, version_base="1.3"):
        config = hydra.compose(name, without_hydras_own(words, user_folder()), return_hydra_config=True)
    if config.hydra.mode is RunMode.MULTIRUN:  # by a file of a user's own
        return None
    HydraConfig.instance().set_config(config)
    with open_dict(config):
        del config["hydra"]
    return config


def _refuse(args: argparse.Namespace) -> None:
    """Refuse what of Hydra has no effect here; take over the folder of configuration files."""
    if args.config_path is not None:
        raise ConfigError(f"--config-path: found '{args.config_path}', expected --config-dir, with your own files")
    if args.experimental_rerun is not None:
        raise ConfigError(
            "--experimental-rerun: found a rerun, expected the command itself, which runs what is missing"
        )
    if args.config_dir is not None and not os.path.isdir(args.config_dir):
        raise ConfigError(
            f"--config-dir: found '{args.config_dir}', expected a folder with files such as tuner/mine.yaml"
        )
    if args.config_dir is not None:
        os.environ["BENCH_CONF_DIR"] = args.config_dir
    if args.config_name is not None and path_of(args.config_name) is None:
        raise ConfigError(f"--config-name: found '{args.config_name}', expected the name of a file in the folder conf")
    for word in args.overrides:
        key = word.lstrip("~+").partition("=")[0]
        refuse_hydra(key)


def _help(name: str, words: list[str]) -> None:
    """Print the choices of each group, and the configuration with ``words``; Hydra's own help takes seconds."""
    program = "run" if name == "config" else name
    print(f"usage: bandit-bench {program} [--multirun] [--cfg job] [group=choice ...] [key=value ...]")
    print(f"or:    python -m runners.{program} ...\n\nGroups:")
    for group in groups():
        names: dict[str, list[str]] = {}
        for choice in choices(group):
            folder, _, last = f"{group}/{choice}".rpartition("/")
            names.setdefault(folder, []).append(last)
        print("\n".join(f"{folder}: {', '.join(below)}" for folder, below in names.items()))
    with hydra.initialize_config_dir(CONF, version_base="1.3"):
        config = hydra.compose(name, words)
    OmegaConf.resolve(config)
    print(f"\nConfiguration:\n{OmegaConf.to_yaml(config)}")
    print("Hydra reads the command line: --hydra-help lists its own options.")


def for_hydra(word: str, paper: str) -> str:
    """Return a word as Hydra reads it: a figure with its paper, formats as a list, labels in quotes."""
    key, equals, text = word.partition("=")
    if key == "figure" and equals:
        return f"figure={full_name(text, paper)}"
    if key == "format" and "," in text and not text.startswith("["):
        return f"format=[{text}]"
    if key == "only" and not text.startswith(("'", '"')):
        return "only='{}'".format(text.replace("'", r"\'"))
    return word


def full_name(figure: str, paper: str) -> str:
    """Return the name of a figure with that of its paper; of one that there is not, what was given."""
    if paper and "/" in figure and "," not in figure and figure.partition("/")[0] != paper:
        raise ConfigError(f"figure: found '{figure}', expected a figure of the paper '{paper}', or no paper beside it")
    if not paper and (named := [name for name in choices("figure") if name.endswith(f"/{figure}")]):
        raise ConfigError(f"figure: found '{figure}' without a paper, expected one of: {', '.join(named)}")
    return f"{paper}/{figure}" if paper and path_of(f"figure/{paper}/{figure}") else figure


def check_commas(words: Sequence[str]) -> None:
    """Refuse a space after a comma, which the shell takes for the end of a word."""
    for word, following in itertools.pairwise([*words, ""]):
        key, equals, value = word.partition("=")
        if equals and value.endswith(","):
            raise ConfigError(f"{key}: found a space after the comma in '{word}', expected none: {word}{following}")


def _check_sweep(name: str, words: Sequence[str], *, several: bool) -> None:
    """Refuse several values of a group where only a sweep takes them."""
    for key, _, value in (word.partition("=") for word in words):
        if key in (*GROUPS, "figure") and "," in value and not several:
            beside = "runners.compare, which compares them, or " if name == "config" else ""
            raise ConfigError(f"{key}: found '{value}', expected one name; for several use {beside}--multirun")


def _keys(name: str) -> list[str]:
    """Return the keys of a configuration, groups included."""
    config = read(name)
    chosen = {group for entry in config["defaults"] if isinstance(entry, dict) for group in entry}
    return sorted({*config, *chosen & {*GROUPS, "figure"}} - {"defaults"})
