"""The gallery in a browser: nothing is broken, cut off or unreadable on a phone or a screen, in light and dark."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import PROGRAM, Chromium
from gallery_site import FIGURES_MADE, METHODS, PANELS, REPETITIONS, made_up_published

from bench.gallery.build import build
from bench.gallery.folders import read_papers

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")

WIDTHS = (375, 1440)
# What is wrong with the page as it stands: parts wider than the screen, text that is cut off or hardly stands out,
# pictures that were not loaded. What lies in a box that scrolls can be reached.
LOOK = r"""
(async () => {
  const found = [];
  for (const image of document.images) {
    image.loading = "eager";
    await image.decode().catch(() => found.push("picture not loaded: " + image.src));
  }
  const root = document.documentElement;
  if (innerWidth !== %(width)d) found.push("laid out for " + innerWidth);
  if (root.scrollWidth > root.clientWidth) found.push("page wider than the screen: " + root.scrollWidth);
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const bright = ([r, g, b]) => [r, g, b].map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, node = text.parentElement, style = getComputedStyle(node);
    if (!text.data.trim() || node.closest("svg, script, style, [hidden], .unseen")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    if (!box.width) continue; // in a part that is folded
    const what = JSON.stringify(text.data.trim().slice(0, 60));
    if (parseFloat(style.fontSize) < 12) found.push("small: " + what + style.fontSize);
    const pair = [bright(numbers(style.color)), bright(behind(node))].sort();
    if ((pair[1] + 0.05) / (pair[0] + 0.05) < 4.5) found.push("faint: " + what + style.color + behind(node));
    const around = node.closest(".scroll");
    if (!around && (box.left < -1 || box.right > innerWidth + 1)) found.push("beyond the screen: " + what);
    for (let at = node; at && at !== around; at = at.parentElement) {
      const hides = getComputedStyle(at).overflowX !== "visible";
      const edge = at.getBoundingClientRect();
      if (hides && box.right > edge.right + 1) found.push("cut off: " + what);
      const hidesBelow = getComputedStyle(at).overflowY === "hidden";
      if (hidesBelow && (box.top < edge.top - 1 || box.bottom > edge.bottom + 1)) found.push("cut off: " + what);
    }
  }
  for (const text of document.querySelectorAll(".picture svg text")) {
    const box = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
    if (!box.width) continue;
    const isIn = box.left > frame.left - 1 && box.right < frame.right + 1 && box.top > frame.top - 1
      && box.bottom < frame.bottom + 1;
    if (!isIn) found.push("cut off in the picture: " + text.textContent);
    if (box.height < 8.9) found.push("small in the picture: " + text.textContent + " " + box.height);
  }
  return found;
})()
"""
OFF = '[...document.querySelectorAll("#plot-quick .off")].map((part) => part.dataset.part ?? "row")'


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


def faults(browser: Chromium, page: Path, width: int) -> list[str]:
    """Return what is wrong with a page, in light and dark."""
    browser.open(page.as_uri(), width)
    browser.run('document.querySelectorAll("details").forEach((part) => { part.open = true; })')
    found: list[str] = []
    for dark in (False, True):
        browser.prefer(dark)
        assert browser.run('matchMedia("(prefers-color-scheme: dark)").matches') == dark
        found += browser.run(LOOK % {"width": width})
    return found + browser.complaints


@pytest.mark.parametrize("width", WIDTHS)
def test_all_of_every_page_can_be_seen(browser: Chromium, site: Path, width: int) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 10
    found = {str(page.relative_to(site)): faults(browser, page, width) for page in pages}
    assert {page: wrong for page, wrong in found.items() if wrong} == {}


def test_shares_of_published_numbers_are_not_cut_off_on_a_phone(browser: Chromium, site: Path, tmp_path: Path) -> None:
    page = tmp_path / "numbers.html"
    page.write_text(build(read_papers(site, FIGURES_MADE), made_up_published())["numbers.html"])
    assert 'class="shares"' in page.read_text()
    assert faults(browser, page, WIDTHS[0]) == []


def test_a_picture_beside_its_claims_is_whole(browser: Chromium, site: Path) -> None:
    browser.open((site / "habo" / "index.html").as_uri(), WIDTHS[0])
    fits = browser.run('[...document.querySelectorAll(".row img")].map((at) => getComputedStyle(at).objectFit)')
    assert set(fits) == {"contain"}


def test_what_is_wrong_is_found(browser: Chromium, tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    body = """<meta name="viewport" content="width=device-width"><p style="color:#999">faint</p><img src="none.png">
      <p style="width:3em;overflow:hidden;white-space:nowrap">much too long for it</p><p style="font-size:9px">tiny</p>
      <p style="margin-left:600px">far away</p><script>console.error("no"); nothing();</script>"""
    page.write_text(f"<!doctype html>{body}")
    found = "\n".join(str(fault) for fault in faults(browser, page, 375))
    for said in ("faint", "picture not loaded", "cut off", "small", "wider than the screen", "ERR_FILE_NOT_FOUND",
                 "'value': 'no'", "nothing is not defined"):  # fmt: skip
        assert said in found, said


def hover(browser: Chromium, part: str, name: str, panel: str, at: float = 0.5) -> list[str]:
    """Move the mouse onto a part of the first picture; return the lines of what it says."""
    spot = browser.run(f"""(() => {{
      for (const panel of document.querySelectorAll(".plot .picture")) {{
        const {{ marks, frame: [left, top, right, bottom] }} = panel.numbers;
        const mark = marks.find((mark) => mark.part === {part!r} && mark.name === {name!r} && mark.case === {panel!r});
        if (!mark) continue;
        const [x, y] = mark.box ? [mark.box[0] + {at} * (mark.box[1] - mark.box[0]), mark.box[3]]
          : mark.at[Math.round({at} * (mark.points.length - 1))];
        const svg = panel.querySelector("svg");
        const find = () => {{
          const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
          return [box.left + scale * (x ?? (left + right) / 2), box.top + scale * (y ?? (top + bottom) / 2)];
        }};
        scrollBy(0, find()[1] - innerHeight / 2);
        return find();
      }}
    }})()""")
    say = "new Promise((done) => setTimeout(() => done(tip.hidden ? '' : tip.textContent), 60))"
    text = ""
    for _ in range(100):  # the page may be told late that it was scrolled, which takes the answer away
        browser.point(1, 1)
        browser.point(*spot)
        text = browser.run(say)
        if text:
            break
    return str(text).split("\n\n")[0].split("\n")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_mouse_reads_values_off_every_kind_of_figure(browser: Chromium, site: Path, width: int) -> None:
    number, both = r"[\d.,]+", f"{REPETITIONS} repetitions"
    mean = rf"{number} \[{number}, {number}\]"
    sure = f"{both}, 95 % interval"
    first, other = PANELS[0], METHODS[1]
    cases: list[tuple[str, tuple[Any, ...], list[str]]] = [
        ("syndicated/figure2", ("line", "TL", first, 1), ["round 181", mean, sure]),
        ("syndicated/table1", ("published", "published best", "fixed"), ["alpha 0.5", "published 44"]),
        ("habo/longer", ("bound", "bound of EXP3", "fixed", 1), ["horizon 400", f"bound {number}"]),
        ("habo/dots", ("reference", "a line", first, 0.9), ["60"]),
        ("habo/spread", ("box", other, first, 0.2), [f"median {mean}", f"{both}, quartiles"]),
        ("habo/limits", ("case 0", "b", first), [f"holds {mean}", sure]),
        ("habo/seconds", ("line", other, "relative", 0), [first, f"ratio of medians {number}", both]),
        ("habo/ranks", ("cell", other, PANELS[1], 0.3), [f"relative to TL {mean}", sure]),
    ]
    for page, spot, wanted in cases:
        browser.open((site / page / "index.html").as_uri(), width)
        name, panel, *rest = hover(browser, *spot)
        assert (name, panel) == (spot[1], spot[2]), page
        assert len(rest) == len(wanted), (page, rest)
        for line, pattern in zip(rest, wanted, strict=True):
            assert re.fullmatch(pattern, line), (page, line)
    assert browser.complaints == []


SHOWN = '[...document.querySelectorAll(".list > :is(li, details):not([hidden])")].map((item) => item.textContent)'


def test_filters_are_kept_in_the_address(browser: Chromium, site: Path) -> None:
    address = (site / "figures.html").as_uri()
    browser.open(address, 1440)
    assert len(browser.run(SHOWN)) == 11
    browser.run("""(() => { const form = document.querySelector(".filters"); form.elements.paper.value = "syndicated";
      form.elements.words.value = "tl BETTER"; form.dispatchEvent(new Event("input")); })()""")
    view = browser.run("location.hash")
    assert view == "#figures?paper=syndicated&words=tl+BETTER"
    [shown] = browser.run(SHOWN)
    assert "Figure 2" in shown
    browser.open(address + view, 375)
    assert browser.run(SHOWN) == [shown]
    assert browser.run('document.querySelector("output").textContent') == "1 of 11"
    browser.open(address + "#figures?verdict=fails", 375)
    [shown] = browser.run(SHOWN)
    assert "Limits" in shown
    assert browser.complaints == []


def test_claims_are_found_and_a_link_unfolds_them(browser: Chromium, site: Path) -> None:
    address = (site / "claims.html").as_uri()
    seen = (
        '[...document.querySelectorAll(".claim")].filter((claim) => claim.checkVisibility()).map((claim) => claim.id)'
    )
    browser.open(address, 1440)
    assert browser.run(seen) == []
    browser.open(address + "#claims?verdict=fails", 1440)
    assert browser.run(seen) == ["habo-limits-b"]
    assert browser.run('document.querySelector("output").textContent') == "1 of 2"
    browser.open(address + "#syndicated-figure2-1", 375)
    assert browser.run(seen) == ["syndicated-figure2-1"]
    assert browser.complaints == []


def test_a_table_is_sorted_and_the_address_keeps_it(browser: Chromium, tmp_path: Path) -> None:
    readings = [{"name": name, "text": "x", "source": ["code", "y"]} for name in ("b", "a", "c")]
    page = tmp_path / "readings.html"
    page.write_text(build(read_papers(tmp_path, {"p/f": {"title": "x", "readings": readings}}))["readings.html"])
    names = '[...document.querySelectorAll("#list b")].map((name) => name.textContent).join("")'
    browser.open(page.as_uri(), 1440)
    assert browser.run(names) == "bac"
    for expected in ("abc", "cba"):
        browser.run('document.querySelectorAll(".sortable th button")[2].click()')
        assert browser.run(names) == expected
    browser.open(page.as_uri() + browser.run("location.hash"), 1440)
    assert browser.run(names) == "cba"


def test_the_keys_list_all_methods_at_a_round(browser: Chromium, site: Path) -> None:
    browser.open((site / "syndicated/figure2/index.html").as_uri(), 1440)
    browser.run("document.querySelector('.picture').dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}))")
    first, *rest = browser.run("tip.textContent").split("\n")
    assert first == "round 181"
    values = {name: float(value.replace(",", "")) for name, value in (line.rsplit(" ", 1) for line in rest)}
    assert {"TL", METHODS[1], "bound of TL"} <= set(values)
    assert list(values.values()) == sorted(values.values(), reverse=True)
    [shown] = browser.run("""document.querySelector('.picture').numbers.marks
      .filter((mark) => mark.part === 'line' && mark.name === 'TL').map((mark) => mark.points.at(-1)[1])""")
    assert values["TL"] == pytest.approx(shown, rel=1e-3)


def test_panels_need_no_dragging_on_a_phone(browser: Chromium, site: Path) -> None:
    """All but tables of cells, which would become too small to read."""
    wider = '[...document.querySelectorAll(".picture")].filter((own) => own.scrollWidth > own.clientWidth).length'
    for page in ("syndicated/figure2", "syndicated/table1", "habo/dots", "habo/limits", "habo/spread", "habo/seconds"):
        browser.open((site / page / "index.html").as_uri(), 375)
        assert browser.run(wider) == 0, page


@pytest.mark.parametrize(
    ("page", "name", "parts"),
    [
        ("syndicated/table1", "Fixed", {"line", "bars", "low", "high", "best"}),
        ("syndicated/table1", "published best", {"published", "published line"}),
        ("habo/longer", "bound of EXP3", {"bound"}),
        ("habo/dots", "TL", {"line", "bars", "repetitions", "published"}),
        ("habo/spread", "TL", {"line", "box", "quantile", "repetitions"}),
        ("habo/seconds", "TL", {"line", "published"}),
        ("habo/examples", "slip", {"row"}),
    ],
)
def test_the_legend_hides_and_isolates_methods(
    browser: Chromium, site: Path, page: str, name: str, parts: set[str]
) -> None:
    def press(button: str) -> set[str]:
        browser.run(f"document.querySelector({button!r}).click()")
        return set(browser.run(OFF))

    names = '[...document.querySelectorAll(".plot [data-name]:not(.off)")].map((part) => part.dataset.name)'
    browser.open((site / page / "index.html").as_uri(), 375)
    assert press(f'[data-method="{name}"]') == parts
    assert press(f'[data-method="{name}"]') == set()
    press(f'[data-only="{name}"]')
    assert set(browser.run(names)) - {""} == {name}
    assert press("[data-all]") == set()
    assert browser.complaints == []
