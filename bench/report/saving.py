"""Write figures: whole or not at all, and the same bytes for the same figure."""

import os
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

from bench.report.style import applied

_DPI = 150
# No date and no version of the program that wrote it.
_METADATA: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


def save(figure: Figure, folder: str | os.PathLike[str], name: str) -> list[Path]:
    """Write a figure as PNG (150 dots per inch) and SVG (text as text).

    Each file is written under a temporary name in the same folder, then renamed.

    Parameters
    ----------
    figure
        The figure.
    folder
        Where to; made if it does not exist.
    name
        File name without its ending.

    Returns
    -------
    list of Path
        The PNG and the SVG file.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    with applied():
        for kind, metadata in _METADATA.items():
            path = target / f"{name}.{kind}"
            handle, temporary = tempfile.mkstemp(dir=target, prefix=f".{name}-", suffix=f".{kind}")
            try:
                with os.fdopen(handle, "wb") as file:
                    figure.savefig(file, format=kind, dpi=_DPI, metadata=metadata)
                os.chmod(temporary, 0o644)
                os.replace(temporary, path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            paths.append(path)
    return paths
