"""What was found for one case of a claim."""

from dataclasses import dataclass

HOLDS, FAILS, OPEN = "holds", "fails", "open"


class Unmeasured(Exception):
    """The results that a case needs are not there; the text says which. Leads to the verdict "open"."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one case of a claim, with the numbers it rests on.

    Parameters
    ----------
    case
        The case in words, "all" for a claim with a single one.
    estimate, low, high
        Point estimate and 95 % interval, NaN where not measured.
    n
        Number of repetitions (for counts: of cases) the estimate rests on.
    unit
        What the estimate is, in words.
    verdict
        "holds", "fails" or "open".
    agrees
        Whether the point estimate alone is as the claim expects.
    note
        What a reader must know besides: why a verdict is open, which results are missing.
    """

    case: str
    estimate: float
    low: float
    high: float
    n: int
    unit: str
    verdict: str
    agrees: bool = False
    note: str = ""
