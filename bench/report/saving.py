"""Figures as file contents: the same bytes for the same figure."""

import io
import warnings

from matplotlib.figure import Figure

from bench.report.style import applied

_DPI = 150
# No date and no version of the program that wrote it.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def content(figure: Figure, kind: str) -> bytes:
    """Return a figure as PNG (150 dots per inch), SVG (text as text) or PDF (embedded TrueType fonts)."""
    file = io.BytesIO()
    with applied(), warnings.catch_warnings():
        # A missing character of the font is a box in a PNG; SVG leaves it to the reader's fonts
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(file, format=kind, dpi=_DPI, metadata=_METADATA[kind])
    return file.getvalue()
