"""Parts of a picture written as SVG: a card shows one panel, a phone all panels below each other."""

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
_SIZE = re.compile(r"font(?:-size)?: [^;]*?([\d.]+)px")
_BOLD = re.compile(r"font-weight|font: (?:bold|[6-9]00)")
_FORMULA = re.compile(r'<g transform="translate\(([\d.-]+) ([\d.-]+)\)')
_LETTER, _TURNED, _HIGH, _PAD, _APART = 0.62, 0.55, 9.0, 4.0, 40.0
"""Width of a letter by its size, also in turned text, height of a formula, room around a part, and the least distance
of lines with a panel between them, in points."""
Box = tuple[float, float, float, float]
"""Left, top, width and height in points."""


class Picture(NamedTuple):
    """A picture: its address, its size in points, and the boxes of its panels, legend, note and caption."""

    address: str
    size: tuple[float, float]
    panels: list[Box]
    legend: list[Box]
    words: str

    @classmethod
    def read(cls, address: str, path: Path) -> "Picture":
        return cls.of(address, path.read_text(encoding="utf-8", errors="replace"))

    @classmethod
    def inline(cls, content: bytes) -> "Picture":
        """Return a picture that is part of the page instead of a file."""
        return cls.of(f"data:image/svg+xml;base64,{b64encode(content).decode()}", content.decode())

    @classmethod
    def of(cls, address: str, svg: str) -> "Picture":
        """Return a picture from its content; without panels unless the suite drew it."""
        found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        size = (float(found[1]), float(found[2])) if found else (1.0, 1.0)
        panels = [_box(part[1], _CORNER.findall(part[1])[:4], size) for part in _AXES.finditer(svg)]
        contents = [re.sub("<defs>.*?</defs>", "", part[1], flags=re.DOTALL) for part in _LEGEND.finditer(svg)]
        texts = _TEXT.findall(_LEGEND.sub("", _AXES.sub("", svg)))
        lines = sorted((float(y), unescape(words)) for style, _, _, y, words in texts if not _BOLD.search(style))
        legend = [_box(content, _CORNER.findall(content), size) for content in contents]
        text, last = "", 0.0
        for y, words in lines:
            text += ("" if not text else ". " if y - last > _APART and text[-1] not in ".:" else " ") + words
            last = y
        return cls(address, size, panels, legend, text)


def _box(content: str, corners: list[tuple[str, str]], size: tuple[float, float]) -> Box:
    """Return the box around some corners, and the text inside."""
    points = [(float(x), float(y)) for x, y in corners]
    for x, y in _FORMULA.findall(content):
        points += [(float(x) - _HIGH, float(y) - _HIGH), (float(x), float(y) + _HIGH / 2)]
    for style, angle, x, y, words in _TEXT.findall(content):
        found = _SIZE.search(style)
        high = float(found[1]) if found else _HIGH
        length = (_TURNED if angle == "-90" else _LETTER) * high * len(unescape(words))
        before = length if "anchor: end" in style else length / 2 if "anchor: middle" in style else 0.0
        ends = [(-before, high / 4), (length - before, -high)]
        turned = [(end, -along) if angle == "-90" else (along, end) for along, end in ends]
        points += [(float(x) + dx, float(y) + dy) for dx, dy in turned]
    if not points:
        return (0.0, 0.0, *size)
    across, up = zip(*points, strict=True)
    left, top = max(min(across) - _PAD, 0.0), max(min(up) - _PAD, 0.0)
    return left, top, min(max(across) + _PAD, size[0]) - left, min(max(up) + _PAD, size[1]) - top
