"""What the documentation says of a claim is not stronger than its verdict. The format: docs/verdicts.md."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from bench.report.claims.judgement import in_words
from tools.which_tuner import SCALES

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/findings.md", "docs/which_tuner.md", "docs/changepoint_gp.md", "docs/errata.md")
VERDICTS = {"holds", "fails", "tie", "open", "no evidence"}
TAG = re.compile(r"<!-- claim: (?P<figure>[\w/]+)#(?P<rest>[^>]+?) -->")
REST = re.compile(
    r"(?P<claim>[^@:]+)(?:@(?P<case>[^:]+))?: (?P<verdict>[a-z ]+?)(?: in (?P<count>\d+) of (?P<total>\d+))?"
)
CAUTIOUS = ("cannot be told", "not decided", "open", "no conclusion", "no evidence")
LEVEL = ("level", "a tie", "as well as")


class Statement(NamedTuple):
    """The words before a tag, back to the tag, paragraph, point or table cell before, and all tags of these words."""

    words: str
    tag: str
    tags: tuple[str, ...]


def statements(text: str) -> list[Statement]:
    """Return every tagged statement; tags in a row belong to the same words."""
    groups: list[tuple[str, list[str]]] = []
    end = 0
    for match in TAG.finditer(text):
        between = text[end : match.start()].strip()
        if between or not groups:
            words = re.split(r"\n\n|\n\s*- |\|", between.rstrip(".;:| "))[-1]
            groups.append((" ".join(words.split()), []))
        groups[-1][1].append(match.group())
        end = match.end()
    return [Statement(words, tag, tuple(tags)) for words, tags in groups for tag in tags]


def problem(statement: Statement, results: Path) -> str:
    """Return what is wrong with a statement; empty if nothing is."""
    tag = TAG.fullmatch(statement.tag)
    rest = REST.fullmatch(tag["rest"]) if tag else None
    if not tag or not rest or rest["verdict"] not in VERDICTS:
        return f"{statement.tag}: expected figure#claim: verdict, the verdict one of {', '.join(sorted(VERDICTS))}"
    files = [results / tag["figure"] / scale / "claims.csv" for scale in SCALES]
    file = next((one for one in files if one.is_file()), None)
    if file is None:
        return f"{statement.tag}: no results of this figure"
    rows = pd.read_csv(file, dtype=str, keep_default_na=False)
    rows = rows[rows["claim"] == rest["claim"]]
    if rest["case"]:
        rows = rows[rows["case"] == rest["case"]]
    found = [in_words(verdict) for verdict in rows["verdict"]]
    if not found:
        return f"{statement.tag}: no such claim or case"
    return (
        _verdicts(statement.tag, rest, found)
        or _words(statement, rest["verdict"], set(rows["expect"]))
        or _remains(statement, rows[[word == rest["verdict"] for word in found]])
    )


def _verdicts(tag: str, rest: re.Match[str], found: list[str]) -> str:
    said = rest["verdict"]
    if rest["count"]:
        expected = (found.count(said), len(found))
        return (
            ""
            if (int(rest["count"]), int(rest["total"])) == expected
            else f"{tag}: it is {expected[0]} of {expected[1]}"
        )
    evidence = [verdict for verdict in found if verdict != "no evidence"]
    weaker = {"open": {"holds", "fails", "tie", "open"}, "no evidence": VERDICTS}.get(said, {said})
    is_right = set(evidence or found) <= weaker
    return "" if is_right else f"{tag}: the verdicts are {', '.join(found)}"


def _words(statement: Statement, verdict: str, expected: set[str]) -> str:
    text = statement.words.lower()
    if verdict in ("open", "no evidence") and not any(word in text for word in CAUTIOUS):
        return f"{statement.tag}: '{statement.words}' sounds decided, expected one of: {', '.join(CAUTIOUS)}"
    if verdict == "tie" and not any(word in text for word in LEVEL):
        return (
            f"{statement.tag}: '{statement.words}' does not say that it is a tie, expected one of: {', '.join(LEVEL)}"
        )
    is_tie = any(tag.endswith(": tie -->") for tag in statement.tags)
    if "level with" in text and not is_tie and not (verdict == "holds" and expected == {"similar"}):
        return f"{statement.tag}: 'level with' is said of ties only"
    return ""


def _remains(statement: Statement, rows: pd.DataFrame) -> str:
    pale = rows["holm"].eq("no").any()
    is_said = any(word in statement.words for word in ("Holm", "†"))
    return f"{statement.tag}: '{statement.words}' does not say 'not after Holm's correction'" if pale > is_said else ""


@pytest.mark.parametrize("page", PAGES)
def test_words_are_not_stronger_than_verdicts(page: str, reference_results: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.count("<!-- claim:") == len(statements(text)), "a tag has another form than the rest"
    found = [problem(statement, reference_results) for statement in statements(text)]
    assert not list(filter(None, found))


def test_findings_name_their_claims() -> None:
    assert len(statements((ROOT / "docs/findings.md").read_text(encoding="utf-8"))) >= 100


PARAGRAPH = re.compile(r"\n\n(?!<!--)|\n(?=- |\| )")
INTERVAL = re.compile(r"(-?[\d.]+)(?: %| times| points)?\s\[(-?[\d.]+),\s(-?[\d.]+)\]")
ESTIMATES = {
    "claims.csv": (("estimate", "ci_low", "ci_high"), ("relative", "relative_low", "relative_high")),
    "readings.csv": (("estimate", "ci_low", "ci_high"),),
    "limits.csv": (("share", "ci_low", "ci_high"),),
}


def unbacked(paragraph: str, results: Path) -> list[str]:
    """Return the intervals of a paragraph that no case of the figures named in it has, as it is or in per cent."""
    figures = {*re.findall(r"`(\w+/\w+)`", paragraph), *(match["figure"] for match in TAG.finditer(paragraph))}
    estimates = [estimate for figure in sorted(figures) for estimate in _estimates(results / figure)]
    matches = INTERVAL.finditer(paragraph)
    return [match.group() for match in matches if not any(_rounds(e, match.groups()) for e in estimates)]


def _estimates(folder: Path) -> Iterator[tuple[float, float, float]]:
    for name, columns in ESTIMATES.items():
        for path in [folder / scale / name for scale in SCALES if (folder / scale / name).is_file()]:
            table = pd.read_csv(path)
            for of_estimate in columns:
                yield from table.reindex(columns=[*of_estimate]).dropna().itertuples(index=False, name=None)


def _rounds(estimate: tuple[float, float, float], words: tuple[str, ...]) -> bool:
    """Return whether an estimate, or a change by it, alone or in per cent, upwards or downwards, is what is written."""
    for sign, unit, base in itertools.product((1, -1), (1, 100), (-1, 0, 1)):
        value, *ends = (unit * (base + sign * number) for number in estimate)
        numbers = (value, min(ends), max(ends))
        places = [len(word.partition(".")[2]) for word in words]
        if all(abs(n - float(w)) <= 0.5 * 10**-p + 1e-9 for n, w, p in zip(numbers, words, places, strict=True)):
            return True
    return False


def test_intervals_in_findings_are_those_of_a_case(reference_results: Path) -> None:
    paragraphs = PARAGRAPH.split((ROOT / "docs/findings.md").read_text(encoding="utf-8"))
    assert sum(len(INTERVAL.findall(paragraph)) for paragraph in paragraphs) >= 30
    assert [words for paragraph in paragraphs for words in unbacked(paragraph, reference_results)] == []


@pytest.mark.parametrize(
    ("words", "is_backed"),
    [("20 % [10, 30]", True), ("120 % [110, 130]", True), ("-0.20 [-0.30, -0.10]", True), ("20 % [10, 31]", False)],
)
def test_an_interval_needs_a_case_that_has_it(tmp_path: Path, words: str, is_backed: bool) -> None:
    folder = tmp_path / "p" / "f" / "paper"
    folder.mkdir(parents=True)
    (folder / "claims.csv").write_text("claim,estimate,ci_low,ci_high\n1,0.2,0.1,0.304\n2,,,\n")
    assert (unbacked(f"`p/f` has {words}.", tmp_path) == []) == is_backed
    assert unbacked(f"`p/g` has {words}.", tmp_path) == [words]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A beats B <!-- claim: p/f#1@P: holds -->.", ""),
        ("A beats B <!-- claim: p/f#1: holds -->.", "the verdicts are holds, open, tie, no evidence"),
        ("A beats B in one case <!-- claim: p/f#1: holds in 1 of 4 -->.", ""),
        ("A beats B in two cases <!-- claim: p/f#1: holds in 2 of 4 -->.", "it is 1 of 4"),
        ("A beats B <!-- claim: p/f#1@Q: holds -->.", "the verdicts are open"),
        ("A beats B <!-- claim: p/f#1@Q: open -->.", "sounds decided"),
        ("On Q that is open <!-- claim: p/f#1@Q: open -->.", ""),
        ("On P that is open <!-- claim: p/f#1@P: open -->.", ""),
        ("A beats B. It ends level with it <!-- claim: p/f#1@R: tie -->.", ""),
        ("It ends level with it <!-- claim: p/f#1@P: holds -->.", "said of ties only"),
        ("A beats B <!-- claim: p/f#1@R: tie -->.", "does not say that it is a tie"),
        ("That is no evidence <!-- claim: p/f#1@S: no evidence -->.", ""),
        ("A beats B <!-- claim: p/f#1@S: holds -->.", "the verdicts are no evidence"),
        ("A is level with B <!-- claim: p/f#2: holds -->.", ""),
        ("A beats B <!-- claim: p/f#1@P: wins -->.", "expected figure#claim: verdict"),
        ("A beats B <!-- claim: p/f#4: holds -->.", "no such claim or case"),
        ("A beats B <!-- claim: p/g#1: holds -->.", "no results of this figure"),
        ("A beats B <!-- claim: p/f#1@P: holds --> <!-- claim: p/f#1@Q: holds -->.", "the verdicts are open"),
        ("A beats B <!-- claim: p/f#3@P: holds -->.", "does not say 'not after Holm's correction'"),
        ("A beats B, not after Holm's correction <!-- claim: p/f#3@P: holds -->.", ""),
    ],
)
def test_the_check(tmp_path: Path, text: str, message: str) -> None:
    folder = tmp_path / "p" / "f" / "paper"
    folder.mkdir(parents=True)
    rows = [("1", "P", "less", "holds", "yes"), ("1", "Q", "less", "open", ""), ("1", "R", "less", "tie", "yes")]
    rows += [("1", "S", "less", "says_nothing", ""), ("2", "all", "similar", "holds", "yes")]
    rows += [("3", "P", "less", "holds", "no")]
    columns = ["claim", "case", "expect", "verdict", "holm"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "claims.csv", index=False)
    found = "".join(problem(statement, tmp_path) for statement in statements(text))
    assert message in found
    assert bool(message) == bool(found)
