"""A page of panels: title and note above, legend and caption below, nothing on top of anything else."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from bench.report.style import SURROGATE_COLOUR

# Inches, and inches per letter at the font sizes used here.
_PANEL_WIDTH, _PANEL_HEIGHT = 3.9, 2.9
_MIN_WIDTH = 7.0
# From this ratio of the ends on, a logarithmic axis shows the powers of ten only.
_MANY_TIMES = 1e3
_MARGIN = 0.12
_TITLE_LINE, _NOTE_LINE, _CAPTION_LINE, _LEGEND_LINE = 0.24, 0.17, 0.16, 0.21
_TITLE_LETTER, _SMALL_LETTER, _LEGEND_LETTER = 0.098, 0.066, 0.069
_LEGEND_HANDLE = 0.7


class Page:
    """A figure with a grid of panels, built without matplotlib's global state.

    Parameters
    ----------
    title
        What is shown.
    note
        Scale, repetitions and data; if it speaks of surrogate data, the page is marked as such.
    panels
        Number of panels.
    panel_size
        Width and height of a panel in inches.
    """

    def __init__(
        self, title: str, note: str, panels: int, panel_size: tuple[float, float] = (_PANEL_WIDTH, _PANEL_HEIGHT)
    ) -> None:
        count = max(panels, 1)
        columns = count if count <= 3 else math.ceil(count / math.ceil(count / (2 if count == 4 else 3)))
        rows = math.ceil(count / columns)
        self._width = max(_MIN_WIDTH, columns * panel_size[0])
        self._body = rows * panel_size[1]
        self.is_surrogate = is_surrogate(note)
        # Beside the title stands the mark of surrogate data.
        reserved = 1.6 if self.is_surrogate else 0.0
        self._title = self._lines(title, _TITLE_LETTER, reserved) or [""]
        self._note = self._lines(note, _SMALL_LETTER)
        self.figure = Figure(figsize=(self._width, self._body))
        FigureCanvasAgg(self.figure)
        cells = self.figure.subplots(rows, columns, squeeze=False).ravel()
        self.axes: list[Axes] = list(cells[:count])
        for spare in cells[count:]:
            spare.remove()
        self.columns = columns

    def is_left(self, panel: int) -> bool:
        """Return whether a panel stands in the first column."""
        return panel % self.columns == 0

    def is_bottom(self, panel: int) -> bool:
        """Return whether a panel has no other below it."""
        return panel + self.columns >= len(self.axes)

    def finish(self, handles: Mapping[str, Artist], caption: Sequence[str]) -> Figure:
        """Add title, note, legend and caption, and return the figure.

        Parameters
        ----------
        handles
            What the legend explains, by label, in order.
        caption
            Sentences below the legend: what bands and bars mean.
        """
        lines = self._lines(" ".join(caption), _SMALL_LETTER)
        columns = self._legend_columns([len(label) for label in handles])
        legend_rows = math.ceil(len(handles) / columns)
        header = _MARGIN + len(self._title) * _TITLE_LINE + len(self._note) * _NOTE_LINE + 0.06
        footer = _MARGIN + len(lines) * _CAPTION_LINE + legend_rows * _LEGEND_LINE + 0.16
        height = header + self._body + footer
        self.figure.set_size_inches(self._width, height)
        layout = ConstrainedLayoutEngine(
            rect=(0, footer / height, 1, self._body / height), w_pad=0.08, h_pad=0.06, hspace=0.04, wspace=0.03
        )
        self.figure.set_layout_engine(layout)
        self._write_header(height)
        self._write_caption(lines, height)
        if handles:
            self.figure.legend(
                list(handles.values()),
                list(handles),
                loc="lower center",
                bbox_to_anchor=(0.5, (_MARGIN + len(lines) * _CAPTION_LINE + 0.06) / height),
                ncol=columns,
                columnspacing=1.4,
                handlelength=2.8,
                borderaxespad=0,
                borderpad=0.2,
                labelspacing=0.35,
            )
        # The layout moves a little each time it is computed: fixed here, a figure can be saved twice alike.
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        return self.figure

    def _write_header(self, height: float) -> None:
        left, top = _MARGIN / self._width, height - _MARGIN
        for line in self._title:
            self._text(left, top / height, line, va="top", fontsize=11.5, fontweight="bold")
            top -= _TITLE_LINE
        for line in self._note:
            self._text(left, top / height, line, va="top", fontsize=8.0, color="#444444")
            top -= _NOTE_LINE
        if self.is_surrogate:
            self._text(
                1 - _MARGIN / self._width,
                1 - _MARGIN / height,
                "SURROGATE DATA",
                ha="right",
                va="top",
                fontsize=9.0,
                fontweight="bold",
                color="white",
                bbox={"facecolor": SURROGATE_COLOUR, "edgecolor": "none", "boxstyle": "round,pad=0.3"},
            )

    def _write_caption(self, lines: Sequence[str], height: float) -> None:
        bottom = _MARGIN
        for line in reversed(lines):
            self._text(_MARGIN / self._width, bottom / height, line, va="bottom", fontsize=7.5, color="#444444")
            bottom += _CAPTION_LINE

    def _text(self, x: float, y: float, line: str, **how: Any) -> None:
        # The layout would make room for the text; its room is set aside already.
        self.figure.text(x, y, line, **how).set_in_layout(False)

    def _lines(self, text: str, letter: float, reserved: float = 0.0) -> list[str]:
        letters = int((self._width - 2 * _MARGIN - reserved) / letter)
        return textwrap.wrap(text, max(20, letters), break_on_hyphens=False)

    def _legend_columns(self, letters: Sequence[int]) -> int:
        """Return the number of columns, each as wide as its longest label, that fits the page in the fewest rows."""
        room = self._width - 2 * _MARGIN
        for rows in range(1, len(letters)):
            longest = [max(letters[start : start + rows]) for start in range(0, len(letters), rows)]
            if sum(_LEGEND_HANDLE + _LEGEND_LETTER * count for count in longest) <= room:
                return len(longest)
        return 1


def is_surrogate(note: str) -> bool:
    """Return whether a figure's note says that the data is a surrogate."""
    return "surrogate" in note.lower()


def readable_numbers(axes: Axes, which: str) -> None:
    """Write the numbers of a linear axis with separated thousands."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value == round(value) else f"{value:g}"))


def readable_logarithm(axes: Axes, which: str) -> None:
    """Mark 1, 2 and 5 times the powers of ten of a logarithmic axis, the powers alone if many, as plain numbers."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0,) if high > _MANY_TIMES * low else (1.0, 2.0, 5.0)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))


def start_at_zero(axes: Axes, lowest: float, highest: float) -> None:
    """Let the vertical axis start at 0 if nothing drawn lies below, and if that leaves the numbers distinguishable."""
    if 0 <= lowest < highest / 2:
        axes.set_ylim(bottom=0)


def say_no_results(axes: Axes) -> None:
    """Mark a panel that has nothing to show yet."""
    axes.text(0.5, 0.5, "no results yet", transform=axes.transAxes, ha="center", va="center", color="#777777")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)


def wrapped(label: str, letters: int) -> str:
    """Return a label broken into lines."""
    return "\n".join(textwrap.wrap(label, letters)) or label


def limit_to_methods(axes: Axes, top: float, random: float, is_log: bool) -> bool:
    """Make room for the methods; if random arms lie more than 3 times above them, say so instead of drawing them.

    Parameters
    ----------
    axes
        The panel.
    top
        The largest number drawn of a method.
    random
        The regret of uniformly random arms, NaN if unknown.
    is_log
        Whether the vertical axis is logarithmic: then everything fits.

    Returns
    -------
    bool
        Whether random arms are beyond the axis and only mentioned.
    """
    is_beyond = not is_log and math.isfinite(random) and top > 0 and random > 3 * top
    if is_beyond:
        axes.set_ylim(top=1.22 * top)
        axes.text(
            0.02,
            0.98,
            f"random arms: {random:,.0f}, above this axis",
            transform=axes.transAxes,
            ha="left",
            va="top",
            fontsize=mpl.rcParams["xtick.labelsize"],
            color="#555555",
            fontstyle="italic",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            zorder=6,
        )
    return is_beyond
