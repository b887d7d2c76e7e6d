"""Colours of pictures on a light and a dark page: as in print wherever a line stands out against the page 3 to 1."""

import colorsys
from functools import cache

from bench.report import style

PAGES = {"light": "#ffffff", "dark": "#14161a"}
_LEAST = 3.0


def contrast(one: str, other: str) -> float:
    """Return how far the luminance of two colours is apart, 1 to 21, as WCAG 2 measures it."""
    high, low = sorted((_luminance(colour) for colour in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def adapted(colour: str, page: str) -> str:
    """Return a colour, or the nearest of its hue that stands out against the page."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*_parts(colour))
    step = 0.01 if _luminance(page) < 0.2 else -0.01
    while contrast(colour, page) < _LEAST and 0 < lightness + step < 1:
        lightness += step
        colour = "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, lightness, saturation))
    return colour


@cache
def tokens(scheme: str) -> str:
    """Return the colours of methods as CSS variables of a scheme, without those that stay as they are."""
    colours = sorted({of.color.lower() for of in style.STYLES.values()})
    pairs = [(colour, adapted(colour, PAGES[scheme])) for colour in colours]
    return " ".join(f"--x{colour[1:]}: {shown};" for colour, shown in pairs if shown != colour)


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _luminance(colour: str) -> float:
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _parts(colour))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
