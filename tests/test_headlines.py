"""What a paper says in general is judged by the claims that it names, and its sentence has their numbers."""

import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bench.audit.headlines import evidence, judge, judged, read_headlines
from bench.errors import ConfigError
from runners.config import headlines as config_headlines
from runners.config.figures import load_figure
from runners.results.pages import headlines
from tools.docs import README, headlines_part, with_made_part

PAPERS = {"cdt", "habo", "online_hpo", "opl_hpo", "syndicated"}
COLUMNS = ["claim", "case", "verdict", "holm", "expect", "estimate", "ci_low", "ci_high", "relative", "n"]


def cases(*verdicts: str, holm: str = "yes", expect: str = "less") -> pd.DataFrame:
    """Return rows of claims.csv of claim 1, cases a, b, ...: estimates 1, 2, ..., intervals of one to either side."""
    rows = [
        ("1", "abcdefgh"[i], verdict, holm if verdict in ("holds", "fails", "tie") else "", expect,
         i + 1, i, i + 2, -0.1 * (i + 1), 20 + i)
        for i, verdict in enumerate(verdicts)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def verdict_of(*parts: pd.DataFrame) -> str:
    return judge([evidence(part) for part in parts])


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["holds", "holds", "open", "says_nothing", "says_nothing"], "holds"),  # what says nothing is no case
        (["says_nothing", "says_nothing"], "no evidence"),
        (["says_nothing", "open"], "open"),
        ([], "not run"),
    ],
)
def test_what_says_nothing_is_no_case(verdicts: list[str], expected: str) -> None:
    assert verdict_of(cases(*verdicts)) == expected


def test_each_part_of_what_is_said_must_hold() -> None:
    """Many cases of one part do not stand for another; a part without evidence is left out."""
    many, half = cases("holds", "holds", "holds"), cases("holds", "open")
    assert verdict_of(many, half) == "open"
    assert verdict_of(many, cases("holds", "holds", "open")) == "holds"
    assert verdict_of(many, cases("says_nothing")) == "holds"
    assert verdict_of(many, cases("fails")) == "mixed"
    assert verdict_of(half, cases("fails")) == "mixed"
    assert verdict_of(cases("open"), cases("fails")) == "fails"


def test_what_does_not_remain_after_holms_correction_is_open() -> None:
    assert verdict_of(cases("fails", "fails", holm="no")) == "open"
    assert verdict_of(pd.concat([cases("holds", "holds"), cases("fails", holm="no")])) == "holds"
    assert verdict_of(cases("holds", "fails", holm="")) == "open"  # nor what no test of its own decided
    for expect in ("at_most", "at_least"):  # a tie holds for no more and no less
        assert verdict_of(cases("tie", "tie", "open", expect=expect)) == "holds"
        assert verdict_of(cases("tie", "fails", expect=expect)) == "mixed"


def test_the_rule_is_that_of_the_page_for_all_small_numbers() -> None:
    """Against docs/verdicts.md, written down once more from the numbers of cases alone."""
    for hold, fail, tie, still in itertools.product(range(4), repeat=4):
        verdicts = ["holds"] * hold + ["fails"] * fail + ["tie"] * tie + ["open"] * still
        number = len(verdicts)
        if hold and fail:
            expected = "mixed"
        elif fail or (number and not hold and tie / number > 0.5) or (number and tie / number > 0.5):
            expected = "fails"
        elif number and hold / number > 0.5:
            expected = "holds"
        else:
            expected = "open" if number else "not run"
        rows = pd.concat([cases(word) for word in verdicts]) if verdicts else cases()
        assert verdict_of(rows) == expected, verdicts


def headline(**changes: Any) -> Any:
    given = {"claim": "c", "rests_on": {"a": "f#1"}, "verdict": "holds", "finding": "words", **changes}
    (read,) = read_headlines("p", [given])
    return read


def test_the_sentence_has_the_numbers_of_the_claims_it_names() -> None:
    table = cases("holds", "holds", "open", "says_nothing")
    words = (
        "{a.holds} of {a.cases}, {a.open} open, {a.silent} silent; {a.least:.1f} to {a.most:.1f}, "
        "[{a.low:.0f}, {a.high:.0f}], {a.percent_least:.0f} to {a.percent_most:.0f} %, n {a.n_least} to {a.n_most}; "
        "{b.least:.1%}"
    )
    row = headline(finding=words, rests_on={"a": "f#1", "b": "f#1@b"})
    verdict, sentence = judged(row, lambda figure: {"f": table}[figure])[1:]
    assert verdict == "holds"
    assert sentence == "2 of 3, 1 open, 1 silent; 1.0 to 3.0, [0, 4], 10 to 30 %, n 20 to 22; 200.0 %"


def test_a_sentence_is_not_shown_beside_another_verdict_than_its_own() -> None:
    row = headline(finding="it holds")
    assert judged(row, lambda _: cases("holds"))[1:] == ("holds", "it holds")
    assert judged(row, lambda _: cases("fails"))[1:] == ("fails", "")
    assert judged(row, lambda _: pd.DataFrame())[1:] == ("not run", "")


def test_a_sentence_is_not_shown_where_a_claim_was_not_run() -> None:
    row = headline(finding="it holds", rests_on={"a": "f#1", "b": "g#1"})
    assert judged(row, lambda figure: cases("holds") if figure == "f" else pd.DataFrame())[1:] == ("holds", "")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"verdict": "good"}, r"paper 'p', headline 1, key 'verdict': found 'good', expected"),
        ({"rests": 1}, r"paper 'p', headline 1: unknown key 'rests', valid ones: claim, place, rests_on"),
        ({"rests_on": {}}, r"headline 1, key 'rests_on'"),
        ({"finding": "{b.holds}"}, r"headline 1: key 'finding': .* \('b'\), .* {a\.holds}: a name of rests_on \(a\)"),
        ({"finding": "{a.number}"}, "'number'.*, expected .* one of cases, silent, holds"),
    ],
)
def test_a_bad_headline_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        headline(**changes)


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("figure3#2", ""),
        ("figure3#2@all", ""),
        ("figre3#2", "found 'figre3#2', but no figure is called figre3, did you mean 'figure3'?"),
        ("lock_in#nevr", "found 'lock_in#nevr', but lock_in has no claim 'nevr', did you mean 'never'?"),
        ("figure3", "found 'figure3', but figure3 has no claim '', expected one of: "),
    ],
)
def test_a_headline_rests_on_claims_there_are(monkeypatch: pytest.MonkeyPatch, reference: str, sentence: str) -> None:
    given = {"claim": "c", "rests_on": {"a": [reference]}, "verdict": "holds", "finding": "words"}
    monkeypatch.setattr(config_headlines, "read", lambda name: {"headlines": [given]})
    if not sentence:
        assert len(config_headlines.load_headlines("habo")) == 1
        return
    with pytest.raises(ConfigError) as error:
        config_headlines.load_headlines("habo")
    assert "conf/papers/habo/headlines.yaml" in str(error.value)
    assert f": headline 1, rests_on.a: {sentence}" in str(error.value)


def test_each_paper_has_four_to_seven_with_a_place_that_rest_on_claims_there_are(reference_results: Path) -> None:
    pages = headlines(reference_results)
    assert pages.keys() - {"tournament"} == PAPERS
    for paper in PAPERS:
        assert 4 <= len(pages[paper].headlines) <= 7
        assert all(row.place for row in pages[paper].headlines)
    for paper, page in pages.items():
        for row in page.judged:
            assert row.verdict == row.headline.verdict, f"{paper}, {row.headline.claim}: write its finding again"
            assert row.sentence
            for reference in itertools.chain(*row.headline.rests_on.values()):
                figure, _, claim = reference.partition("#")
                claims = {str(one["id"]): one for one in load_figure(f"{paper}/{figure}").claims}
                assert claims[claim.partition("@")[0]]["kind"] != "count", reference  # which no test decides


def test_the_readme_has_them() -> None:
    page = README.read_text(encoding="utf-8")
    assert with_made_part(page, headlines_part()) == page, "make docs writes it again"
