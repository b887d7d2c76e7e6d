"""What the command lines share: Hydra without traces, one sentence for every error a user can mend."""

import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from bench.errors import BenchError, ConfigError

CONF = str(Path(__file__).resolve().parents[1] / "conf")


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
        except BenchError as error:
            _say(error)
            results.append(False)

    sys.path.insert(0, os.getcwd())  # a user's own classes, also where the command is not run with -m
    os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions come to us instead of being printed with Hydra's advice
    try:
        with tempfile.TemporaryDirectory() as scratch:
            os.environ["BENCH_SCRATCH"] = scratch  # Hydra insists on writing a sweep's configuration
            hydra.main(config_path=CONF, config_name=name, version_base="1.3")(guarded)()
    except (HydraException, OmegaConfBaseException, BenchError) as error:
        _say(_one_sentence(error, name))
        return 1
    except KeyboardInterrupt:
        print("stopped; what is finished is kept, the same command goes on from there", file=sys.stderr)
        return 130
    return 0 if all(results) else 1


def explicit_keys() -> list[str]:
    """Return the dotted keys that the command line sets, without the choices of groups."""
    from runners.compose import GROUPS

    overrides = OverridesParser.create().parse_overrides(list(HydraConfig.get().overrides.task))
    return [override.key_or_group for override in overrides if override.key_or_group not in GROUPS]


def _say(error: BaseException) -> None:
    print(f"error: {error}", file=sys.stderr)


def _one_sentence(error: BaseException, name: str) -> BaseException:
    """Turn Hydra's advice into one sentence with the key, what was found, and the valid choices."""
    if isinstance(error, BenchError):
        return error
    text = str(error)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, choice = str(error.missing_cfg_file).rpartition("/")
        return ConfigError(f"{group}: found '{choice}', expected one of: {', '.join(sorted(error.options or []))}")
    if isinstance(error, OverrideParseException):
        return ConfigError(f"{error.override}: found no valid override, expected key=value")
    unknown = re.search(r"Could not override '([^'@]+)'", text)
    if unknown and any(word.split("=")[0].lstrip("+~") == unknown[1] for word in sys.argv):
        return _unknown(unknown[1], name)
    return ConfigError(re.sub(r"\s*\n\s*", "; ", text.strip()))


def _unknown(key: str, name: str) -> BaseException:
    from runners.compose import GROUPS, unknown_key

    GlobalHydra.instance().clear()
    groups = [word for word in sys.argv[1:] if word.split("=")[0] in GROUPS and "," not in word]
    with hydra.initialize_config_dir(CONF, version_base="1.3"):
        return unknown_key(hydra.compose(name, groups), key)
