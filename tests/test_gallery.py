import json
import re
import shutil
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from gallery_site import CURVES, EVIL, FIGURES_MADE, GRID, METHODS, PANELS, REPETITIONS, ROUNDS, write, write_site

from bench.report.gallery import build, overview, overview_text, read
from bench.report.gallery.papers import PAPERS
from bench.report.gallery.picture import inline
from bench.report.gallery.points import Marks, read_marks
from bench.report.gallery.text import duration, number, readable
from bench.report.parts import part_id, read_part_id
from runners import gallery
from runners.config_tree import CONFIGS

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1">'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("results with space")
    write_site(root)
    return root


class Page(HTMLParser):
    """What a page links to, its ids, its text, and whether all tags are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [str(given[key]) for key in ("href", "src") if key in given and tag != "use"]
        self.ids += [str(given["id"])] if "id" in given else []
        if tag not in ("meta", "link", "img", "br", "path", "use", "rect"):
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


def numbers_of(page: Path) -> dict[tuple[str, str, str], list[list[Any]]]:
    """Return the numbers that the parts of all pictures of a page carry."""
    found = {}
    for tag in re.findall(r"<g [^>]*data-points=[^>]*>", page.read_text()):
        given = {key: unescape(value) for key, value in re.findall(r'data-(\w+)="([^"]*)"', tag)}
        found[given["part"], given["panel"], given["name"]] = json.loads(given["points"])
    return found


def test_links_pictures_and_anchors_lead_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text()) for path in site.rglob("index.html")}
    assert len(pages) == 3 + len(FIGURES_MADE) - 1
    for path, page in pages.items():
        assert not page.open
        assert len(page.ids) == len(set(page.ids))
        assert len(page.links) > 5
        for link in page.links:
            if link == "data:,":
                continue
            assert "://" not in link
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), link
            assert not anchor or unquote(anchor) in pages[target].ids, link


def test_references_within_pictures_have_their_target(site: Path) -> None:
    for name in ("syndicated/figure2", "habo/spread"):
        text = (site / name / "index.html").read_text()
        used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'<use[^>]* href="#([^"]+)"', text))
        assert used
        assert used <= set(Page(text).ids)


def test_everything_is_escaped(site: Path) -> None:
    for path in site.rglob("index.html"):
        text = path.read_text()
        assert "alert(" in text or path.parent.name == "habo"
        assert EVIL not in text
        assert text.count("<script>") == text.count('"use strict"')


def test_the_front_page_counts_the_largest_scale_that_allows_conclusions(site: Path) -> None:
    words = words_of(site / "index.html")
    assert pd.read_csv(site / "habo/limits/quick/claims.csv")["verdict"].tolist() == ["holds", "fails"]
    assert "✓ 1 hold ✗ 1 fail ○ 0 open 10 of 11 figures have results" in words
    assert "syndicated figure2 ✓2 paper ⚠" in words
    assert "unmade no results" in words
    (site.parent / "plain").mkdir()
    write(site.parent / "plain/syndicated/figure2/quick", CURVES)
    front = build(read(site.parent / "plain", FIGURES_MADE))["index.html"]
    assert f"✓ {len(PANELS)} hold" in front


def test_findings_lead_to_the_claims_of_their_figure(site: Path) -> None:
    text = (site / "index.html").read_text()
    findings = text[text.index('id="findings"') :]
    for name, claim in (("syndicated/figure2", "TL is better"), ("habo/limits", "Under the bound")):
        assert re.search(rf'href="{name}/index.html#claims">{claim}', findings)


def test_figure_ten_comes_after_figure_nine(tmp_path: Path) -> None:
    names = [figure.name for figure in read(tmp_path, {f"cdt/figure{n}": {} for n in (10, 9, 2)})[0].figures]
    assert names == ["figure2", "figure9", "figure10"]


def test_the_overview_counts_cases_and_keeps_other_data_apart(site: Path) -> None:
    table = overview(read(site, FIGURES_MADE))
    assert table[["paper", "figure", "claim", "data"]].to_numpy().tolist() == [
        ["syndicated", "figure2", "1", "synthetic, surrogate"],
        ["habo", "limits", "b", "real, synthetic"],
    ]
    assert table[["holds", "fails", "open"]].to_numpy().sum(axis=1).tolist() == [len(PANELS)] * 2
    lines = overview_text(table).splitlines()
    assert "| all | 1 | 1 | 0 |" in lines
    assert "| apart: on surrogate or packaged data | 2 | 0 | 0 |" in lines
    assert "| all | 3 | 1 | 0 |" in overview_text(table.assign(data="real")).splitlines()
    assert "| all | 0 | 0 | 0 |" in overview_text(table.assign(data="packaged")).splitlines()


def test_a_figure_says_what_it_rests_on(site: Path) -> None:
    words = words_of(site / "syndicated/figure2/index.html")
    for said in (
        "4 min", "6 repetitions of 181 rounds", "real data, checksum 06416e597f82", "drawn at random", "section 6",
        "● 1 stated", "◇ 1 scale", "✓ holds", "⚠ surrogate", "a small packaged sample of the real data",
    ):  # fmt: skip
        assert said in words, said
    assert f"python -m runners.reproduce figure=syndicated/figure2 '{EVIL}'" in words
    # Published numbers stand beside the two scales whose data is no surrogate
    assert words.count("measured / published mean") == 2
    order = [words.index(said) for said in ("Published numbers never", "Scale quick", "Scale smoke")]
    assert order == sorted(order)


def test_published_numbers_stand_beside_measured_ones_with_ratio_and_interval(site: Path) -> None:
    measured = pd.read_csv(site / "syndicated/figure2/quick/table.csv")
    content = readable(measured)
    heads = [head for head, _ in content["heads"]]
    start = heads.index("mean")
    assert heads[start : start + 4] == ["mean", "95 % interval", "published mean", "measured / published mean"]
    row = measured[measured.published_mean.notna()].iloc[0]
    ends = [number(row[end] / row.published_mean) for end in ("ci_low", "ci_high")]
    cell = f"{number(row['mean'] / row.published_mean)} [{', '.join(ends)}]"
    assert cell in [cells[start + 3] for cells in content["rows"]]
    assert cell in words_of(site / "syndicated/figure2/index.html")


def test_lines_carry_the_numbers_of_the_tables(site: Path) -> None:
    found = numbers_of(site / "syndicated/figure2/index.html")
    curves = pd.read_csv(site / "syndicated/figure2/quick/curves.csv")
    for panel in PANELS:
        for method in METHODS:
            rows = curves[(curves.panel == panel) & (curves.method == method) & (curves.column == "regret")]
            points = np.array(found["line", panel, method], dtype=float)
            np.testing.assert_allclose(points, rows[["round", "mean", "ci_low", "ci_high", "n"]], rtol=1e-4)
        assert [point[0] for point in found["line", panel, "Random arms"]] == list(ROUNDS)
        bound = [2 * np.sqrt(5 * n * np.log(5)) for n in ROUNDS]  # of EXP3: 2 sqrt(K T ln K)
        np.testing.assert_allclose([point[1] for point in found["bound", panel, "TL"]], bound, rtol=1e-4)
        assert found["reference", panel, "a line"] == [[None, 25, None, None, None]]
    grid = numbers_of(site / "syndicated/table1/index.html")
    assert [point[0] for point in grid["line", "fixed", "Fixed"]] == [0, 0.5, 1]
    assert grid["best", "fixed", "Fixed"] == grid["line", "fixed", "Fixed"][:1]  # the lowest
    assert grid["published", "fixed", "published best"] == [[0.5, 44, None, None, None]]
    assert len(grid["line", "fixed", "Theory"]) == 1
    longer = numbers_of(site / "habo/longer/index.html")
    assert [point[0] for point in longer["bound", "fixed", "bound of EXP3"]] == [100, 200, 400]
    assert [point[1] for point in longer["line", "fixed", "Random arms"]] == [83.333, 166.67, 333.33]


def test_marks_of_all_kinds_carry_their_numbers(site: Path) -> None:
    finals = pd.read_csv(site / "habo/spread/quick/finals.csv")
    own = finals[(finals.panel == PANELS[0]) & (finals.method == "TL")]["regret"]
    spread, dots = (numbers_of(site / f"habo/{name}/index.html") for name in ("spread", "dots"))
    at = PANELS[0], "TL"
    for found in (spread, dots):
        assert [point[0] for point in found["repetitions", *at]] == list(range(REPETITIONS))
        np.testing.assert_allclose([point[1] for point in found["repetitions", *at]], own, rtol=1e-4)
        [[_, mean, low, high, n]] = found["line", *at]
        assert mean == pytest.approx(own.mean(), rel=1e-4)
        assert own.min() < low < mean < high < own.max()
        assert n == REPETITIONS
        assert found["reference", PANELS[0], "a line"][0][1] == 60
    assert spread["quantile", *at][0][1] == pytest.approx(np.quantile(own, 0.95), rel=1e-4)
    np.testing.assert_allclose(spread["box", *at][0][1:4], np.quantile(own, (0.5, 0.25, 0.75)), rtol=1e-4)
    assert dots["published", *at] == [[None, 55, None, None, None]]
    assert dots["line", PANELS[0], "Random arms"][0][1] == pytest.approx(181 / 1.2, rel=1e-4)
    limits = numbers_of(site / "habo/limits/index.html")
    row = f"{PANELS[0]}, TL"
    assert limits["bound", row, "TL"][0][1] == pytest.approx(2 * np.sqrt(5 * 181 * np.log(5)), rel=1e-4)
    assert limits["line", row, "TL"][0][1] == pytest.approx(own.mean(), rel=1e-4)
    seconds = numbers_of(site / "habo/seconds/index.html")
    median = pytest.approx(np.median(own) / 20, rel=1e-4)
    assert seconds["line", "seconds", "TL"][0][:2] == [PANELS[0], median]
    assert seconds["line", "relative", "TL"][0][1] == 1
    assert seconds["published", "seconds", "TL"] == [[PANELS[0], 2, None, None, None]]
    smooth = pd.read_csv(site / "habo/smooth/quick/table.csv")
    first = smooth[(smooth.panel == PANELS[0]) & (smooth.method == "TL")].iloc[0]
    ends = [first["mean"] - first["std"], first["mean"] + first["std"]]
    points = numbers_of(site / "habo/smooth/index.html")["line", *at]
    np.testing.assert_allclose(points[0][:4], [first["probed"], first["mean"], *ends], rtol=1e-4)
    ranks = numbers_of(site / "habo/ranks/index.html")
    assert ranks["cell", PANELS[0], "TL"] == [[None, 1, None, None, REPETITIONS]]


def test_the_words_of_a_picture_are_words_of_the_page(site: Path) -> None:
    text = (site / "habo/dots/quick/dots.svg").read_text()
    picture = inline(text, "p-", "title", {})
    words = "expected regret of uniformly random arms, computed from the means."
    assert picture.caption == ["quick.", f"Marks: mean over repetitions of the final value. Random arms: {words}"]
    assert "Marks:" not in picture.svg
    names = [entry.name for entry in picture.legend]
    assert names[:2] == METHODS
    assert {"published", "one repetition", "a line", "Random arms"} <= set(names)
    assert all(entry.sample for entry in picture.legend[2:])
    assert [entry.is_part for entry in picture.legend if entry.name in ("published", "a line")] == [True, False]
    left, top, width, height = (float(number) for number in re.search('viewBox="([^"]*)"', picture.svg)[1].split())
    whole = [float(number) for number in re.search('viewBox="([^"]*)"', text)[1].split()]
    assert (left, width) == (whole[0], whole[2])
    assert 0 < top < whole[3] / 3
    assert height < whole[3] - top
    inside = [float(y) for y in re.findall(r'<text [^>]*y="([\d.]+)"', picture.svg.partition('class="sample"')[0])]
    assert all(top < y < top + height for y in inside)


@pytest.mark.parametrize("name", ["syndicated/figure2", "habo/spread"])
def test_half_finished_results_are_shown_as_far_as_they_go(site: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "quick"
    shutil.copytree(site / name / "quick", folder)
    page = f"{name}/index.html"
    assert "missing" not in build(read(tmp_path, FIGURES_MADE))[page]
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        path.unlink()
        text = build(read(tmp_path, FIGURES_MADE))[page]
        needless = path.name == "finals.csv" and name == "syndicated/figure2"
        assert f"{path.name} is missing" in text or path.suffix == ".png" or needless
        for damage in ("", "{", "a,b\n1,2,3\n", "<svg/>", "[]", "\0"):
            path.write_text(damage)
            Page(build(read(tmp_path, FIGURES_MADE))[page])
        path.write_bytes(whole)


def test_other_things_on_disk_and_unknown_papers(tmp_path: Path) -> None:
    assert "no results" in build(read(tmp_path / "nowhere", FIGURES_MADE))["index.html"]
    for name in ("raw/0123abcd/x", "benchmark"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "benchmark/speed.csv").write_text("a\n")
    (tmp_path / "new & paper/fig #1/odd").mkdir(parents=True)
    (tmp_path / "new & paper/fig #1/odd/claims.csv").write_text("claim,verdict,estimate\n1,perhaps,much\n")
    pages = build(read(tmp_path, {}))
    assert list(pages) == ["index.html", "new & paper/index.html", "new & paper/fig #1/index.html"]
    assert 'href="new%20%26%20paper/fig%20%231/index.html"' in pages["index.html"]
    assert "has no verdict" in pages["new & paper/fig #1/index.html"]


def test_a_picture_keeps_only_what_draws() -> None:
    body = '<script>1</script><g id="a" onclick="x()"><use xlink:href="#b"/><image href="http://x.y/z.png"/></g>'
    svg = inline(f"{HEAD}{body}</svg>", "p-", "title", {}).svg
    assert 'id="p-a"' in svg
    assert 'href="#p-b"' in svg
    for unwanted in ("script", "onclick", "http://x.y"):
        assert unwanted not in svg


def test_numbers_that_do_not_fit_a_line_are_left_out() -> None:
    line = f'<g id="{part_id("line", "a, b", "TL")}"><path d="M 0 0 L 1 1"/></g>'
    text = f"{HEAD}{line}</svg>"
    point, at = [1, 2.0, 1.0, 3.0, 5], ("line", "a, b", "TL")
    assert "data-points" in inline(text, "", "", {at: Marks([point, point])}).svg
    assert "data-points" not in inline(text, "", "", {at: Marks([point] * 3)}).svg


def test_marks_without_a_line_have_numbers_and_a_colour() -> None:
    mark = '<defs><path id="m" d="M 0 0 L 1 0 L 1 1" style="stroke: #123456"/></defs><use href="#m" x="1" y="2"/>'
    line = f'<g id="{part_id("line", "seconds", "TL")}">{mark}<use href="#m" x="3" y="4"/></g>'
    figure = {"kind": "timing", "runs": [{"panel": {"a": [], "b": []}, "method": {"TL": []}}]}
    rows = {"panel": ["a", "b"], "method": "TL", "n": 3, "seconds": [2.0, 4.0], "fastest": 1.0, "slowest": 5.0}
    marks = read_marks(figure, pd.DataFrame(), pd.DataFrame({**rows, "relative": [1.0, 1.0]}), pd.DataFrame())
    assert marks["line", "seconds", "TL"].points == [["a", 2, 1, 5, 3], ["b", 4, 1, 5, 3]]
    assert marks["line", "relative", "TL"].points == [["a", 1, None, None, 3], ["b", 1, None, None, 3]]
    assert marks["line", "seconds", "TL"].ends == "fastest and slowest"
    picture = inline(f"{HEAD}{line}</svg>", "", "", marks)
    assert [(entry.name, entry.colour) for entry in picture.legend] == [("TL", "#123456")]
    assert "data-points" in picture.svg


def test_missing_values_are_left_out() -> None:
    rows = {"panel": "fixed", "method": "Fixed", "alpha": [0, 1], "mean": [1, 2], "random_arms": [7.0, np.nan]}
    found = read_marks(GRID, pd.DataFrame(), pd.DataFrame(rows), pd.DataFrame())
    assert found["line", "fixed", "Random arms"].points == [[None, 7, None, None, None]]
    rows |= {"mean": [1, np.nan], "n": [3, 0]}
    found = read_marks(GRID, pd.DataFrame(), pd.DataFrame(rows), pd.DataFrame())
    assert [point[0] for point in found["line", "fixed", "Fixed"].points] == [0]


def test_small_words() -> None:
    assert read_part_id(part_id("line", "a: b, 5 %", "TL / x")) == ("line", "a: b, 5 %", "TL / x")
    assert read_part_id("axes_1") is None
    assert [number(x) for x in (1234567.0, -0.5, 142.83528, 0.00001234, float("nan"), 1200)] == [
        "1,234,567", "−0.5", "142.8", "1.234e−05", "–", "1,200"]  # fmt: skip
    assert [duration(x) for x in (1.25, 59.96, 240, 7300)] == ["1.2 s", "1 min", "4 min", "2 h 2 min"]


def test_every_paper_has_its_text() -> None:
    papers = {path.stem for path in (CONFIGS / "paper").glob("*.yaml")} - {"none"}
    assert papers <= set(PAPERS)


def test_the_command_writes_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    assert gallery.main() == 0
    assert capsys.readouterr().out.strip().endswith(str(tmp_path / "index.html"))
    assert (tmp_path / "syndicated/index.html").is_file()


def test_pages_of_figures_that_did_not_change_are_kept(tmp_path: Path) -> None:
    for name in ("figure2", "figure3"):
        write(tmp_path / "syndicated" / name / "quick", CURVES | {"name": name})
    gallery.write_gallery(tmp_path)
    pages = [tmp_path / "syndicated" / name / "index.html" for name in ("figure2", "figure3")]
    whole = [page.read_text() for page in pages]
    for page in pages:
        page.write_text("old")
    gallery.write_gallery(tmp_path, ["syndicated/figure3"])
    assert [page.read_text() for page in pages] == ["old", whole[1]]
    pages[0].unlink()
    gallery.write_gallery(tmp_path, ["syndicated/figure3"])
    assert [page.read_text() for page in pages] == whole
