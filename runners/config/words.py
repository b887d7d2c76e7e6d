"""What is wrong with the words of a configuration before Hydra composes them."""

import re
from collections.abc import Sequence

from bench.errors import BenchError, ConfigError
from runners.config.nearest import no_override
from runners.config.tree import (
    CLASS,
    GROUPS,
    PARTS,
    class_defaults,
    groups,
    read,
    read_choice,
    refuse_hydra,
    unknown_choice,
    unknown_key,
)


def check_words(words: Sequence[str], keys: Sequence[str]) -> None:
    """Refuse what Hydra cannot take: an unknown key, a group that is deleted or set to something that is not a name."""
    for word in words:
        key, equals, value = word.lstrip("~+").partition("=")
        top = re.split("[.@/]", key)[0]
        if top == "hydra":
            refuse_hydra(key)
            continue
        if key in (*GROUPS, "figure"):
            is_name = re.match(r"[A-Za-z_][\w/,]*$|(choice|glob)\(", value) or (key in PARTS and CLASS.match(value))
            if word.startswith("~") or not equals or not is_name or value == "null":
                raise unknown_choice(key, value if equals else word)
        elif equals and not key:
            raise ConfigError(no_override(word))
        elif equals and top not in keys and top not in {*groups()} - {*GROUPS, "figure"}:
            try:
                of_parts = _of_parts(key, words)
            except BenchError:  # a part that does not exist, which is said of it
                of_parts = []
            raise unknown_key({}, key, [*of_parts, *keys])


def _of_parts(key: str, words: Sequence[str]) -> list[str]:
    """Return the keys by which the chosen parts have a setting of this name, such as ``env.path`` for ``path``."""
    chosen = {
        part: name for entry in read("config")["defaults"] if isinstance(entry, dict) for part, name in entry.items()
    }
    chosen |= {group: name for group, _, name in (word.partition("=") for word in words)}
    found = []
    for part in PARTS:
        name = chosen[part]
        settings = class_defaults(name) if CLASS.fullmatch(name) else read_choice(part, name) or {}
        found += [f"{part}.{key}"] * (key in settings)
    return found
