"""The table of reference results in docs/reproduce.md: how large they are, what they took, and from which code."""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bench.report.stored import Stored
from bench.report.tables import to_csv
from runners.config.figures import figure_names
from runners.results.committed import FILE
from runners.results.store import results_folder, write_text

VERIFIED = "verified.csv"
"""In the folder of results: when repetitions of a reference result were last verified."""
_COLUMNS = ["result", "day", "commit", "repetitions", "values", "equal"]


class Verified(NamedTuple):
    """What a verification found of one result: repetitions, values, and how many of these are equal."""

    repetitions: int
    values: int
    equal: int


def record(verified: dict[str, Verified], commit: str) -> None:
    """Note in `VERIFIED` what a verification found, by result (``cdt/figure2/paper``), in place of earlier ones."""
    path = results_folder() / VERIFIED
    known = pd.read_csv(path, dtype=str) if path.is_file() else pd.DataFrame(columns=_COLUMNS)
    day = datetime.now(UTC).date().isoformat()
    new = pd.DataFrame([[name, day, commit[:10], *numbers] for name, numbers in verified.items()], columns=_COLUMNS)
    every = pd.concat([known[~known["result"].isin(verified)], new], ignore_index=True)
    write_text(path, to_csv(every.sort_values("result")))


def reference_part(folder: Path | None = None) -> str:
    """Return the table as Markdown: a row for each reference result in a folder of results, and sums by paper.

    Hours are those of one core, from the measured seconds of repetitions. What readings or figures share counts once in
    each figure, and once in the sums.
    """
    folder = folder or results_folder()
    path = folder / VERIFIED
    verified = pd.read_csv(path, dtype=str).set_index("result")["day"].to_dict() if path.is_file() else {}
    rows = ["| figure | repetitions | core-hours | commit | verified |", "| --- | --- | ---: | --- | --- |"]
    spent: dict[str, dict[str, float]] = {}
    for name in figure_names():
        of_paper = spent.setdefault(name.partition("/")[0], {})
        results = [Stored(path.parent, None) for path in sorted((folder / name).glob("paper*/manifest.json"))]
        if not results:
            rows.append(f"| `{name}` | none yet | | | |")
        for result in results:
            label = f"`{name}`" + ("" if result.scale == "paper" else f", {result.scale}")
            for run_id, seconds in result.seconds_by_run.items():
                of_paper[run_id] = max(seconds, of_paper.get(run_id, 0.0))
            when = verified.get(f"{name}/{result.scale}", "" if FILE in result.files else "cannot be")
            hours = "" if result.seconds is None else f"{result.seconds / 3600.0:.2f}"
            rows.append(f"| {label} | {result.repetitions.partition(' rep')[0]} | {hours} | {result.commit} | {when} |")
    sums = {f"all of `{paper}`": sum(seconds.values()) for paper, seconds in spent.items()}
    sums["all"] = sum({run_id: of_run for seconds in spent.values() for run_id, of_run in seconds.items()}.values())
    rows += [f"| {label} | | {seconds / 3600.0:.2f} | | |" for label, seconds in sums.items()]
    return "\n".join(rows)
