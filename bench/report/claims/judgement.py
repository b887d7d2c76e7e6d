"""From an interval to a verdict.

Three values: *holds* if the whole 95 % interval satisfies the claim, *fails* if the whole interval contradicts it, else
*open*. With fewer than `MIN_REPETITIONS` repetitions every verdict is open: the percentile bootstrap of so few numbers
hardly reaches beyond their range, and three differences of equal sign come up in a quarter of all cases without effect.
"""

import math
from typing import Literal

from bench.report.claims.finding import FAILS, HOLDS, OPEN, Finding
from bench.stats import Interval

MIN_REPETITIONS = 5

Direction = Literal["less", "greater", "at_most", "at_least"]
"""`less` and `at_most` are bounded above by the threshold, `greater` and `at_least` below; `at_most` and `at_least`
hold also at the threshold itself, so two methods with identical results are "no worse" than each other."""


def satisfies(value: float, expect: Direction, threshold: float) -> bool:
    """Return whether a number is on the expected side of a threshold; False for NaN."""
    if expect == "less":
        return value < threshold
    if expect == "at_most":
        return value <= threshold
    if expect == "greater":
        return value > threshold
    return value >= threshold


def contradicts(value: float, expect: Direction, threshold: float) -> bool:
    """Return whether a number is strictly on the other side of a threshold; False for NaN."""
    return value > threshold if expect in ("less", "at_most") else value < threshold


def directed(case: str, interval: Interval, unit: str, expect: Direction, threshold: float, note: str = "") -> Finding:
    """Return the finding on "the estimate is ``expect`` than ``threshold``"."""
    far, near = (interval.high, interval.low) if expect in ("less", "at_most") else (interval.low, interval.high)
    return judged(
        case,
        interval,
        unit,
        holds=satisfies(far, expect, threshold),
        fails=contradicts(near, expect, threshold),
        agrees=satisfies(interval.estimate, expect, threshold),
        note=note,
    )


def judged(
    case: str, interval: Interval, unit: str, *, holds: bool, fails: bool, agrees: bool, note: str = ""
) -> Finding:
    """Return a finding whose verdict follows from what the interval says, if there are repetitions enough."""
    verdict = HOLDS if holds else FAILS if fails else OPEN
    notes = [note] if note else []
    if interval.n < MIN_REPETITIONS:
        verdict = OPEN
        notes.append(f"a verdict needs at least {MIN_REPETITIONS} repetitions, there are {interval.n}")
    elif math.isnan(interval.low) or math.isnan(interval.high):
        verdict = OPEN
        notes.append("the interval is not defined: the statistic is undefined in too many resamples")
    return Finding(case, *interval, unit, verdict, agrees, "; ".join(notes))
