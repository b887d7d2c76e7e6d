"""What the notebooks share: they show whatever results there are of a paper, and make a few where there are none."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
from IPython.display import Image, Markdown, display
from omegaconf import OmegaConf

from runners.store import results_folder

pd.set_option("display.max_colwidth", None)  # claims and titles are sentences

_FIGURES = Path(__file__).resolve().parents[1] / "conf" / "figure"
_SCALES = ("paper", "reduced", "quick", "smoke")
_MARKS = {"holds": "✓ holds", "fails": "✗ fails", "tie": "= tie", "open": "○ open", "says_nothing": "· says nothing"}


class Story:
    """The results of a paper, each figure at the largest scale there is.

    Parameters
    ----------
    paper
        Its name in ``conf/paper``.
    first_look
        Figures that are made at scale smoke where there are no results of the paper at all.
    """

    def __init__(self, paper: str, first_look: list[str]) -> None:
        self.paper = paper
        self.root = results_folder() / paper
        paths = sorted((_FIGURES / paper).glob("*.yaml"), key=lambda path: _natural(path.stem))
        self.figures = {path.stem: OmegaConf.load(path) for path in paths}
        if not any(self.folder(name) for name in self.figures):
            names = ",".join(f"{paper}/{name}" for name in first_look)
            command = ["-m", "runners.reproduce", "--multirun", f"figure={names}", "scale=smoke"]
            print("no results yet, a first look:", "python", *command)
            subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)

    def folder(self, figure: str) -> Path | None:
        """Return the folder of a figure's largest results, real data before surrogate data; None without any."""
        made = [path for path in (self.root / figure).glob("*") if (path / "manifest.json").is_file()]
        return min(made, key=_order, default=None)

    def overview(self) -> pd.DataFrame:
        """Return a row for each figure: what it is, at which scale it is there, and how its claims came out."""
        rows = []
        for name, figure in self.figures.items():
            folder = self.folder(name)
            row = {"figure": name, "title": figure["title"], "scale": folder.name if folder else "–"}
            verdicts = self._csv(name, "claims.csv").get("verdict", pd.Series(dtype=str))
            rows.append(row | {word.replace("_", " "): int((verdicts == word).sum()) for word in _MARKS})
        return pd.DataFrame(rows).set_index("figure")

    def show(self, figure: str, width: int = 900) -> None:
        """Show a figure's picture, and what its numbers rest on."""
        folder = self.folder(figure)
        if folder is None:
            command = f"make reproduce-paper PAPER={self.paper} FIGURE={figure}"
            display(Markdown(f"*{figure} is not there yet:* `{command}`"))
            return
        display(Image(filename=str(folder / f"{figure}.png"), width=width))
        runs = json.loads((folder / "manifest.json").read_text())["runs"]
        each = json.loads((folder / "environment.json").read_text())["seconds_per_repetition"]
        seconds = sum(each.get(run["run_id"], 0) * run["repetitions"] for run in runs)
        size = f"{sum(run['repetitions'] for run in runs)} repetitions of {len(runs)} experiments, {seconds:,.0f} s"
        display(Markdown(f"*Scale {folder.name}{f': {size}' if runs else ''}.*"))

    def table(self, figure: str, name: str = "table") -> pd.DataFrame:
        """Return one of a figure's tables, with four digits; empty where it is not there."""
        return self._csv(figure, f"{name}.csv").map(lambda value: float(f"{value:.4g}") if _is_number(value) else value)

    def claims(self, figure: str) -> pd.DataFrame:
        """Return the verdicts on a figure's claims, case by case; empty where there are none."""
        table = self._csv(figure, "claims.csv")
        if table.empty:
            return table
        interval = [f"{low:.4g} to {high:.4g}" for low, high in zip(table["ci_low"], table["ci_high"], strict=True)]
        shown = table[["claim", "text", "case", "n"]].assign(
            estimate=[f"{value:.4g}" for value in table["estimate"]],
            interval=interval,
            verdict=table["verdict"].map(_MARKS),
            note=table["note"].fillna(""),
        )
        return shown.set_index("claim")

    def finals(self, figure: str) -> pd.DataFrame:
        """Return the final values of all repetitions; empty where there are none."""
        return self._csv(figure, "finals.csv")

    def settings(self, figure: str, source: str = "assumed") -> pd.DataFrame:
        """Return the settings of a figure with this source, ``stated``, ``code``, ``assumed`` or ``scale``.

        Those of which neither paper nor figure speaks, and which stand at the suite's default, are left out.
        """
        folder = self.folder(figure)
        rows = json.loads((folder / "manifest.json").read_text())["settings"] if folder else []
        table = pd.DataFrame(rows, columns=["key", "values", "source", "where"])
        wanted = (table["source"] == source) & (table["where"] != "the suite's default")
        return table[wanted].drop(columns="source").set_index("key")

    def _csv(self, figure: str, name: str) -> pd.DataFrame:
        folder = self.folder(figure)
        path = folder / name if folder else None
        return pd.read_csv(path) if path and path.is_file() else pd.DataFrame()


def _natural(name: str) -> list[str | int]:
    """Put figure10 behind figure9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _order(folder: Path) -> tuple[int, bool, str]:
    scale = folder.name.split("-")[0]
    return _SCALES.index(scale) if scale in _SCALES else len(_SCALES), "surrogate" in folder.name, folder.name


def _is_number(value: object) -> bool:
    return isinstance(value, float)
