"""What was found for one case of a claim."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bench.stats import Interval

HOLDS, FAILS, TIE, OPEN, SAYS_NOTHING = "holds", "fails", "tie", "open", "says_nothing"
VERDICTS = (HOLDS, FAILS, TIE, OPEN, SAYS_NOTHING)
_IN_WORDS = {
    HOLDS: ("hold", "holds"),
    FAILS: ("fail", "fails"),
    TIE: ("ties", "tie"),
    OPEN: ("open", "open"),
    SAYS_NOTHING: ("say nothing", "says nothing"),
}
NO_INTERVAL = Interval(math.nan, math.nan, math.nan, 0)


class Unmeasured(Exception):
    """The results that a case needs are not there; the text says which. Leads to the verdict "open"."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one case of a claim, with the numbers it rests on.

    Parameters
    ----------
    case
        The case in words, "all" for a claim with a single one.
    interval
        Point estimate, 95 % interval, and the number of repetitions (for counts: of cases) they rest on.
    unit
        What the estimate is, in words.
    verdict
        One of `VERDICTS`.
    agrees
        Whether the point estimate alone is as the claim expects.
    counts_as
        What a claim that counts cases takes the verdict for: a tie is as good as "no more", and not "less".
    relative
        The same comparison as a share of the right side, which decides whether it is a tie.
    p
        The smallest error at which the verdict would be the same; NaN where nothing is decided.
    needs
        Open cases: the number of repetitions that would probably decide them; NaN if not even a million would.
    note
        What a reader must know besides: why a verdict is open, which results are missing.
    """

    case: str
    interval: Interval
    unit: str
    verdict: str
    agrees: bool = False
    counts_as: str = OPEN
    relative: Interval = NO_INTERVAL
    p: float = math.nan
    needs: float = math.nan
    note: str = ""


def spell(verdicts: Mapping[str, int]) -> str:
    """Return the number of cases by verdict in words: ``3 hold, 1 fails, 2 ties, 0 open``; no ties, and none that say
    nothing, are left out."""
    always = (HOLDS, FAILS, OPEN)
    numbers = {verdict: verdicts.get(verdict, 0) for verdict in VERDICTS}
    return ", ".join(f"{n} {_IN_WORDS[word][n == 1]}" for word, n in numbers.items() if n or word in always)
