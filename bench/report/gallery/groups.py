"""Claims of a figure as its page shows them: one by one, or many of a kind together."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from bench.report.claims.judgement import SAYS_NOTHING
from bench.report.claims.origin import Tally, tally_of
from bench.report.gallery.forest import Forest, forest

_SEVERAL = 4
_FIRST, _LAST = slice(3), slice(-3, None)
"""Which words claims of a kind share, if not all but a name."""
Case = dict[str, Any]


class Claim(NamedTuple):
    """A claim with its cases: those that are evidence, on one axis, and those that are none."""

    slug: str
    first: Case
    cases: list[Case]
    forest: Forest | None
    silent: list[Case]

    @property
    def tally(self) -> Tally:
        """The number of its cases by verdict."""
        return tally_of([*self.cases, *self.silent])

    @property
    def every(self) -> list[Case]:
        """All of its cases."""
        return [*self.cases, *self.silent]


class Group(NamedTuple):
    """Claims that share their cases.

    Parameters
    ----------
    stem
        The words that all of them begin and end with; "" for a single claim.
    names
        The words between these, claim by claim.
    cases
        What their cases are called; of claims with a single case none, and ``together`` has all of them on one axis.
    """

    claims: list[Claim]
    stem: str
    names: list[str]
    cases: list[str]
    together: Claim | None


def slug(text: str) -> str:
    """Return a text as an id."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-") or "claim"


def grouped(claims: Sequence[list[Case]]) -> list[Group]:
    """Return claims, given by their cases, in groups: several of one kind with the same cases are one group."""
    singles = [_claim(cases) for cases in claims]
    groups, rest = list[Group](), [claim for claim in singles if claim.first["text"]]
    for ends in ((_FIRST, _LAST), (_FIRST,), (_LAST,)):
        order: dict[Any, list[Claim]] = {}
        for claim in rest:
            order.setdefault(_kind(claim, ends), []).append(claim)
        groups += [_group(of_kind) for of_kind in order.values() if len(of_kind) >= _SEVERAL]
        rest = [claim for of_kind in order.values() if len(of_kind) < _SEVERAL for claim in of_kind]
    groups += [_group([claim]) for claim in [*rest, *(claim for claim in singles if not claim.first["text"])]]
    return sorted(groups, key=lambda group: singles.index(group.claims[0]))


def parted(texts: Sequence[str]) -> tuple[str, list[str], str]:
    """Return the words that all texts begin with, what follows in each, a word at least, and those at the end."""
    words = [text.split() for text in texts]
    first = _shared(words)
    last = _shared([each[first:][::-1] for each in words])
    names = [" ".join(each[first : len(each) - last]) for each in words]
    return " ".join(words[0][:first]), names, " ".join(words[0][len(words[0]) - last :])


def _shared(texts: Sequence[Sequence[str]]) -> int:
    """Return how many words all texts begin with, each but its last."""
    shared = 0
    while all(len(words) > shared + 1 and words[shared] == texts[0][shared] for words in texts):
        shared += 1
    return shared


def _kind(claim: Claim, ends: Sequence[slice]) -> Any:
    first, names, words = claim.first, tuple(case["case"] for case in claim.every), claim.first["text"].split()
    same = (tuple(words[end]) for end in ends)
    return first["kind"], first["expect"], first["threshold"], first["origin"], names, *same


def _claim(cases: list[Case], slugged: str = "") -> Claim:
    parts = {is_silent: list(rows) for is_silent, rows in groupby(sorted(cases, key=_is_silent), key=_is_silent)}
    shown = parts.get(False, [])
    return Claim(
        slugged or slug(cases[0]["claim"]), cases[0], shown, forest(shown) if shown else None, parts.get(True, [])
    )


def _is_silent(case: Case) -> bool:
    return bool(case["verdict"] == SAYS_NOTHING)


def _group(claims: list[Claim]) -> Group:
    if len(claims) == 1:
        return Group(claims, "", [""], [], None)
    first, names, last = parted([claim.first["text"] for claim in claims])
    cases = [case["case"] for case in claims[0].every]
    together = None
    if len(cases) == 1:
        cases = []
        rows = [
            {**case, "case": name, "slug": claim.slug}
            for claim, name in zip(claims, names, strict=True)
            for case in claim.every
        ]
        together = _claim(rows, f"{claims[0].slug}-and-more")
    return Group(claims, f"{first} … {last}".strip(), names, cases, together)
