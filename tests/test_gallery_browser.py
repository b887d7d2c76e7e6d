"""The gallery in a browser: nothing is broken, cut off or unreadable on a phone or a screen, in light and dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import PROGRAM, Chromium

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
  return found;
})()
"""


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


def test_a_phone_scrolls_a_picture_of_full_size(browser: Chromium, site: Path) -> None:
    """So that its letters can be read; a wide screen shows it whole."""
    sizes = """(() => { const image = document.querySelector(".drawn img");
      return [image.naturalWidth, image.width, image.closest(".scroll").clientWidth]; })()"""
    page = (site / "syndicated" / "figure2" / "index.html").as_uri()
    browser.open(page, WIDTHS[0])
    natural, width, room = browser.run(sizes)
    assert width == natural > room
    browser.open(page, WIDTHS[1])
    _, width, room = browser.run(sizes)
    assert width <= room


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


SHOWN = '[...document.querySelectorAll(".list > p:not([hidden])")].map((item) => item.textContent)'


def test_filters_are_kept_in_the_address(browser: Chromium, site: Path) -> None:
    address = (site / "claims.html").as_uri()
    browser.open(address, 1440)
    assert len(browser.run(SHOWN)) == 2
    browser.run("""(() => { const form = document.querySelector(".filters"); form.elements.paper.value = "syndicated";
      form.elements.words.value = "tl BETTER"; form.dispatchEvent(new Event("input")); })()""")
    view = browser.run("location.hash")
    assert view == "#claims?paper=syndicated&words=tl+BETTER"
    [shown] = browser.run(SHOWN)
    assert "TL is better" in shown
    browser.open(address + view, 375)
    assert browser.run(SHOWN) == [shown]
    assert browser.run('document.querySelector("output").textContent') == "1 of 2"
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
