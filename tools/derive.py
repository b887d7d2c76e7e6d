"""Write all tables and pictures that follow from committed repetitions: python -m tools.derive [FIGURE ...].

Nothing is run. Use it when the rules of verdicts or the drawing change, then ``make docs``; without arguments the
overviews of all papers are written, too.
"""

import sys
from collections.abc import Sequence

from bench.report.pictures import content, draw
from runners.config.figures import figure_names, load_figure
from runners.results.checksums import note
from runners.results.derive import derive_committed
from runners.results.folder import ResultFolder
from runners.results.pages import overviews
from runners.results.store import results_folder, write_text


def main(names: Sequence[str]) -> int:
    """Write the files of the named figures, or of all figures with committed results; return the exit code."""
    root, written = results_folder(), []
    for name in names or figure_names():
        figure = load_figure(name)
        for folder in ResultFolder.of(root, name):
            if folder.is_backed(figure):
                derived = derive_committed(figure, folder.path)
                pictures = {f"{figure.name}.svg": content(draw(derived.plot), "svg")} if derived.plot else {}
                folder.write(derived.files() | pictures)
                written.append(folder.path)
                print(folder.path, flush=True)
    if not names:
        for name, text in overviews(root).items():
            write_text(root / name, text)
            written.append(root / name)
    note(root, written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
