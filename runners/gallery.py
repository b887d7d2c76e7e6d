"""Pages of all results, to be opened in a browser: python -m runners.gallery"""

import sys
from collections.abc import Collection
from pathlib import Path

from bench.errors import BenchError, one_line
from bench.report.gallery import build, overview, overview_text, read
from bench.report.published import published_overview, published_text
from bench.report.tables import to_csv
from runners.figures import figure_names, load_figure
from runners.papers import load_paper
from runners.store import results_folder, write_text


def write_gallery(folder: Path, changed: Collection[str] | None = None) -> tuple[Path, int]:
    """Write the pages, and overviews of claims and published numbers from reference results.

    Return the first page, and how many are new.

    Parameters
    ----------
    folder
        The folder of results.
    changed
        Names ``paper/figure`` of figures whose pages are written if what they show changed; None: all.

    Raises
    ------
    BenchError
        When results cannot be read, or pages cannot be written.
    """
    names = figure_names()
    about = {paper: load_paper(paper) for paper in dict.fromkeys(name.partition("/")[0] for name in names)}
    papers = read(folder, {name: load_figure(name) for name in names}, about)
    old = {f"{name}/index.html" for name in names if changed is not None and name not in changed}
    pages = build(papers, {name for name in old if (folder / name).is_file()}, folder)
    claims = overview(papers)
    for name, page in pages.items():
        write_text(folder / name, page)
    if len(claims):
        write_text(folder / "claims.csv", to_csv(claims))
        write_text(folder / "claims.md", overview_text(claims))
        numbers = published_overview(figures, folder)
        write_text(folder / "numbers.csv", to_csv(numbers))
        write_text(folder / "numbers.md", published_text(numbers))
    return folder / "index.html", sum(name.endswith(".html") for name in pages)


def main() -> int:
    """Write the gallery into the folder of results; return the exit code."""
    try:
        first, count = write_gallery(results_folder())
    except (BenchError, OSError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 1
    print(f"gallery, {count} pages written: {first}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
