"""Results of a comparison or of a paper's figure: tables, verdicts, and a picture that can be changed."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.columns import names_of
from bench.errors import ConfigError
from bench.rewards import short

if TYPE_CHECKING:  # slow to import
    import matplotlib.figure
    import pandas as pd

    from bench.report.figure import Figure
    from bench.report.folder import ResultFiles
    from bench.report.formats import Size
    from bench.report.results import Results


class ComparisonResult:
    """The results in a folder, made by `compare` or `reproduce`, or read by `load`.

    Tables are tidy: they have a column for each axis, which is numeric if its values are numbers. `is_complete` states
    whether no line was left out and no repetition failed; `notes` holds remarks for the reader. A damaged file raises
    BenchError when it is used.
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
        """The scale of the runs, such as ``"paper"``.

        The name of `folder` also marks a partial figure, and sizes other than the scale's.
        """
        return self._files.about.scale

    @property
    def command(self) -> str:
        """The command that makes the results, or the compared classes if a class has no dotted path."""
        return self._files.about.command

    @property
    def table(self) -> "pd.DataFrame":
        """The table of the figure; for a comparison the axes, ``n``, and the last ``mean`` with its interval."""
        return self._csv("table.csv")

    @property
    def curves(self) -> "pd.DataFrame":
        """The mean curves, which may be empty.

        The columns are the axes, ``column``, ``round``, ``mean``, ``std``, ``ci_low``, ``ci_high`` and ``n``.
        """
        return self._results.given_curves

    @property
    def finals(self) -> "pd.DataFrame":
        """One row per repetition: axes, ``repetition``, ``rounds``, and the last value of each column of the trace."""
        return self._results.given_finals

    @cached_property
    def verdicts(self) -> "pd.DataFrame":
        """One row per case of each claim: estimate, 95 % interval, verdict, and Holm's correction in ``holm``."""
        words = names_of("claims", "word")
        table = self._csv("claims.csv", *words)
        table = table.assign(**{name: "" for name in words if name not in table})
        return table.reindex(columns=names_of("claims")).fillna(dict.fromkeys(words, ""))

    @cached_property
    def settings(self) -> "pd.DataFrame":
        """Every setting of the runs, with its values, its source (stated, code, assumed, scale) and its place there."""
        import pandas as pd

        rows = [setting.model_dump() for setting in self._files.about.settings]
        return pd.DataFrame(rows, columns=["key", "values", "source", "where"])

    @cached_property
    def _files(self) -> "ResultFiles":
        from bench.report.folder import ResultFiles  # slow to import

        return ResultFiles(self.folder)

    @cached_property
    def _results(self) -> "Results[Figure]":
        from runners.results.derive import results_in

        return results_in(self._figure, self.folder)

    def _csv(self, name: str, *words: str) -> "pd.DataFrame":
        import pandas as pd

        try:
            return self._files.csv(name, *words)
        except FileNotFoundError:
            return pd.DataFrame()

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

        ``colors`` maps labels to colours, ``labels`` maps labels to other words, and ``order`` lists the labels to
        draw. ``size`` is the width in a paper, ``"column"`` or ``"text"``; the picture then has type of 7 to 9 points,
        and no title or note. Raises ConfigError if there is nothing to draw, or for an unknown label, colour, scale or
        size.
        """
        from bench.report.figure import read_figure  # slow to import
        from bench.report.pictures import check_names, draw, keep, rename
        from bench.report.results import Results

        changes = {"y_scale": y_scale, "x_scale": x_scale, "title": title}
        given = {key: value for key, value in changes.items() if value is not None}
        figure = read_figure({**self._figure.given(), **given}, is_own=True) if given else self._figure
        figure = figure.model_copy(update={"colors": figure.colors | dict(colors or {})})
        found = self._results
        results = Results(figure, found.given_curves, found.given_finals, found.provenance)
        plot = figure.picture(results, {name: self._csv(f"{name}.csv") for name in figure.table_titles()})
        if plot is None:
            raise ConfigError(f"{self.title}: found no picture: a figure of this kind has tables only")
        check_names(plot, colors or (), "colors")
        if order is not None:
            keep(plot, order)
        if labels is not None:
            rename(plot, labels)
        picture = draw(plot, size)
        setattr(picture, "_repr_png_", partial(_as_png, picture))  # noqa: B010, by which notebooks show it
        return picture

    def to_latex(self, *, size: "Size" = "column") -> str:
        """Return the table of final values as LaTeX, as wide as a column (two panels) or as the text (three panels)."""
        from bench.report.latex import latex_tables  # slow to import

        return latex_tables(self._results, {"table": self.table}, size=size)["table"]

    def __repr__(self) -> str:
        return f"<ComparisonResult: {self.title}, {self._files.provenance.words()}, in {self.folder}>"

    def _repr_html_(self) -> str:
        shown = self.verdicts[["text", "case", "verdict", "estimate", "ci_low", "ci_high", "n"]]
        verdicts = shown.to_html(index=False, float_format="{:.4g}".format, border=0) if len(shown) else ""
        table = self.table.to_html(index=False, float_format="{:.5g}".format, border=0)
        rest = f"{escape(self._files.provenance.words())}; {escape(str(self.folder))}"
        return f"<h4>{escape(self.title)}</h4>{table}{verdicts}<p>{rest}</p>"


def _as_png(figure: "matplotlib.figure.Figure") -> bytes:
    content = BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()


def load(name: str, *, scale: str | None = None) -> ComparisonResult:
    """Return existing results of a figure, such as ``"cdt/figure2"``, or of a comparison, ``"compare/<name>"``.

    The folder of results is searched first, then the committed results. ``scale`` is the last part of the folder's
    path, by default the largest scale; partial figures (``only``) come last. Raises ConfigError if there are no
    results.
    """
    from bench.report.figure import read_figure  # slow to import
    from bench.report.folder import COMPARISON, SCALES
    from runners.config.figures import load_figure
    from runners.config.folders import CHECKOUT, look_again
    from runners.config.tree import one_of
    from runners.results.folder import ResultFolder
    from runners.results.store import results_folder

    look_again()
    if not isinstance(name, str):
        raise ConfigError(f"found {short(name)}, expected the name of a result, such as 'cdt/figure2'")
    roots = dict.fromkeys([results_folder(), *([CHECKOUT / "results"] if CHECKOUT else [])])
    known = sorted({path.parent.name for root in roots for path in root.glob(f"compare/*/{COMPARISON}")})
    if name.startswith("compare/"):
        for root in roots:
            if (root / name / COMPARISON).is_file():
                figure = ResultFolder(root / name).read(COMPARISON, lambda text: read_figure(json.loads(text)))
                return ComparisonResult(root / name, figure)
        raise ConfigError(f"found no comparison '{name}', {one_of(name.partition('/')[2], known)}")
    if name in known:
        raise ConfigError(f"found '{name}', the name of a comparison, expected 'compare/{name}'")
    figure = load_figure(name)
    folders = [result.path for root in roots for result in ResultFolder.of(root, name, "*")]
    if chosen := [ComparisonResult(folder, figure) for folder in folders if scale in (None, folder.name)]:
        return min(chosen, key=lambda result: result._files.order)
    if scale and (folders or scale not in SCALES):
        there = dict.fromkeys(folder.name for folder in folders) or SCALES
        raise ConfigError(f"found no results of {name} at scale {scale}, {one_of(scale, there)}")
    raise ConfigError(f"found no results of {name}, expected some: bandit_bench.reproduce('{name}') makes them")
