"""Pictures of plots as file contents, for the screen with title, note and caption, or for print at a given width."""

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
from bench.report.formats import Size, print_size
from bench.report.labels import canonical
from bench.report.plot import Look, Panel, Plot
from bench.report.style import SURROGATE_COLOUR, applied
from bench.report.typeset import in_unicode, typeset

_DPI = 150
# No date and no version of the program that wrote it.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
# Inches, and inches per letter at the font sizes of the screen.
_MIN_WIDTH, _MOST_ACROSS = 7.0, 12.4
_MARGIN = 0.12
_TITLE_LINE, _NOTE_LINE, _CAPTION_LINE = 0.24, 0.17, 0.16
_TITLE_LETTER, _SMALL_LETTER = 0.098, 0.066
# Inches of a letter and of a line, by font size in points.
_LETTER, _LINE = 0.0081, 0.021
# Between columns of the legend, in letters.
_BETWEEN = 1.4


class Drawing(Figure):
    """A figure whose PDF has TrueType fonts (Type 42), because journals refuse the default, Type 3."""

    def savefig(self, *args: Any, **keys: Any) -> None:
        with mpl.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(*args, **keys)


@dataclass(frozen=True)
class Sheet:
    """The layout of a picture, with lengths in inches and the settings of matplotlib that differ from the screen's."""

    width: float = 0.0  # of the picture; 0: as its panels need, with title, note and caption
    panel: float = 0.0  # the least width of a panel,
    rows: float = 0.0  # and of one with named rows
    edge: float = _MARGIN  # around the page
    gaps: tuple[float, float, float] = (0.06, 0.06, 0.16)  # below the header, below the legend, and around it
    handle: float = 2.8  # a sample in the legend, in letters
    pads: tuple[float, float] = (0.08, 0.06)  # around panels
    mark: tuple[float, float, float] = (_MARGIN, 9.0, 0.3)  # words on data: from the corner, font size, around them
    settings: Any = field(default_factory=dict)


_PRINT = Sheet(
    edge=0.05, gaps=(0.0, 0.0, 0.04), handle=2.0, pads=(0.03, 0.02), mark=(0.04, 7.0, 0.15),
    settings={
        "font.size": 8.0, "axes.titlesize": 8.0, "axes.labelsize": 8.0, "axes.titlepad": 4.0, "axes.labelpad": 2.0,
        "xtick.labelsize": 7.0, "ytick.labelsize": 7.0, "legend.fontsize": 7.5, "axes.linewidth": 0.6,
        "lines.linewidth": 1.1, "lines.markersize": 3.4, "grid.linewidth": 0.4,
    },
)  # fmt: skip
SHEETS: dict[Size, Sheet] = {
    "": Sheet(),
    "column": replace(_PRINT, width=3.17, panel=1.6, rows=3.17),
    "text": replace(_PRINT, width=6.75, panel=1.65, rows=2.2),
}


def draw(plot: Plot, size: Size = "") -> Figure:
    """Return a plot as a page of panels, built without matplotlib's global state.

    In print the page has no title, note or caption, and the type has 7 to 9 points. Heat maps and tables need the whole
    width. Raises ConfigError for an unknown size.
    """
    size, plot = print_size(size), plot.spelled()
    is_table = any(panel.is_table for panel in plot.panels)
    with applied():
        sheet = SHEETS["text" if size and is_table else size]
        mpl.rcParams.update(sheet.settings)
        return _Page(plot, sheet).figure


def in_rows(panels: Sequence[Panel], most: int = 4) -> list[list[Panel]]:
    """Return the panels row by row, with at most ``most`` panels in each row.

    If titles have two parts, such as "LinUCB, simulation", and share the last part, panels with the same last part are
    in one row.
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


class _Page:
    """A page of panels, laid out in a grid."""

    def __init__(self, plot: Plot, sheet: Sheet) -> None:
        self._plot, self._sheet = plot, sheet
        rows = in_rows(plot.panels, self._most_across()) or [[]]
        across = max(1, *map(len, rows))
        self._panel = self._width_of_panel(across)
        self._width = sheet.width or max(_MIN_WIDTH, across * self._panel)
        height = len(rows) * self._height_of_panel()
        # The mark of surrogate data is next to the title.
        title = [] if sheet.width else self._lines(plot.title, _TITLE_LETTER, 1.6 if plot.mark else 0.0) or [""]
        note, caption = (self._lines(text, _SMALL_LETTER) for text in (plot.note, " ".join(plot.caption)))
        header = sheet.edge + len(title) * _TITLE_LINE + len(note) * _NOTE_LINE + sheet.gaps[0]
        header += 0.17 if sheet.width and plot.mark else 0.0
        legend = {typeset(name): look for name, look in plot.legend.items()}
        columns = self._legend_columns([len(in_unicode(name)) for name in plot.legend])
        bottom = sheet.edge + len(caption) * _CAPTION_LINE
        footer = bottom + math.ceil(len(legend) / columns) * _inches(_LINE, "legend.fontsize") + sheet.gaps[2]
        self._height = header + height + footer
        self.figure = Drawing(figsize=(self._width, self._height))
        FigureCanvasAgg(self.figure)
        self._draw_panels(rows, across)
        rect = (0, footer / self._height, 1, height / self._height)
        pads: Any = {"w_pad": sheet.pads[0], "h_pad": sheet.pads[1], "hspace": 0.04, "wspace": 0.03}
        self.figure.set_layout_engine(ConstrainedLayoutEngine(rect=rect, **pads))
        self._write(title, self._height - _MARGIN, _TITLE_LINE, va="top", fontsize=11.5, fontweight="bold")
        below = self._height - _MARGIN - len(title) * _TITLE_LINE
        self._write(note, below, _NOTE_LINE, va="top", fontsize=8.0, color="#444444")
        self._write_mark(plot.mark)
        self._write(caption[::-1], _MARGIN, -_CAPTION_LINE, va="bottom", fontsize=7.5, color="#444444")
        self._write_legend(legend, columns, bottom + sheet.gaps[1])
        self._fix_layout()

    def _fix_layout(self) -> None:
        """Fix the places of the panels.

        The layout would move a little each time, but a figure saved twice must be identical.
        """
        engine = self.figure.get_layout_engine()
        assert engine is not None  # it was just set
        engine.execute(self.figure)
        self.figure.set_layout_engine(None)  # "none" leaves a placeholder, for which saving draws everything twice
        for axes in self.figure.axes:  # the last bits depend on earlier drawings of the process
            left, bottom, width, height = (round(float(v), 9) for v in axes.get_position(original=True).bounds)
            axes.set_position((left, bottom, width, height))

    def _most_across(self) -> int:
        if not self._sheet.width:
            return 4
        has_rows = any(panel.rows for panel in self._plot.panels)
        return max(1, int(self._sheet.width / (self._sheet.rows if has_rows else self._sheet.panel)))

    def _width_of_panel(self, across: int) -> float:
        if self._sheet.width:
            return self._sheet.width / across
        width = self._plot.panel_size[0]
        if across > 1:
            width = min(width, max(_MOST_ACROSS / across, 3.0))
        return width

    def _height_of_panel(self) -> float:
        width, height = self._plot.panel_size
        if not self._sheet.width:
            return height * (1.0 if self._panel == width else 0.8 + 0.2 * self._panel / width)
        if any(panel.rows or panel.is_table for panel in self._plot.panels):
            return 0.85 * height
        return max(0.7 * self._panel + 0.3, 1.3)

    def _draw_panels(self, rows: Sequence[Sequence[Panel]], across: int) -> None:
        letters = None
        if self._sheet.width:
            wide, high = self._panel / _inches(_LETTER, "axes.titlesize"), 0.7 * self._panel
            letters = max(int(0.9 * wide), 12), max(int(high / _inches(_LETTER, "axes.labelsize")), 16)
        for y, cells in enumerate(self.figure.subplots(len(rows), across, squeeze=False)):
            for x, (axes, panel) in enumerate(zip(cells, rows[y], strict=False)):
                below = rows[y + 1][x] if y + 1 < len(rows) and x < len(rows[y + 1]) else None
                is_bottom = below is None or below.x.label != panel.x.label
                draw_panel(axes, panel, is_left=x == 0, is_bottom=is_bottom, letters=letters)
            for axes in cells[len(rows[y]) :]:
                axes.remove()

    def _write(self, lines: Sequence[str], top: float, step: float, **how: Any) -> None:
        for place, line in enumerate(lines):
            at = _MARGIN / self._width, (top - place * step) / self._height
            # The layout would make room for the text; its room is set aside already.
            self.figure.text(*at, typeset(line), **how).set_in_layout(False)

    def _write_mark(self, words: str) -> None:
        edge, size, pad = self._sheet.mark
        box = {"facecolor": SURROGATE_COLOUR, "edgecolor": "none", "boxstyle": f"round,pad={pad}"}
        how: dict[str, Any] = {"ha": "right", "va": "top", "fontweight": "bold", "color": "white", "fontsize": size}
        if words:
            text = self.figure.text(1 - edge / self._width, 1 - edge / self._height, words, bbox=box, **how)
            text.set_in_layout(False)

    def _write_legend(self, legend: dict[str, Look], columns: int, bottom: float) -> None:
        how: Any = {"columnspacing": _BETWEEN, "handlelength": self._sheet.handle, "labelspacing": 0.35}
        how |= {"loc": "lower center", "bbox_to_anchor": (0.5, bottom / self._height), "borderaxespad": 0}
        if legend:
            self.figure.legend(list(map(sample, legend.values())), list(legend), ncol=columns, borderpad=0.2, **how)

    def _lines(self, text: str, letter: float, reserved: float = 0.0) -> list[str]:
        letters = int((self._width - 2 * _MARGIN - reserved) / letter)
        return [] if self._sheet.width else textwrap.wrap(text, max(20, letters), break_on_hyphens=False)

    def _legend_columns(self, letters: Sequence[int]) -> int:
        """Return the number of columns with which the legend fits the page in the fewest rows.

        A column is as wide as its longest label.
        """
        room, letter = self._width - 2 * self._sheet.edge, _inches(_LETTER, "legend.fontsize")
        handle = _inches((self._sheet.handle + 0.8 + _BETWEEN) / 72, "legend.fontsize")
        for rows in range(1, len(letters)):
            longest = [max(letters[start : start + rows]) for start in range(0, len(letters), rows)]
            if sum(handle + letter * count for count in longest) <= room:
                return len(longest)
        return 1


def _inches(per_point: float, size: str) -> float:
    settings: Any = mpl.rcParams
    return per_point * float(settings[size])


def content(figure: Figure, kind: str) -> bytes:
    """Return a figure as PNG (150 dots per inch), SVG (text as text) or PDF (embedded TrueType fonts)."""
    file = io.BytesIO()
    with applied(), warnings.catch_warnings():
        # A missing character of the font is a box in a PNG; SVG leaves it to the reader's fonts
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure.savefig(file, format=kind, dpi=_DPI, metadata=_METADATA[kind])
    return file.getvalue()


def keep(plot: Plot, order: Iterable[str]) -> None:
    """Draw only the labels in ``order``, in this order. Raises ConfigError for an unknown label."""
    names = list(order)
    check_names(plot, names, "order")
    place = {name: i for i, name in enumerate(names)}
    plot.legend = {name: plot.legend[name] for name in names}
    for panel in plot.panels:
        kept = [mark for mark in panel.marks if mark.name in place]
        panel.marks = sorted(kept, key=lambda mark: place[mark.name])


def rename(plot: Plot, labels: Mapping[str, str]) -> None:
    """Rename labels and panels. Raises ConfigError if a name is unknown, or if two lines would have the same name."""
    titles = [panel.title for panel in plot.panels]
    check_names(plot, [name for name in labels if name not in titles], "labels")
    labels = {name: canonical(word) for name, word in labels.items()}
    names = [labels.get(name, name) for name in plot.legend]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"labels: found '{twice[0]}' for two lines, expected different labels")
    plot.legend = dict(zip(names, plot.legend.values(), strict=True))
    for panel in plot.panels:
        panel.title = labels.get(panel.title, panel.title)
        panel.marks = [replace(mark, name=labels.get(mark.name, mark.name)) for mark in panel.marks]


def check_names(plot: Plot, names: Iterable[str], key: str) -> None:
    """Raise ConfigError for a name that is not in the legend."""
    for name in names:
        if name not in plot.legend:
            raise ConfigError(f"{key}: found '{name}', expected some of: {', '.join(plot.legend)}")
