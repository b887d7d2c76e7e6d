"""Figures as the content of files: the same bytes for the same figure."""

import io
import warnings
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.errors import ConfigError
from bench.report.page import SIZES, Size
from bench.report.style import applied

EXTRA = ("pdf", "tex")
"""Formats that are written on request: pictures as PDF, tables as LaTeX."""

_DPI = 150
# No date and no version of the program that wrote it.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def extra_formats(asked: str | Sequence[Any] | None) -> tuple[str, ...]:
    """Return which of `EXTRA` are asked for, by a list or words with commas; `ConfigError` if there is another word."""
    words = asked.strip("[]").split(",") if isinstance(asked, str) else list(asked or ())
    names = [str(word).strip() for word in words]
    for name in filter(None, names):
        if name not in EXTRA:
            raise ConfigError(
                f"format: found '{name}', expected pdf (pictures), tex (tables) or pdf,tex; png and svg are always "
                "written"
            )
    return tuple(name for name in EXTRA if name in names)


def print_size(asked: str | None, formats: Sequence[str]) -> Size:
    """Return the width that PDFs are drawn for, "" for the screen's; `ConfigError` if it is none, or without a PDF."""
    for size in SIZES:
        if asked == size and "pdf" in formats:
            return size
    if asked:
        expected = "format=pdf beside it" if asked in SIZES else " or ".join(SIZES)
        raise ConfigError(f"size: found '{asked}', expected {expected}")
    return ""


def content(figure: Figure, kind: str) -> bytes:
    """Return a figure as PNG (150 dots per inch), SVG (text as text) or PDF (embedded TrueType fonts)."""
    file = io.BytesIO()
    with applied(), warnings.catch_warnings():
        mpl.rcParams["pdf.fonttype"] = 42  # TrueType: some journals refuse the default, Type 3
        # A character that the font lacks is a box in a PNG; SVG leaves it to the fonts of the reader
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(file, format=kind, dpi=_DPI, metadata=_METADATA[kind])
    return file.getvalue()
