"""General statements of papers, and their verdicts under one reading or several readings."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from bench.audit.evidence import NOTHING, Claims, Evidence, cases_of, evidence
from bench.report.claims.check import complaint
from bench.report.claims.judgement import FAILS, HOLDS, NO_EVIDENCE, OPEN
from bench.report.figure_keys import Several
from bench.report.typeset import sentence_list

Word = Literal["holds", "fails", "mixed", "open", "no evidence"]
MIXED, NOT_RUN, DEPENDS = "mixed", "not run", "depends on the reading"
ORDER = (HOLDS, FAILS, MIXED, DEPENDS, OPEN, NO_EVIDENCE, NOT_RUN)
"""Verdicts of a headline, in the order in which they are counted."""
RULE = (
    "A headline *holds* if none of its cases fails and more than half hold, in each of its parts (such as against OP, "
    "and against TL). It *fails* if some cases fail and none holds, or if most are ties where the paper claims a "
    "difference. It is *mixed* if some hold and some fail, *no evidence* if no case can decide, and *open* otherwise. "
    "A tie counts as holding where the paper says no more or no less. A case whose verdict does not survive Holm's "
    "correction for many tests counts as open. Where the paper itself says most, usually or often, the headline holds "
    "if more than half of the cases hold, whatever the others do, and fails if it could not hold even if all open "
    "cases did. Where it says only what can happen, or does not always, one case that holds is enough, and it fails if "
    "all cases go against it. *Depends on the reading* means that the paper's words and its authors' code, or two "
    "readings of its words, give different verdicts; all are shown."
)
"""The rule of `judge` and `judged`, which all pages quote."""
TOTALS = "totals by reading: cases that hold / fail / are open or a tie"


class Headline(BaseModel):
    """A general statement of a paper; ``place`` is where the paper makes it.

    ``rests_on`` names groups of claims. A claim is ``figure#claim``, or ``figure#claim@case`` for one case, and a group
    is a claim or a list of claims. Groups under ``beside`` only provide numbers for the sentence. ``hedge`` is the
    paper's own "most", "usually" or "often", or "can" or "not always", for which one case is enough. ``readings`` are
    names of further readings under which the headline is judged; a figure has at most one of these readings.

    ``verdict`` is the expected verdict on the reference results by reading, or a word if there is one reading.
    ``finding`` is a sentence in which numbers are filled in for ``{group.holds}`` or ``{reading.group.holds}``, with a
    field of `Evidence`. ``totals`` are claims by name, whose cases a table counts by reading. ``aside`` is the reason
    why tallies omit the headline. On the gallery's first page a paper is represented by the headline that has a
    ``picture``, a figure, and a sentence ``short``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: str = Field(min_length=1)
    place: str = ""
    hedge: Literal["", "most", "usually", "often", "overall", "can", "not always"] = ""
    rests_on: dict[str, Several] = Field(min_length=1)
    beside: dict[str, Several] = {}
    readings: dict[str, Several] = {}
    verdict: Annotated[dict[str, Word], BeforeValidator(lambda raw: {"": raw} if isinstance(raw, str) else raw)]
    finding: str = Field(min_length=1)
    totals: dict[str, Several] = {}
    aside: str = ""
    picture: str = ""
    short: str = ""

    @property
    def of_paper(self) -> str:
        """The name of the figures' first reading."""
        return next(words for words in self.verdict if words not in self.readings)

    @model_validator(mode="after")
    def _each_reading_has_a_verdict(self) -> "Headline":
        first = [words for words in self.verdict if words not in self.readings]
        missing = [words for words in self.readings if words not in self.verdict]
        if missing or len(first) != 1 or (self.readings and not first[0]):
            found = self.verdict.get("", self.verdict)
            raise ValueError(
                f"key 'verdict': found {found!r}, expected one verdict for each of "
                f"{', '.join(['the first reading, in your own words', *self.readings])}"
            )
        return self

    @model_validator(mode="after")
    def _finding_can_be_filled(self) -> "Headline":
        nothing = dict.fromkeys([*self.rests_on, *self.beside], NOTHING)
        try:
            for words in (self.finding, self.short):
                words.format_map({**nothing, **dict.fromkeys(self.readings, SimpleNamespace(**nothing))})
        except (AttributeError, KeyError, IndexError, ValueError) as error:
            raise ValueError(
                f"key 'finding': cannot be filled in ({error}), expected numbers such as {{{next(iter(self.rests_on))}"
                f".holds}}: a name of rests_on ({', '.join(self.rests_on)}) with one of {', '.join(Evidence._fields)}"
            ) from None
        return self


class Judged(NamedTuple):
    """A headline with its verdicts by reading, its sentences, and its totals by reading and name.

    The sentences are empty if a verdict differs from the expected one, or claims of ``rests_on`` were not run.
    """

    headline: Headline
    verdicts: dict[str, str]
    sentence: str
    short: str = ""
    totals: Mapping[str, Mapping[str, Evidence]] = MappingProxyType({})

    @property
    def verdict(self) -> str:
        """The verdict, or "depends on the reading"."""
        run = {word for word in self.verdicts.values() if word != NOT_RUN} or {NOT_RUN}
        return DEPENDS if len(run) > 1 else run.pop()

    @property
    def by_reading(self) -> str:
        """The verdicts of several readings as text, such as ``fails as printed, mixed with their code``."""
        if len(self.verdicts) < 2:
            return ""
        if self.verdict != DEPENDS:
            return sentence_list(words for words, word in self.verdicts.items() if word != NOT_RUN)
        readings: dict[str, list[str]] = {}
        for words, word in self.verdicts.items():
            readings.setdefault(word, []).append(words)
        return ", ".join(f"{word} {sentence_list(under)}" for word, under in readings.items())

    @property
    def figures(self) -> list[str]:
        """The figures in ``rests_on``."""
        references = (reference for listed in self.headline.rests_on.values() for reference in listed)
        return list(dict.fromkeys(reference.partition("#")[0] for reference in references))


def read_headlines(paper: str, given: Sequence[Any]) -> list[Headline]:
    """Return the checked headlines of a paper's file. Raises ConfigError with the paper, the number and the key."""
    headlines = []
    for number, raw in enumerate(given, start=1):
        try:
            headlines.append(Headline.model_validate(raw))
        except ValidationError as error:
            raise complaint(f"paper '{paper}', headline {number}", Headline, error) from None
    return headlines


def judged(headline: Headline, claims: Claims, readings: Claims = lambda _: pd.DataFrame()) -> Judged:
    """Return a headline's verdicts, and the sentence in which the numbers of its claims are filled in."""
    parts = _evidence(headline.rests_on, claims)
    under, totals = {headline.of_paper: parts}, {headline.of_paper: _evidence(headline.totals, claims)}
    for words, names in headline.readings.items():
        under[words] = _evidence(headline.rests_on, claims, readings, names)
        totals[words] = _evidence(headline.totals, claims, readings, names)
    verdicts = {words: judge([*of.values()], hedge=headline.hedge) for words, of in under.items()}
    beside = _evidence(headline.beside, claims)
    others = {words: SimpleNamespace(**of) for words, of in under.items() if words in headline.readings}
    is_shown = verdicts == headline.verdict and all(part.cases or part.no_evidence for part in parts.values())
    verdicts = {words: verdicts[words] for words in headline.verdict}
    filled = [text.format_map({**beside, **parts, **others}) for text in (headline.finding, headline.short)]
    finding, short = (re.sub(r"(\d)%", r"\1 %", text) if is_shown else "" for text in filled)
    return Judged(headline, verdicts, finding, short, totals if is_shown and headline.totals else {})


def _evidence(parts: Mapping[str, Sequence[str]], *under: Any) -> dict[str, Evidence]:
    return {name: evidence(cases_of(references, *under)) for name, references in parts.items()}


def judge(parts: Sequence[Evidence], *, hedge: str = "") -> str:
    """Return the verdict on a headline by `RULE`, or ``not run`` if there are no cases."""
    telling = [part for part in parts if part.cases]
    if not telling:
        return NO_EVIDENCE if any(part.no_evidence for part in parts) else NOT_RUN
    if hedge in ("can", "not always"):
        return HOLDS if any(part.agree for part in telling) else OPEN if any(part.open for part in telling) else FAILS
    do_most_hold = all(2 * part.agree > part.cases for part in telling)
    if hedge:
        cannot = any(2 * (part.agree + part.open) <= part.cases for part in telling)
        return HOLDS if do_most_hold else FAILS if cannot else OPEN
    if any(part.fails for part in telling):
        return MIXED if any(part.agree for part in telling) else FAILS
    if do_most_hold:
        return HOLDS
    return FAILS if 2 * sum(part.ties for part in telling) > sum(part.cases for part in telling) else OPEN


def counted(rows: Iterable[Judged]) -> dict[str, int]:
    """Return the number of headlines by verdict, in the order of `ORDER`, except headlines with ``aside``."""
    words = Counter(row.verdict for row in rows if not row.headline.aside)
    return {word: words[word] for word in ORDER if words[word]}


def spelled(words: Mapping[str, int]) -> str:
    """Return a tally as text, such as ``3 hold, 1 fails, 2 depend on the reading``."""
    several = {HOLDS: "hold", FAILS: "fail", DEPENDS: "depend on the reading"}
    return ", ".join(f"{number} {several.get(word, word) if number > 1 else word}" for word, number in words.items())
