"""What came of a comparison, or of a figure of a paper: tables, verdicts, and a picture that can be changed."""

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.errors import ConfigError

if TYPE_CHECKING:  # slow to import
    import matplotlib.figure
    import pandas as pd

    from bench.report.figure import Figure
    from bench.report.page import Size
    from bench.report.provenance import Manifest, Provenance

COMPARISON = "comparison.json"
"""The figure of a comparison, beside its results."""
_SCALES = ("paper", "reduced", "quick", "smoke")
_VERDICTS = ["claim", "text", "case", "estimate", "ci_low", "ci_high", "n", "verdict", "holm", "repetitions_needed",
             "note"]  # fmt: skip


class ComparisonResult:
    """The results in a folder: of `compare`, of `reproduce`, or committed ones (`load`).

    Tables are tidy: a column for each axis, numeric where its values are numbers. `is_complete`: whether nothing was
    left out, and no repetition failed; `notes`: what to know when reading it.
    """

    def __init__(self, folder: Path, figure: "Figure", *, is_complete: bool = True, notes: Sequence[str] = ()) -> None:
        self.folder = folder
        self.is_complete = is_complete
        self.notes = list(notes)
        self._figure = figure

    @property
    def title(self) -> str:
        return self._figure.heading

    @property
    def scale(self) -> str:
        """The scale of its runs, such as ``"paper"``; `folder` also tells a part, or sizes of your own."""
        return self._manifest.scale

    @property
    def command(self) -> str:
        """The command that makes it; of a class that no command can name, what it was compared with."""
        return self._manifest.command

    @cached_property
    def table(self) -> "pd.DataFrame":
        """The figure's table; of a comparison: axes, ``n``, ``mean`` of the last round, and its interval."""
        return self._csv("table.csv")

    @cached_property
    def curves(self) -> "pd.DataFrame":
        """Mean curves: axes, ``column``, ``round``, ``mean``, ``std``, ``ci_low``, ``ci_high``, ``n``; or empty."""
        return self._csv("curves.csv")

    @cached_property
    def finals(self) -> "pd.DataFrame":
        """A row for each repetition: axes, ``repetition``, ``rounds``, the last value of every column of its trace."""
        finals, seconds = self._csv("finals.csv"), self._csv("seconds.csv")
        return finals.join(seconds[[name for name in seconds if name not in finals and name != "reading"]])

    @cached_property
    def verdicts(self) -> "pd.DataFrame":
        """A row for each case of each claim: estimate, 95 % interval, verdict, and ``holm``: whether it remains."""
        words = dict.fromkeys(("claim", "case", "holm", "note"), str)
        return self._csv("claims.csv", words).reindex(columns=_VERDICTS).fillna(dict.fromkeys(words, ""))

    @cached_property
    def settings(self) -> "pd.DataFrame":
        """Every setting of its runs with its values, its source (stated, code, assumed, scale) and the place."""
        import pandas as pd

        rows = [setting.model_dump() for setting in self._manifest.settings]
        return pd.DataFrame(rows, columns=["key", "values", "source", "where"])

    @cached_property
    def _manifest(self) -> "Manifest":
        from bench.report.provenance import Manifest  # slow to import

        return Manifest.model_validate_json((self.folder / "manifest.json").read_bytes())

    @cached_property
    def _provenance(self) -> "Provenance":
        from bench.report.provenance import Provenance  # slow to import

        return Provenance.of_manifest(self._manifest.model_dump(exclude_none=True))

    @cached_property
    def _derived(self) -> Mapping[str, bytes]:
        """The tables of which committed results have no files."""
        from runners.results.derive import committed_long_tables  # slow to import

        return committed_long_tables(self._figure, self.folder)

    def _csv(self, name: str, words: Mapping[str, type] | None = None) -> "pd.DataFrame":
        """Return a table, numbers as numbers; empty where there is none."""
        import pandas as pd

        from bench.report.tables import from_csv  # slow to import

        path = self.folder / name
        if path.is_file():
            return from_csv(path, dtype=words)
        has_repetitions = (self.folder / "repetitions.parquet").is_file()
        content = self._derived.get(name) if has_repetitions and name in ("curves.csv", "finals.csv") else None
        return from_csv(BytesIO(content)) if content else pd.DataFrame()

    def plot(
        self,
        *,
        colors: Mapping[str, str] | None = None,
        order: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        y_scale: Literal["linear", "log"] | None = None,
        x_scale: Literal["linear", "log"] | None = None,
        title: str | None = None,
        size: "Size" = "",
    ) -> "matplotlib.figure.Figure":
        """Return the picture as a matplotlib figure, which can be changed further and saved.

        ``colors`` and ``labels`` are by label; ``order``: the labels that are drawn, in this order; ``size``:
        ``"column"`` or ``"text"``, the width in a paper, with letters of 7 to 9 points, no title and no note.
        Raises ConfigError where there is nothing to draw, or a label, colour, scale or size is not there.
        """
        from bench.report.figure import read_figure  # slow to import
        from bench.report.page import draw
        from bench.report.render import plot_of
        from bench.report.restyle import keep, recolour, rename
        from bench.report.results import Results

        changes = {"y_scale": y_scale, "x_scale": x_scale, "title": title}
        given = {key: value for key, value in changes.items() if value is not None}
        if unknown := [key for key in given if key not in type(self._figure).model_fields]:
            raise ConfigError(
                f"{unknown[0]}: found it for a figure of kind '{self._figure.kind}', which has no such key"
            )
        figure = read_figure({**self._figure.given(), **given}) if given else self._figure
        tables = {name: self._csv(f"{name}.csv") for name in figure.table_titles()}
        plot = plot_of(Results(figure, self.curves, self.finals, self._provenance), tables)
        if plot is None:
            raise ConfigError(f"{self.title}: found no picture, which tables of this kind do not have")
        if colors is not None:
            recolour(plot, colors)
        if order is not None:
            keep(plot, order)
        if labels is not None:
            rename(plot, labels)
        picture = draw(plot, size)
        setattr(picture, "_repr_png_", partial(_as_png, picture))  # noqa: B010, by which notebooks show it
        return picture

    def to_latex(self, *, size: "Size" = "column") -> str:
        """Return the table of final values as LaTeX, for the width of a column (two panels) or of the text (three)."""
        from bench.report.latex import latex_tables  # slow to import
        from bench.report.results import Results

        tables = {"table": self.table}
        results = Results(self._figure, self.curves, self.finals, self._provenance)
        return latex_tables(results, tables, size=size)["table"]

    def __repr__(self) -> str:
        return f"<ComparisonResult: {self.title}, {self._provenance.words()}, in {self.folder}>"

    def _repr_html_(self) -> str:
        """Return the table and the verdicts for a notebook."""
        shown = self.verdicts[["text", "case", "verdict", "estimate", "ci_low", "ci_high", "n"]]
        verdicts = shown.to_html(index=False, float_format="{:.4g}".format, border=0) if len(shown) else ""
        table = self.table.to_html(index=False, float_format="{:.5g}".format, border=0)
        rest = f"{escape(self._provenance.words())}; {escape(str(self.folder))}"
        return f"<h4>{escape(self.title)}</h4>{table}{verdicts}<p>{rest}</p>"


def _as_png(figure: "matplotlib.figure.Figure") -> bytes:
    content = BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()


def load(name: str, *, scale: str | None = None) -> ComparisonResult:
    """Return results that are there: of a figure, such as ``"cdt/figure2"``, or ``"compare/<name>"``.

    They are looked for in the folder of results and among the committed ones; of a figure at ``scale``, the last part
    of the folder, by default at the largest there is, parts of a figure (``only``) last. Of two alike one's own counts.
    Raises ConfigError where there are none.
    """
    from bench.report.figure import read_figure  # slow to import
    from runners.config.figures import load_figure
    from runners.config.tree import CHECKOUT, one_of
    from runners.results.store import results_folder

    roots = dict.fromkeys([results_folder(), *([CHECKOUT / "results"] if CHECKOUT else [])])
    if name.startswith("compare/"):
        for root in roots:
            if (root / name / COMPARISON).is_file():
                content = json.loads((root / name / COMPARISON).read_text(encoding="utf-8"))
                return ComparisonResult(root / name, read_figure(content))
        known = sorted({path.parent.name for root in roots for path in root.glob(f"compare/*/{COMPARISON}")})
        raise ConfigError(f"found no comparison '{name}', {one_of(name.partition('/')[2], known)}")
    figure = load_figure(name)
    folders = [path.parent for root in roots for path in sorted((root / name).glob("*/manifest.json"))]
    if chosen := [folder for folder in folders if scale in (None, folder.name)]:
        return ComparisonResult(min(chosen, key=_order), figure)
    if scale and (folders or scale not in _SCALES):
        there = dict.fromkeys(folder.name for folder in folders) or _SCALES
        raise ConfigError(f"found no results of {name} at scale {scale}, {one_of(scale, there)}")
    raise ConfigError(f"found no results of {name}, expected some: bandit_bench.reproduce('{name}') makes them")


def _order(folder: Path) -> tuple[bool, int, bool, str]:
    """Return what to sort by: whole figures first, the largest scale, real and synthetic data before stand-ins."""
    size, *more = folder.name.split("-")
    place = _SCALES.index(size) if size in _SCALES else len(_SCALES)
    command = json.loads((folder / "manifest.json").read_bytes()).get("command", "")
    is_part = any(word.startswith("only=") for word in shlex.split(command))
    return is_part, place, bool({"surrogate", "altered"} & set(more)), folder.name
