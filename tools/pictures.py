"""Draw committed pictures again: python -m tools.pictures [FIGURE ...].

Nothing is run and no table is written: figures are drawn from the repetitions and seconds that are committed beside
them. Run it when the drawing changes.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from bench.report.figure import Figure
from bench.report.page import draw
from bench.report.plot import Plot
from bench.report.saving import content
from runners.config.figures import figure_names, load_figure
from runners.results.checksums import note
from runners.results.derive import derive_committed, is_backed
from runners.results.store import results_folder, write_together


def main(names: Sequence[str]) -> int:
    """Draw the figures named, or all that have committed results; return the exit code."""
    for name in names or figure_names():
        figure = load_figure(name)
        for folder in sorted((results_folder() / name).glob("paper*")):
            if (folder / "manifest.json").is_file() and (plot := plot_of(figure, folder)):
                write_together(folder, {f"{figure.name}.svg": content(draw(plot), "svg")})
                note(results_folder(), [folder])
                print(folder, flush=True)
    return 0


def plot_of(figure: Figure, folder: Path) -> Plot | None:
    """Return the picture of a committed result as data; None if its tables cannot be drawn."""
    return derive_committed(figure, folder).plot if is_backed(figure, folder) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
