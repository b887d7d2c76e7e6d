"""Parts of a picture that was written as SVG: a card shows one of its panels, a phone each below the other."""

import re
from base64 import b64encode
from html import unescape
from pathlib import Path
from typing import NamedTuple

_AXES = re.compile(r'^  <g id="axes_\d+">$(.*?)^  </g>$', re.DOTALL | re.MULTILINE)
_LEGEND = re.compile(r'^  <g id="legend_1">$(.*?)^  </g>$', re.DOTALL | re.MULTILINE)
_CORNER = re.compile(r"[ML] ([\d.-]+) ([\d.-]+)")
_TEXT = re.compile(
    r'<text style="([^"]*)"(?: x="[^"]*" y="[^"]*")? transform="(?:rotate\(([\d.-]+) |translate\()([\d.-]+) ([\d.-]+)'
    r"\)[^>]*>([^<]*)</text>"
)
_FORMULA = re.compile(r'<g transform="translate\(([\d.-]+) ([\d.-]+)\)')
_LETTER, _HIGH, _PAD = 0.62, 9.0, 4.0
"""Width of a letter by its size, height of a formula, and room around a part in points."""
Box = tuple[float, float, float, float]
"""Left, top, width and height in points."""


class Picture(NamedTuple):
    """A picture: where it is, and its content."""

    address: str
    svg: str

    @classmethod
    def read(cls, address: str, path: Path) -> "Picture":
        return cls(address, path.read_text(encoding="utf-8", errors="replace"))

    @classmethod
    def of(cls, content: bytes) -> "Picture":
        """Return a picture that is a part of the page, not a file."""
        return cls(f"data:image/svg+xml;base64,{b64encode(content).decode()}", content.decode())

    @property
    def size(self) -> tuple[float, float]:
        found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', self.svg)
        return (float(found[1]), float(found[2])) if found else (1.0, 1.0)

    @property
    def panels(self) -> list[Box]:
        """The panels with their titles and numbers; none where it is not the suite's."""
        return [self._box(found[1], _CORNER.findall(found[1])[:4]) for found in _AXES.finditer(self.svg)]

    @property
    def legend(self) -> list[Box]:
        contents = (re.sub("<defs>.*?</defs>", "", found[1], flags=re.DOTALL) for found in _LEGEND.finditer(self.svg))
        return [self._box(content, _CORNER.findall(content)) for content in contents]

    @property
    def words(self) -> str:
        """Note and caption."""
        found = _TEXT.findall(_LEGEND.sub("", _AXES.sub("", self.svg)))
        lines = sorted((float(y), unescape(words)) for style, _, _, y, words in found if "font-weight" not in style)
        return " ".join(words for _, words in lines)

    def _box(self, content: str, corners: list[tuple[str, str]]) -> Box:
        """Return what encloses some corners, and the words within."""
        points = [(float(x), float(y)) for x, y in corners]
        points += [(float(x) - _HIGH, float(y) - _HIGH) for x, y in _FORMULA.findall(content)]
        for style, angle, x, y, words in _TEXT.findall(content):
            size = float(re.search(r"font-size: ([\d.]+)px", style)[1])  # type: ignore[index]
            length = _LETTER * size * len(unescape(words))
            before = length if "anchor: end" in style else length / 2 if "anchor: middle" in style else 0.0
            ends = [(-before, size / 4), (length - before, -size)]
            turned = [(end, -along) if angle == "-90" else (along, end) for along, end in ends]
            points += [(float(x) + dx, float(y) + dy) for dx, dy in turned]
        if not points:
            return (0.0, 0.0, *self.size)
        (left, top), (right, bottom) = (tuple(side(axis) for axis in zip(*points, strict=True)) for side in (min, max))
        width, height = self.size
        left, top = max(left - _PAD, 0.0), max(top - _PAD, 0.0)
        return left, top, min(right + _PAD, width) - left, min(bottom + _PAD, height) - top
