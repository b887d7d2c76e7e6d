"""Suggestions for an unknown word."""

import re
from collections.abc import Iterable
from pathlib import Path

_OF_DATA = (".csv", ".gz", ".json", ".parquet", ".pkl", ".tsv", ".txt", ".xlsx")


def one_of(found: str, valid: Iterable[str]) -> str:
    """Return the expected words for an unknown one, the nearest first: equal in its last part, similar, or longer."""
    from difflib import get_close_matches  # slow to import

    names = list(valid)
    lower, word = {name.lower(): name for name in names}, found.lower()
    nearest = [name for name in lower if word and re.search(rf"[./]{re.escape(word)}$", name)]
    nearest += get_close_matches(word, lower, 1)
    nearest += [name for name in lower if len(word) > 2 and name.startswith(word)]
    hint = f"did you mean '{lower[nearest[0]]}'? " if nearest else ""
    return f"{hint}expected one of: {', '.join(names) or '(none)'}"


def no_override(word: str) -> str:
    key, _, value = word.partition("=")
    lists = f": {key}=[1,2] for a list, {key}={{a:1}} for values with keys" if value[:1] in {"(", "[", "{"} else ""
    return f"{word}: found no valid override, expected key=value{lists}"


def classes_here(name: str) -> list[str]:
    """Return the dotted paths of the classes of this name in the files of the current folder, or of those in this file.

    A file is named with or without its ending.
    """
    name = name.removesuffix(".py")
    if not name.isidentifier():
        return []
    line = re.compile(r"^class (\w+)", re.MULTILINE)
    found = [(path.stem, own) for path in sorted(Path().glob("*.py")) for own in line.findall(_text(path))]
    return [f"{module}.{own}" for module, own in found if name in (own, module)]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def file_of_data(name: str, key: str = "env") -> str:
    """Return how to use a file of data, found at a key, as an environment; "" if the name is not one."""
    if not name.lower().endswith(_OF_DATA) and not ("/" in name and Path(name).is_file()):
        return ""
    return (
        f"{key}: found the file '{name}', expected env=classification env.path={name} env.target=<column of the class> "
        f"for labelled data, or env=log env.path={name} for a log"
    )
