"""A figure's SVG, made part of a page: its panels as they are, its words as words of the page."""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import NamedTuple

from bench.report.gallery.points import Marks
from bench.report.parts import read_part_id
from bench.report.style import RANDOM_ARMS

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_KEPT = {_SVG + tag for tag in ("svg", "g", "defs", "path", "use", "text", "tspan", "clipPath", "rect", "image")}
_UNKNOWN = "#777777"
# Points left of a legend's text and around its middle, where the sample of the line stands.
_SAMPLE_LEFT, _SAMPLE_WIDTH, _SAMPLE_UP, _SAMPLE_HEIGHT = 31.6, 25.8, 9.5, 13.0
# Points from a line of text to what stands above and below it.
_ABOVE, _BELOW = 9.5, 3.0
ElementTree.register_namespace("", _SVG.strip("{}"))


class Entry(NamedTuple):
    """A line of the legend: its words, a sample as SVG and a colour, or ""; whether parts of the picture bear it."""

    name: str
    sample: str
    colour: str
    is_part: bool


class Picture(NamedTuple):
    """The SVG element as text, its width in points, its legend, and the sentences around it."""

    svg: str
    width: float
    legend: list[Entry]
    caption: list[str]


def inline(text: str, prefix: str, title: str, marks: Mapping[tuple[str, str, str], Marks]) -> Picture:
    """Return an SVG file as an element of a page.

    Title, note, legend and caption are taken out of the picture: the page writes them, at a size that can be read on
    any screen. A file that is built otherwise stays as it is.

    Parameters
    ----------
    text
        The file.
    prefix
        Put before every id, so that several pictures can share a page.
    title
        What it shows, for those who cannot see it.
    marks
        The values of what is drawn, by part, panel and name; used where as many points are drawn.

    Raises
    ------
    ValueError
        If it is no SVG.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from None
    if root.tag != _SVG + "svg" or "viewBox" not in root.attrib:
        raise ValueError("not an SVG with a viewBox")
    _clean(root, prefix)
    left, top, width, height = (float(number) for number in re.split(r"[ ,]+", root.attrib["viewBox"].strip()))
    bottom = height
    caption: list[str] = []
    samples: dict[str, str] = {}
    page = root.find(f".//{_SVG}g[@id='{prefix}figure_1']")
    if page is not None:
        samples, above_legend = _take_legend(page, prefix)
        caption, header, footer = _take_words(page, prefix, height)
        top, bottom = max(top, header), min(height, above_legend, footer)
    colours = _name_parts(root, prefix, marks)
    view = f"{left:g} {top:.2f} {width:g} {bottom - top:.2f}"
    root.attrib = {"viewBox": view, "role": "img", "aria-label": title}
    return Picture(ElementTree.tostring(root, encoding="unicode"), width, _legend(colours, samples), caption)


def _name_parts(root: ElementTree.Element, prefix: str, marks: Mapping[tuple[str, str, str], Marks]) -> dict[str, str]:
    """Mark the parts of methods, with their values where they are known; return the methods' colours."""
    colours: dict[str, str] = {}
    for node in root.iter(_SVG + "g"):
        part = read_part_id(node.get("id", "").removeprefix(prefix))
        if part is None:
            continue
        kind, panel, name = part
        node.attrib = {"data-part": kind, "data-name": name}
        if kind == "line":
            styles = "; ".join(child.get("style", "") for child in node.iter())
            colour = re.search(r"(?:stroke|fill): (#\w+)", styles.replace("#ffffff", ""))
            colours[name] = colours.get(name) or (colour[1] if colour else _UNKNOWN)
        colours.setdefault(name, "")
        own = marks.get(part)
        if own is None:
            continue
        path = node.find(f"{_SVG}path")  # without, there are marks alone
        spots = node.findall(f".//{_SVG}use") if path is None else re.findall("[ML]", path.get("d", ""))
        if len(own.points) in (1, len(spots)):
            node.attrib |= {"data-panel": panel, "data-points": json.dumps(own.points, separators=(",", ":"))}
            words = {"what": own.what, "x": own.x, "ends": own.ends}
            node.attrib |= {f"data-{key}": word for key, word in words.items() if word}
    return colours


def _legend(colours: Mapping[str, str], samples: Mapping[str, str]) -> list[Entry]:
    """Return the legend: methods, then random arms and other lines, then what only explains a sign."""
    ordered = [*(name for name in samples if name in colours), *(name for name in colours if name not in samples)]
    names = sorted(ordered, key=lambda name: not colours[name])
    if RANDOM_ARMS in names:
        names.append(names.pop(names.index(RANDOM_ARMS)))
    entries = [Entry(name, samples.get(name, ""), colours[name], True) for name in names]
    return entries + [Entry(name, sample, "", False) for name, sample in samples.items() if name not in colours]


def _take_legend(page: ElementTree.Element, prefix: str) -> tuple[dict[str, str], float]:
    """Take the legend out of the picture; return its samples by label, and where it began."""
    legend = page.find(f"{_SVG}g[@id='{prefix}legend_1']")
    samples: dict[str, str] = {}
    top = float("inf")
    if legend is None:
        return samples, top
    drawn: list[ElementTree.Element] = []
    for child in legend:
        text = child.find(f"{_SVG}text")
        if text is None:
            drawn.append(child)
            continue
        x, y = float(text.get("x", "nan")), float(text.get("y", "nan"))
        view = f"{x - _SAMPLE_LEFT:.2f} {y - _SAMPLE_UP:.2f} {_SAMPLE_WIDTH} {_SAMPLE_HEIGHT}"
        sample = ElementTree.Element(f"{_SVG}svg", {"viewBox": view, "class": "sample", "aria-hidden": "true"})
        sample.extend(drawn)
        samples[" ".join("".join(child.itertext()).split())] = ElementTree.tostring(sample, encoding="unicode")
        top, drawn = min(top, y - _ABOVE), []
    page.remove(legend)
    return samples, top


def _take_words(page: ElementTree.Element, prefix: str, height: float) -> tuple[list[str], float, float]:
    """Take title, note and caption out of the picture; return note and caption, and where they end and begin."""
    lines: list[tuple[float, str]] = []
    header, footer = 0.0, height
    for node in list(page):
        if not node.get("id", "").startswith(f"{prefix}text_"):
            continue
        for text in node.iter(f"{_SVG}text"):
            y = float(text.get("y", "nan"))
            if y < height / 2:
                header = max(header, y + _BELOW)
            else:
                footer = min(footer, y - _ABOVE)
            is_bold = re.search("font-weight: (bold|700)", text.get("style", ""))
            if not is_bold:  # as are the title and the mark of surrogate data, which the page has
                lines.append((y, " ".join("".join(text.itertext()).split())))
        page.remove(node)
    lines.sort()
    parts = (" ".join(words for y, words in lines if (y < height / 2) == is_note) for is_note in (True, False))
    return [part.rstrip(".") + "." for part in parts if part], header, footer


def _clean(node: ElementTree.Element, prefix: str) -> None:
    """Keep what draws, nothing that acts or loads; prefix ids; shorten numbers to a hundredth of a point."""
    for child in list(node):
        if child.tag in _KEPT:
            _clean(child, prefix)
        else:
            node.remove(child)
    node.tail = None
    if node.tag not in (_SVG + "text", _SVG + "tspan"):
        node.text = None
    for key, value in list(node.attrib.items()):
        is_link = key in ("href", _XLINK + "href")
        loads = re.search(r"url\((?!#)", value) or (is_link and not value.startswith(("#", "data:image/")))
        if key.lower().startswith("on") or loads:
            del node.attrib[key]
        elif is_link:
            del node.attrib[key]
            node.set("href", f"#{prefix}{value[1:]}" if value.startswith("#") else value)
        elif key == "id":
            node.set(key, prefix + value)
        elif key in ("d", "x", "y", "transform"):
            short = re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.2f}", value)
            node.set(key, " ".join(short.split()))
        else:
            node.set(
                key, value.replace("url(#", f"url(#{prefix}").replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")
            )
