"""The style of all figures, with dashes, markers, and colours for readers with red-green colour-blindness."""

import itertools
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict

from bench.errors import ConfigError

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GREY, CHARCOAL, SURROGATE_COLOUR = "#777777", "#333333", "#B00020"
PALETTE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)
"""Source: Okabe and Ito 2002, without yellow, which white paper swallows."""

Dash = Literal["-"] | tuple[int, tuple[float, ...]]
DashName = Literal["-", "--", "-.", ":", "long", "-.."]
DASHES: dict[DashName, Dash] = {
    "-": "-",
    "--": (0, (5, 2)),
    "-.": (0, (6, 2, 1, 2)),
    "long": (0, (9, 3)),
    ":": (0, (1, 1.2)),
    "-..": (0, (6, 1.5, 1, 1.5, 1, 1.5)),
}
_MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "h", "p", "d")


@dataclass(frozen=True)
class Look:
    """The style of a mark, with sizes in points; 0, "" and None stand for the default style.

    ``fill`` is the colour of the marker's inside, or "none" for an open marker. A mark with a larger ``order`` is drawn
    above other marks. In the legend, a look with ``is_box`` is a rectangle.
    """

    color: str
    dash: Dash | Literal["none"] = "-"
    marker: str = ""
    size: float = 0.0
    width: float = 0.0
    fill: str = ""
    edge: str = ""
    edge_width: float | None = None
    alpha: float = 1.0
    order: float = 3.0
    is_box: bool = False


class Looks(BaseModel):
    """A paper's style of lines, with colour, dashes and marker by name, and replacements of the paper's words.

    In ``words``, such as ``beta0: $\\beta_0$``, mathematics is between dollars.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    lines: dict[str, tuple[str, DashName, str]] = {}
    words: dict[str, str] = {}


def looks_of(names: Collection[str], looks: Looks, colors: Mapping[str, str]) -> dict[str, Look]:
    """Return the look of each line of a figure, which is the paper's look or else an automatic look.

    ``colors`` replace the colours of the looks. Automatic looks follow the order of ``names``. No two automatic looks
    are equal while unused looks remain, and no automatic look has both the dashes and the colour of a line of the
    paper. Raises ConfigError for an unknown colour in ``colors``.
    """
    from matplotlib.colors import is_color_like  # slow to import

    for name, color in colors.items():
        if not is_color_like(color):
            raise ConfigError(f"colors: found '{color}' for '{name}', expected a colour such as black or #d55e00")
    lines = {name: looks.lines[name] for name in names if name in looks.lines}
    given = {name: Look(color, DASHES[dash], marker) for name, (color, dash, marker) in lines.items()}
    taken = {(look.color, look.dash) for look in given.values()}
    dashes, every = list(DASHES.values()), len(PALETTE)
    automatic = [
        Look(color, dashes[(place + turn) % len(dashes)], _MARKERS[(place + turn * every) % len(_MARKERS)])
        for turn in range(len(dashes))
        for place, color in enumerate(PALETTE)
    ]
    free = itertools.cycle([look for look in automatic if (look.color, look.dash) not in taken] or automatic)
    every_look = {name: given[name] if name in given else next(free) for name in names}
    return {name: replace(look, color=colors.get(name, look.color)) for name, look in every_look.items()}


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


@contextmanager
def applied() -> Iterator[None]:
    """Draw or save in this style, independently of the user's settings, which are restored afterwards."""
    import matplotlib as mpl  # slow to import

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(cast(Any, SETTINGS))
        yield
