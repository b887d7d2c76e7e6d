"""The claims of a figure for its page, with their cases on an axis."""

import math
import re
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from bench.report.claims.check import KINDS
from bench.report.claims.judgement import NO_EVIDENCE
from bench.report.typeset import number

DIFFERENCES = [name for name, kind in KINDS.items() if kind.is_difference]
PRACTICALLY_LEVEL = 10_000
"""Number of required repetitions above which a difference is practically level."""
Case = dict[str, Any]
Triple = tuple[float, float, float]
_BELOW, _ABOVE = ("less", "at_most"), ("greater", "at_least")
# Ends farther from the threshold than this multiple of the median case's are cut off.
_FAR = 4.0
_WIDE = 10.0
_EDGE = 4.0
_OWN, _SHARE = ("estimate", "ci_low", "ci_high"), ("relative", "relative_low", "relative_high")


class Spot(NamedTuple):
    """The positions of a case's interval and estimate in percent of the axis, and the ends that are cut off."""

    left: float
    right: float
    dot: float
    cut: str


class Forest(NamedTuple):
    """Cases on one axis, with the labels of its ends, the threshold, and the threshold's position in percent.

    ``side`` is the expected side of the threshold: ``below``, ``above``, or ""; a case without numbers has no spot. On
    an axis of shares of the right side, ``shares`` are the estimate and the interval of each case in the claim's unit;
    otherwise ``shares`` is empty.
    """

    ends: tuple[str, str]
    threshold: str
    at: float
    side: str
    spots: list[Spot | None]
    shares: list[tuple[str, str]]


class ClaimView(NamedTuple):
    """A claim with its cases: cases with evidence, on one axis, and cases without evidence."""

    slug: str
    first: Case
    cases: list[Case]
    forest: Forest | None
    no_evidence: list[Case]

    @property
    def every(self) -> list[Case]:
        return [*self.cases, *self.no_evidence]


def slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-") or "claim"


def claim_of(cases: list[Case]) -> ClaimView:
    shown, no_evidence = (
        [case for case in cases if (case["verdict"] == NO_EVIDENCE) == none] for none in (False, True)
    )
    return ClaimView(slug(cases[0]["claim"]), cases[0], shown, forest(shown), no_evidence)


def forest(cases: Sequence[Case]) -> Forest | None:
    """Return the cases of a claim on one axis, or None if no case has an interval."""
    is_share, triples = _values(cases)
    known = [triple for triple in triples if triple]
    if not known:
        return None
    first = cases[0]
    threshold: float | None = first["threshold"]
    ends = [end for triple in known for end in triple] + ([] if threshold is None else [threshold])
    is_log = first["kind"] not in DIFFERENCES and min(ends) > 0 and max(ends) > _WIDE * min(ends)
    scale = math.log if is_log else float
    middle = scale(median(triple[0] for triple in known) if threshold is None else threshold)
    reach = [max(abs(scale(end) - middle) for end in triple) for triple in known]
    farthest = _FAR * median(reach) if max(reach) > _FAR * median(reach) > 0 else max(reach)
    shown = [min(max(scale(end), middle - farthest), middle + farthest) for end in ends]
    low, high = min(shown), max(shown)

    def place(value: float) -> float:
        share = (scale(value) - low) / ((high - low) or 1.0)
        return round(_EDGE + (100 - 2 * _EDGE) * share, 1)

    def spot(dot: float, left: float, right: float) -> Spot:
        low, high = (round(min(max(end, 0.0), 100.0), 1) for end in (left, right))
        return Spot(low, high, round(min(max(dot, 1.0), 99.0), 1), "l" * (left < 0) + "r" * (right > 100))

    def words(value: float) -> str:
        value = math.exp(value) if is_log else value
        if is_share:
            return f"{100 * value:+,.0f} %".replace("-", "−") if round(100 * value) else "0 %"
        return number(float(f"{value:.2g}"))

    expect = first.get("expect", "")
    side = "" if threshold is None else "below" if expect in _BELOW else "above" if expect in _ABOVE else ""
    return Forest(
        (words(low), words(high)),
        "" if threshold is None else f"{100 * threshold:g} %" if is_share else number(threshold),
        0.0 if threshold is None else place(threshold),
        side,
        [triple and spot(*map(place, triple)) for triple in triples],
        [_in_percent(triple) if is_share else ("", "") for triple in triples],
    )


def _in_percent(triple: Triple | None) -> tuple[str, str]:
    """Return an estimate and its interval as text, such as ``+5.3 %`` and ``−0.8 to +12 %``."""
    if triple is None:
        return "", ""
    percents = (f"{100 * number:+,.{int(abs(number) < 0.1)}f}".replace("-", "−") for number in triple)
    value, low, high = ("0" if text in ("+0.0", "−0.0") else text for text in percents)
    return f"{value} %", f"{low} to {high} %" if low != high else ""


def _values(cases: Sequence[Case]) -> tuple[bool, list[Triple | None]]:
    """Return whether numbers are shares of the right side, and the estimate, low and high of each case.

    Differences are shares if all of them can be. Unknown numbers are None.
    """
    own, shares = ([_triple(case["values"], *names) for case in cases] for names in (_OWN, _SHARE))
    if not cases or cases[0]["kind"] not in DIFFERENCES:
        return False, own
    if any(shares) and all(share or not triple for share, triple in zip(shares, own, strict=True)):
        return True, shares
    return bool(cases[0]["threshold"]), own


def _triple(values: Mapping[str, float], name: str, low: str, high: str) -> Triple | None:
    """Return a number with the ends of its interval, or None if the number is unknown or an end is infinite.

    A missing end is replaced by the number.
    """
    number, *ends = values[name], values[low], values[high]
    if not math.isfinite(number) or any(map(math.isinf, ends)):
        return None
    first, last = (number if math.isnan(end) else end for end in ends)
    return number, first, last


def needed_in_words(row: Mapping[str, Any]) -> str:
    """Return the number of repetitions that would decide an open case as text, or "" if it is unknown."""
    needed = row["values"]["repetitions_needed"]
    if not math.isfinite(needed):
        return ""
    if needed <= PRACTICALLY_LEVEL:
        return f"about {number(needed)} repetitions would decide it"
    if row["kind"] in DIFFERENCES:
        return "practically level"
    return f"more than {PRACTICALLY_LEVEL:,} repetitions would be needed"
