"""What the notebooks share: they show whatever results there are of a paper, and make a few where there are none."""

import io
import re
from contextlib import redirect_stdout

import pandas as pd
from IPython.display import Image, Markdown, display

import bandit_bench as bb
from bench.gallery.result import ResultView
from bench.report.claims.tallies import spelled
from runners.config.figures import figure_names, load_figure
from runners.results.pages import read_page
from runners.results.store import results_folder

pd.set_option("display.max_colwidth", None)  # claims and titles are sentences

_VERDICTS = {"holds": "✓ holds", "fails": "✗ fails", "tie": "= tie", "open": "○ open", "no evidence": "· no evidence"}


class Story:
    """The results of a paper, each figure at the largest scale there is.

    The figures of ``first_look`` are made at scale smoke where there are no results of the paper at all.
    """

    def __init__(self, paper: str, first_look: list[str]) -> None:
        self.paper = paper
        self.figures = {name.partition("/")[2]: load_figure(name) for name in sorted(figure_names(paper), key=_natural)}
        self._read()
        if not self.results:
            print("no results yet, a first look:", *first_look)
            with redirect_stdout(io.StringIO()):
                for name in first_look:
                    bb.reproduce(f"{paper}/{name}", scale="smoke")
            self._read()

    def _read(self) -> None:
        self.results: dict[str, ResultView] = {}
        self._loaded: dict[str, bb.ComparisonResult] = {}
        for name, figure in self.figures.items():
            folders = [path.parent for path in (results_folder() / self.paper / name).glob("*/manifest.json")]
            if folders:
                stored = [ResultView(folder, figure) for folder in folders]
                self.results[name] = min(stored, key=lambda result: result.order)

    def answer(self) -> pd.DataFrame:
        """Return what the paper says in abstract, introduction and conclusion, and what our runs say."""
        is_judged = any(result.is_reference for result in self.results.values())
        judged = read_page(results_folder(), self.paper).judged if is_judged else ()
        rows = [(row.headline.claim, row.verdict, row.sentence) for row in judged]
        if not rows:
            display(Markdown("*The answer needs results at scale paper; the committed ones are in README.*"))
        return pd.DataFrame(rows, columns=["the paper", "verdict", "our runs"]).set_index("the paper")

    def load(self, figure: str) -> bb.ComparisonResult:
        """Return a figure's results, as tables and a picture."""
        if figure not in self._loaded:  # curves of committed results are derived, which takes seconds
            self._loaded[figure] = bb.load(f"{self.paper}/{figure}")
        return self._loaded[figure]

    def overview(self) -> pd.DataFrame:
        """Return a row for each figure: its title, its scale, and how its claims came out, by origin."""
        rows = []
        for name, figure in self.figures.items():
            result = self.results.get(name)
            row = {"figure": name, "title": figure.heading, "scale": result.scale if result else "–"}
            tallies = result.every_tally.items() if result else ()
            claims = "; ".join(f"{origin}: {spelled(tally)}" for origin, tally in tallies if tally)
            rows.append(row | {"claims": claims})
        return pd.DataFrame(rows).set_index("figure")

    def show(self, figure: str, width: int = 900) -> None:
        """Draw a figure from its marks, and say what its numbers rest on."""
        result = self.results.get(figure)
        if result is None:
            command = f"make reproduce-paper PAPER={self.paper} FIGURE={figure}"
            display(Markdown(f"*There are no results of {figure} yet:* `{command}`"))
            return
        if result.is_computed:
            display(result.table(figure))
        else:
            picture = io.BytesIO()
            self.load(figure).plot().savefig(picture, format="png", dpi=110)
            display(Image(data=picture.getvalue(), width=width))
        rest = f"{result.size}, {result.run_time}" if result.manifest.runs else ""
        display(Markdown(f"*Scale {', '.join(filter(None, [result.scale, rest]))}.*"))

    def table(self, figure: str, name: str = "table") -> pd.DataFrame:
        """Return one of a figure's tables, with four digits; empty without results."""
        result = self.results.get(figure)
        table = result.csv(f"{name}.csv") if result and f"{name}.csv" in result.files else pd.DataFrame()
        return table.map(lambda value: float(f"{value:.4g}") if isinstance(value, float) else value)

    def claims(self, figure: str) -> pd.DataFrame:
        """Return the verdicts on a figure's claims, case by case; empty without any."""
        result = self.results.get(figure)
        table = pd.DataFrame([case for claim in result.claims for case in claim.every] if result else [])
        if table.empty:
            return table
        table["verdict"] = _in_words(table)
        return table[["claim", "text", "case", "n", "estimate", "interval", "verdict", "note"]].set_index("claim")

    def readings(self, figure: str) -> pd.DataFrame:
        """Return the verdicts on a figure's claims, case by case, a column for each reading; empty without any."""
        result = self.results.get(figure)
        if result is None or "readings.csv" not in result.files:
            return pd.DataFrame()
        table = result.csv("readings.csv", "claim", "holm").fillna({"case": ""})
        table["verdict"] = _in_words(table)
        order = {"index": ["claim", "case"], "columns": "reading", "sort": False}
        return table.pivot_table(values="verdict", aggfunc="first", **order).rename_axis(columns=None)

    def finals(self, figure: str) -> pd.DataFrame:
        """Return the final values of all repetitions; empty without results."""
        return self.load(figure).finals if figure in self.results else pd.DataFrame()

    def settings(self, figure: str, source: str = "assumed") -> pd.DataFrame:
        """Return the settings of a figure with this source, ``stated``, ``code``, ``assumed`` or ``scale``.

        Those of which neither paper nor figure speaks, and which stand at the suite's default, are left out.
        """
        if figure not in self.results:
            return pd.DataFrame(columns=["key", "values", "where"]).set_index("key")
        table = self.load(figure).settings
        wanted = (table["source"] == source) & (table["where"] != "the suite's default")
        return table[wanted].drop(columns="source").set_index("key")


def _natural(name: str) -> list[str | int]:
    """Put figure10 behind figure9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _in_words(table: pd.DataFrame) -> "pd.Series[str]":
    """Return verdicts in words, with those on whether they remain after Holm's correction."""
    pale = table["holm"].eq("no").map({True: ", not after Holm's correction", False: ""})
    return table["verdict"].map(_VERDICTS) + pale
