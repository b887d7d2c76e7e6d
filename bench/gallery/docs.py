"""Pages of the documentation."""

import itertools
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from bench.report.labels import anchor_of
from bench.report.typeset import in_letters

_REGION = 'tabindex="0" role="region" aria-label="{} {}"'

_FOLD = "<p>&lt;details&gt;&lt;summary&gt;(.*?)&lt;/summary&gt;</p>"
"""Rendered form of the line that begins an unfoldable part on GitHub."""


def title_of(text: str) -> str:
    match = re.search(r"^#+ (.+)$", text, re.MULTILINE)
    return match[1] if match else ""


def page_of(text: str, names: Collection[str]) -> str:
    """Return a Markdown text of the folder ``docs`` as HTML, for a page in the results folder beside it.

    ``names`` are the texts that have a page: ``docs/<name>.md`` is ``<name>.html``, and ``results/a/b.md`` is
    ``a_b.html``.
    """
    html = _html_of(re.sub(r"[ \t]*\n?[ \t]*<!--.*?-->", "", text, flags=re.DOTALL))
    html = re.sub(_FOLD, r"<details><summary>\1</summary>", html).replace("<p>&lt;/details&gt;</p>", "</details>")
    html = html.replace("<th></th>", "<td></td>")
    html = re.sub(r"<h(\d)>(.*?)</h\1>", lambda m: f'<h{m[1]} id="{anchor_of(m[2])}">{m[2]}</h{m[1]}>', html)
    number = itertools.count(1)
    html = re.sub("<table>.*?</table>", lambda match: _table(match[0], next(number)), html, flags=re.DOTALL)
    html = re.sub("<pre>", lambda _: f'<pre class="scroll" {_REGION.format("code", next(number))}>', html)
    return re.sub(r'(href|src)="([^"]*)"', lambda link: f'{link[1]}="{_address(link[2], names)}"', html)


def questions_of(text: str) -> Markup:
    """Return the questions of a paper's ``questions.md`` for its page, each with its answer folded below it.

    Links to ``figures/<name>.yaml#claim-<id>`` of the paper, or of ``../<paper>``, lead to the figure's page.
    """
    html = _html_of(text)
    html = re.sub(r"<h1>.*?</h1>\n", "", html)
    html = re.sub(
        r"<h2>(.*?)</h2>\n(.*?)(?=<h2>|\Z)", r"<details><summary>\1</summary>\n\2</details>\n", html, flags=re.DOTALL
    )
    html = re.sub(r'href="((?:\.\./\w+/)?)figures/(\w+)\.yaml', r'href="\1\2/index.html', html)
    return Markup(re.sub(r'href="(findings|errata)\.md', r'href="../\1.html', html))


@lru_cache(maxsize=64)
def _html_of(text: str) -> str:
    """Return a Markdown text as HTML, cached because the same texts are written repeatedly."""
    from markdown_it import MarkdownIt  # slow to import

    return MarkdownIt("commonmark", {"html": False}).enable("table").render(text)


def _table(html: str, number: int) -> str:
    """Return a table that can be scrolled sideways; on a phone, cells with text are stacked."""
    head, end, body = html.partition("</thead>")
    if "text-align:right" not in head:
        names = itertools.cycle(re.sub("<[^>]*>", "", name) for name in re.findall("<t[dh]>(.*?)</t[dh]>", head))
        body = re.sub("<td>", lambda _: f'<td data-head="{next(names)}">', body)
        html = head.replace("<table>", '<table class="stacked">') + end + body
    return f'<div class="scroll" {_REGION.format("table", number)}>{html}</div>'


def _address(address: str, names: Collection[str]) -> str:
    """Return the target of a link, relative to the folder of results; a link to a text leads to its page."""
    if re.match(r"\w+:|#", address):
        return address
    path, hash_sign, anchor = address.partition("#")
    name = path.removesuffix(".md")
    if name in names:
        return f"{name}.html{hash_sign}{anchor}"
    if asked := re.fullmatch(r"\.\./conf/papers/(\w+)/questions\.md", path):
        return f"{asked[1]}/index.html#questions"
    if not path.startswith("../results/"):
        return f"../docs/{address}" if not path.startswith("../") else address
    result = path.removeprefix("../results/")
    figure = re.fullmatch(r"(\w+/\w+)/[\w-]+/\w+\.(?:md|csv)", result)
    if figure:
        return f"{figure[1]}/index.html"
    if result in ("claims.csv", "numbers.md"):
        return f"{result.partition('.')[0]}.html"
    page = result.removesuffix(".md").replace("/", "_")
    return f"{page}.html" if page in names else result


def words(text: Any) -> Markup:
    """Return text as HTML, with mathematics as in pictures."""
    return Markup(in_letters(str(escape(str(text))), _with_powers))


def _with_powers(formula: str) -> str:
    return re.sub(r"\^(?:\(([^()]*)\)|(\d+\.\d+|\w+))", r"<sup>\1\2</sup>", formula)


def emphasised(text: str) -> Markup:
    """Return text as HTML with ``*emphasis*``."""
    return Markup(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", str(words(text))))


def linked(text: str, up: str) -> Markup:
    """Return a sentence as HTML in which names of the documentation's files link to their pages."""
    return Markup(re.sub(r"\bdocs/(\w+)\.md\b", rf'<a href="{up}\1.html">\1</a>', str(words(text))))
