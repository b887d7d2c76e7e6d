"""``SHA256SUMS``: one line for each file that git keeps in a folder of results, in the format of ``sha256sum -c``.

The paths in ``SHA256SUMS`` begin with the folder's name, so the file is checked from the parent folder; for the suite's
results this is the root of the checkout. A program that writes result files records their digests; all other lines are
kept, so that damage stays visible.
"""

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from bench.digest import digest
from runners.results.store import write_text

FILE = "SHA256SUMS"
_NOT_KEPT = (".*", "*.tmp", "*.html", "*.pdf", "*.tex", "thumbnail.svg", "headline.svg", FILE)
"""Names of files and folders that git ignores, as in ``.gitignore``; `is_kept` decides on folders."""


def is_kept(name: str) -> bool:
    """Whether git keeps the file or folder ``name`` below the results: reference results, tables and overviews."""
    parts = name.split("/")
    if parts[0] in ("raw", "compare") or any(fnmatchcase(part, kind) for part in parts for kind in _NOT_KEPT):
        return False
    return len(parts) < 4 or parts[2].startswith("paper")


def note(root: Path, places: Iterable[Path]) -> None:
    """Record the digests of the present files at or below ``places``, and remove the entries of absent files."""
    kept = [place for place in places if place == root or is_kept(f"{place.relative_to(root).as_posix()}/file")]
    if not kept:
        return
    noted = read(root)
    for place in kept if (root / FILE).is_file() else [root]:  # without the file, all files are recorded
        noted = {name: of for name, of in noted.items() if not _is_below(name, [place.relative_to(root).as_posix()])}
        noted |= {name: digest((root / name).read_bytes()) for name in _found(root, place)}
    text = "".join(f"{of}  {root.name}/{name}\n" for name, of in sorted(noted.items()))
    path = root / FILE
    if noted and not (path.is_file() and path.read_text(encoding="utf-8") == text):
        write_text(path, text)


def read(root: Path) -> dict[str, str]:
    """Return the recorded digests by path below the results; empty if no digests are recorded."""
    path = root / FILE
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    pairs = [line.split("  ", 1) for line in lines if "  " in line]
    return {name.partition("/")[2]: of for of, name in pairs}


def damage(root: Path, places: Collection[str] = (".",)) -> dict[str, str]:
    """Return a sentence, by path, for each file below some folders that is missing, altered or not recorded."""
    if not (root / FILE).is_file():
        return {FILE: f"{root / FILE}: found no such file, expected the digests of all results"}
    noted = {name: of for name, of in read(root).items() if _is_below(name, places)}
    found = {name for place in places for name in _found(root, root / place)}
    problems = {}
    for name in sorted(noted.keys() | found):
        if name not in found:
            problems[name] = f"{root / name}: found no such file, expected the one that {FILE} lists"
        elif name not in noted:
            problems[name] = f"{root / name}: found a file that {FILE} does not list"
        elif digest((root / name).read_bytes()) != noted[name]:
            problems[name] = f"{root / name}: found content that differs from its digest in {FILE}"
    return problems


def _is_below(name: str, places: Collection[str]) -> bool:
    return any(place == "." or name == place or name.startswith(f"{place}/") for place in places)


def _found(root: Path, place: Path) -> list[str]:
    """Return the files at or below ``place`` that git keeps; ignored folders and links are not entered."""
    if place != root and (place.is_symlink() or not is_kept(name := place.relative_to(root).as_posix())):
        return []
    if place.is_dir():
        return [found for path in place.iterdir() for found in _found(root, path)]
    return [name] if place.is_file() else []
