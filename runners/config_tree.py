"""The configuration files: where they are, which groups there are, and what can be chosen."""

import re
from collections.abc import Iterable
from pathlib import Path

from bench.errors import ConfigError

GROUPS = ("env", "algorithm", "tuner", "task", "paper", "scale", "runner")
FREE = ("tuner.configuration", "task.probe")
"""Settings that are mappings with keys of the user's choice."""

_PACKAGE = Path(__file__).resolve().parent
CHECKOUT = None if (_PACKAGE / "conf").is_dir() else _PACKAGE.parent
"""The project's own folder; None where it is installed from a wheel, which carries the files in ``runners/conf``."""

CONFIGS = (CHECKOUT or _PACKAGE) / "conf"
CONF = str(CONFIGS)


def choices(group: str) -> list[str]:
    """Return the choices of a configuration group."""
    folder = CONFIGS / group
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml"))


def check_choices(words: Iterable[str]) -> None:
    """Refuse what Hydra stumbles over: a group that is deleted, or set to something that is no name.

    Raises
    ------
    ConfigError
        Naming the group and its choices.
    """
    for word in words:
        group, equals, value = word.lstrip("~+").partition("=")
        if group not in (*GROUPS, "figure") or word.startswith("-"):
            continue
        if (
            word.startswith("~")
            or not equals
            or not re.match(r"[A-Za-z_][\w/,]*$|(choice|glob)\(", value)
            or value == "null"
        ):
            raise ConfigError(
                f"{group}: found '{value if equals else word}', expected one of: {', '.join(choices(group))}"
            )
