"""Claims of the form "in most cases"."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from bench.report.claims.base import Claim
from bench.report.claims.judgement import FAILS, HOLDS, NO_INTERVAL, OPEN, SAYS_NOTHING, TIE, Finding
from bench.stats import Interval

MOST = Fraction(2, 3)
"""The share of the cases that must be exceeded: exact, so that two of three are not more by rounding."""


def _read_ids(raw: Any) -> tuple[str, ...]:
    several = isinstance(raw, Sequence) and not isinstance(raw, str)
    return tuple(str(item) for item in (raw if several else [raw]))


class Count(Claim):
    """How many cases of another claim hold: "mostly" is more than two thirds of them.

    Holds if more than two thirds of the cases hold; fails if that many would not hold even if all open cases
    did; else open. Cases that are no evidence are left out. A tie counts as holding where the claim is "no more" or "no
    less", else as failing. The estimate is the share of cases whose point estimate alone is as expected; its interval
    runs from the share that hold to the share that do not fail. Cases without results count as open.

    Parameters
    ----------
    of
        The id of the claim whose cases are counted, or a list of ids.
    """

    kind: Literal["count"]
    expect: Literal["mostly"] = "mostly"
    of: Annotated[tuple[str, ...], BeforeValidator(_read_ids)] = Field(min_length=1)

    def unit(self) -> str:
        return f"share of cases of claim {', '.join(self.of)} that go as expected, against {MOST}"

    def tally(self, cases: Sequence[Finding]) -> Finding:
        """Return the finding over the cases of the claims counted."""
        evidence = [case for case in cases if case.verdict != SAYS_NOTHING]
        n, counted = len(evidence), Counter(case.verdict for case in evidence)
        hold, fail = (sum(case.counts_as == verdict for case in evidence) for verdict in (HOLDS, FAILS))
        needed = MOST * n
        verdict = HOLDS if hold > needed else FAILS if n - fail <= needed else OPEN
        note = f"{counted[HOLDS]} hold, {counted[TIE]} tie, {counted[OPEN]} open, {counted[FAILS]} fail of {n}"
        if len(cases) > n:
            note += f"; {len(cases) - n} no evidence"
        interval = NO_INTERVAL
        if n:
            agree = sum(case.agrees or case.counts_as == HOLDS for case in evidence)
            interval = Interval(agree / n, hold / n, (n - fail) / n, n)
        else:
            verdict = SAYS_NOTHING if cases else OPEN
        return Finding("all", interval, self.unit(), verdict, counts_as=verdict, note=note)
