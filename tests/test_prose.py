"""Statements of the documentation are not stronger than the verdicts on their claims. The format: docs/verdicts.md."""

import functools
import itertools
import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
CLAIMS = sorted([*ROOT.glob("docs/*.claims.yaml"), *ROOT.glob("conf/papers/**/*.claims.yaml")])
VERDICTS = {"holds", "fails", "tie", "open", "no evidence"}
CLAIM = re.compile(
    r"(?P<figure>[\w/]+)#(?P<claim>[^@:]+)(?:@(?P<case>[^:]+))?: "
    r"(?P<verdict>[a-z ]+?)(?: in (?P<count>\d+) of (?P<total>\d+))?"
)
SCALES = ("paper", "paper-surrogate", "paper-custom")
CAUTIOUS = ("cannot be told", "not decided", "open", "no conclusion", "no evidence")
LEVEL = ("level", "a tie", "as well as", "alike")
BLOCK = re.compile(r"\n\n|\n(?=\| )| \| ")


class Statement(NamedTuple):
    """Words, one of the claims that they rest on, and all of these."""

    words: str
    claim: str
    claims: tuple[str, ...]


def written(page: str, entries: list[dict[str, object]]) -> list[Statement]:
    """Return the statements of a page that the file beside it names; AssertionError if the page lacks their words."""
    blocks = [" ".join(block.split()) for block in BLOCK.split(page)]
    statements = []
    for entry in entries:
        says, claims = str(entry["says"]), tuple(map(str, entry["claims"]))  # type: ignore[call-overload]
        pattern = re.compile(".*?".join(re.escape(part) for part in says.split(" ... ")))
        found = [match.group() for block in blocks for match in pattern.finditer(block)]
        assert len(found) == 1, f"'{says}' stands {len(found)} times in the page, expected once"
        statements += [Statement(found[0], claim, claims) for claim in claims]
    return statements


COLUMNS = ["claim", "case", "verdict", "holm", "expect"]


@functools.cache
def verdicts_in(file: Path) -> dict[str, pd.DataFrame]:
    """Return the rows of a file by claim, as text; do not change them."""
    table = pd.read_csv(file, dtype=str, keep_default_na=False)[COLUMNS].astype(object)
    return {str(claim): rows for claim, rows in table.groupby("claim")}


def problem(statement: Statement, results: Path) -> str:
    """Return the fault of a statement; empty if there is none."""
    claim = CLAIM.fullmatch(statement.claim)
    if not claim or claim["verdict"] not in VERDICTS:
        return f"{statement.claim}: expected figure#claim: verdict, the verdict one of {', '.join(sorted(VERDICTS))}"
    files = [results / claim["figure"] / scale / "claims.csv" for scale in SCALES]
    file = next((one for one in files if one.is_file()), None)
    if file is None:
        return f"{statement.claim}: no results of this figure"
    rows = verdicts_in(file).get(claim["claim"], pd.DataFrame(columns=COLUMNS))
    if claim["case"]:
        rows = rows[rows["case"] == claim["case"]]
    is_corrected = claim["verdict"] == "open" and not claim["count"] and "Holm" in statement.words
    found = [*rows["verdict"].mask(rows["holm"].eq("no") & is_corrected, "open")]
    if not found:
        return f"{statement.claim}: no such claim or case"
    return (
        _verdicts(statement.claim, claim, found)
        or _words(statement, claim["verdict"], set(rows["expect"]))
        or _remains(statement, rows[[word == claim["verdict"] for word in found]])
    )


def _verdicts(text: str, claim: re.Match[str], found: list[str]) -> str:
    said = claim["verdict"]
    if claim["count"]:
        expected = (found.count(said), len(found))
        is_right = (int(claim["count"]), int(claim["total"])) == expected
        return "" if is_right else f"{text}: it is {expected[0]} of {expected[1]}"
    evidence = [verdict for verdict in found if verdict != "no evidence"]
    weaker = {"no evidence": VERDICTS}.get(said, {said})
    is_right = set(evidence or found) <= weaker
    return "" if is_right else f"{text}: the verdicts are {', '.join(found)}"


def _words(statement: Statement, verdict: str, expected: set[str]) -> str:
    text, where = statement.words.lower(), f"{statement.claim}: '{statement.words}'"
    if verdict in ("open", "no evidence") and not any(word in text for word in CAUTIOUS):
        return f"{where} sounds decided, expected one of: {', '.join(CAUTIOUS)}"
    if verdict == "tie" and not any(word in text for word in LEVEL):
        return f"{where} does not say that it is a tie, expected one of: {', '.join(LEVEL)}"
    is_tie = any(claim.endswith(": tie") for claim in statement.claims)
    if "level with" in text and not is_tie and not (verdict == "holds" and expected == {"similar"}):
        return f"{statement.claim}: 'level with' is said of ties only"
    return ""


def _remains(statement: Statement, rows: pd.DataFrame) -> str:
    pale = rows["holm"].eq("no").any()
    is_said = any(word in statement.words for word in ("Holm", "†"))
    return (
        f"{statement.claim}: '{statement.words}' does not say 'not after Holm's correction'" if pale > is_said else ""
    )


def text_of(claims: Path) -> str:
    """Return the page that a file of claims stands beside, without the parts that are made."""
    page = claims.with_name(claims.name.replace(".claims.yaml", ".md")).read_text(encoding="utf-8")
    return re.sub(r"<!-- made by.*?<!-- end -->", "", page, flags=re.DOTALL)


def statements_of(claims: Path) -> list[Statement]:
    return written(text_of(claims), yaml.safe_load(claims.read_text(encoding="utf-8")))


def test_pages_are_not_stronger_than_verdicts(reference_results: Path) -> None:
    statements = [one for claims in CLAIMS for one in statements_of(claims)]
    assert len(statements) >= 250
    assert [found for found in (problem(one, reference_results) for one in statements) if found] == []


def test_claims_of_a_papers_findings_are_the_papers_own() -> None:
    """Only the folder of a paper mentions it."""
    for claims in ROOT.glob("conf/papers/*/findings.claims.yaml"):
        papers = {one.claim.partition("/")[0] for one in statements_of(claims)}
        assert papers == {claims.parent.name}


PARAGRAPH = re.compile(r"\n\n|\n(?=\| )")
INTERVAL = re.compile(r"(-?[\d.]+)(?: %| times| points)?\s\[(-?[\d.]+),\s(-?[\d.]+)\]")
ESTIMATES = {
    "claims.csv": (("estimate", "ci_low", "ci_high"), ("relative", "relative_low", "relative_high")),
    "readings.csv": (("estimate", "ci_low", "ci_high"),),
    "limits.csv": (("share", "ci_low", "ci_high"),),
}


def unbacked(paragraph: str, figures: set[str], results: Path) -> list[str]:
    """Return the intervals of a paragraph that no case of some figures has, as it is or in per cent."""
    estimates = [estimate for figure in sorted(figures) for estimate in _estimates(results / figure)]
    matches = INTERVAL.finditer(paragraph)
    return [match.group() for match in matches if not any(_rounds(e, match.groups()) for e in estimates)]


def named(text: str) -> set[str]:
    return set(re.findall(r"`(?:figure=)?(\w+/\w+)`", text))


@functools.cache
def _estimates(folder: Path) -> list[tuple[float, float, float]]:
    found: list[tuple[float, float, float]] = []
    for name, columns in ESTIMATES.items():
        for path in [folder / scale / name for scale in SCALES if (folder / scale / name).is_file()]:
            table = pd.read_csv(path)
            for of_estimate in columns:
                found += table.reindex(columns=[*of_estimate]).dropna().itertuples(index=False, name=None)
    return found


def _rounds(estimate: tuple[float, float, float], words: tuple[str, ...]) -> bool:
    """Return whether the written number is the estimate, or a rise or fall by it, as a number or in per cent."""
    for sign, unit, base in itertools.product((1, -1), (1, 100), (-1, 0, 1)):
        value, *ends = (unit * (base + sign * number) for number in estimate)
        numbers = (value, min(ends), max(ends))
        places = [len(word.partition(".")[2]) for word in words]
        if all(abs(n - float(w)) <= 0.5 * 10**-p + 1e-9 for n, w, p in zip(numbers, words, places, strict=True)):
            return True
    return False


def test_intervals_in_pages_are_those_of_a_case(reference_results: Path) -> None:
    """Of a figure that the paragraph names, or the one before a table, or that its statements rest on."""
    wrong, count = [], 0
    for claims in [*CLAIMS, ROOT / "docs/service.claims.yaml"]:
        statements = statements_of(claims) if claims.exists() else []
        page, before = text_of(claims), set[str]()
        for paragraph in (" ".join(one.split()) for one in PARAGRAPH.split(page)):
            figures = {one.claim.partition("#")[0] for one in statements if one.words in paragraph}
            count += len(INTERVAL.findall(paragraph))
            is_row = paragraph.startswith("| ")
            before = before if is_row else named(paragraph)
            wrong += unbacked(paragraph, named(paragraph) | figures | before, reference_results)
    assert count >= 40
    assert wrong == []


@pytest.mark.parametrize(
    ("words", "claim", "message"),
    [
        ("A beats B.", "p/f#1@P: holds", ""),
        ("A beats B in two cases.", "p/f#1: holds in 2 of 3", "it is 1 of 3"),
        ("A beats B.", "p/f#1@Q: open", "sounds decided"),
        ("On P that is open.", "p/f#3@P: open", "the verdicts are holds"),
        ("A beats B. It ends level with it.", "p/f#1@R: tie", ""),
        ("A beats B.", "p/f#1@P: wins", "expected figure#claim: verdict"),
        ("A beats B.", "p/f#3@P: holds", "does not say 'not after Holm's correction'"),
        ("A beats B, not after Holm's correction.", "p/f#3@P: holds", ""),
    ],
)
def test_words_that_say_more_than_the_verdict_are_named(tmp_path: Path, words: str, claim: str, message: str) -> None:
    folder = tmp_path / "p" / "f" / "paper"
    folder.mkdir(parents=True)
    rows = [("1", "P", "less", "holds", "yes"), ("1", "Q", "less", "open", ""), ("1", "R", "less", "tie", "yes")]
    rows += [("3", "P", "less", "holds", "no")]
    columns = ["claim", "case", "expect", "verdict", "holm"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "claims.csv", index=False)
    found = problem(Statement(words, claim, (claim,)), tmp_path)
    assert message in found
    assert bool(message) == bool(found)
