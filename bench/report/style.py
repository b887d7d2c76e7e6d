"""One style for all figures: the same colour, line and marker for a method wherever it appears.

Colours are those of Okabe and Ito and of Paul Tol; readers with colour-blindness can tell most of them apart. Where two
look alike in one figure, their dashes differ. Markers differ as well, so that figures survive printing in grey.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal, NamedTuple, cast

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgb

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
INDIGO, TEAL, OLIVE, WINE, BROWN, VIOLET = "#332288", "#44AA99", "#999933", "#882255", "#8C564B", "#8A4FBF"
DARKEST, DARK, MIDDLE, LIGHT, LIGHTEST = "#440154", "#3B528B", "#21918C", "#5EC962", "#D9A400"
GREY = "#777777"
CHARCOAL = "#333333"
RANDOM_ARMS = "Random arms"
SURROGATE_COLOUR = "#B00020"

Dash = Literal["-"] | tuple[int, tuple[float, ...]]
_DASHED: Dash = (0, (5, 2))
_DOTTED: Dash = (0, (1, 1.2))
_DASH_DOT: Dash = (0, (6, 2, 1, 2))
_LONG: Dash = (0, (9, 3))
_DASH_DOT_DOT: Dash = (0, (6, 1.5, 1, 1.5, 1, 1.5))


class LineStyle(NamedTuple):
    """Colour, dashes and marker of a method, as matplotlib takes them."""

    color: str
    linestyle: Dash
    marker: str


STYLES: dict[str, LineStyle] = {
    "Theory": LineStyle(BLACK, _DASHED, "s"),
    "OP": LineStyle(ORANGE, _DASH_DOT, "v"),
    "TL": LineStyle(BLUE, "-", "o"),
    "TL-Combined": LineStyle(SKY, _LONG, "D"),
    "Syndicated": LineStyle(GREEN, "-", "^"),
    "TL / Syndicated": LineStyle(BLUE, _LONG, "^"),
    "CDT": LineStyle(VERMILION, "-", "P"),
    "CDT (code)": LineStyle(PURPLE, _DASHED, "X"),
    "Fixed": LineStyle(BROWN, _DASH_DOT, "h"),
    "Random": LineStyle(OLIVE, _DOTTED, "d"),
    RANDOM_ARMS: LineStyle(GREY, _DASHED, ""),
    "Oracle": LineStyle(TEAL, _LONG, "*"),
    "Zooming": LineStyle(INDIGO, _DASH_DOT, "<"),
    "Zooming TS-R": LineStyle(WINE, "-", ">"),
    "Zooming TS-R (code)": LineStyle(WINE, _DASHED, "p"),
    "Double Restarts": LineStyle(GREEN, _DASH_DOT, "H"),
    "Grid": LineStyle(OLIVE, _DASH_DOT, "h"),
    "Hyperband": LineStyle(WINE, _LONG, "p"),
    "Bayes-SE": LineStyle(TEAL, _DASHED, "<"),
    "Bayes-Matern": LineStyle(INDIGO, _LONG, ">"),
    "SD2ME-hard": LineStyle(SKY, _DASHED, "v"),
    "SD2ME-soft": LineStyle(BLUE, "-", "s"),
    "AD2ME-hard": LineStyle(ORANGE, _DASHED, "^"),
    "AD2ME-soft": LineStyle(VERMILION, "-", "D"),
    "HABO": LineStyle(VERMILION, _DASHED, "o"),
    "Bayes": LineStyle(INDIGO, _DASHED, ">"),
    "Hedge": LineStyle(PURPLE, _DASH_DOT, "d"),
    "EXP3": LineStyle(BLUE, _DASH_DOT, "X"),
    "UCB1": LineStyle(GREEN, _DASHED, "p"),
    "ETC": LineStyle(ORANGE, _DOTTED, "s"),
    "Changepoint GP": LineStyle(VIOLET, _DASH_DOT_DOT, "*"),
    "Gaussian TS": LineStyle(BROWN, "-", "d"),
    "D-LinUCB": LineStyle(GREEN, "-", "D"),
    "SW-LinUCB": LineStyle(TEAL, _DASH_DOT, "X"),
    "Baseline": LineStyle(BLUE, _DASHED, "v"),
    "CIR-HPO": LineStyle(VERMILION, _LONG, "^"),
    "CIR-HPO without CSO": LineStyle(ORANGE, _DASH_DOT, "<"),
    "CIR-HPO without AIR": LineStyle(PURPLE, _DASHED, ">"),
    "Logging policy": LineStyle(BLACK, _DOTTED, "D"),
    "TPE": LineStyle(SKY, "-", "s"),
    "Random search": LineStyle(OLIVE, _LONG, "d"),
    "validation": LineStyle(SKY, _DASHED, "X"),
    "true value": LineStyle(VERMILION, "-", "o"),
    "t-test": LineStyle(VERMILION, "-", "<"),
    "Bernstein": LineStyle(BLUE, _DASHED, "h"),
    "Hoeffding": LineStyle(GREEN, _LONG, "s"),
    "allowed": LineStyle(BLACK, _DASHED, ""),
    "HABO (code)": LineStyle(PURPLE, _DASH_DOT, "P"),
    "EXP3 (weight form)": LineStyle(SKY, _DOTTED, "P"),
    "UCB(delta), delta = 0.025": LineStyle(TEAL, "-", "<"),
    "UCB(delta), delta = 1/T^2": LineStyle(WINE, _DASHED, ">"),
    "Hedge (constant rate)": LineStyle(BROWN, "-", "h"),
    "UCB(delta)": LineStyle(BROWN, _LONG, "<"),
    "UCB(delta) (code)": LineStyle(WINE, "-", "h"),
    # Values of a setting that stand in for methods: from dark to light, as they grow
    "beta0 -3": LineStyle(DARKEST, "-", "v"),
    "beta0 0": LineStyle(DARK, _DASHED, "s"),
    "beta0 3": LineStyle(MIDDLE, _DASH_DOT, "D"),
    "beta0 10": LineStyle(LIGHT, _LONG, "o"),
    "beta0 20": LineStyle(LIGHTEST, "-", "^"),
    "delta 0.05": LineStyle(DARK, "-", "v"),
    "delta 0.1": LineStyle(MIDDLE, _DASHED, "o"),
    "delta 0.2": LineStyle(LIGHTEST, _DASH_DOT, "^"),
    "gamma 0.01": LineStyle(DARK, _LONG, "v"),
    "gamma 0.1": LineStyle(MIDDLE, "-", "o"),
    "gamma 1": LineStyle(LIGHTEST, _DASHED, "^"),
    # Ways to explore, and how each is set
    **{
        f"{algorithm}, {tuner}": LineStyle(colour, dash, marker)
        for algorithm, colour in (("Epsilon-greedy", ORANGE), ("LinUCB", BLUE), ("LinTS", GREEN), ("SquareCB", PURPLE))
        for tuner, dash, marker in (
            ("theory", _DASHED, "s"),
            ("TL", _LONG, "o"),
            ("changepoint GP", "-", "*"),
            ("0.1", _DOTTED, "d"),
        )
    },
}
"""Methods by name: no two look alike, so that any of them can share a figure."""

VARIANTS: dict[str, tuple[Dash, str]] = {
    "C1": ("-", "o"),
    "C2": (_DASHED, "D"),
    "T1 = 0": (_DASHED, "X"),
    "no restart": (_LONG, "X"),
    "k = 1": (_DOTTED, "<"),
    "k = 2": (_DASHED, "s"),
    "k = 3": ("-", "P"),
    "code's candidates": (_DOTTED, "p"),
    "code's constants": (_DASHED, "d"),
    "H by formula": (_DOTTED, "s"),
}
"""What follows a method's name and a comma: dashes and marker; the colour is the method's."""

# Other colours than those above, so that a method of one's own is not taken for a known one.
_SPARE_COLOURS = ("#AA4499", "#117733", "#6699CC", "#661100", "#E8627C", "#C08A00")
_NEAR, _NEAR_WHERE_BLIND = 60, 50  # of 255 for each of red, green and blue
# How readers without the cones for red, and for green, see linear red, green and blue (Machado, Oliveira and Fernandes
# 2009, table 1)
_PROTANOPIA = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
_DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
_SPARE_DASHES: tuple[Dash, ...] = ("-", _DASHED, _DASH_DOT, _LONG)
_SPARE_MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "h", "p", "d")

SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.5,
    "lines.markersize": 5.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Text stays text, and the identifiers in the file do not change from one drawing to the next.
    "svg.fonttype": "none",
    "svg.hashsalt": "bandit-tuning-bench",
}


def line_style(name: str, beside: Sequence[LineStyle] = ()) -> LineStyle:
    """Return the style of a method; a name not in `STYLES` gets one that follows from the name.

    A variant, such as "CDT, k = 1", has the colour of its method and other dashes or another marker. ``beside`` are
    styles in the same plot: a name not in `STYLES` gets a colour, dashes and a marker that can be told from theirs, as
    far as there are any. A variant has another colour than its method only where all dashes are taken.
    """
    if name in STYLES:
        return STYLES[name]
    base, _, variant = name.partition(", ")
    if base in STYLES and variant in VARIANTS:
        return LineStyle(STYLES[base].color, *VARIANTS[variant])
    first = hashlib.sha256(name.encode()).digest()
    colours, dashes, markers = (
        options[first[i] % len(options) :] + options[: first[i] % len(options)]
        for i, options in enumerate(cast(tuple[tuple[Any, ...], ...], (_SPARE_COLOURS, _SPARE_DASHES, _SPARE_MARKERS)))
    )
    own = STYLES[base].color if base in STYLES else ""
    colours = (own, *colours) if own else colours

    def likeness(style: LineStyle) -> tuple[int, int, bool, int]:
        near = [other for other in beside if look_alike(style.color, other.color)]
        return (
            sum(style[:2] == other[:2] for other in near),
            sum(style.linestyle == other.linestyle for other in near),
            style.color != own and bool(own),
            sum(_distance(style.color, other.color) < _NEAR for other in near),
        )

    style = min((LineStyle(colour, dash, markers[0]) for dash in dashes for colour in colours), key=likeness)
    taken = {other.marker for other in beside if look_alike(style.color, other.color)}
    return style._replace(marker=next((marker for marker in markers if marker not in taken), markers[0]))


@cache
def look_alike(colour: str, other: str) -> bool:
    """Return whether two colours are near, to readers of whom some do not see red, or green."""
    if _distance(colour, other) < _NEAR:
        return True
    return any(_distance(colour, other, seen) < _NEAR_WHERE_BLIND for seen in (_PROTANOPIA, _DEUTERANOPIA))


def _distance(colour: str, other: str, seen: Any = None) -> float:
    """Return how far colours are apart, as a reader sees them, of 255 for each of red, green and blue."""
    return 255 * math.dist(*(to_rgb(each) if seen is None else _as_seen(each, seen) for each in (colour, other)))


def _as_seen(colour: str, seen: Any) -> Any:
    given = np.array(to_rgb(colour))
    linear = np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)
    shown = np.clip(seen @ linear, 0, 1)
    return np.where(shown <= 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)


@contextmanager
def applied() -> Iterator[None]:
    """Draw or save in this style, whatever settings the user has; they are as before afterwards."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(cast(Any, SETTINGS))
        yield
