"""Pages of the documentation, and what the search of all pages reads."""

import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from html import unescape
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from bench.report.gallery.papers import PaperPage
from bench.report.typeset import in_unicode

_MARK = '// <meta name="generator" content="bandit-tuning-bench">\n'
_REGION = 'tabindex="0" role="region" aria-label="{} {}"'

_FOLD = "<p>&lt;details&gt;&lt;summary&gt;(.*?)&lt;/summary&gt;</p>"
"""How a line looks, once rendered, that GitHub takes as the beginning of a part to be unfolded."""
Row = tuple[str, str, str, str]


def title_of(text: str) -> str:
    match = re.search(r"^#+ (.+)$", text, re.MULTILINE)
    return match[1] if match else ""


def first_words(text: str) -> str:
    """Return the first sentence of a Markdown text, without marks."""
    prose = re.sub(r"<!--.*?-->|^```.*?^```|^[#|!][^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    paragraph = " ".join(prose.strip().split("\n\n")[0].split())
    sentence = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", lambda match: match[1] or "", paragraph)
    return re.split(r"(?<=[.:])\s", sentence)[0]


def page_of(text: str, names: Collection[str]) -> str:
    """Return a Markdown text of the folder ``docs`` as HTML for a page in the folder of results.

    ``names`` are texts that have such a page, too: ``docs/<name>.md`` as ``<name>.html``, ``results/a/b.md`` as
    ``a_b.html``.
    """
    text = re.sub(r"[ \t]*\n?[ \t]*<!--.*?-->", "", text, flags=re.DOTALL)
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    html = re.sub(_FOLD, r"<details><summary>\1</summary>", html).replace("<p>&lt;/details&gt;</p>", "</details>")
    html = html.replace("<th></th>", "<td></td>")
    html = re.sub(r"<h(\d)>(.*?)</h\1>", lambda m: f'<h{m[1]} id="{anchor_of(m[2])}">{m[2]}</h{m[1]}>', html)
    number = itertools.count(1)
    html = re.sub("<table>.*?</table>", lambda match: _table(match[0], next(number)), html, flags=re.DOTALL)
    html = re.sub("<pre>", lambda _: f'<pre class="scroll" {_REGION.format("code", next(number))}>', html)
    return re.sub(r'(href|src)="([^"]*)"', lambda match: f'{match[1]}="{_address(match[2], names)}"', html)


def _table(html: str, number: int) -> str:
    """Return a table that can be moved sideways; on a phone the cells of words alone stand below each other."""
    head, end, body = html.partition("</thead>")
    if "text-align:right" not in head:
        names = itertools.cycle(re.sub("<[^>]*>", "", name) for name in re.findall("<t[dh]>(.*?)</t[dh]>", head))
        body = re.sub("<td>", lambda _: f'<td data-head="{next(names)}">', body)
        html = head.replace("<table>", '<table class="stacked">') + end + body
    return f'<div class="scroll" {_REGION.format("table", number)}>{html}</div>'


def _address(address: str, names: Collection[str]) -> str:
    """Return where a link leads from the folder of results; texts of results lead to their pages."""
    if re.match(r"\w+:|#", address):
        return address
    path, hash_sign, anchor = address.partition("#")
    name = path.removesuffix(".md")
    if name in names:
        return f"{name}.html{hash_sign}{anchor}"
    if not path.startswith("../results/"):
        return f"../docs/{address}" if not path.startswith("../") else address
    result = path.removeprefix("../results/")
    figure = re.fullmatch(r"(\w+/\w+)/[\w-]+/\w+\.(?:md|csv)", result)
    if figure:
        return f"{figure[1]}/index.html"
    if result in ("claims.md", "numbers.md"):
        return result.replace(".md", ".html")
    page = result.removesuffix(".md").replace("/", "_")
    return f"{page}.html" if page in names else result


def words(text: Any) -> Markup:
    """Return words as HTML, with mathematics as pictures have it."""
    return Markup(re.sub(r"\^(?:\(([^()]*)\)|(\d+\.\d+|\w+))", r"<sup>\1\2</sup>", str(escape(in_unicode(str(text))))))


def linked(text: str, up: str) -> Markup:
    """Return a sentence as HTML in which names of the documentation's files lead to their pages."""
    return Markup(re.sub(r"\bdocs/(\w+)\.md\b", rf'<a href="{up}\1.html">\1</a>', str(words(text))))


def anchor_of(heading: str) -> str:
    """Return a heading's id as GitHub makes it."""
    words = unescape(re.sub(r"<[^>]*>", "", heading)).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def search_of(papers: list[PaperPage], docs: Mapping[str, str]) -> str:
    """Return a script, since a page on disk may not fetch: it sets ``PAGES``, rows of kind, title, address and text."""
    rows = [*_results(papers), *_sections(docs)]
    return f"{_MARK}window.PAGES = {json.dumps(rows, ensure_ascii=False)};\n"


def _results(papers: list[PaperPage]) -> Iterator[Row]:
    for paper in papers:
        yield "paper", paper.title, f"{paper.name}/index.html", f"{paper.name} {paper.authors} {paper.summary}"
        for figure in paper.figures:
            yield "figure", f"{paper.name}, {figure.label}: {figure.title}", figure.address, figure.words
            for claim in figure.first.shown_claims if figure.first else ():
                text = f"{paper.name} {figure.label}: {claim.tally}"
                yield "claim", claim.first["text"], f"{figure.address}#claim-{claim.slug}", text


def _sections(docs: Mapping[str, str]) -> Iterator[Row]:
    for name, text in docs.items():
        text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
        text = re.sub(r"^```.*?^```", lambda code: code[0].replace("\n#", "\n"), text, flags=re.DOTALL | re.MULTILINE)
        blocks = re.split(r"^(#+ .+)$", text, flags=re.MULTILINE)
        for heading, body in zip(blocks[1::2], blocks[2::2], strict=True):
            title = re.sub(r"[`*]|\]\([^)]*\)|\[|\|[-| ]*", " ", heading.lstrip("# "))
            plain = re.sub(r"[`*|\[]|\]\([^)]*\)|-{3,}", " ", body)
            address = f"{name}.html#{anchor_of(MarkdownIt().renderInline(heading.lstrip('# ')))}"
            yield f"documentation, {name}", " ".join(title.split()), address, " ".join(plain.split())[:4000]
