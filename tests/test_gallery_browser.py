"""The gallery in a browser: nothing is broken, too wide or too small on a phone or a screen."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from chromium import PROGRAM, Chromium

pytestmark = pytest.mark.skipif(not PROGRAM, reason="Chromium is not installed")

WIDTHS = (375, 1440)
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
  for (const node of document.querySelectorAll("body *")) {
    const says = [...node.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
    if (says && !node.closest("svg, script, style, .unseen") && parseFloat(getComputedStyle(node).fontSize) < 12) {
      found.push("small: " + node.textContent.trim().slice(0, 60));
    }
  }
  return found;
})()
"""
"""Returns the faults of a page as displayed."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with closing(Chromium(tmp_path_factory.mktemp("profile"))) as chromium:
        yield chromium


def faults(browser: Chromium, page: Path, width: int) -> list[str]:
    browser.open(page.as_uri(), width)
    browser.run('document.querySelectorAll("details").forEach((part) => { part.open = true; })')
    return [*browser.run(LOOK % {"width": width}), *browser.complaints]


@pytest.mark.parametrize("width", WIDTHS)
def test_all_of_every_page_can_be_seen(browser: Chromium, site: Path, width: int) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 10
    found = {str(page.relative_to(site)): faults(browser, page, width) for page in pages}
    assert {page: wrong for page, wrong in found.items() if wrong} == {}


def test_a_phone_scrolls_a_picture_of_full_size(browser: Chromium, site: Path) -> None:
    """So that its letters can be read; a wide screen shows it whole."""
    sizes = """(async () => { const image = document.querySelector(".drawn img");
      await image.decode();
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
    body = """<meta name="viewport" content="width=device-width"><img src="none.png"><p style="font-size:9px">tiny</p>
      <p style="margin-left:600px">far away</p><script>console.error("no"); nothing();</script>"""
    page.write_text(f"<!doctype html>{body}")
    found = "\n".join(str(fault) for fault in faults(browser, page, 375))
    for said in ("picture not loaded", "small", "wider than the screen", "ERR_FILE_NOT_FOUND", "'value': 'no'",
                 "nothing is not defined"):  # fmt: skip
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
