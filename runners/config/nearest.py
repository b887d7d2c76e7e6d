"""Suggestions for an unknown word."""

import re
from collections.abc import Iterable

from bench.errors import either


def one_of(found: str, valid: Iterable[str]) -> str:
    """Return the expected words for an unknown one, the nearest first: equal in its last part, similar, or longer."""
    from difflib import get_close_matches  # slow to import

    names = list(valid)
    lower, word = {name.lower(): name for name in names}, found.lower()
    nearest = [name for name in lower if word and re.search(rf"[./]{re.escape(word)}$", name)]
    nearest += get_close_matches(word, lower, 1)
    nearest += [name for name in lower if len(word) > 2 and name.startswith(word)]
    hint = f"did you mean '{lower[nearest[0]]}'? " if nearest else ""
    return f"{hint}expected one of: {either(names)}"
