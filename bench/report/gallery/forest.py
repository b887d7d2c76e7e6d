"""Cases of claims as a picture: a dot with its interval on one axis, and the line that decides."""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from bench.report.text import number

DIFFERENCES = ("paired_difference", "relative_difference")
PRACTICALLY_LEVEL = 10_000
"""More repetitions than this to decide a difference: practically there is none."""
Triple = tuple[float, float, float]
_BELOW, _ABOVE = ("less", "at_most"), ("greater", "at_least")
# What reaches this many times as far from the threshold as the median case leaves the axis.
_FAR = 4.0
_WIDE = 10.0
_EDGE = 4.0


class Spot(NamedTuple):
    """Where a case's interval begins and ends and its estimate lies, in percent of the axis; which ends are cut off."""

    left: float
    right: float
    dot: float
    cut: str


class Forest(NamedTuple):
    """Cases on one axis.

    Parameters
    ----------
    ends
        The numbers at both ends, in words.
    threshold, at
        The number that decides in words, "" without, and where it lies in percent.
    side
        Which side of it the claim expects: ``below``, ``above`` or "".
    spots
        One for each case; None for a case without numbers.
    """

    ends: tuple[str, str]
    threshold: str
    at: float
    side: str
    spots: list[Spot | None]


def threshold_of(claim: Mapping[str, Any]) -> float | None:
    """Return the number that decides a claim as its figure writes it; None if the claim has none of its own."""
    kind = claim.get("kind")
    if kind in DIFFERENCES:
        margin = float(claim.get("margin") or 0.0)
        return {"at_most": margin, "at_least": -margin}.get(claim.get("expect", ""), 0.0)
    if kind == "slope" and claim.get("log_power"):
        return None  # the slope that is allowed follows from the values of the axis
    default = {"best_on_grid": 0.0 if claim.get("differs") else None, "count": claim.get("more_than", 2 / 3)}
    return claim.get("threshold", default.get(str(kind), 1.0))


def forest(cases: Sequence[Mapping[str, Any]]) -> Forest | None:
    """Return cases that share a kind on one axis; None if none of them has an interval.

    Parameters
    ----------
    cases
        With `kind`, `expect`, `threshold` and `values`: estimate and ends, and the same as shares of the right side.
    """
    first = cases[0]
    is_share, triples = _values(cases)
    threshold: float | None = first["threshold"]
    known = [triple for triple in triples if triple]
    if not known:
        return None
    ends = [end for triple in known for end in triple] + ([] if threshold is None else [threshold])
    is_log = first["kind"] not in DIFFERENCES and min(ends) > 0 and max(ends) > _WIDE * min(ends)
    scale = math.log if is_log else float
    middle = scale(median(triple[0] for triple in known) if threshold is None else threshold)
    reach = [max(abs(scale(end) - middle) for end in triple) for triple in known]
    limit = _FAR * median(reach) if max(reach) > _FAR * median(reach) > 0 else max(reach)
    shown = [min(max(scale(end), middle - limit), middle + limit) for end in ends]
    low, high = min(shown), max(shown)

    def place(value: float) -> float:
        share = (scale(value) - low) / ((high - low) or 1.0)
        return round(_EDGE + (100 - 2 * _EDGE) * share, 1)

    def words(value: float) -> str:
        value = math.exp(value) if is_log else value
        return f"{100 * value:+,.0f} %".replace("-", "−") if is_share else number(float(f"{value:.2g}"))

    expect = first.get("expect", "")
    side = "" if threshold is None else "below" if expect in _BELOW else "above" if expect in _ABOVE else ""
    return Forest(
        (words(low), words(high)),
        "" if threshold is None else f"{100 * threshold:g} %" if is_share else number(threshold),
        0.0 if threshold is None else place(threshold),
        side,
        [triple and spot_of(*map(place, triple)) for triple in triples],
    )


def needs_in_words(row: Mapping[str, Any]) -> str:
    """Return how many repetitions would decide an open case; "" if that is not known."""
    needs = row["values"]["needs"]
    if not math.isfinite(needs):
        return ""
    if needs <= PRACTICALLY_LEVEL:
        return f"about {number(needs)} repetitions would decide it"
    if row["kind"] in DIFFERENCES:
        return "practically level"
    return f"more than {PRACTICALLY_LEVEL:,} repetitions would be needed"


def _values(cases: Sequence[Mapping[str, Any]]) -> tuple[bool, list[Triple | None]]:
    """Return whether numbers are shares, and estimate, low and high of each case; None where they are not known."""
    shares = [_triple(case["values"], "relative", "relative_low", "relative_high") for case in cases]
    triples = [_triple(case["values"], "estimate", "ci_low", "ci_high") for case in cases]
    if cases[0]["kind"] not in DIFFERENCES:
        return False, triples
    has_shares = all(share or not triple for share, triple in zip(shares, triples, strict=True)) and any(shares)
    return (True, shares) if has_shares else (bool(cases[0]["threshold"]), triples)


def _triple(values: Mapping[str, float], name: str, low: str, high: str) -> Triple | None:
    """Return a number with its ends, or itself for both; None if it is not known, or has an end that is infinite."""
    number, *ends = values[name], values[low], values[high]
    if not math.isfinite(number) or any(map(math.isinf, ends)):
        return None
    first, last = (number if math.isnan(end) else end for end in ends)
    return number, first, last


def spot_of(dot: float, left: float, right: float) -> Spot:
    """Return where a dot and its interval lie, given in percent, cut off at the ends of the axis."""
    left_end, right_end, middle = (round(min(max(value, 0.0), 100.0), 1) for value in (left, right, dot))
    cut = ("l" if left < 0 else "") + ("r" if right > 100 else "")
    return Spot(left_end, right_end, min(max(middle, 1.0), 99.0), cut)
