"""From an interval to a verdict.

*Tie* if the whole 90 % interval lies within the margin, which is what two one-sided tests at 5 % ask; else *holds* if
the whole 95 % interval satisfies the claim, *fails* if the whole interval contradicts it, else *open*. With fewer
repetitions than the interval needs to cover what it says (measured, see docs/verdicts.md) every verdict is open.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bench.critical import Rule, fixed
from bench.report.claims.quantities import Quantity
from bench.stats import Interval

HOLDS, FAILS, TIE, OPEN, SAYS_NOTHING = "holds", "fails", "tie", "open", "says_nothing"
VERDICTS = (HOLDS, FAILS, TIE, OPEN, SAYS_NOTHING)
_IN_WORDS = {
    HOLDS: ("hold", "holds"),
    FAILS: ("fail", "fails"),
    TIE: ("ties", "tie"),
    OPEN: ("open", "open"),
    SAYS_NOTHING: ("no evidence", "no evidence"),
}
NO_INTERVAL = Interval(math.nan, math.nan, math.nan, 0)
ERROR = 0.05
MIN_REPETITIONS = 5
FIRST_LOOK = 10
"""The least number of repetitions where verdicts are looked at repeatedly: the theory is about many."""
MARGIN = 0.05
"""Differences within this share of the right side are a tie, unless a claim says otherwise."""
MOST = 1_000_000
"""The largest number of repetitions that is considered when it is asked how many would decide a case."""
POWER = 0.8416
"""Normal quantile of the probability, 80 %, with which that number would decide it if the estimate is right."""

Direction = Literal["less", "greater", "at_most", "at_least"]
"""`less` and `at_most` are bounded above by the threshold, `greater` and `at_least` below; `at_most` and `at_least`
hold also at the threshold itself, and a tie counts for them as "no worse"."""
Expected = Direction | Literal["", "similar", "differs"]
Test = Callable[[float, Rule, float], bool]
"""Error (of both sides together), rule and number of repetitions -> whether the case would be decided so."""


class Unmeasured(Exception):
    """The results that a case needs are not there; the text says which. Leads to the verdict "open"."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one case of a claim, with the numbers it rests on.

    Parameters
    ----------
    interval
        Point estimate, 95 % interval, and the number of repetitions (for counts: of cases) they rest on.
    unit
        What the estimate is, in words.
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


def in_words(verdict: str) -> str:
    """Return a verdict as readers see it."""
    return "no evidence" if verdict == SAYS_NOTHING else verdict


def spell(verdicts: Mapping[str, int], remain: Counter[str] | None = None) -> str:
    """Return the number of cases by verdict in words: ``3 hold (2 after Holm's correction), 1 fails, 0 open``.

    Ties and cases without evidence are named only where there are any. ``remain`` says how many remain after Holm's
    correction, of which nothing is said where all do.
    """
    always = (HOLDS, FAILS, OPEN)
    numbers = {verdict: verdicts.get(verdict, 0) for verdict in VERDICTS}
    parts = {word: f"{n} {_IN_WORDS[word][n == 1]}" for word, n in numbers.items() if n or word in always}
    for word in (HOLDS, FAILS, TIE):
        if remain is not None and remain[word] < numbers[word]:
            parts[word] += f" ({remain[word]} after Holm's correction)"
    return ", ".join(parts.values())


@dataclass(frozen=True)
class Setting:
    """How the cases of a figure are judged.

    Parameters
    ----------
    rule
        For a number of repetitions fixed beforehand, or for looking again and again.
    silent
        Why nothing on this data is evidence, such as that it was generated; empty if it is.
    genuine
        Labels of the experiments to which that does not apply.
    """

    rule: Rule = fixed
    silent: str = ""
    genuine: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class Question:
    """What a claim asks of what was measured.

    Parameters
    ----------
    expect
        A direction against ``threshold``; ``similar``: within the margin of it; ``differs``: not it; nothing: open.
    relative
        The comparison as a share of the right side, 0 where both are equal.
    margin
        ``relative`` within +-margin is a tie; None or 0: there are no ties.
    least
        The least number of repetitions for a verdict.
    """

    quantity: Quantity
    unit: str
    expect: Expected
    threshold: float = 0.0
    relative: Quantity | None = None
    margin: float | None = None
    least: int = MIN_REPETITIONS

    def answer(self, case: str, setting: Setting, note: str = "") -> Finding:
        rule, n = setting.rule, self.quantity.n
        tests = self._tests()
        least = self.least if rule is fixed else max(self.least, FIRST_LOOK)
        verdict = next((word for word, test in tests if n >= least and test(ERROR, rule, n)), OPEN)
        notes = [note] if note else []
        if n < least:
            notes.append(f"a verdict needs at least {least} repetitions, there are {n}")
        shown = self.quantity.interval(ERROR / 2.0, rule)
        if n > 1 and not all(map(math.isfinite, shown[1:3])):
            shown = shown._replace(low=math.nan, high=math.nan)
            notes.append("the interval is not defined")
        p, needs = math.nan, math.nan
        if verdict == OPEN:
            needs = _repetitions(tests, rule, n, least)
        else:
            p = _smallest_error(dict(tests)[verdict], rule, n)
        relative = self.relative.interval(ERROR / 2.0, rule) if self.relative else NO_INTERVAL
        as_wanted = HOLDS if self.expect in ("at_most", "at_least") else FAILS
        return Finding(
            case,
            shown,
            self.unit,
            verdict,
            agrees=self._agrees(),
            counts_as=as_wanted if verdict == TIE else verdict,
            relative=relative,
            p=p,
            needs=needs,
            note="; ".join(notes),
        )

    def _tests(self) -> list[tuple[str, Test]]:
        """Return the verdicts that are possible, each with its test; the first that passes counts."""
        tests: list[tuple[str, Test]] = []
        if not self.expect:
            return tests
        if self.expect == "similar":
            return [(HOLDS, self._within), (FAILS, self._outside)]
        if self.expect == "differs":
            return [(HOLDS, self._apart), (FAILS, self._same)]
        if self.relative is not None and self.margin:
            tests.append((TIE, self._within))
        return [*tests, (HOLDS, self._satisfied), (FAILS, self._contradicted)]

    def _satisfied(self, error: float, rule: Rule, n: float) -> bool:
        low, high = self.quantity.ends(error / 2.0, rule, n)
        return satisfies(high if self.expect in ("less", "at_most") else low, self.expect, self.threshold)

    def _contradicted(self, error: float, rule: Rule, n: float) -> bool:
        low, high = self.quantity.ends(error / 2.0, rule, n)
        return low > self.threshold if self.expect in ("less", "at_most") else high < self.threshold

    def _within(self, error: float, rule: Rule, n: float) -> bool:
        low, high = (self.relative or self.quantity).ends(error, rule, n)
        margin = self.margin or 0.0
        return -margin <= low and high <= margin

    def _outside(self, error: float, rule: Rule, n: float) -> bool:
        low, high = (self.relative or self.quantity).ends(error / 2.0, rule, n)
        margin = self.margin or 0.0
        return low > margin or high < -margin

    def _apart(self, error: float, rule: Rule, n: float) -> bool:
        low, high = self.quantity.ends(error / 2.0, rule, n)
        return low > self.threshold or high < self.threshold

    def _same(self, error: float, rule: Rule, n: float) -> bool:
        low, high = self.quantity.ends(error / 2.0, rule, n)
        return low == high == self.threshold

    def _agrees(self) -> bool:
        if self.expect == "similar":
            return abs((self.relative or self.quantity).estimate) <= (self.margin or 0.0)
        if self.expect == "differs":
            return self.quantity.estimate != self.threshold
        return bool(self.expect) and satisfies(self.quantity.estimate, self.expect, self.threshold)


def satisfies(value: float, expect: Expected, threshold: float) -> bool:
    """Return whether a number is on the expected side of a threshold; False for NaN."""
    if expect == "less":
        return value < threshold
    if expect == "at_most":
        return value <= threshold
    if expect == "greater":
        return value > threshold
    return value >= threshold


def silenced(finding: Finding, reason: str) -> Finding:
    """Return a finding that is no evidence, whatever its numbers are; `reason` says why."""
    note = "; ".join(filter(None, [reason, finding.note]))
    return Finding(
        finding.case, finding.interval, finding.unit, SAYS_NOTHING, counts_as=SAYS_NOTHING, relative=finding.relative,
        note=note,
    )  # fmt: skip


def _smallest_error(test: Test, rule: Rule, n: int) -> float:
    """Return the smallest error at which a test that passes at `ERROR` still does, to three digits; at least 1e-12."""
    low, high = math.log(1e-12), math.log(ERROR)
    if test(math.exp(low), rule, n):
        return math.exp(low)
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        low, high = (low, middle) if test(math.exp(middle), rule, n) else (middle, high)
    return math.exp(high)


def _repetitions(tests: list[tuple[str, Test]], rule: Rule, n: int, least: int) -> float:
    """Return how many repetitions like those there are would decide the case with a probability of 80 %.

    Where an interval reaches c standard errors, a difference of c of them is found in half of all cases, one of
    c + `POWER` in 80 %.
    """

    def is_decided(number: float) -> bool:
        return any(test(ERROR, rule, number) for _, test in tests)

    if n < 2 or not is_decided(MOST):
        return math.nan
    low, high = math.log(max(n, least)), math.log(MOST)
    if is_decided(max(n, least)):
        return float(max(n, least))
    while high - low > 1e-3:
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_decided(math.exp(middle)) else (middle, high)
    number = math.exp(high)
    number *= (1.0 + POWER / rule(number, ERROR / 2.0)) ** 2
    return float(math.ceil(number)) if number <= MOST else math.nan
