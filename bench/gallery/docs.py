"""Pages of the documentation."""

import itertools
import os
import re
from base64 import b64encode
from collections.abc import Collection
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from markupsafe import Markup, escape

from bench.report.typeset import in_letters

_REGION = 'tabindex="0" role="region" aria-label="{} {}"'

_FOLD = "<p>&lt;details&gt;&lt;summary&gt;(.*?)&lt;/summary&gt;</p>"
"""How a line looks, once rendered, that GitHub takes as the beginning of a part to be unfolded."""


def title_of(text: str) -> str:
    match = re.search(r"^#+ (.+)$", text, re.MULTILINE)
    return match[1] if match else ""


def first_words(text: str) -> str:
    """Return the first sentence of a Markdown text that stands by itself, without marks.

    One that only leads to a list or a link, after a colon, does not.
    """
    prose = re.sub(r"<!--.*?-->|^```.*?^```|^[#|!][^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", prose)]
    paragraphs.sort(key=lambda paragraph: paragraph[:2] in ("- ", "* "))  # lists last
    for paragraph in paragraphs:
        sentence = re.split(r"(?<=\.)\s", paragraph.removeprefix("- "))[0]
        if sentence and not re.search(r":(\*?$| \[)", sentence):
            words = re.sub(r"^\*?\w+:\*? |\[([^\]]*)\]\([^)]*\)", r"\1", sentence)
            words = re.sub(r"`([^`]*)`|\*+([^*\s][^*]*)\*+", lambda match: match[1] or match[2] or "", words)
            return words if "`" in sentence[:1] else words[:1].upper() + words[1:]
    return ""


class Site(NamedTuple):
    """Where pages are written (``folder``), the ones that are new, and the folder of the texts they are made of."""

    folder: Path
    pages: Collection[str]
    texts: Path

    def has(self, address: str) -> bool:
        return address in self.pages or (self.folder / address).exists()


def page_of(text: str, names: Collection[str], site: Site | None = None) -> str:
    """Return a Markdown text of the folder ``docs`` as HTML for a page in the folder of results.

    ``names`` are texts that have such a page, too: ``docs/<name>.md`` as ``<name>.html``, ``results/a/b.md`` as
    ``a_b.html``. Where a ``site`` is given, what it lacks is shown from the folder of the texts: pictures are embedded,
    other files linked.
    """
    html = _html_of(re.sub(r"[ \t]*\n?[ \t]*<!--.*?-->", "", text, flags=re.DOTALL))
    html = re.sub(_FOLD, r"<details><summary>\1</summary>", html).replace("<p>&lt;/details&gt;</p>", "</details>")
    html = html.replace("<th></th>", "<td></td>")
    html = re.sub(r"<h(\d)>(.*?)</h\1>", lambda m: f'<h{m[1]} id="{anchor_of(m[2])}">{m[2]}</h{m[1]}>', html)
    number = itertools.count(1)
    html = re.sub("<table>.*?</table>", lambda match: _table(match[0], next(number)), html, flags=re.DOTALL)
    html = re.sub("<pre>", lambda _: f'<pre class="scroll" {_REGION.format("code", next(number))}>', html)
    return re.sub(r'(href|src)="([^"]*)"', lambda link: f'{link[1]}="{_place(link[1], link[2], names, site)}"', html)


@lru_cache(maxsize=64)
def _html_of(text: str) -> str:
    """Return a Markdown text as HTML; pages that are written again and again have the same texts."""
    from markdown_it import MarkdownIt  # slow to import

    return MarkdownIt("commonmark", {"html": False}).enable("table").render(text)


def _place(attribute: str, address: str, names: Collection[str], site: Site | None) -> str:
    """Return what a link or a picture leads to: a page or a file of the site, or else the file that the text names."""
    found = _address(address, names)
    named, hash_sign, anchor = address.partition("#")
    if site is None or re.match(r"\w+:|#", address) or site.has(unquote(found.partition("#")[0])):
        return found
    path = site.texts / unquote(named)
    if not path.is_file():
        return found
    if attribute == "src" and path.suffix == ".svg":
        return f"data:image/svg+xml;base64,{b64encode(path.read_bytes()).decode()}"
    return quote(os.path.relpath(path, site.folder).replace(os.sep, "/")) + hash_sign + anchor


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
    """Return words as HTML, with mathematics as in pictures."""
    return Markup(in_letters(str(escape(str(text))), _with_powers))


def _with_powers(formula: str) -> str:
    return re.sub(r"\^(?:\(([^()]*)\)|(\d+\.\d+|\w+))", r"<sup>\1\2</sup>", formula)


def emphasised(text: str) -> Markup:
    """Return words as HTML with ``*emphasis*``."""
    return Markup(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", str(words(text))))


def linked(text: str, up: str) -> Markup:
    """Return a sentence as HTML in which names of the documentation's files lead to their pages."""
    return Markup(re.sub(r"\bdocs/(\w+)\.md\b", rf'<a href="{up}\1.html">\1</a>', str(words(text))))


def anchor_of(heading: str) -> str:
    """Return a heading's id as GitHub makes it."""
    words = unescape(re.sub(r"<[^>]*>", "", heading)).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
