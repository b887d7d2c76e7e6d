"""Whether the page of a figure was made of the results, configuration and code that there are now."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.gallery.stored import PAGE

_BENCH = Path(__file__).resolve().parents[1]


def checksum(folders: list[Path], config: Mapping[str, Any], around: Any) -> str:
    """Return the checksum of a figure's results at all scales, its configuration, and the code that draws it."""
    digest = hashlib.sha256(_code().encode())
    digest.update(json.dumps([dict(config), around], sort_keys=True, default=str).encode())
    for folder in folders:
        for path in sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != "."):
            if path.name != PAGE:
                digest.update(f"\n{folder.name}/{path.name}\n".encode())
                digest.update(path.read_bytes() if path.suffix in (".csv", ".json", ".parquet") else b"")
    return digest.hexdigest()[:20]


def is_fresh(page: Path, inputs: str) -> bool:
    """Whether a page bears the checksum of what it would be made of."""
    try:
        with page.open(encoding="utf-8") as file:
            return f"<!-- {inputs} -->" in file.read(200)
    except (OSError, ValueError):
        return False


@cache
def _code() -> str:
    """Return the checksum of all that makes pages: kinds of figures, readings, templates, and matplotlib."""
    digest = hashlib.sha256(version("matplotlib").encode())
    for root in (_BENCH / name for name in ("audit", "gallery", "papers", "report")):
        for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".j2", ".css", ".js")):
            digest.update(f"\n{path.relative_to(_BENCH)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
