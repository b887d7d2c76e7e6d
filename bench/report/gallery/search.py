"""What the search of all pages reads: a script, since a page on disk may not fetch other files."""

import json
import re
from collections.abc import Iterator, Mapping

from bench.report.gallery.docs import anchor_of
from bench.report.gallery.papers import PaperPage
from bench.report.gallery.reference import Entry, inline

_MARK = '// <meta name="generator" content="bandit-tuning-bench">\n'
Row = tuple[str, str, str, str]


def search_of(papers: list[PaperPage], docs: Mapping[str, str], reference: Mapping[str, list[Entry]]) -> str:
    """Return a script that sets ``PAGES`` to rows of kind, title, address and text."""
    rows = [*_results(papers), *_docs(docs), *_classes(reference)]
    return f"{_MARK}window.PAGES = {json.dumps(rows, ensure_ascii=False)};\n"


def _results(papers: list[PaperPage]) -> Iterator[Row]:
    for paper in papers:
        yield "paper", paper.title, f"{paper.name}/index.html", f"{paper.name} {paper.authors} {paper.summary}"
        for figure in paper.figures:
            yield "figure", f"{paper.name}, {figure.label}: {figure.title}", figure.address, figure.words
            for group in figure.first.claim_groups if figure.first else ():
                for claim in group.claims:
                    text = f"{paper.name} {figure.label}: {claim.tally}"
                    yield "claim", claim.first["text"], f"{figure.address}#claim-{claim.slug}", text


def _docs(docs: Mapping[str, str]) -> Iterator[Row]:
    for name, text in docs.items():
        text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
        text = re.sub(r"^```.*?^```", lambda code: code[0].replace("\n#", "\n"), text, flags=re.DOTALL | re.MULTILINE)
        blocks = re.split(r"^(#+ .+)$", text, flags=re.MULTILINE)
        for heading, body in zip(blocks[1::2], blocks[2::2], strict=True):
            words = re.sub(r"[`*]|\]\([^)]*\)|\[|\|[-| ]*", " ", heading.lstrip("# "))
            plain = re.sub(r"[`*|\[]|\]\([^)]*\)|-{3,}", " ", body)
            address = f"{name}.html#{anchor_of(inline(heading.lstrip('# ')))}"
            yield f"documentation, {name}", " ".join(words.split()), address, " ".join(plain.split())[:4000]


def _classes(reference: Mapping[str, list[Entry]]) -> Iterator[Row]:
    for group, entries in reference.items():
        for entry in entries:
            yield group, entry.name, f"reference.html#{group}-{entry.name}", entry.words
