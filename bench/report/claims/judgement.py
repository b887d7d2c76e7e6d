"""The rules that turn an interval into a verdict.

The verdict is *tie* if the whole 90 % interval lies within the margin, which is equivalent to two one-sided tests at 5
%. Otherwise the verdict is *holds* if the whole 95 % interval satisfies the claim, *fails* if the whole interval
contradicts the claim, and *open* in all other cases. With too few repetitions for the interval's nominal coverage
(measured, see docs/verdicts.md) every verdict is open.
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bench.critical import Rule, Sequential, fixed
from bench.report.claims.quantities import Quantity
from bench.stats import MIN_REPETITIONS as MIN_REPETITIONS
from bench.stats import Interval

HOLDS, FAILS, TIE, OPEN, NO_EVIDENCE = "holds", "fails", "tie", "open", "no evidence"
VERDICTS = (HOLDS, FAILS, TIE, OPEN, NO_EVIDENCE)
REMAINS, DOES_NOT_REMAIN = "yes", "no"
"""Words of the column `holm`; a verdict without a test of its own has none."""
NO_INTERVAL = Interval(math.nan, math.nan, math.nan, 0)
ERROR = 0.05
FIRST_LOOK = 10
"""Least number of repetitions for a verdict under repeated looks, whose theory is about large numbers."""
FEW = 10
"""Number of repetitions below which a verdict states its assumption of values without a long tail."""
MARGIN = 0.05
"""Differences within this share of the right side are a tie, unless a claim says otherwise."""
MOST_REPETITIONS = 1_000_000
"""Largest number of repetitions that is considered for deciding an open case."""
POWER = 0.8416
"""Normal quantile of the probability, 80 %, with which the number for an open case would decide it."""

Direction = Literal["less", "greater", "at_most", "at_least"]
"""`less` and `at_most` are bounded above by the threshold, `greater` and `at_least` below; `at_most` and `at_least`
hold also at the threshold itself, and a tie counts for them as "no worse"."""
NO_WORSE = ("at_most", "at_least")
Expected = Direction | Literal["similar", "differs"]
Test = Callable[[float, Rule, float], bool]
"""Error (of both sides together), rule and number of repetitions -> whether they give the verdict."""
_SATISFIES = {"less": operator.lt, "at_most": operator.le, "greater": operator.gt, "at_least": operator.ge}


class Unmeasured(Exception):
    """Results of a case are missing, as described by the text, so that the verdict is "open"."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one case of a claim, with its numbers.

    ``interval``, at 95 %, also has the number of repetitions, or of cases for counts. ``relative`` is the same
    comparison as a share of the right side. ``agrees`` states whether the point estimate alone is as the claim expects.
    ``counts_as`` is the verdict for claims that count cases: a tie counts as "no more", but not as "less". ``p`` is the
    smallest error rate with the same verdict, NaN for open cases; ``repetitions_needed`` is the number that would
    probably decide an open case, NaN if it exceeds a million or cannot be run. ``proviso`` has the conditions of the
    verdict besides its numbers: the margin of ties, the plan of repetitions, and the assumption made if there are few
    repetitions. ``holm`` states whether the verdict survives Holm's correction (`REMAINS` if it does), and is ""
    without a test.
    """

    case: str
    interval: Interval
    unit: str
    verdict: str
    agrees: bool = False
    counts_as: str = OPEN
    relative: Interval = NO_INTERVAL
    p: float = math.nan
    repetitions_needed: float = math.nan
    note: str = ""
    proviso: str = ""
    holm: str = ""

    def as_no_evidence(self, reason: str) -> "Finding":
        """Return the finding as no evidence, whatever its numbers."""
        note = "; ".join(filter(None, [reason, self.note]))
        word, nan = NO_EVIDENCE, math.nan
        finding = replace(self, verdict=word, counts_as=word, agrees=False, note=note, proviso="")
        return replace(finding, p=nan, repetitions_needed=nan)


@dataclass(frozen=True)
class Conditions:
    """The conditions for judging a figure's cases, such as a fixed number of repetitions or repeated looks.

    ``no_evidence`` is the reason why the data is no evidence, and is empty if the data is evidence. ``genuine`` are the
    labels of experiments to which the reason does not apply. A log in ``parts`` has at most this number of repetitions.
    """

    rule: Rule = fixed
    no_evidence: str = ""
    genuine: tuple[Mapping[str, str], ...] = ()
    parts: int | None = None


@dataclass(frozen=True)
class Question:
    """The question of a claim about a measured quantity.

    The claim expects the quantity on one side of ``threshold``, within the margin of the threshold (``similar``), or
    not equal to the threshold (``differs``). ``relative``, the comparison as a share of the right side, is a tie within
    +-``margin``; with None or 0 there are no ties. A verdict needs at least ``least`` repetitions.
    """

    quantity: Quantity
    expect: Expected
    threshold: float = 0.0
    relative: Quantity | None = None
    margin: float | None = None
    least: int = MIN_REPETITIONS

    def answer(self, case: str, unit: str, setting: Conditions, notes: Sequence[str] = ()) -> Finding:
        rule, n, notes = setting.rule, self.quantity.n, list(notes)
        tests = self._tests()
        least = self.least if rule is fixed else max(self.least, FIRST_LOOK)
        verdict = next((word for word, test in tests.items() if n >= least and test(ERROR, rule, n)), OPEN)
        if n < least:
            notes.append(f"a verdict needs at least {least} repetitions, there are {n}")
        interval = self.quantity.interval(ERROR / 2.0, rule)
        if n > 1 and not all(map(math.isfinite, interval[1:3])):
            interval = interval._replace(low=math.nan, high=math.nan)
            notes.append("the interval is not defined")
        is_open = verdict == OPEN
        needed = _repetitions(tests, rule, n, least) if is_open else math.nan
        if setting.parts is not None and needed > setting.parts:
            if n >= least:
                more = f"{float(f'{needed / setting.parts:.2g}'):,g}"
                rest = f"first run all {setting.parts} parts of the log; then " if n < setting.parts else ""
                notes.append(f"{rest}about {more} times as many rows, in {needed:,.0f} parts, would decide it")
            needed = math.nan
        return Finding(
            case,
            interval,
            unit,
            verdict,
            agrees=self._agrees(),
            counts_as=verdict if verdict != TIE else HOLDS if self.expect in NO_WORSE else FAILS,
            relative=self.relative.interval(ERROR / 2.0, rule) if self.relative else NO_INTERVAL,
            p=math.nan if is_open else _smallest_error(tests[verdict], rule, n),
            repetitions_needed=needed,
            note="; ".join(notes),
            proviso="; ".join(self._provisos(verdict, setting, n)),
        )

    def _provisos(self, verdict: str, setting: Conditions, n: int) -> Iterator[str]:
        """Yield the conditions of a verdict besides its numbers."""
        rule = setting.rule
        if (
            verdict == OPEN
            and isinstance(rule, Sequential)
            and n < (most := min(rule.most, setting.parts or rule.most))
        ):
            yield f"{n} of at most {most} repetitions"
        if verdict in (OPEN, TIE) and TIE in self._tests():
            yield f"a tie lies within {100.0 * (self.margin or 0.0):g} %"
        if verdict != OPEN and n < FEW:
            yield f"rests on {n} repetitions, which is enough if none can be far off"

    def _tests(self) -> dict[str, Test]:
        """Return the test of each possible verdict; the first verdict whose test passes applies.

        The tests of a tie and of ``similar`` are one-sided at each end; all other tests divide the error between both
        ends.
        """
        threshold, margin, share = self.threshold, self.margin or 0.0, self.relative or self.quantity

        def test(quantity: Quantity, ends: float, passes: Callable[[float, float], bool]) -> Test:
            return lambda error, rule, n: passes(*quantity.ends(error / ends, rule, n))

        within = test(share, 1.0, lambda low, high: -margin <= low and high <= margin)
        if self.expect == "similar":
            return {HOLDS: within, FAILS: test(share, 2.0, lambda low, high: low > margin or high < -margin)}
        if self.expect == "differs":
            return {
                HOLDS: test(self.quantity, 2.0, lambda low, high: low > threshold or high < threshold),
                FAILS: test(self.quantity, 2.0, lambda low, high: low == high == threshold),
            }
        from_above, satisfies = self.expect in ("less", "at_most"), _SATISFIES[self.expect]
        return ({TIE: within} if self.relative is not None and margin else {}) | {
            HOLDS: test(self.quantity, 2.0, lambda low, high: satisfies(high if from_above else low, threshold)),
            FAILS: test(self.quantity, 2.0, lambda low, high: low > threshold if from_above else high < threshold),
        }

    def _agrees(self) -> bool:
        if self.expect == "similar":
            return abs((self.relative or self.quantity).estimate) <= (self.margin or 0.0)
        if self.expect == "differs":
            return self.quantity.estimate != self.threshold
        return _SATISFIES[self.expect](self.quantity.estimate, self.threshold)


def _smallest_error(test: Test, rule: Rule, n: int) -> float:
    """Return the smallest error rate at which a test passes that passes at `ERROR`.

    The rate has three digits and is at least 1e-12.
    """
    return _first(lambda error: test(error, rule, n), 1e-12, ERROR, 1e-4)


def _first(passes: Callable[[float], bool], low: float, high: float, share: float) -> float:
    """Return the smallest value up to ``high`` that passes, or ``low`` if ``low`` passes.

    The relative error of the value is ``share``.
    """
    low, high = math.log(low), math.log(high)
    if passes(math.exp(low)):
        return math.exp(low)
    while high - low > share:
        middle = (low + high) / 2.0
        low, high = (low, middle) if passes(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _repetitions(tests: Mapping[str, Test], rule: Rule, n: int, least: int) -> float:
    """Return the number of similar repetitions that would decide the case with a probability of 80 %.

    If an interval reaches c standard errors, a difference of c standard errors is detected in half of all cases, and a
    difference of c + `POWER` standard errors in 80 %.
    """

    def is_decided(number: float) -> bool:
        return any(test(ERROR, rule, number) for test in tests.values())

    if n < 2 or not is_decided(MOST_REPETITIONS):
        return math.nan
    if is_decided(max(n, least)):
        return float(max(n, least))
    number = _first(is_decided, max(n, least), MOST_REPETITIONS, 1e-3)
    number *= (1.0 + POWER / rule(number, ERROR / 2.0)) ** 2
    return float(math.ceil(number)) if number <= MOST_REPETITIONS else math.nan
