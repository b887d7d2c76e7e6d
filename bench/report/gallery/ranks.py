"""The front page's answer to: which tuner should I take?"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from bench.report.gallery.papers import Figure, PaperPage

_COLUMNS = {"method", "tasks", "n", "mean_rank", "ci_low", "ci_high", "relative"}


def ranks(papers: list[PaperPage]) -> dict[str, Any] | None:
    """Return the mean ranks of a headline figure that has them, the best first; None without."""
    of_paper = {method: page.name for page in papers for method in page.headline.get("methods", ())}
    for figure in (page.shown for page in papers):
        table = figure.first.table("ranks") if figure and figure.first else pd.DataFrame()
        if figure and len(table) and set(table) >= _COLUMNS and table["mean_rank"].notna().any():
            table = table[table["mean_rank"].notna()].sort_values("mean_rank")
            low, high = 1.0, float(table["ci_high"].max())

            def place(value: float, low: float = low, high: float = high) -> float:
                return round(3 + 94 * (value - low) / (high - low or 1), 1)

            rows = [
                {**row, "paper": of_paper.get(row["method"], ""),
                 "spot": [place(row[key]) for key in ("ci_low", "ci_high", "mean_rank")]}
                for row in table.to_dict("records")
            ]  # fmt: skip
            reference = [row["spot"][2] for row in rows if row["method"] in figure.config.get("reference", {}).values()]
            return {"figure": figure, "rows": rows, "ends": (low, high), "random": next(iter(reference), None),
                    "command": _beside_best(figure, rows)}  # fmt: skip
    return None


def _beside_best(figure: Figure, rows: list[dict[Any, Any]]) -> str:
    """Return the command that compares a user's tuner with the three that rank first; "" if it cannot be said."""
    methods: Mapping[str, Any] = figure.config.get("runs", [{}])[0].get("method", {})
    chosen = [methods.get(row["method"], []) for row in rows[:3]]
    if not all(len(words) == 1 and words[0].startswith("tuner=") for words in chosen):
        return ""
    tuners = ",".join(["my_module.MyTuner", *(words[0].removeprefix("tuner=") for words in chosen)])
    return f"python -m runners.compare tuner={tuners} env=synthetic_linear horizon=2000 repetitions=20 format=tex"
