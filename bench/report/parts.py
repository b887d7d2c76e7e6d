"""Names of what is drawn in a figure, kept in the SVG as ids: which line, in which panel, of which method."""

from urllib.parse import quote


def part_id(part: str, panel: str, name: str) -> str:
    """Return the id of a part of a figure: what it is (`line`, `band`, ...), the panel or row, and the method."""
    return ":".join(quote(text, safe="") for text in (part, panel, name))
