"""Packages that only some methods need: extras of the same names, all of them in the extra ``papers``."""

import importlib.metadata
from collections.abc import Mapping
from functools import lru_cache

from bench.errors import ConfigError

DISTRIBUTION = "bandit-tuning-bench"
OPTIONAL = ("obp", "optuna", "scikit-learn", "scikit-optimize", "torch")


@lru_cache(maxsize=256)
def version(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def require(*runs: Mapping[str, type]) -> None:
    """Refuse classes, of each run by part, that name a package in ``requires`` that is not installed.

    Raises ConfigError, one sentence for all runs, with the command that installs what they lack.
    """
    lacking = {
        (part, cls.__name__, name)
        for classes in runs
        for part, cls in classes.items()
        for name in getattr(cls, "requires", ())
        if version(name) is None
    }
    if lacking:
        parts, classes, names = (sorted(set(column)) for column in zip(*lacking, strict=True))
        raise ConfigError(
            f"{', '.join(parts)}: {', '.join(classes)} need{'s' * (len(classes) == 1)} {', '.join(names)}, which "
            f"{'are' if len(names) > 1 else 'is'} not installed: pip install '{DISTRIBUTION}[{','.join(names)}]'"
        )
