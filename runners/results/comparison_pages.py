"""The pages of a user's comparisons, independent of the judging of papers."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from bench.gallery.papers import COMPARE, comparisons
from bench.gallery.render import OWN, SITE, pages_of
from bench.report.folder import PAGE
from runners.config.folders import CHECKOUT
from runners.results import made_of
from runners.results.store import read_json, write_text

_MADE = "raw/made_of/comparisons.json"
_MARK = '<meta name="generator" content="bandit-tuning-bench">'


def is_suites(folder: Path) -> bool:
    """Return whether a folder of results belongs to the checkout and so has the committed results of all papers."""
    return CHECKOUT is not None and folder.resolve() == (CHECKOUT / "results").resolve()


def write_comparisons(folder: Path, name: str) -> Path:
    """Write the page of a user's comparison and the list of all comparisons; return the path of the list.

    Pages are written again only if a comparison or the code has changed.
    """
    in_gallery, noted = (folder / PAGE).exists(), folder / _MADE
    made = [made_of.code(), name, in_gallery]
    if read_json(noted) != made_of.of_pages(made, folder / COMPARE):
        page = comparisons(folder)
        site = (SITE if is_suites(folder) else OWN) if in_gallery else {f"{COMPARE}/{PAGE}": page.title}
        write_pages(folder, pages_of([page], site, {name}))
        write_text(noted, json.dumps(made_of.of_pages(made, folder / COMPARE)) + "\n")
    return folder / COMPARE / PAGE


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """Write pages by path in a folder; files of other programs are kept, and their paths are printed on stderr."""
    for name, page in pages.items():
        if _is_replaceable(folder / name):
            write_text(folder / name, page)
        else:
            print(f"{folder / name}: left as it is, since another program wrote it, or it is a link", file=sys.stderr)


def _is_replaceable(path: Path) -> bool:
    """Return whether a page may be written, because there is no page yet or a page with the gallery's mark."""
    if path.is_symlink() or path.parent.is_symlink():
        return False
    if not path.exists():
        return True
    with path.open(encoding="utf-8", errors="replace") as file:
        return _MARK in file.read(600)
