"""The gallery in a browser: nothing is broken, cut off or unreadable on a phone or a screen, in light and dark."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import PROGRAM, Chromium
from gallery_site import METHODS, PANELS, REPETITIONS, write_site

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
      if (hides && box.right > at.getBoundingClientRect().right + 1) found.push("cut off: " + what);
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
OFF = '[...document.querySelectorAll("#plot-{} .off")].map((part) => part.dataset.part + " " + part.dataset.name)'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("results with space")
    write_site(root)
    return root


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


def faults(browser: Chromium, page: Path, width: int, dark: bool) -> list[str]:
    """Return what is wrong with a page."""
    browser.open(page.as_uri(), width, dark)
    browser.run('document.querySelectorAll("details").forEach((part) => { part.open = true; })')
    found: list[str] = browser.run(LOOK % {"width": width})
    assert browser.run('matchMedia("(prefers-color-scheme: dark)").matches') == dark
    return found + browser.complaints


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_all_of_every_page_can_be_seen(browser: Chromium, site: Path, width: int, dark: bool) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 10
    found = {str(page.relative_to(site)): faults(browser, page, width, dark) for page in pages}
    assert {page: wrong for page, wrong in found.items() if wrong} == {}


def test_what_is_wrong_is_found(browser: Chromium, tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    body = """<meta name="viewport" content="width=device-width"><p style="color:#999">faint</p><img src="none.png">
      <p style="width:3em;overflow:hidden;white-space:nowrap">much too long for it</p><p style="font-size:9px">tiny</p>
      <p style="margin-left:600px">far away</p><script>console.error("no"); nothing();</script>"""
    page.write_text(f"<!doctype html>{body}")
    found = "\n".join(str(fault) for fault in faults(browser, page, 375, False))
    for said in ("faint", "picture not loaded", "cut off", "small", "wider than the screen", "ERR_FILE_NOT_FOUND",
                 "'value': 'no'", "nothing is not defined"):  # fmt: skip
        assert said in found, said


def hover(browser: Chromium, part: str, name: str, panel: str, at: float = 0.5) -> list[str]:
    """Move the mouse onto a part of the first picture; return the lines of what it says."""
    spot = browser.run(f"""(() => {{
      for (const panel of document.querySelectorAll(".plot .picture")) {{
        const {{ svg, marks, left, right, top, bottom }} = panel.drawn;
        const mark = marks.find((mark) => mark.part === {part!r} && mark.name === {name!r} && mark.case === {panel!r});
        if (!mark) continue;
        const [x, y] = mark.box
          ? [mark.box[0] + {at} * (mark.box[1] - mark.box[0]),
             mark.part === "box" ? mark.box[3] : (mark.box[2] + mark.box[3]) / 2]
          : mark.at[Math.round({at} * (mark.points.length - 1))];
        const find = () => {{
          const box = svg.getBoundingClientRect();
          return [box.left + (x ?? (left + right) / 2), box.top + (y ?? (top + bottom) / 2)];
        }};
        scrollBy(0, find()[1] - innerHeight / 2);
        return find();
      }}
    }})()""")
    say = "new Promise((done) => setTimeout(() => done(tip.hidden ? '' : tip.textContent), 60))"
    text = ""
    for _ in range(10):  # the page may be told late that it was scrolled, which takes the answer away
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
        ("syndicated/figure2", ("bound", "TL", PANELS[1], 1), ["round 181", f"bound {number}"]),
        ("syndicated/table1", ("line", "Fixed", "fixed", 1), ["α 1", mean, sure]),
        ("syndicated/table1", ("published", "published best", "fixed"), ["α 0.5", "published 44"]),
        ("habo/longer", ("bound", "bound of EXP3", "fixed", 1), ["horizon 400", f"bound {number}"]),
        ("habo/dots", ("line", "TL", PANELS[1]), [mean, sure]),
        ("habo/dots", ("published", "TL", first), ["published 55"]),
        ("habo/dots", ("reference", "a line", first, 0.9), ["60"]),
        ("habo/dots", ("line", "Random arms", PANELS[1], 0.9), [number]),
        ("habo/spread", ("quantile", other, first), [f"95 % quantile {number}", both]),
        ("habo/spread", ("box", other, first, 0.2), [f"median {mean}", f"{both}, quartiles"]),
        ("habo/spread", ("repetitions", other, first, 0), ["repetition 0", f"one value {number}"]),
        ("habo/limits", ("line", "TL", f"{first}, TL"), [f"measured {mean}", sure]),
        ("habo/limits", ("bound", "TL", f"{first}, TL"), [f"bound {number}", both]),
        ("habo/seconds", ("line", other, "relative", 0), [first, f"ratio of medians {number}", both]),
        ("habo/smooth", ("line", "TL", first, 0), ["rate 1", r"-[\d.]+ \[-[\d.]+, -[\d.]+\]", "one .* over 9 blocks"]),
    ]
    opened = ""
    for page, spot, wanted in cases:
        if page != opened:
            browser.open((site / page / "index.html").as_uri(), width)
            opened = page
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


def test_claims_unfold_where_they_are_searched_and_where_a_link_leads(browser: Chromium, site: Path) -> None:
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
    assert browser.run('document.getElementById("syndicated-figure2-1").open')
    assert browser.complaints == []


def test_a_table_of_methods_is_sorted_and_filtered(browser: Chromium, site: Path) -> None:
    address = (site / "habo/ranks/index.html").as_uri()
    names = '[...document.querySelectorAll(".heat tbody tr:not([hidden])")].map((row) => row.cells[0].textContent)'
    values = '[...document.querySelectorAll(".heat tbody tr")].map((row) => parseFloat(row.cells[1].textContent))'
    browser.open(address, 1440)
    browser.run('document.querySelectorAll(".heat th button")[1].click()')
    first = browser.run(values)
    browser.run('document.querySelectorAll(".heat th button")[1].click()')
    assert (first, browser.run(values)) == (sorted(first), sorted(first, reverse=True))
    assert browser.run("location.hash") == "#quick?sort=-mean+rank"
    browser.open(address + "#quick?words=co", 1440)
    assert browser.run(names) == [METHODS[1]]
    assert browser.complaints == []


def test_the_search_reads_all_pages_from_disk(browser: Chromium, site: Path) -> None:
    hits = """(async () => {
      const field = document.querySelector("search input");
      field.focus();
      for (let i = 0; i < 50 && !window.PAGES; i++) await new Promise((done) => setTimeout(done, 20));
      field.value = "limits bound";
      field.dispatchEvent(new Event("input"));
      await new Promise((done) => setTimeout(done, 50));
      return [...document.querySelectorAll("search a")].map((link) => link.href);
    })()"""
    browser.open((site / "syndicated/figure2/index.html").as_uri(), 375)
    found = browser.run(hits)
    assert (site / "habo/limits/index.html").as_uri() in found
    assert (site / "habo/limits/index.html").as_uri() + "#claim-b" in found
    assert browser.complaints == []


def press(browser: Chromium, selector: str, scale: str) -> tuple[list[str], str]:
    """Press a button; return what is hidden in the picture of a scale, and the end of the address."""
    browser.run(f"document.querySelector({selector!r}).click()")
    return sorted(browser.run(OFF.format(scale))), browser.run("location.hash")


def test_the_legend_hides_and_isolates_methods_and_the_address_keeps_it(browser: Chromium, site: Path) -> None:
    address = (site / "syndicated/figure2/index.html").as_uri()
    browser.open(address, 1440)
    own = sorted(["line TL", "band TL", "bound TL"] * len(PANELS))
    assert press(browser, "[data-method=TL]", "paper-surrogate") == (own, "#paper-surrogate?paper-surrogate=TL")
    assert press(browser, "[data-method=TL]", "paper-surrogate") == ([], "#paper-surrogate")
    hidden, view = press(browser, "[data-only=TL]", "paper-surrogate")
    assert {part.split(" ", 1)[1] for part in hidden} == {METHODS[1], "Random arms", "a line"}
    assert press(browser, "[data-all]", "paper-surrogate")[0] == []
    browser.open(address + view, 1440)  # the link shows the same
    assert sorted(browser.run(OFF.format("paper-surrogate"))) == hidden
    browser.open(address + "#smoke?smoke=TL", 1440)
    assert sorted(browser.run(OFF.format("smoke"))) == own
    assert browser.run(OFF.format("paper-surrogate")) == []
    assert browser.run('document.getElementById("smoke").open')
    assert browser.complaints == []


def test_one_panel_at_a_time_and_the_address_keeps_it(browser: Chromium, site: Path) -> None:
    address = (site / "syndicated/figure2/index.html").as_uri()
    shown = """[...document.querySelectorAll("#plot-paper-surrogate .picture")]
      .filter((panel) => panel.getBoundingClientRect().width).map((panel) => panel.dataset.title)"""
    browser.open(address, 1440)
    assert browser.run(shown) == PANELS
    browser.run("""(() => { const select = document.querySelector("#plot-paper-surrogate select"); select.value = "1";
      select.dispatchEvent(new Event("change")); })()""")
    assert browser.run(shown) == PANELS[1:]
    view = browser.run("location.hash")
    top = 'document.querySelector(".plot select").getBoundingClientRect().top'
    for chosen in ("", "0"):  # the reader stays where the choice is made
        before = browser.run(top)
        browser.run(f"""(() => {{ const select = document.querySelector(".plot select"); select.value = "{chosen}";
          select.dispatchEvent(new Event("change")); }})()""")
        assert abs(browser.run(top) - before) < 30
    assert view == "#paper-surrogate?panel-paper-surrogate=2"
    browser.open(address + view, 375)
    assert browser.run(shown) == PANELS[1:]
    browser.open(address + "#paper-surrogate?panel-paper-surrogate=9", 375)
    assert browser.run(shown) == PANELS


@pytest.mark.parametrize(("width", "columns"), [(1100, 2), (1440, 2), (375, 1)])
def test_four_panels_stand_two_by_two(browser: Chromium, site: Path, width: int, columns: int) -> None:
    browser.open((site / "syndicated/figure2/index.html").as_uri(), width)
    starts = """(() => { const panels = document.querySelector(".panels");
      for (const panel of [...panels.children]) panels.append(panel.cloneNode(true));
      return [...panels.children].map((panel) => panel.getBoundingClientRect().left); })()"""
    found = browser.run(starts)
    assert (len(found), len(set(found))) == (4, columns)


AXIS = """(() => { const { back, left, right } = document.querySelector(".picture").drawn;
  return [back(left), back(right)]; })()"""
NUMBERS = """[...document.querySelectorAll(".picture svg")[0].querySelectorAll("text[text-anchor=end]")]
  .map((text) => parseFloat(text.textContent.replace(",", "")))"""


def test_axes_follow_what_is_shown_and_rounds_can_be_zoomed_into(browser: Chromium, site: Path) -> None:
    """TL ends near 50 under a bound of 76, the line lies at 25."""
    address = (site / "syndicated/figure2/index.html").as_uri()
    browser.open(address, 1440)
    whole, top = browser.run(AXIS), max(browser.run(NUMBERS))
    browser.run("document.querySelector('[data-only=\"a line\"]').click()")
    assert max(browser.run(NUMBERS)) < 50 <= top
    browser.run("document.querySelector('[data-all]').click()")
    press_key = "document.querySelector('.picture').dispatchEvent(new KeyboardEvent('keydown', {key: '%s'}))"
    browser.run(press_key % "+")
    low, high = browser.run(AXIS)
    assert (high - low) == pytest.approx((whole[1] - whole[0]) / 2, rel=1e-6)
    view = browser.run("location.hash")
    browser.open(address + view, 375)
    assert browser.run(AXIS) == pytest.approx([low, high], rel=1e-3)
    browser.run(press_key % "0")
    assert browser.run(AXIS) == pytest.approx(whole)
    browser.run(press_key % "l")
    numbers = sorted(browser.run(NUMBERS))
    assert min(after / before for before, after in itertools.pairwise(numbers)) > 1.5  # 1, 2, 5 of powers of ten
    assert browser.complaints == []


def test_the_keys_list_all_methods_at_a_round(browser: Chromium, site: Path) -> None:
    browser.open((site / "syndicated/figure2/index.html").as_uri(), 1440)
    browser.run("document.querySelector('.picture').dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}))")
    first, *rest = browser.run("tip.textContent").split("\n")
    assert first == "round 181"
    values = {name: float(value.replace(",", "")) for name, value in (line.rsplit(" ", 1) for line in rest)}
    assert {"TL", METHODS[1], "bound of TL"} <= set(values)
    assert list(values.values()) == sorted(values.values(), reverse=True)
    marks = browser.run(
        "document.querySelector('.picture').drawn.marks.map((m) => [m.part, m.name, m.points.at(-1)[1]])"
    )
    shown = {
        name if part == "line" else f"bound of {name}": value
        for part, name, value in marks
        if part in ("line", "bound")
    }
    assert values == pytest.approx({name: shown[name] for name in values}, rel=1e-3)


def test_panels_need_no_dragging_on_a_phone(browser: Chromium, site: Path) -> None:
    """All but tables of cells, which would become too small to read."""
    wider = """[...document.querySelectorAll(".picture")]
      .filter((own) => own.clientWidth && own.scrollWidth > own.clientWidth)
      .map((own) => own.dataset.title)"""
    for page in ("syndicated/figure2", "syndicated/table1", "habo/dots", "habo/limits", "habo/spread", "habo/seconds"):
        browser.open((site / page / "index.html").as_uri(), 375)
        assert browser.run(wider) == [], page


@pytest.mark.parametrize(
    ("page", "name", "parts"),
    [
        ("syndicated/table1", "Fixed", {"line", "bars", "best"}),
        ("syndicated/table1", "published best", {"published", "published line"}),
        ("habo/longer", "bound of EXP3", {"bound"}),
        ("habo/dots", "TL", {"line", "bars", "repetitions", "published"}),
        ("habo/spread", "TL", {"line", "box", "quantile", "repetitions"}),
        ("habo/limits", "Random arms", {"line"}),
        ("habo/seconds", "TL", {"line", "published"}),
        ("habo/smooth", "TL", {"line", "bars"}),
        ("habo/examples", "slip", {"undefined"}),
    ],
)
def test_the_legend_works_for_every_kind(browser: Chromium, site: Path, page: str, name: str, parts: set[str]) -> None:
    browser.open((site / page / "index.html").as_uri(), 375)
    hidden, _ = press(browser, f'[data-method="{name}"]', "quick")
    assert {part.removesuffix(f" {name}") for part in hidden} == parts
    hidden, _ = press(browser, f'[data-only="{name}"]', "quick")
    assert not any(part.endswith(f" {name}") for part in hidden)
    assert browser.complaints == []
