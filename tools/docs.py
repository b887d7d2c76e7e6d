"""Write the generated pages: python -m tools.docs

`docs/findings.md` and `docs/errata.md` are put together from `conf/papers/`: a common head, and the text in each
paper's folder. The papers' headlines there and in `README.md` come from the reference results, as do the answers in
`docs/which_tuner.md` and the hours in `docs/reproduce.md`; a rule in `docs/verdicts.md` comes from the code.
"""

import csv
import os
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pandas as pd

from bench.audit.headlines import RULE, TOTALS, counted, spelled
from bench.gallery.papers import PaperPage
from bench.gallery.result import ResultView
from bench.report.folder import ResultFiles
from runners.config.figures import figure_names, load_figure
from runners.results.pages import read_pages
from runners.results.store import results_folder, write_text
from tools.which_tuner import answers_part, words_part

ROOT = Path(__file__).resolve().parents[1]
DOCS, PAPERS = ROOT / "docs", ROOT / "conf" / "papers"
ASSEMBLED = ("findings", "errata")
_HEADLINES = "<!-- headlines -->"


@cache
def headlines(folder: Path) -> dict[str, PaperPage]:
    """Return the papers with headlines and verdicts; the results, which take two seconds to read, are read once."""
    return {page.name: page for page in read_pages(folder) if page.headlines}


def assembled(name: str, folder: Path) -> str:
    """Return a page made of the parts in the papers' folders, with results and links to figures from ``folder``."""
    parts = []
    for path in [PAPERS / f"{name}.md", *sorted(PAPERS.glob(f"*/{name}.md"))]:
        text = re.sub(r"\]\(([^):\s]*)\)", partial(_moved, path.parent), path.read_text(encoding="utf-8"))
        parts.append(text.replace(_HEADLINES, headlines_part(path.parent.name, folder)) if _HEADLINES in text else text)
    page = "\n".join(parts)
    links = [
        f"[`{figure}`]: {_picture(figure, folder)}" for figure in sorted(set(re.findall(r"\[`(\w+/\w+)`\]", page)))
    ]
    return "\n".join([page, *links, ""]) if links else page


def _moved(folder: Path, link: re.Match[str]) -> str:
    """Return a link relative to a paper's folder as a link relative to the folder of pages."""
    path, hash_sign, anchor = link[1].partition("#")
    return f"]({os.path.relpath(folder / path, DOCS) if path else ''}{hash_sign}{anchor})"


def _picture(figure: str, folder: Path) -> str:
    found = ResultFiles.of(folder, figure)
    return f"../results/{figure}/{found[0].path.name if found else 'paper'}/{figure.partition('/')[2]}.svg"


def papers_part(folder: Path) -> str:
    """Return a table with a row for each paper, its proposal, and the verdicts on its headlines."""
    rows = ["| paper | proposes | how its headlines fared in our runs |", "| --- | --- | --- |"]
    for page in headlines(folder).values():
        if page.headlines[0].place:
            tally = spelled(counted(page.judged))
            rows.append(f"| [`{page.name}`](docs/findings.md#{page.name}) | {page.summary} | {tally} |")
    return "\n".join(rows)


def headlines_part(name: str, folder: Path) -> str:
    """Return the headlines of a paper, or of the suite itself, with their verdicts and our findings."""
    page = headlines(folder)[name]
    said = "the paper" if page.headlines[0].place else "our claim"
    rows = [f"| {said} | verdict | our runs |", "| --- | --- | --- |"]
    for row in page.judged:
        where = f" ({row.headline.place})" if row.headline.place else ""
        verdict = f"**{row.verdict}**" + (f": {row.by_reading}" if row.by_reading else "")
        verdict += f"; {row.headline.aside}" if row.headline.aside else ""
        rows.append(f"| {row.headline.claim}{where} | {verdict} | {row.sentence} |")
    for row in page.judged:
        if row.totals:
            rows += ["", f"{row.headline.claim}, {TOTALS}.", "", f"| reading | {' | '.join(row.headline.totals)} |"]
            rows.append(f"| --- |{' --- |' * len(row.headline.totals)}")
            rows += [f"| {words} | {' | '.join(of.counts for of in by.values())} |" for words, by in row.totals.items()]
    return "\n".join(rows)


def hours_part(folder: Path) -> str:
    """Return the core-hours of each paper's reference results, summed from the measured seconds of repetitions.

    A run that several readings or figures share counts once.
    """
    spent: dict[str, dict[str, float]] = {}
    counts: dict[str, int] = {}
    for name in figure_names():
        paper = name.partition("/")[0]
        counts[paper] = counts.get(paper, 0) + 1
        for result in ResultFiles.of(folder, name):
            for key, seconds in ResultView(result.path, load_figure(name)).seconds_by_run.items():
                of_paper = spent.setdefault(paper, {})
                of_paper[key] = max(seconds, of_paper.get(key, 0.0))
    rows = ["| paper | figures | core-hours |", "| --- | ---: | ---: |"]
    rows += [
        f"| `{name}` | {counts[name]} | {sum(of_paper.values()) / 3600.0:.1f} |" for name, of_paper in spent.items()
    ]
    every = {key: seconds for of_paper in spent.values() for key, seconds in of_paper.items()}
    return "\n".join([*rows, f"| all | {sum(counts.values())} | {sum(every.values()) / 3600.0:.1f} |"])


def looks_part(folder: Path) -> str:
    """Return the measured errors of verdicts under repeated looks; see `tools.looks`."""
    header, *rows = csv.reader((folder / "coverage" / "looks.csv").read_text(encoding="utf-8").splitlines())
    head = f"| distribution of the paired difference | {' | '.join(header[1:])} |"
    lines = [head, f"| --- |{' ---: |' * len(header[1:])}"]
    return "\n".join(lines + [f"| {name} | {' | '.join(f'{float(x):.1f}' for x in row)} |" for name, *row in rows])


def decided_part(folder: Path) -> str:
    """Return the share of decided cases in figures that run until decided, before and after Holm's correction."""
    parts = []
    for name in figure_names():
        for result in ResultFiles.of(folder, name):
            if result.provenance.until_decided is not None:
                rows = result.csv("claims.csv")
                is_case = (rows["kind"] != "count") & rows["ci_low"].notna() & (rows["verdict"] != "no evidence")
                parts.append(rows[is_case])
    cases = pd.concat(parts)
    is_decided = cases["verdict"] != "open"
    remain = is_decided & (cases["holm"] == "yes")
    return (
        f"Of the {len(cases)} cases with intervals in the {len(parts)} figures that run until decided, "
        f"{100 * is_decided.mean():.0f} % are decided, {100 * remain.mean():.0f} % also after Holm's correction."
    )


def with_made_part(page: str, part: str, name: str) -> str:
    """Return a page in which ``part`` replaces the text between the marks of the generated part ``name``."""
    before, begin, rest = page.partition(f"<!-- made by make docs: {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    return f"{before}{begin}{part}\n{end}{after}"


def made_parts(folder: Path) -> list[tuple[Path, str, Callable[[], str]]]:
    """Return the page, the name and the function of each generated part of a page."""
    return [
        (ROOT / "README.md", "papers", partial(papers_part, folder)),
        (DOCS / "which_tuner.md", "answers", partial(answers_part, folder)),
        (DOCS / "which_tuner.md", "words", partial(words_part, folder)),
        (DOCS / "reproduce.md", "hours", partial(hours_part, folder)),
        (DOCS / "verdicts.md", "rule", lambda: RULE),
        (DOCS / "verdicts.md", "looks", partial(looks_part, folder)),
        (DOCS / "verdicts.md", "decided", partial(decided_part, folder)),
    ]


def main() -> int:
    """Write the pages; return the exit code."""
    folder = results_folder()
    for name in ASSEMBLED:
        write_text(DOCS / f"{name}.md", assembled(name, folder))
    for page, name, part in made_parts(folder):
        write_text(page, with_made_part(page.read_text(encoding="utf-8"), part(), name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
