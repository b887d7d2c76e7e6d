"""What a page is made of, as one checksum: a page that says the same is up to date."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl

import bench.report

PAGES = ("index.html", "thumbnail.svg")
"""What is made for a figure beside its results."""


def inputs_of(folders: list[Path], config: Mapping[str, Any], around: Any) -> str:
    """Return the checksum of a figure's results, of its configuration, and of the code that draws it.

    Parameters
    ----------
    folders
        The results, one folder for each scale.
    config
        The figure's configuration.
    around
        What else the page says, as for JSON.
    """
    found = hashlib.sha256(_code().encode())
    found.update(json.dumps([dict(config), around], sort_keys=True, default=str).encode())
    for folder in folders:
        for path in sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != "."):
            if path.name in PAGES:
                continue
            shown = path.suffix in (".csv", ".json", ".parquet")
            found.update(f"\n{folder.name}/{path.name}\n".encode())
            found.update(path.read_bytes() if shown else b"")
    return found.hexdigest()[:20]


@cache
def _code() -> str:
    """Return the checksum of all that makes pages: the package of reports with its templates, and matplotlib."""
    found = hashlib.sha256(mpl.__version__.encode())
    root = Path(bench.report.__file__).parent
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".j2", ".css", ".js")):
        found.update(f"\n{path.relative_to(root)}\n".encode() + path.read_bytes())
    return found.hexdigest()
