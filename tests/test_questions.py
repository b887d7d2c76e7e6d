"""The questions readers ask of each paper: answers link to claims, and their numbers come from committed tables."""

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
import yaml

from bench.gallery.claims import slug
from bench.gallery.docs import questions_of

ROOT = Path(__file__).resolve().parent.parent
PAPERS = ROOT / "conf" / "papers"
OF_PAPERS = sorted(path.parent.name for path in PAPERS.glob("*/published.yaml"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
FIGURE = re.compile(r"(?:\.\./(?P<paper>\w+)/)?figures/(?P<figure>\w+)\.yaml#claim-(?P<claim>\S+)")
SCALES = ("paper", "paper-surrogate", "paper-custom")
NUMBER = re.compile(r"(?<![\d^,])(\d+(?:\.\d+)?)(?: (?:to|and) (\d+(?:\.\d+)?))? (?:%|points|times)")
OF_THE_PAPER = re.compile(r"\(the paper: [^)]*\)")


class Question(NamedTuple):
    """A question, its answer, and the figures and claims that the answer links to."""

    title: str
    answer: str
    links: list[re.Match[str]]


def asked(paper: str) -> list[Question]:
    parts = (PAPERS / paper / "questions.md").read_text(encoding="utf-8").split("\n## ")[1:]
    found = [(title, " ".join(answer.split())) for title, _, answer in (part.partition("\n") for part in parts)]
    links = [[FIGURE.fullmatch(link) for link in LINK.findall(answer)] for _, answer in found]
    return [Question(*one, [link for link in of if link]) for one, of in zip(found, links, strict=True)]


def claims_of(figure: str, results: Path) -> pd.DataFrame:
    files = [results / figure / scale / "claims.csv" for scale in SCALES]
    return pd.read_csv(next(file for file in files if file.is_file()), keep_default_na=False, dtype=str)


def figure_of(paper: str, link: re.Match[str]) -> str:
    return f"{link['paper'] or paper}/{link['figure']}"


@pytest.mark.parametrize("paper", OF_PAPERS)
def test_each_paper_has_five_to_eight_questions_each_answered_by_a_claim(paper: str, reference_results: Path) -> None:
    questions = asked(paper)
    assert 5 <= len(questions) <= 8
    for question in questions:
        assert question.title.endswith("?")
        assert question.links, question.title
        for link in question.links:
            figure = figure_of(paper, link)
            assert (PAPERS / figure.replace("/", "/figures/")).with_suffix(".yaml").is_file()
            assert link["claim"] in {slug(claim) for claim in claims_of(figure, reference_results)["claim"]}, link[0]
    others = set(LINK.findall((PAPERS / paper / "questions.md").read_text(encoding="utf-8")))
    for link in others - {match[0] for question in questions for match in question.links}:
        assert (PAPERS / paper / link.partition("#")[0]).is_file(), link


@pytest.mark.parametrize("paper", OF_PAPERS)
def test_numbers_of_answers_are_those_of_committed_claims(paper: str, reference_results: Path) -> None:
    """In per cent, points or times: of a figure that the answer links to, or that its statements rest on."""
    entries = yaml.safe_load((PAPERS / paper / "questions.claims.yaml").read_text(encoding="utf-8"))
    for question in asked(paper):
        figures = {figure_of(paper, link) for link in question.links}
        parts = [(re.escape(part) for part in entry["says"].split(" ... ")) for entry in entries]
        for entry, part in zip(entries, parts, strict=True):
            if re.search(".*?".join(part), question.answer):
                figures |= {claim.partition("#")[0] for claim in entry["claims"]}
        tables = [claims_of(figure, reference_results) for figure in figures]
        answer = OF_THE_PAPER.sub("", question.answer)
        numbers = [number for match in NUMBER.findall(answer) for number in match if number]
        assert [number for number in numbers if not any(_has(table, number) for table in tables)] == [], answer


def _has(table: pd.DataFrame, written: str) -> bool:
    """Return whether a claim's text has a number, or an estimate rounds to it, as a factor, a change or in per cent."""
    if table["text"].str.contains(rf"(?<![\d.]){re.escape(written)}(?![\d.])").any():
        return True
    places = len(written.partition(".")[2])
    estimates = pd.concat([pd.to_numeric(table[name], errors="coerce") for name in ("estimate", "relative")]).dropna()
    shown = pd.concat([estimates.abs(), 100 * estimates.abs(), 1 + estimates])
    return bool(((shown - float(written)).abs() <= 0.5 * 10**-places + 1e-9).any())


def test_a_wrong_number_is_found(reference_results: Path) -> None:
    table = claims_of("cdt/figure4", reference_results)
    assert _has(table, "56")
    assert _has(table, "57")
    assert not _has(table, "58")


def test_questions_are_folded_over_their_answers_with_links_to_the_pages_of_figures() -> None:
    text = "# Questions\n\n## Is a < b?\n\nYes ([figure 2](figures/figure2.yaml#claim-1-OP)), <b>.\n\n## Why?\n\n"
    text += "See [there](../other/figures/copies.yaml#claim-CDT) and [findings](findings.md#a).\n"
    html = questions_of(text)
    assert re.findall("<summary>(.*?)</summary>", html) == ["Is a &lt; b?", "Why?"]
    assert re.findall('href="(.*?)"', html) == [
        "figure2/index.html#claim-1-OP", "../other/copies/index.html#claim-CDT", "../findings.html#a",
    ]  # fmt: skip
    assert "<h1>" not in html
    assert "<b>" not in html
    assert html.count("</details>") == 2
