"""Pictures of plots: for the screen with title, note and caption, or for print at a given width; as file contents."""

import io
import math
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from bench.errors import ConfigError
from bench.report.drawing import draw_panel, sample
from bench.report.formats import SIZES, Size
from bench.report.plot import Panel, Plot
from bench.report.style import SURROGATE_COLOUR, applied
from bench.report.typeset import in_unicode, on_one_line, typeset

_DPI = 150
# No date and no version of the program that wrote it.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
# Inches.
_MIN_WIDTH, _MOST_ACROSS, _LINE = 7.0, 12.4, 0.18
_LETTER = 0.62 / 72
"""Inches of a letter by its size in points."""


class Drawing(Figure):
    """A figure whose PDF has TrueType fonts (Type 42): journals refuse the default, Type 3."""

    def savefig(self, *args: Any, **keys: Any) -> None:
        with mpl.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(*args, **keys)


@dataclass(frozen=True)
class Sheet:
    """Layout of a picture: lengths in inches, and matplotlib's settings that differ from the screen's."""

    width: float = 0.0  # of the picture; 0: as its panels need, with title, note and caption
    panel: float = 0.0  # the least width of a panel,
    rows: float = 0.0  # and of one with named rows
    pads: tuple[float, float] = (0.08, 0.06)  # around panels
    settings: Any = field(default_factory=dict)


_PRINT = Sheet(
    pads=(0.03, 0.02),
    settings={
        "font.size": 8.0, "axes.titlesize": 8.0, "axes.labelsize": 8.0, "axes.titlepad": 4.0, "axes.labelpad": 2.0,
        "xtick.labelsize": 7.0, "ytick.labelsize": 7.0, "legend.fontsize": 7.5, "axes.linewidth": 0.6,
        "lines.linewidth": 1.1, "lines.markersize": 3.4, "grid.linewidth": 0.4, "legend.handlelength": 2.0,
    },
)  # fmt: skip
SHEETS: dict[Size, Sheet] = {
    "": Sheet(),
    "column": replace(_PRINT, width=3.17, panel=1.6, rows=3.17),
    "text": replace(_PRINT, width=6.75, panel=1.65, rows=2.2),
}


def check_size(size: str) -> None:
    """Raise ConfigError unless it is a width for print, or "" for the screen's."""
    if size not in SHEETS:
        raise ConfigError(f"size: found '{size}', expected {' or '.join(SIZES)}")


def draw(plot: Plot, size: Size = "") -> Figure:
    """Return a plot as a page of panels, built without matplotlib's global state.

    For print without title, note and caption, and with letters of 7 to 9 points; heat maps and tables need the whole
    width. Raises ConfigError for an unknown size.
    """
    check_size(size)
    plot = plot.spelled()
    is_table = any(panel.is_table for panel in plot.panels)
    with applied():
        sheet = SHEETS["text" if size and is_table else size]
        mpl.rcParams.update(sheet.settings)
        return _page(plot, sheet)


def in_rows(panels: Sequence[Panel], most: int = 4) -> list[list[Panel]]:
    """Return panels row by row, at most so many in each.

    If titles have two parts, such as "LinUCB, simulation", and share the last, panels that share it are in one row.
    """
    last = [panel.title.rpartition(", ")[2] if ", " in panel.title else "" for panel in panels]
    counts = Counter(last)
    if "" not in counts and len(counts) > 1 and len(set(counts.values())) == 1 and counts[last[0]] > 1:
        groups = [[p for p, word in zip(panels, last, strict=True) if word == name] for name in counts]
    else:
        groups = [list(panels)]
    count = len(groups[0])
    across = count if count <= 3 or (len(groups) > 1 and count == 4) else math.ceil(count / math.ceil(count / 4))
    across = min(2 if count == 4 and len(groups) == 1 else across, most)
    return [group[start : start + across] for group in groups for start in range(0, count, across)]


def _page(plot: Plot, sheet: Sheet) -> Figure:
    """Return a page of panels in a grid, with the title above, legend, note and caption below."""
    is_print = bool(sheet.width)
    rows = in_rows(plot.panels, _most_across(plot, sheet)) or [[]]
    across = max(1, *map(len, rows))
    panel, height = _size_of_panel(plot, sheet, across)
    width = sheet.width or max(_MIN_WIDTH, across * panel)
    figure = Drawing(figsize=(width, len(rows) * height))
    FigureCanvasAgg(figure)
    _draw_panels(figure, rows, across, panel if is_print else 0.0)
    note = " ".join(filter(None, (plot.note and f"{plot.note}.", *plot.caption)))
    title, below = ([], []) if is_print else (_lines(plot.title, width, 11.5), _lines(note, width, 7.5))
    legend = _legend(plot, width)
    lines = 1.5 * len(title) + len(below) + legend.get("nrows", 0) + (is_print and bool(plot.mark))
    top = len(rows) * height + _LINE * lines
    figure.set_figheight(top)
    footer, beneath = (_LINE * count / top for count in (len(below) + legend.get("nrows", 0), len(below)))
    if title:
        figure.suptitle("\n".join(title), x=0.01, ha="left", fontsize=11.5, fontweight="bold")
    written = [figure.text(0.01, 0.05 / top, "\n".join(below), fontsize=7.5, color="#444444")] if below else []
    if plot.mark:
        box = {"facecolor": SURROGATE_COLOUR, "edgecolor": "none", "boxstyle": "round,pad=0.2"}
        how: dict[str, Any] = {"ha": "right", "va": "top", "color": "white", "fontweight": "bold", "bbox": box}
        written.append(figure.text(1 - 0.1 / width, 1 - 0.07 / top, plot.mark, **how))
    for text in written:  # whose room is set aside
        text.set_in_layout(False)
    if legend:
        samples, names = map(sample, plot.legend.values()), map(typeset, plot.legend)
        place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, beneath), "borderaxespad": 0.3}
        figure.legend(list(samples), list(names), ncols=legend["ncols"], **place).set_in_layout(False)
    head = _LINE * 1.2 / top if is_print and plot.mark else 0
    pads: Any = {"w_pad": sheet.pads[0], "h_pad": sheet.pads[1], "hspace": 0.04, "wspace": 0.03}
    _lay_out(figure, ConstrainedLayoutEngine(rect=(0, footer, 1, 1 - footer - head), **pads))
    return figure


def _lay_out(figure: Figure, engine: ConstrainedLayoutEngine) -> None:
    """Fix the places of panels: the layout moves a little each time, and a figure saved twice must be identical."""
    figure.set_layout_engine(engine)
    engine.execute(figure)
    figure.set_layout_engine(None)  # "none" leaves a placeholder, for which saving draws everything twice
    for axes in figure.axes:  # the last bits depend on earlier drawings of the process
        left, bottom, width, height = (round(float(v), 9) for v in axes.get_position(original=True).bounds)
        axes.set_position((left, bottom, width, height))


def _most_across(plot: Plot, sheet: Sheet) -> int:
    least = sheet.rows if any(panel.rows for panel in plot.panels) else sheet.panel
    return max(1, int(sheet.width / least)) if sheet.width else 4


def _size_of_panel(plot: Plot, sheet: Sheet, across: int) -> tuple[float, float]:
    """Return the width and height of panels, of which so many are beside each other."""
    width, height = plot.panel_size
    if not sheet.width:
        narrow = width if across == 1 else min(width, max(_MOST_ACROSS / across, 3.0))
        return narrow, height * (0.8 + 0.2 * narrow / width)
    panel = sheet.width / across
    has_rows = any(panel.rows or panel.is_table for panel in plot.panels)
    return panel, 0.85 * height if has_rows else max(0.7 * panel + 0.3, 1.3)


def _draw_panels(figure: Figure, rows: Sequence[Sequence[Panel]], across: int, panel: float) -> None:
    """Draw the panels; ``panel`` is their width in print, 0 on the screen."""
    letters = (max(int(13.9 * panel), 12), max(int(10.8 * panel), 16)) if panel else None
    for y, cells in enumerate(figure.subplots(len(rows), across, squeeze=False)):
        for x, (axes, of) in enumerate(zip(cells, rows[y], strict=False)):
            below = rows[y + 1][x] if y + 1 < len(rows) and x < len(rows[y + 1]) else None
            is_bottom = below is None or below.x.label != of.x.label
            draw_panel(axes, of, is_left=x == 0, is_bottom=is_bottom, letters=letters)
        for axes in cells[len(rows[y]) :]:
            axes.remove()


def _lines(text: str, width: float, points: float) -> list[str]:
    letters = max(20, int(width / (_LETTER * points)) - 4)
    return [typeset(line) for line in textwrap.wrap(on_one_line(text), letters, break_on_hyphens=False)]


def _legend(plot: Plot, width: float) -> dict[str, int]:
    """Return the columns of the legend, all as wide as its longest name, and its rows; nothing without a legend."""
    if not plot.legend:
        return {}
    points = float(mpl.rcParams["legend.fontsize"])
    column = _LETTER * points * (max(len(in_unicode(name)) for name in plot.legend) + 6)
    columns = min(max(1, int(width / column)), len(plot.legend))
    return {"ncols": columns, "nrows": math.ceil(len(plot.legend) / columns)}


def content(figure: Figure, kind: str) -> bytes:
    """Return a figure as PNG (150 dots per inch), SVG (text as text) or PDF (embedded TrueType fonts)."""
    file = io.BytesIO()
    with applied(), warnings.catch_warnings():
        # A missing character of the font is a box in a PNG; SVG leaves it to the reader's fonts
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(file, format=kind, dpi=_DPI, metadata=_METADATA[kind])
    return file.getvalue()


def keep(plot: Plot, order: Iterable[str]) -> None:
    """Draw only some labels, in this order. Raises ConfigError for an unknown one."""
    names = list(order)
    check_names(plot, names, "order")
    place = {name: i for i, name in enumerate(names)}
    plot.legend = {name: plot.legend[name] for name in names}
    for panel in plot.panels:
        kept = [mark for mark in panel.marks if mark.name in place]
        panel.marks = sorted(kept, key=lambda mark: place[mark.name])


def rename(plot: Plot, labels: Mapping[str, str]) -> None:
    """Rename labels and panels. Raises ConfigError for an unknown one."""
    titles = [panel.title for panel in plot.panels]
    check_names(plot, [name for name in labels if name not in titles], "labels")
    plot.legend = {labels.get(name, name): sample for name, sample in plot.legend.items()}
    for panel in plot.panels:
        panel.title = labels.get(panel.title, panel.title)
        panel.marks = [replace(mark, name=labels.get(mark.name, mark.name)) for mark in panel.marks]


def check_names(plot: Plot, names: Iterable[str], key: str) -> None:
    """Raise ConfigError for a name that is not in the legend."""
    for name in names:
        if name not in plot.legend:
            raise ConfigError(f"{key}: found '{name}', expected some of: {', '.join(plot.legend)}")
