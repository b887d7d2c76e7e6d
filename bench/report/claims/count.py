"""Claims of the form "in most cases"."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from bench.report.claims.base import Claim
from bench.report.claims.finding import FAILS, HOLDS, OPEN, Finding


def _read_ids(raw: Any) -> tuple[str, ...]:
    several = isinstance(raw, Sequence) and not isinstance(raw, str)
    return tuple(str(item) for item in (raw if several else [raw]))


class Count(Claim):
    """How many cases of another claim hold: "mostly" is more than two thirds of them.

    Holds if more than the share `more_than` of all cases hold; fails if that many would not hold even if all open
    cases did; else open. The estimate is the share of cases whose point estimate alone is as expected; its interval
    runs from the share that hold to the share that do not fail. Cases without results count as open.

    Parameters
    ----------
    of
        The id of the claim whose cases are counted, or a list of ids.
    more_than
        The share that must be exceeded, default 2/3.
    """

    kind: Literal["count"]
    expect: Literal["mostly"] = "mostly"
    of: Annotated[tuple[str, ...], BeforeValidator(_read_ids)] = Field(min_length=1)
    more_than: float = Field(default=2 / 3, ge=0, lt=1)

    def unit(self) -> str:
        """Return what is counted, and the share it is compared with."""
        return f"share of cases of claim {', '.join(self.of)} that go as expected, against {self._share}"

    def tally(self, cases: Sequence[Finding]) -> Finding:
        """Return the finding over the cases of the claims counted."""
        n = len(cases)
        hold, fail = (sum(case.verdict == verdict for case in cases) for verdict in (HOLDS, FAILS))
        needed = self._share * n
        verdict = HOLDS if hold > needed else FAILS if n - fail <= needed else OPEN
        agree = sum(case.agrees for case in cases)
        note = f"{hold} hold, {n - hold - fail} open, {fail} fail of {n}"
        if n == 0:
            return Finding("all", math.nan, math.nan, math.nan, 0, self.unit(), OPEN, note=note)
        interval = agree / n, hold / n, (n - fail) / n
        return Finding("all", *interval, n, self.unit(), verdict, agree > needed, note)

    @property
    def _share(self) -> Fraction:
        # Exact, so that two of three cases are not more than two thirds by rounding.
        return Fraction(self.more_than).limit_denominator(1000)
