"""What a page is made of, as one checksum: a page that says the same is up to date."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl

import bench.report
from bench.report.stored import PAGE


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
    digest = hashlib.sha256(_code().encode())
    digest.update(json.dumps([dict(config), around], sort_keys=True, default=str).encode())
    for folder in folders:
        for path in sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != "."):
            if path.name == PAGE:
                continue
            digest.update(f"\n{folder.name}/{path.name}\n".encode())
            digest.update(path.read_bytes() if path.suffix in (".csv", ".json", ".parquet") else b"")
    return digest.hexdigest()[:20]


def is_fresh(folder: Path, inputs: str) -> bool:
    """Return whether the page in a folder was made of what there is now."""
    try:
        with (folder / PAGE).open(encoding="utf-8") as file:
            return f"<!-- {inputs} -->" in file.read(200)
    except (OSError, ValueError):
        return False


@cache
def _code() -> str:
    """Return the checksum of all that makes pages: the package of reports with its templates, and matplotlib."""
    digest = hashlib.sha256(mpl.__version__.encode())
    root = Path(bench.report.__file__).parent
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".j2", ".css", ".js")):
        digest.update(f"\n{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
