import json
import re
import shutil
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from gallery_site import (
    CURVES,
    EVIL,
    FIGURES_MADE,
    PANELS,
    made_up_published,
    write,
)

from bench.audit.headlines import read_headlines
from bench.gallery.build import build
from bench.gallery.overview import overview
from bench.gallery.papers import read_papers
from bench.gallery.render import OWN, SITE, build_own
from bench.gallery.result import ResultView
from runners.config.figures import figure_names, load_figure
from runners.results.pages import write_gallery


class Page(HTMLParser):
    """The links of a page, its ids, its text, and whether all tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.regions: list[str] = []
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.attributes = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.handlers += [key for key in given if key.startswith("on")]
        self.attributes += "".join(str(given[key]) for key in ("alt", "title") if key in given)
        self.links += [str(given[key]) for key in ("href", "src") if key in given and tag != "use"]
        self.ids += [str(given["id"])] if "id" in given else []
        self.regions += [str(given["aria-label"])] if given.get("role") == "region" else []
        if tag not in ("meta", "link", "img", "br", "input", "path", "use", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "use", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def words_of(page: Path) -> str:
    return " ".join(Page(page.read_text()).words.split())


def test_links_pictures_and_anchors_lead_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    assert len(pages) == 7 + len(FIGURES_MADE) - 1
    for path, page in pages.items():
        assert not page.open
        assert len(page.ids) == len(set(page.ids))
        assert len(page.regions) == len(set(page.regions))
        assert len(page.links) > 5
        for link in page.links:
            if link in ("data:,", "#content"):
                continue
            assert "://" not in link
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), link
            assert not anchor or unquote(anchor) in pages[target].ids, link


def test_everything_is_escaped(site: Path) -> None:
    for path in site.rglob("index.html"):
        text = path.read_text()
        assert "alert(" in text or path.parent.name != "figure2"
        assert EVIL not in text
        assert text.count("<script>") == text.count('"use strict"')
        page = Page(text)
        assert not page.handlers
        assert "x-evil" not in page.tags
        assert (EVIL in page.words + page.attributes) == (EVIL in unescape(text))


def test_the_front_page_counts_the_largest_scale_that_allows_conclusions(site: Path) -> None:
    words = words_of(site / "index.html")
    assert pd.read_csv(site / "habo/limits/paper/claims.csv")["verdict"].tolist() == ["holds", "fails"]
    assert "ours11000 A case holds" in words
    assert "10 of 11 figures of the suite have results here, 3 at the papers' size" in words
    text = (site / "syndicated/index.html").read_text()
    [row] = re.findall(r'<section id="figure2".*?</section>', text, re.DOTALL)
    assert "no evidence" in row
    assert "⚠ surrogate data" in row
    assert 'src="../syndicated/figure2/paper-surrogate/figure2.svg"' in row
    assert "Unmade: Not yet No results yet." in words_of(site / "syndicated/index.html")


def test_a_short_run_states_no_verdict_on_the_front_page_nor_on_its_papers(tmp_path: Path) -> None:
    """Nor does one whose size the user chose; at the paper's size the same results are counted."""
    given = {"claim": "c", "place": "abstract", "rests_on": {"less": "figure2#1"}, "verdict": "holds"}
    given |= {"finding": "TL has less regret", "picture": "figure2", "short": "It has less"}
    about = {"syndicated": {"headlines": read_headlines("syndicated", [given])}}
    said = {}
    for scale in ("quick", "paper-custom", "paper"):
        write(tmp_path / scale / "syndicated/figure2" / scale, CURVES)
        pages = build(read_papers(tmp_path / scale, FIGURES_MADE, about), docs={"findings": "# Findings"})
        said[scale] = [" ".join(Page(pages[name]).words.split()) for name in ("index.html", "syndicated/index.html")]
    holds = f"✓ {len(PANELS)} hold"
    for front, page in (said["quick"], said["paper-custom"]):
        assert "6 repetitions of 181 rounds, not a verdict. Verdicts of the reference results" in front
        assert "6 repetitions of 181 rounds, not a verdict" in page
        for word in (holds, "✓ 1 holds", "✓holds", "It has less", "TL has less regret", "unfinished"):
            assert word not in front + page, word
    front, page = said["paper"]
    assert "not a verdict" not in front + page
    assert "It has less. Headlines ✓ 1 holds" in front
    assert f"stated {holds}" in page or f"ours {holds}" in page


def test_the_overview_counts_cases_and_keeps_other_data_apart(site: Path, tmp_path: Path) -> None:
    """Reference results only: a user's own results, such as at scale quick, are left out."""
    shutil.copytree(site / "habo", tmp_path / "habo")
    shutil.copytree(site / "syndicated", tmp_path / "syndicated")
    (tmp_path / "habo/limits/paper").rename(tmp_path / "habo/limits/quick")
    assert len(overview(read_papers(tmp_path, FIGURES_MADE))) == 1
    (tmp_path / "habo/limits/quick").rename(tmp_path / "habo/limits/paper-custom")
    table = overview(read_papers(tmp_path, FIGURES_MADE))
    assert table[["paper", "figure", "claim", "data"]].to_numpy().tolist() == [
        ["habo", "limits", "b", "real, synthetic"],
        ["syndicated", "figure2", "1", "synthetic, surrogate"],
    ]
    assert table[["holds", "fails", "tie", "open", "no evidence"]].to_numpy().sum(axis=1).tolist() == [len(PANELS)] * 2


def test_a_verdict_that_does_not_remain_after_holms_correction_is_pale(site: Path, tmp_path: Path) -> None:
    shutil.copytree(site / "habo", tmp_path / "habo")
    path = tmp_path / "habo/limits/paper/claims.csv"
    table = pd.read_csv(path)
    assert table["verdict"].tolist() == ["holds", "fails"]
    table["holm"] = ["no", "yes"]
    table.to_csv(path, index=False)
    pages = build(read_papers(tmp_path, FIGURES_MADE))
    page = pages["habo/limits/index.html"]
    rows = re.findall(r"<tr><td><i class=\"mark (.*?)\".*?<span class=\"f (.*?)\"", page, re.DOTALL)
    assert rows == [("holds pale", "holds pale"), ("fails", "fails")]
    assert 'class="badge holds pale">✓ 1 hold, not after Holm</span>' in pages["index.html"]


def test_the_first_page_leads_to_every_figure_with_results(site: Path) -> None:
    links = set(Page((site / "index.html").read_text()).links)
    made = [figure for paper in read_papers(site, FIGURES_MADE) for figure in paper.made]
    assert {figure.address for figure in made if figure.paper != "compare"} <= links


def test_a_figure_states_its_basis(site: Path) -> None:
    words = words_of(site / "syndicated/figure2/index.html")
    for said in (
        "4 min", "6 repetitions of 181 rounds", "real data, checksum 06416e597f82", "generated at random", "section 6",
        "● 1 stated", "◇ 1 scale", "✓holds", "⚠ surrogate", "a small packaged sample of the real data",
        "; axis: % of the right side; expected: less",
    ):  # fmt: skip
        assert said in words, said
    assert f"python -m runners.reproduce figure=syndicated/figure2 '{EVIL}'" in words
    order = [words.index(said) for said in ("Published numbers are not", "Scale quick quick", "Scale smoke smoke")]
    assert order == sorted(order)


def test_a_run_that_readings_share_costs_as_much_as_its_largest_number_of_repetitions(reference_results: Path) -> None:
    folder = reference_results / "cdt" / "figure2" / "paper"
    runs = pd.DataFrame(json.loads((folder / "manifest.json").read_text())["runs"])
    seconds = json.loads((folder / "environment.json").read_text())["seconds_per_repetition"]
    largest = runs.groupby("key")["repetitions"].max()
    assert (runs.groupby("key")["repetitions"].min() < largest).any()
    expected = sum(number * seconds[run_id] for run_id, number in largest.items())
    assert sum(ResultView(folder, None).seconds_by_run.values()) == pytest.approx(expected)


def test_readings_are_shown_of_a_figure_with_claims_or_published_numbers_alone(reference_results: Path) -> None:
    kinds = set()
    for name in figure_names():
        folder = reference_results / name / "paper"
        if not folder.is_dir():  # no reference result without the data
            continue
        files = [file for file in ("readings.csv", "numbers.csv") if (folder / file).is_file()]
        assert (ResultView(folder, load_figure(name)).readings() is not None) == bool(files), name
        kinds.add(tuple(files))
    assert kinds > {("readings.csv",), ("readings.csv", "numbers.csv")}


def test_published_numbers_have_a_page(site: Path) -> None:
    pages = build(read_papers(site, FIGURES_MADE), made_up_published())
    words = " ".join(Page(pages["numbers.html"]).words.split())
    assert "Reached. habo: 3 of 4 within the intervals of 'near'" in words
    assert all(f"cell {number}" in words for number in range(6))
    assert "1 inside, under assumptions, 2 possible" in " ".join(Page(pages["habo/index.html"]).words.split())


def test_readings_of_a_paper_have_a_page_each_reading_once(tmp_path: Path) -> None:
    reading = {"name": "code", "text": "The code draws <b> noise", "source": ["code", "a/b at 1234567"]}
    own = {"kind": "curves", "column": "regret"}
    figures = {f"syndicated/{name}": {**own, "title": name, "readings": [reading]} for name in ("one", "two")}
    figures["syndicated/three"] = {**own, "readings": [{**reading, "source": ["assumed", "y"], "text": "z"}]}
    pages = build(read_papers(tmp_path, figures))
    page = pages["readings.html"]
    assert page.count('data-paper="syndicated" data-source="code">') == 1
    assert page.count('data-paper="syndicated" data-source="assumed">') == 1
    shown = Page(page)
    assert "code: The code draws <b> noise" in shown.words
    assert shown.links[-3:] == [f"syndicated/index.html#{n}" for n in ("one", "two", "three")]
    assert shown.ids == ["content", "list"]


def test_documentation_is_read_beside_the_pages() -> None:
    text = """# Which & why
<!-- claim: a/b#1: holds -->
See [the table](../results/cdt/figure2/paper/table.md#x), [a page](findings.md#a-b), [it](extend.md), and
![a picture](../results/a.png).

| a | b |
| --- | --- |
| <script>x</script> | 1 |
"""
    page = build([], docs={"why": text, "findings": "# Found\n"})["why.html"]
    own = Page(page)
    assert own.links[len(SITE) + 2 :] == [
        "cdt/figure2/index.html", "findings.html#a-b", "../docs/extend.md", "a.png",
    ]  # fmt: skip
    assert own.ids == ["content", "which--why"]
    assert "<script>x" not in page
    assert "claim: " not in page


@pytest.mark.parametrize("link", ["mine", "mine/first/quick", "compare/mine"])
def test_links_out_of_the_results_are_not_followed(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside" / "first" / "quick"
    outside.mkdir(parents=True)
    for folder in (outside, *outside.parents[:2]):
        (folder / "manifest.json").write_text("{}")
        (folder / "comparison.json").write_text("{}")
    place = tmp_path / "results" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(outside.parents[2 - len(Path(link).parts)] if len(Path(link).parts) < 3 else outside)
    write_gallery(tmp_path / "results")
    assert not list((tmp_path / "outside").rglob("*.html"))


def test_a_users_folder_has_pages_of_its_own_results_alone(tmp_path: Path) -> None:
    """A user's figures and papers, linked to each other; no page of the suite or of the documentation."""
    write(tmp_path / "mine/figure2/quick", CURVES)
    papers = read_papers(tmp_path, {"mine/figure2": CURVES, "cdt/figure3": CURVES}, {"mine": {"title": "My"}})
    pages = build_own(papers)
    assert {name for name in pages if not name.startswith("cdt/")} == {
        "index.html", "mine/index.html", "mine/figure2/index.html",
    }  # fmt: skip
    front = Page(pages["index.html"])
    assert "My" in front.words
    assert "cdt" not in front.words
    assert {"mine/index.html", "mine/figure2/index.html"} <= set(front.links)
    links = Page(pages["mine/figure2/index.html"]).links
    assert [link for link in links if link.startswith("../../")] == [f"../../{name}" for name in OWN]


def test_a_page_of_another_program_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text("<html>my own page</html>")
    write_gallery(tmp_path)
    assert (tmp_path / "index.html").read_text() == "<html>my own page</html>"
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith(f"{tmp_path / 'index.html'}: left as it is")
    (tmp_path / "index.html").unlink()
    for _ in range(2):  # its own pages are written again
        write_gallery(tmp_path)
        assert not capsys.readouterr().err


@pytest.mark.parametrize("name", ["comparison.json", "manifest.json", "environment.json", "claims.csv", "table.csv"])
def test_no_damaged_file_ends_the_gallery(tmp_path: Path, name: str) -> None:
    """Content that is no object or no text, lacks keys or is too deep: the page names the file; all are written."""
    damages = [
        b"[]",
        b"",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"runs":' * 200_000,
        b'{"runs": [[], 1]}',
    ]
    for number, damage in enumerate(damages):
        for folder in (tmp_path / "compare" / str(number), tmp_path / "syndicated" / "table1" / f"quick{number}"):
            folder.mkdir(parents=True)
            for other in ("comparison.json", "manifest.json", "environment.json"):
                (folder / other).write_text("{}")
            (folder / name).write_bytes(damage)
    write_gallery(tmp_path)
    for number in range(len(damages)):
        assert (tmp_path / "compare" / str(number) / "index.html").is_file()
    assert (tmp_path / "syndicated" / "table1" / "index.html").is_file()
    if name.endswith(".json"):
        assert f"{name} cannot be read: " in (tmp_path / "compare" / "0" / "index.html").read_text()
