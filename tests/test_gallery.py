import json
import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from bench.report.claims import check
from bench.report.gallery import build, overview, overview_text, read
from bench.report.gallery.papers import PAPERS
from bench.report.gallery.picture import inline, read_points
from bench.report.gallery.text import duration, number
from bench.report.kinds import draw, save
from bench.report.parts import part_id, read_part_id
from bench.report.tables import tables, to_csv
from runners import gallery
from runners.figures import FIGURES

EVIL = "<script>alert('&')</script>"
METHODS = ["TL", 'OP & "co" <b>']
PANELS = ["LinUCB, simulation", "LinTS: 50 %"]
ROUNDS = np.arange(1, 200, 20)
CURVES: dict[str, Any] = {
    "name": "figure2",
    "title": f"Regret {EVIL}",
    "kind": "curves",
    "column": "regret",
    "runs": [{"panel": {label: [] for label in PANELS}, "method": {label: [] for label in METHODS}}],
    "published": [{"panel": PANELS[0], "method": "TL", "what": "mean", "value": 40.0}],
    "claims": [
        {"id": "1", "text": f"TL is better {EVIL}", "kind": "paired_difference", "column": "regret", "expect": "less",
         "left": {"method": "TL"}, "right": {"method": METHODS[1]}, "per": ["panel"]},
    ],
}  # fmt: skip
GRID: dict[str, Any] = {
    "name": "table1",
    "title": "Grid",
    "kind": "grid",
    "column": "regret",
    "axis": "alpha",
    "runs": [
        {"panel": {"fixed": []}, "method": {"Fixed": []}, "alpha": {"values": [0, 0.5, 1], "override": "a={}"}},
        {"panel": {"fixed": []}, "method": {"Theory": []}},
    ],
}
FIGURES_MADE = {"syndicated/figure2": CURVES, "syndicated/table1": GRID, "syndicated/unmade": {"title": "Not yet"}}


def made_up(figure: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    curves, finals = [], []
    if figure["kind"] == "curves":
        cases = [{"panel": panel, "method": method} for panel in PANELS for method in METHODS]
    else:
        cases = [{"panel": "fixed", "method": "Fixed", "alpha": str(alpha)} for alpha in (0, 0.5, 1)]
        cases += [{"panel": "fixed", "method": "Theory", "alpha": ""}]
    for place, labels in enumerate(cases):
        ends = 50.0 + 20 * place + rng.normal(size=6)
        for repetition, regret in enumerate(ends):
            finals.append({**labels, "repetition": repetition, "rounds": 181, "regret": regret, "random_regret": 150.0})
        for column, end in (("regret", ends.mean()), ("random_regret", 150.0)):
            mean = end * np.sqrt(ROUNDS / 181)
            band = {"mean": mean, "std": 1.0, "ci_low": mean - 1, "ci_high": mean + 1, "n": 6}
            curves.append(pd.DataFrame({**labels, "column": column, "round": ROUNDS, **band}))
    return pd.concat(curves) if figure["kind"] == "curves" else pd.DataFrame(), pd.DataFrame(finals)


def write(folder: Path, figure: dict[str, Any], surrogate: bool = False) -> None:
    curves, finals = made_up(figure)
    folder.mkdir(parents=True)
    for name, table in tables(figure, finals, surrogate=surrogate).items():
        (folder / f"{name}.csv").write_text(to_csv(table))
    (folder / "finals.csv").write_text(to_csv(finals))
    (folder / "claims.csv").write_text(to_csv(check(figure, finals, curves)))
    if len(curves):
        (folder / "curves.csv").write_text(to_csv(curves))
    data = "surrogate" if surrogate else "06416e597f82b734"
    run = {"repetitions": 6, "horizon": 181, "seconds_per_repetition": 20.0, "labels": {}}
    manifest = {
        "command": f"python -m runners.reproduce figure=syndicated/{figure['name']} '{EVIL}'",
        "settings": [{"key": "env.dim", "values": [10, EVIL], "source": "stated", "where": f"section 6 {EVIL}"}],
        "published": figure.get("published", []),
        "runs": [{**run, "data": data}, {**run, "data": None}],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    save(draw(figure, curves, finals, note="quick"), folder, figure["name"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("results with space")
    for name, figure in FIGURES_MADE.items():
        if "kind" in figure:
            write(root / name / "quick", figure)
    write(root / "syndicated/figure2/paper-surrogate", CURVES, surrogate=True)
    write(root / "syndicated/figure2/smoke", CURVES)
    for page, text in build(read(root, FIGURES_MADE)).items():
        (root / page).write_text(text)
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


def test_links_pictures_and_anchors_lead_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text()) for path in site.rglob("index.html")}
    assert len(pages) == 2
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
    text = (site / "syndicated/index.html").read_text()
    used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'<use[^>]* href="#([^"]+)"', text))
    assert used
    assert used <= set(Page(text).ids)


def test_everything_is_escaped(site: Path) -> None:
    for path in site.rglob("index.html"):
        text = path.read_text()
        assert "alert(" in text
        assert EVIL not in text
        assert text.count("<script>") == text.count('"use strict"')


def test_the_front_page_counts_the_largest_scale(site: Path) -> None:
    words = " ".join(Page((site / "index.html").read_text()).words.split())
    claims = pd.read_csv(site / "syndicated/figure2/paper-surrogate/claims.csv")["verdict"].value_counts()
    assert f"✓ {claims['holds']} hold" in words
    assert "2 of 3 figures have results" in words
    assert "surrogate data" in words
    assert "unmade no results" in words


def test_the_overview_counts_cases_and_keeps_generated_data_apart(site: Path) -> None:
    papers = read(site, FIGURES_MADE)
    table = overview(papers)
    assert table[["paper", "figure", "claim"]].to_numpy().tolist() == [["syndicated", "figure2", "1"]]
    counted = int(table[["holds", "fails", "open"]].to_numpy().sum())
    assert counted == len(PANELS)
    lines = overview_text(table).splitlines()
    totals = {line.split("|")[1].strip(): line for line in lines if line.startswith("| ")}
    sums = {"all": sum(int(cell) for cell in totals["all"].split("|")[2:5])}
    generated = table["scale"].str.contains("surrogate").any()
    assert sums["all"] == (0 if generated else counted)
    other = overview_text(table.assign(scale="paper"))
    assert f"| all | {table.holds.sum()} | {table.fails.sum()} | {table.open.sum()} |" in other


def test_a_figure_says_what_it_rests_on(site: Path) -> None:
    words = " ".join(Page((site / "syndicated/index.html").read_text()).words.split())
    for said in ("4 min", "6 repetitions of 181 rounds", "checksum 06416e597f82", "section 6", "● stated", "✓ holds"):
        assert said in words, said
    assert f"python -m runners.reproduce figure=syndicated/figure2 '{EVIL}'" in words
    measured = pd.read_csv(site / "syndicated/figure2/quick/table.csv")
    ratio = measured["ratio_mean"].dropna().item()
    assert number(ratio) in words
    # Published numbers stand beside the two scales of real data only
    assert words.count("measured / published mean") == 2
    order = [words.index(said) for said in ("Published numbers never", "Scale quick", "Scale smoke")]
    assert order == sorted(order)


def test_lines_carry_the_numbers_of_the_tables(site: Path) -> None:
    text = (site / "syndicated/index.html").read_text()
    curves = pd.read_csv(site / "syndicated/figure2/quick/curves.csv")
    lines = re.findall(r'data-name="([^"]*)" data-panel="([^"]*)" data-points="([^"]*)"', text)
    found = {(unescape(panel), unescape(name)): json.loads(unescape(points)) for name, panel, points in lines}
    for panel in PANELS:
        for method in METHODS:
            rows = curves[(curves.panel == panel) & (curves.method == method) & (curves.column == "regret")]
            points = np.array(found[panel, method], dtype=float)
            np.testing.assert_allclose(points, rows[["round", "mean", "ci_low", "ci_high", "n"]], rtol=1e-4)
        assert [point[0] for point in found[panel, "Random arms"]] == list(ROUNDS)
    assert [point[0] for point in found["fixed", "Fixed"]] == [0, 0.5, 1]
    assert len(found["fixed", "Theory"]) == 1


@pytest.mark.parametrize("damage", ["", "{", "a,b\n1,2,3\n", "<svg/>", "[]", "\0"])
def test_half_finished_results_are_shown_as_far_as_they_go(tmp_path: Path, damage: str) -> None:
    write(tmp_path / "syndicated/figure2/quick", CURVES)
    assert "missing" not in build(read(tmp_path, FIGURES_MADE))["syndicated/index.html"]
    for path in sorted((tmp_path / "syndicated/figure2/quick").iterdir()):
        whole = path.read_bytes()
        path.unlink()
        page = build(read(tmp_path, FIGURES_MADE))["syndicated/index.html"]
        assert f"{path.name} is missing" in page or path.suffix == ".png" or path.name == "finals.csv"
        path.write_text(damage)
        Page(build(read(tmp_path, FIGURES_MADE))["syndicated/index.html"])
        path.write_bytes(whole)


def test_other_things_on_disk_and_unknown_papers(tmp_path: Path) -> None:
    assert "no results" in build(read(tmp_path / "nowhere", FIGURES_MADE))["index.html"]
    for name in ("raw/0123abcd/x", "benchmark"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "benchmark/speed.csv").write_text("a\n")
    (tmp_path / "new & paper/fig #1/odd").mkdir(parents=True)
    (tmp_path / "new & paper/fig #1/odd/claims.csv").write_text("claim,verdict,estimate\n1,perhaps,much\n")
    pages = build(read(tmp_path, {}))
    assert list(pages) == ["index.html", "new & paper/index.html"]
    assert "new%20%26%20paper/index.html#fig%20%231" in pages["index.html"]
    assert "has no verdict" in pages["new & paper/index.html"]


def test_a_picture_keeps_only_what_draws() -> None:
    body = '<script>1</script><g id="a" onclick="x()"><use xlink:href="#b"/><image href="http://x.y/z.png"/></g>'
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1">'
    svg = inline(f"{head}{body}</svg>", "p-", "title", {}).svg
    assert 'id="p-a"' in svg
    assert 'href="#p-b"' in svg
    for unwanted in ("script", "onclick", "http://x.y"):
        assert unwanted not in svg


def test_numbers_that_do_not_fit_a_line_are_left_out() -> None:
    line = f'<g id="{part_id("line", "a, b", "TL")}"><path d="M 0 0 L 1 1"/></g>'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">{line}</svg>'
    point = [1, 2.0, 1.0, 3.0, 5]
    assert "data-points" in inline(text, "", "", {("a, b", "TL"): [point, point]}).svg
    assert "data-points" not in inline(text, "", "", {("a, b", "TL"): [point] * 3}).svg


def test_marks_without_a_line_have_numbers_and_a_colour() -> None:
    mark = '<defs><path id="m" d="M 0 0 L 1 0 L 1 1" style="stroke: #123456"/></defs><use href="#m" x="1" y="2"/>'
    line = f'<g id="{part_id("line", "seconds", "TL")}">{mark}<use href="#m" x="3" y="4"/></g>'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">{line}</svg>'
    figure = {"kind": "timing", "runs": [{"panel": {"a": [], "b": []}, "method": {"TL": []}}]}
    rows = {"panel": ["a", "b"], "method": "TL", "n": 3, "seconds": [2.0, 4.0], "fastest": 1.0, "slowest": 5.0}
    points = read_points(figure, pd.DataFrame(), pd.DataFrame({**rows, "relative": [1.0, 1.0]}))
    assert points["seconds", "TL"] == [["a", 2, 1, 5, 3], ["b", 4, 1, 5, 3]]
    assert points["relative", "TL"] == [["a", 1, None, None, 3], ["b", 1, None, None, 3]]
    picture = inline(text, "", "", points)
    assert picture.methods == {"TL": "#123456"}
    assert "data-points" in picture.svg


def test_random_arms_of_a_grid_ignore_missing_values() -> None:
    rows = {"panel": "fixed", "method": "Fixed", "alpha": [0, 1], "mean": [1, 2], "random_arms": [7.0, np.nan]}
    assert read_points(GRID, pd.DataFrame(), pd.DataFrame(rows))["fixed", "Random arms"] == [
        [None, 7, None, None, None]
    ]


def test_small_words() -> None:
    assert read_part_id(part_id("line", "a: b, 5 %", "TL / x")) == ("line", "a: b, 5 %", "TL / x")
    assert read_part_id("axes_1") is None
    assert [number(x) for x in (1234567.0, -0.5, 142.83528, 0.00001234, float("nan"), 1200)] == [
        "1,234,567", "−0.5", "142.8", "1.234e−05", "–", "1,200"]  # fmt: skip
    assert [duration(x) for x in (1.25, 59.96, 240, 7300)] == ["1.2 s", "1 min", "4 min", "2 h 2 min"]


def test_every_paper_has_its_text() -> None:
    papers = {path.stem for path in (FIGURES.parent / "paper").glob("*.yaml")} - {"none"}
    assert papers <= set(PAPERS)


def test_the_command_writes_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    assert gallery.main() == 0
    assert capsys.readouterr().out.strip().endswith(str(tmp_path / "index.html"))
    assert (tmp_path / "syndicated/index.html").is_file()


PROBE = """
<script>
const root = document.documentElement;
const report = { errors: [], wide: root.scrollWidth - root.clientWidth, width: innerWidth };
addEventListener("error", (event) => report.errors.push(event.message));
const plot = document.querySelector(".plot");
if (plot) {
  const off = () => [...plot.querySelectorAll("svg .off")].map((part) => part.dataset.name + " " + part.dataset.part);
  const press = (selector) => { plot.querySelector(selector).click(); return [off(), location.hash]; };
  report.hidden = press("[data-method=TL]");
  report.shown = press("[data-method=TL]");
  report.only = press("[data-only=TL]");
  location.hash = "#figure2?" + plot.id + "=TL";
  const line = plot.querySelector("[data-part=line][data-name^=OP]");
  const at = line.querySelector("path").getAttribute("d").match(/L ([0-9.]+) ([0-9.]+)/);
  setTimeout(() => {
    report.linked = off();
    const spot = new DOMPoint(+at[1], +at[2]).matrixTransform(plot.querySelector("svg").getScreenCTM());
    plot.querySelector("svg").dispatchEvent(new PointerEvent("pointermove", { clientX: spot.x, clientY: spot.y }));
    report.tip = document.getElementById("tip").textContent;
    parent.postMessage(report, "*");
  }, 300);
} else parent.postMessage(report, "*");
</script>
"""


def in_chromium(page: Path, width: int, folder: Path) -> tuple[dict[str, Any], str]:
    """Open a page as wide as given, in a frame: a window cannot be as narrow as a phone. Return report and log."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("Chromium is not installed")
    probe = page.with_name("probe.html")
    probe.write_text(page.read_text().replace("</body>", f"{PROBE}</body>"))
    frame = f'<iframe style="border:0;width:{width}px;height:900px" src="{probe.as_uri()}"></iframe>'
    listen = "addEventListener('message', (e) => { document.title = JSON.stringify(e.data); })"
    (folder / "frame.html").write_text(f"<!doctype html><script>{listen}</script>{frame}")
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder / 'profile'}",
        "--window-size=1500,1000", "--virtual-time-budget=4000", "--enable-logging=stderr", "--dump-dom",
    ]  # fmt: skip
    address = (folder / "frame.html").as_uri()
    done = subprocess.run([program, *options, address], capture_output=True, text=True, timeout=60)
    probe.unlink()
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title, done.stderr[-500:]
    return json.loads(unescape(title[1])), done.stderr


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("page", ["index.html", "syndicated/index.html"])
def test_in_a_browser(site: Path, tmp_path: Path, page: str, width: int) -> None:
    report, log = in_chromium(site / page, width, tmp_path)
    assert report["errors"] == []
    assert "CONSOLE" not in log
    assert report["width"] == width
    assert report["wide"] <= 0
    if page != "index.html":
        hidden, address = report["hidden"]
        assert sorted(hidden) == sorted(["TL line", "TL band"] * len(PANELS))
        assert address == "#figure2?plot-figure2-paper-surrogate=TL"
        assert report["shown"][0] == []
        assert {name.rsplit(" ", 1)[0] for name in report["only"][0]} == {METHODS[1], "Random arms"}
        assert sorted(report["linked"]) == sorted(hidden)
        name, panel, x, values, n = report["tip"].split("\n")
        assert (name, panel, x) == (METHODS[1], PANELS[0], "round 21")
        assert re.fullmatch(r"[\d.]+ \[[\d.]+, [\d.]+\]", values)
        assert n == "6 repetitions, 95 % interval"
