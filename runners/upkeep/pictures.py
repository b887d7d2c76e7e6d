"""Draw committed pictures again: python -m runners.upkeep.pictures [FIGURE ...].

Nothing is run and no table is written: figures are drawn from the repetitions that are committed beside them, those of
measured seconds, which no repetition gives again, from their tables. Run it when the drawing changes.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from bench.report.figure import Figure
from bench.report.page import draw
from bench.report.plot import Plot
from bench.report.readings import matrix
from bench.report.saving import save
from bench.report.stored import Stored
from runners.config.figures import figure_names, load_figure
from runners.results.derive import committed_long_tables, derive_committed
from runners.results.golden import is_backed
from runners.results.store import results_folder


def main(names: Sequence[str]) -> int:
    """Draw the figures named, or all that have committed results; return the exit code."""
    for name in names or figure_names():
        figure = load_figure(name)
        for folder in sorted((results_folder() / name).glob("paper*")):
            if (folder / "manifest.json").is_file():
                drawn = plots(figure, folder)
                for path in folder.glob(f"{figure.name}_readings.svg"):
                    path.unlink()
                for stem, plot in drawn.items():
                    save(draw(plot), folder, stem, ["svg"])
                print(folder, flush=True)
    return 0


def plots(figure: Figure, folder: Path) -> Mapping[str, Plot]:
    """Return the pictures of a committed result as data, by file name."""
    if is_backed(figure, folder):
        return derive_committed(figure, folder).plots
    stored = Stored(folder, figure, committed_long_tables)
    drawn = {figure.name: stored.plot} if stored.plot else {}
    readings = stored.csv("readings.csv", "claim") if "readings.csv" in stored.files else pd.DataFrame()
    differing = matrix(figure, readings, stored.provenance) if len(readings) else None
    return drawn | ({f"{figure.name}_readings": differing} if differing else {})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
