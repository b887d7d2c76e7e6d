"""Folders of configuration files, and folders that environment variables name."""

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bench.errors import ConfigError

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

_PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = None if (_PACKAGE / "conf").is_dir() else _PACKAGE.parent
"""The project's own folder; None in an installed wheel, which carries the files in ``runners/conf``."""

COMMITTED = CHECKOUT / "results" if CHECKOUT else _PACKAGE / "committed"
"""The committed results; a wheel has only the results of the tournament with which a user's tuners are compared."""

CONFIGS = (CHECKOUT or _PACKAGE) / "conf"
CONF = str(CONFIGS)

T = TypeVar("T")
_remembered: "list[_lru_cache_wrapper[Any]]" = []


def named_folder(variable: str) -> Path | None:
    """Return the folder that an environment variable names, or None if the variable is not set."""
    given = os.environ.get(variable)
    return Path(os.path.expanduser(given)) if given else None


def user_folder() -> Path | None:
    """Return the folder of a user's own files: ``BENCH_CONF_DIR``, or ``conf`` in the current folder, or None."""
    return _user_folder(os.environ.get("BENCH_CONF_DIR", ""), os.getcwd())


@cache
def _user_folder(_given: str, _current: str) -> Path | None:
    named = named_folder("BENCH_CONF_DIR")
    folder = named or Path("conf")
    if not folder.is_dir():
        if not named:
            return None
        raise ConfigError(f"BENCH_CONF_DIR: found '{named}', expected a folder with files such as tuner/mine.yaml")
    return None if folder.samefile(CONFIGS) else folder.resolve()


def remembered(results: "_lru_cache_wrapper[T]") -> "_lru_cache_wrapper[T]":
    """Mark a cache derived from configuration files, which `look_again` empties."""
    _remembered.append(results)
    return results


def look_again() -> None:
    """Empty the caches, because a configuration file may have changed, as between two cells of a notebook."""
    _user_folder.cache_clear()
    for results in _remembered:
        results.cache_clear()


def results_folder() -> Path:
    """Return ``BENCH_RESULTS_DIR`` if set, else ``results`` in the current folder, or in the checkout around it."""
    if given := named_folder("BENCH_RESULTS_DIR"):
        return given
    here = Path.cwd()
    return (CHECKOUT if CHECKOUT and here.is_relative_to(CHECKOUT) else here) / "results"
