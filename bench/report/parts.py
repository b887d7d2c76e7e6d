"""Names of what is drawn in a figure, kept in the SVG as ids: which line, in which panel, of which method."""

from urllib.parse import quote, unquote


def part_id(part: str, panel: str, name: str) -> str:
    """Return the id of a part of a figure: what it is (`line`, `band`, ...), the panel or row, and the method."""
    return ":".join(quote(text, safe="") for text in (part, panel, name))


def read_part_id(identifier: str) -> tuple[str, str, str] | None:
    """Return part, panel and name of an id made by `part_id`, None for any other."""
    pieces = identifier.split(":")
    return (unquote(pieces[0]), unquote(pieces[1]), unquote(pieces[2])) if len(pieces) == 3 else None
