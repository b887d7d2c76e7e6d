"""Draw committed pictures again: python -m tools.pictures [FIGURE ...].

Figures are drawn from the committed repetitions and seconds, without a run or a new table. Use it when the drawing
changes.
"""

import sys
from collections.abc import Sequence

from bench.report.figure import Figure
from bench.report.pictures import content, draw
from bench.report.plot import Plot
from runners.config.figures import figure_names, load_figure
from runners.results.checksums import note
from runners.results.derive import derive_committed
from runners.results.folder import ResultFolder
from runners.results.store import results_folder


def main(names: Sequence[str]) -> int:
    """Draw the named figures, or all that have committed results; return the exit code."""
    for name in names or figure_names():
        figure = load_figure(name)
        for folder in ResultFolder.of(results_folder(), name):
            if plot := plot_of(figure, folder):
                folder.write({f"{figure.name}.svg": content(draw(plot), "svg")})
                note(results_folder(), [folder.path])
                print(folder.path, flush=True)
    return 0


def plot_of(figure: Figure, folder: ResultFolder) -> Plot | None:
    """Return the picture of a committed result as data; None if its tables cannot be drawn."""
    return derive_committed(figure, folder.path).plot if folder.is_backed(figure) else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
