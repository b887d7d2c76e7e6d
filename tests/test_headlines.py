"""General statements of a paper are judged by the claims and under the readings that they name."""

import itertools
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import registry

from bench.audit.evidence import evidence
from bench.audit.headlines import DEPENDS, NOT_RUN, counted, judge, judged, read_headlines, spelled
from bench.errors import ConfigError
from runners.config.papers import load_paper
from runners.results.pages import load_headlines
from tools.docs import headlines, made_parts, with_made_part

PAPERS = {path.parent.name for path in Path(__file__).parents[1].glob("conf/papers/*/errata.md")}
COLUMNS = ["claim", "case", "verdict", "holm", "expect", "estimate", "ci_low", "ci_high", "relative", "n"]


def cases(*verdicts: str, holm: str = "yes", expect: str = "less") -> pd.DataFrame:
    """Return rows of claims.csv of claim 1, cases a, b, ...: estimates 1, 2, ..., intervals of one to either side."""
    rows = [
        ("1", "abcdefghijkl"[i], verdict, holm if verdict in ("holds", "fails", "tie") else "", expect,
         i + 1, i, i + 2, -0.1 * (i + 1), 20 + i)
        for i, verdict in enumerate(verdicts)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def verdict_of(*parts: pd.DataFrame, hedge: str = "") -> str:
    return judge([evidence(part) for part in parts], hedge=hedge)


def test_a_case_without_evidence_does_not_count() -> None:
    assert verdict_of(cases("holds", "holds", "open", "no evidence", "no evidence")) == "holds"
    assert verdict_of(cases("no evidence", "no evidence")) == "no evidence"
    assert verdict_of(cases("no evidence", "open")) == "open"


def test_each_part_of_a_headline_must_hold() -> None:
    """Many cases of one part do not make up for another part; a part without evidence is left out."""
    many, half = cases("holds", "holds", "holds"), cases("holds", "open")
    assert verdict_of(many, half) == "open"
    assert verdict_of(many, cases("holds", "holds", "open")) == "holds"
    assert verdict_of(many, cases("no evidence")) == "holds"
    assert verdict_of(many, cases("fails")) == "mixed"
    assert verdict_of(half, cases("fails")) == "mixed"
    assert verdict_of(cases("open"), cases("fails")) == "fails"


def test_a_verdict_lost_to_holms_correction_is_open() -> None:
    assert verdict_of(cases("fails", "fails", holm="no")) == "open"
    assert verdict_of(pd.concat([cases("holds", "holds"), cases("fails", holm="no")])) == "holds"
    assert verdict_of(cases("holds", "fails", holm="")) == "open"  # nor what no test of its own decided
    for expect in ("at_most", "at_least"):  # a tie holds for no more and no less
        assert verdict_of(cases("tie", "tie", "open", expect=expect)) == "holds"
        assert verdict_of(cases("tie", "fails", expect=expect)) == "mixed"


def test_the_rule_for_all_small_numbers_of_cases() -> None:
    """The rule again, from the numbers of cases alone."""
    of_word = {word: 3 * i for i, word in enumerate(("holds", "fails", "tie", "open"))}
    table = cases(*[word for word in of_word for _ in range(3)])
    for hold, fail, tie, still in itertools.product(range(4), repeat=4):
        counts = dict(zip(of_word, (hold, fail, tie, still), strict=True))
        number = sum(counts.values())
        if hold and fail:
            expected = "mixed"
        elif fail or (number and tie / number > 0.5):
            expected = "fails"
        elif number and hold / number > 0.5:
            expected = "holds"
        else:
            expected = "open" if number else "not run"
        rows = table.iloc[[of_word[word] + i for word, count in counts.items() for i in range(count)]]
        found = [evidence(rows)]
        assert judge(found) == expected, counts
        hedged = "not run" if not number else "holds" if hold / number > 0.5 else "open"
        if number and (hold + still) / number <= 0.5:
            hedged = "fails"
        assert judge(found, hedge="most") == hedged, counts


def test_a_hedge_asks_for_most_in_each_part() -> None:
    assert verdict_of(cases("holds", "holds", "fails"), hedge="usually") == "holds"
    assert verdict_of(cases("holds", "holds", "fails"), cases("open"), hedge="usually") == "open"
    assert verdict_of(cases("open", "open"), cases("fails"), hedge="usually") == "fails"
    assert verdict_of(cases("holds"), cases("no evidence"), hedge="often") == "holds"


@pytest.mark.parametrize("hedge", ["can", "not always"])
def test_one_case_is_enough_for_a_possibility(hedge: str) -> None:
    assert verdict_of(cases("holds", "fails", "fails"), hedge=hedge) == "holds"
    assert verdict_of(cases("fails", "open"), cases("holds"), hedge=hedge) == "holds"  # in whichever part
    assert verdict_of(cases("holds", "fails", holm="no"), hedge=hedge) == "open"
    assert verdict_of(cases("fails", "tie"), hedge=hedge) == "fails"
    assert verdict_of(cases("fails", "tie", expect="at_least"), hedge=hedge) == "holds"
    assert verdict_of(cases("no evidence"), hedge=hedge) == "no evidence"


def headline(**changes: Any) -> Any:
    given = {"claim": "c", "rests_on": {"a": "f#1"}, "verdict": "holds", "finding": "words", **changes}
    (read,) = read_headlines("p", [given])
    return read


def test_the_sentence_has_the_numbers_of_the_claims_it_names() -> None:
    table = cases("holds", "holds", "open", "no evidence")
    words = (
        "{a.holds} of {a.cases}, {a.open} open, {a.no_evidence} no evidence; {a.least:.1f} to {a.most:.1f}, "
        "[{a.low:.0f}, {a.high:.0f}], {a.percent_least:.0f} to {a.percent_most:.0f} %, n {a.n_least} to {a.n_most}; "
        "{b.least:.1%}"
    )
    row = headline(finding=words, rests_on={"a": "f#1", "b": "f#1@b"})
    found = judged(row, lambda figure: {"f": table}[figure])
    assert found.verdict == "holds"
    assert found.sentence == "2 of 3, 1 open, 1 no evidence; 1.0 to 3.0, [0, 4], 10 to 30 %, n 20 to 22; 200.0 %"


def test_a_sentence_can_name_the_cases_that_hold_and_that_fail() -> None:
    table = cases("holds", "holds", "fails", "holds", "fails", "open").assign(
        case=["A, x", "A, y", "B, x", "C", "D, x", "E, x"], holm=["yes", "yes", "yes", "yes", "no", ""]
    )
    row = headline(verdict="mixed", finding="with {a.held_in}, not with {a.failed_in}")
    assert said(row, table) == ("mixed", "with A (x, y) and C, not with B (x)")
    assert said(headline(finding="[{a.held_in}] [{a.failed_in}]"), cases("holds", "holds"))[1] == "[a and b] []"


def test_a_sentence_is_not_shown_beside_another_verdict_than_its_own() -> None:
    row = headline(finding="it holds")
    assert said(row, cases("holds")) == ("holds", "it holds")
    assert said(row, cases("fails")) == ("fails", "")
    assert said(row, pd.DataFrame()) == ("not run", "")


def said(row: Any, table: pd.DataFrame, others: pd.DataFrame | None = None) -> tuple[str, str]:
    found = judged(row, lambda _: table, lambda _: pd.DataFrame() if others is None else others)
    return found.verdict, found.sentence


def test_a_verdict_that_another_reading_changes_depends_on_the_reading() -> None:
    row = headline(
        rests_on={"a": ["f#1", "g#1"]},
        readings={"as run": ["code", "script"]},
        verdict={"as printed": "fails", "as run": "open"},
        finding="{a.fails} of {a.cases} fail, as run {as run.a.fails}",
    )
    first = {"f": cases("fails"), "g": cases("fails")}
    other = {"f": cases("open").assign(reading="code").drop(columns="expect"), "g": cases("open").assign(reading="no")}
    found = judged(row, first.__getitem__, other.__getitem__)
    assert found.verdicts == {"as printed": "fails", "as run": "fails"}, "g has no such reading: its own rows count"
    assert (found.verdict, found.sentence, found.by_reading) == ("fails", "", "as printed and as run")
    other["g"] = cases("open").assign(reading="script")
    found = judged(row, first.__getitem__, other.__getitem__)
    assert (found.verdict, found.sentence) == (DEPENDS, "2 of 2 fail, as run 0")
    assert found.by_reading == "fails as printed, open as run"
    three = found._replace(verdicts={"as printed": "fails", "as run": "open", "in part": "fails"})
    assert three.by_reading == "fails as printed and in part, open as run"
    assert counted([found, found]) == {DEPENDS: 2}
    assert spelled({"holds": 1, "fails": 2, DEPENDS: 2}) == "1 holds, 2 fail, 2 depend on the reading"
    aside = headline(aside="against itself")
    assert counted([judged(aside, lambda _: cases("holds"))]) == {}


def test_totals_count_cases_under_each_reading() -> None:
    row = headline(
        readings={"as run": "code"},
        verdict={"as printed": "mixed", "as run": "fails"},
        totals={"less than OP": "f#1", "less than any": ["f#1", "g#1"]},
    )
    first = {"f": cases("holds", "holds", "fails", "tie", "no evidence"), "g": cases("open")}
    other = {"f": cases("fails").assign(reading="code"), "g": cases("holds").assign(reading="another")}
    found = judged(row, first.__getitem__, other.__getitem__)
    assert {words: [part.counts for part in by.values()] for words, by in found.totals.items()} == {
        "as printed": ["2 / 1 / 1", "2 / 1 / 2"],
        "as run": ["0 / 1 / 0", "0 / 1 / 1"],
    }
    other["f"] = cases("holds").assign(reading="code")
    assert judged(row, first.__getitem__, other.__getitem__).totals == {}, "not beside other verdicts, as its sentence"


def test_a_tie_holds_under_another_reading_where_the_claim_is_no_worse() -> None:
    """The table of readings lacks the expectation of a claim; the table of claims has it."""
    row = headline(readings={"code": "code"}, verdict={"printed": "fails", "code": "holds"})
    rows = cases("fails", expect="at_least")
    assert said(row, rows, cases("tie").assign(reading="code").drop(columns="expect"))[0] == DEPENDS


def test_a_sentence_is_not_shown_where_a_claim_was_not_run() -> None:
    row = headline(finding="it holds", rests_on={"a": "f#1", "b": "g#1"})
    found = judged(row, lambda figure: cases("holds") if figure == "f" else pd.DataFrame())
    assert (found.verdict, found.sentence) == ("holds", "")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"verdict": "good"}, "key 'verdict': .*'good'"),
        ({"rests": 1}, "'rests'.* rests_on"),
        ({"rests_on": {}}, "key 'rests_on'"),
        ({"readings": {"code": "x"}}, "key 'verdict': .* code"),
        ({"short": "{b.holds}"}, r"key 'finding': .* \('b'\)"),
        ({"finding": "{a.number}"}, "'number'.* holds"),
    ],
)
def test_a_bad_headline_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^paper 'p', headline 1.*{sentence}"):
        headline(**changes)


@pytest.mark.parametrize(
    ("figure", "claim", "cure"),
    [("first", "1", ""), ("first", "1@all", ""), ("frst", "1", "'first'"), ("first", "2", "'first#2', .* 1")],
)
def test_a_headline_rests_on_existing_claims(tmp_path, monkeypatch, figure: str, claim: str, cure: str) -> None:
    paper = tmp_path / "papers" / "mine"
    for name, text in {
        "settings": "name: mine\nsettings: []\n",
        "figures/first": "kind: curves\ncolumn: regret\nruns: [{method: {A: [tuner=tl], B: [tuner=op]}}]\n"
        "claims: [{id: 1, text: t, kind: ratio, expect: less, left: {method: A}, right: {method: B}}]\n",
        "headlines": f"headlines: [{{claim: c, rests_on: {{a: ['{figure}#{claim}']}}, verdict: holds, finding: w}}]\n",
    }.items():
        (paper / name).parent.mkdir(parents=True, exist_ok=True)
        (paper / f"{name}.yaml").write_text(text)
    monkeypatch.setenv("BENCH_CONF_DIR", str(tmp_path))
    load_paper.cache_clear()
    if not cure:
        assert len(load_headlines("mine")) == 1
        return
    with pytest.raises(ConfigError, match=rf"mine/headlines\.yaml(:\d+)?: headline 1, rests_on\.a: .*{cure}"):
        load_headlines("mine")


def test_each_paper_has_some_with_a_place_that_rest_on_existing_claims(reference_results: Path) -> None:
    pages = headlines(reference_results)
    assert pages.keys() - {"tournament"} == PAPERS
    for paper in PAPERS:
        assert 4 <= len(pages[paper].headlines) <= 12
        assert all(row.place for row in pages[paper].headlines)
        assert [row.picture for row in pages[paper].headlines if row.picture], "none is shown on the first page"
    for paper, page in pages.items():
        for row in page.judged:
            about = f"{paper}, {row.headline.claim}"
            assert row.verdicts == row.headline.verdict, f"{about}: write its finding again"
            assert row.sentence
            assert NOT_RUN not in row.verdicts.values()
            named = {one.name for figure in row.figures for one in registry.figure(f"{paper}/{figure}").readings}
            for words, readings in row.headline.readings.items():
                assert named & set(readings), f"{about}: no figure has a reading for '{words}'"
            for reference in itertools.chain(*row.headline.rests_on.values()):
                figure, _, claim = reference.partition("#")
                claims = {str(one["id"]): one for one in registry.figure(f"{paper}/{figure}").claims}
                assert claims[claim.partition("@")[0]]["kind"] != "count", reference  # which no test decides
        # Reading the figures for the headlines finds no fault in them
        assert not [one.name for one in page.figures if one.first and one.first.problems]


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def numbers(text: str) -> set[float]:
    return {float(number.replace(",", "")) for number in NUMBER.findall(text)}


@pytest.mark.parametrize("paper", [*sorted(PAPERS), "tournament"])
def test_no_result_in_a_sentence_is_typed(paper: str, reference_results: Path) -> None:
    """A number outside braces belongs to the question, and occurs in the claim or its figures; none is NaN."""
    folder = Path("conf/papers") / paper / "figures"
    for row in headlines(reference_results)[paper].judged:
        one = row.headline
        named = {
            reference.partition("#")[0] for reference in itertools.chain(*one.rests_on.values(), *one.beside.values())
        }
        asked = numbers(f"{one.claim} {one.place}")
        for figure in named:
            text = (folder / f"{figure}.yaml").read_text(encoding="utf-8")
            base = re.search(r"^like: (\S+)", text, flags=re.MULTILINE)
            asked |= numbers(text) | (
                numbers((folder / f"{base[1]}.yaml").read_text(encoding="utf-8")) if base else set()
            )
        for words in (one.finding, one.short):
            typed = numbers(re.sub(r"\{[^}]*\}", "", words))
            assert typed <= asked, (
                f"{paper}, {one.claim}: {sorted(typed - asked)} are typed, expected fields such as {{name.least}}"
            )
        assert not re.search(r"\bnan\b", f"{row.sentence} {row.short}"), f"{paper}, {one.claim}: {row.sentence}"


def test_pages_have_the_parts_that_are_made_of_results_as_they_are_made_and_no_others(reference_results: Path) -> None:
    parts = made_parts(reference_results)
    for page, name, part in parts:
        text = page.read_text(encoding="utf-8")
        assert text.count(f"<!-- made by make docs: {name} -->") == 1, f"{page}, {name}"
        assert with_made_part(text, part(), name) == text, f"{page}: make docs writes it again"
        assert (
            text.count("<!-- made by make docs")
            == text.count("<!-- end -->")
            == sum(other == page for other, _, _ in parts)
        )
