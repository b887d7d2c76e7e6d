"""The widths of figures for print, and the file formats on request."""

from collections.abc import Sequence
from typing import Any, Literal

from bench.errors import ConfigError

Size = Literal["", "column", "text"]
SIZES: tuple[Size, ...] = ("column", "text")
"""Widths for print: a column of two, and the whole text."""
EXTRA = ("png", "pdf", "tex")
"""Formats that are written on request: pictures as PNG (a comparison has one anyway) or PDF, tables as LaTeX."""


def extra_formats(asked: str | Sequence[Any] | None) -> tuple[str, ...]:
    """Return the requested entries of `EXTRA`, given as a list or a text with commas.

    Raises ConfigError for another format.
    """
    words = asked.strip("[]").split(",") if isinstance(asked, str) else list(asked or ())
    names = [str(word).strip() for word in words]
    for name in filter(None, names):
        if name not in EXTRA:
            raise ConfigError(
                f"format: found '{name}', expected some of: png, pdf (pictures), tex (tables); svg is always written"
            )
    return tuple(name for name in EXTRA if name in names)


def print_size(asked: str | None, formats: Sequence[str] = EXTRA) -> Size:
    """Return the width for print, or "" for the screen.

    Raises ConfigError for an unknown width, or for a width without a format.
    """
    if asked and (asked not in SIZES or not {"pdf", "tex"} & {*formats}):
        raise ConfigError(f"size: found '{asked}', expected {' or '.join(SIZES)}, with format=pdf or tex")
    return next((size for size in SIZES if size == asked), "")
