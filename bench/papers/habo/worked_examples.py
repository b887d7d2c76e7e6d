"""The hand computations of the HABO paper, recomputed from formulas without a run.

Every quantity appears three times. It appears as printed, `recomputed` by the paper's stated rule from the numbers
printed before, and `right`, by the same rule from the example's givens. The comparison separates slips from numbers
that merely inherit a slip.
"""

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd

from bench.arithmetic import total
from bench.report.figure import Figure
from bench.report.results import Results
from bench.stats import Array

Numbers = Sequence[float] | Array


class Step(NamedTuple):
    """A quantity of a worked example.

    ``printed`` holds the printed numbers with their digits, separated by blanks, or the numbers implied by a printed
    statement (``stated``). ``recomputed`` holds the numbers that follow by the stated rule from the numbers printed
    before, and ``right`` holds the numbers that follow from the givens. ``why`` explains the error. ``cause`` is a
    short name of the slip; quantities with the same slip have the same ``cause``.
    """

    example: str
    name: str
    printed: str
    recomputed: Numbers
    right: Numbers
    why: str = ""
    cause: str = ""
    stated: str = ""

    @property
    def verdict(self) -> str:
        """The verdict: `right`, `inherited` (the step is right, but one of its inputs is not) or `slip`."""
        if self._agrees(self.right):
            return "right"
        return "inherited" if self._agrees(self.recomputed) else "slip"

    def spelled(self, numbers: Numbers) -> str:
        """Return numbers with as many decimals as the printed numbers, but at least three if these have decimals."""
        decimals = max(_decimals(like) for like in self.printed.split())
        return " ".join(_spelled(number, like, decimals) for number, like in self._pairs(numbers))

    def _agrees(self, numbers: Numbers) -> bool:
        """Return whether the printed numbers equal ``numbers``, rounded or cut off after the last printed digit."""
        return all(abs(float(like) - number) <= _last_digit(like) + 1e-12 for number, like in self._pairs(numbers))

    def _pairs(self, numbers: Numbers) -> list[tuple[float, str]]:
        return list(zip((float(number) for number in numbers), self.printed.split(), strict=True))


class WorkedExamples(Figure):
    """The table of `worked_examples`, which needs no runs and has no picture.

    On the page of the figure, verdicts (column `verdict`: right, inherited, slip) have a sign. ``caption`` is a line
    below the table.
    """

    source: ClassVar[Literal["runs", "timing", "formula"]] = "formula"

    column: str = ""
    caption: str = ""

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        return {"worked_examples": worked_examples()}

    def table_titles(self) -> dict[str, str]:
        return {"worked_examples": "Table"}


def worked_examples() -> pd.DataFrame:
    """Return one row per quantity.

    One `cause` may explain several slips; a statement printed instead of numbers is in brackets.
    """
    rows = [
        (
            row.example, row.name, f"[{row.stated}]" if row.stated else row.printed, row.spelled(row.recomputed),
            row.spelled(row.right), row.verdict, row.cause if row.verdict == "slip" else "", row.why,
        )
        for quantities in (_etc_policy, _etc_bound, _ucb1, _ucb_delta, _hedge, _exp3)
        for row in quantities()
    ]  # fmt: skip
    columns = ["example", "quantity", "printed", "recomputed", "right", "verdict", "cause", "why"]
    return pd.DataFrame(rows, columns=columns)


def ucb1_bonus(rounds: int, pulls: int) -> float:
    """Return sqrt(2 ln t / N_i), the width of UCB1's interval after ``rounds`` rounds (section 8)."""
    return math.sqrt(2 * math.log(rounds) / pulls)


def learning_rate(rounds: int, arms: int) -> float:
    """Return eta_t = sqrt(ln K / (t K)), the learning rate of Hedge and EXP3 (section 15, step 3)."""
    return math.sqrt(math.log(arms) / (rounds * arms))


def hedge_weights(weights: Array, rate: float, losses: Array) -> Array:
    """Return w_i exp(-eta loss_i), shape (K,) (section 16)."""
    return weights * np.exp(-rate * losses)


def exp3_probabilities(rate: float, totals: Array) -> Array:
    """Return EXP3's probabilities, proportional to exp(eta S_i), shape (K,) (section 18)."""
    return _shares(np.exp(rate * totals))


def exp3_totals(totals: Array, arm: int, reward: float, probability: float) -> Array:
    """Return S_i + 1 - 1[A = i](1 - X)/P_i for all arms, shape (K,); ``arm`` counts from 0 (section 18)."""
    chosen = np.arange(len(totals)) == arm
    return totals + 1.0 - chosen * (1.0 - reward) / probability


# fmt: off
def _etc_policy() -> Iterator[Step]:
    arms, pulls = 3, 2
    turns = [round_ % arms for round_ in range(1, pulls * arms + 1)]
    chosen, explored, best = [turn + 1 for turn in turns], [pulls * arms], [_best([0.4, 0.7, 0.5])]
    first, then = "ETC, policy (section 3)", "ETC, example (section 3.1)"
    yield Step(first, "rounds of exploration m k", "6", explored, explored)
    yield Step(first, "arms of rounds 1 to 6, (t mod k) + 1", "2 3 1 2 3 1", chosen, chosen)
    yield Step(first, "t mod k in rounds 1 to 6", "2 2 2 2 2 2", turns, turns,
                   "it runs from 0 to k - 1", "remainder", "equal to k - 1")
    yield Step(then, "rounds done when the arms are compared", "5", explored, explored,
                   "m k rounds come first", "5 for 6")
    yield Step(then, "arm committed to", "2", best, best)


def _etc_bound() -> Iterator[Step]:
    arms, pulls, horizon, gaps = 3, 2, 10, (3.0, 7.0, 2.0)
    exploration, committed = pulls * total(gaps), horizon - pulls * arms
    by_gap = {gap: [gap * math.exp(-pulls * gap**2 / 4)] for gap in gaps}  # theorem 1, section 4
    bound = [exploration + committed * total(term for (term,) in by_gap.values())]
    from_printed = 28 + 6 * (0.2706 + 0.000091492 + 1.027e-10)
    pulled, probability = [arms * pulls + committed], [math.exp(-pulls * min(gaps) ** 2 / 4)]
    where, counts = "ETC, bound (section 5)", "ETC, counts (section 6)"
    gap_of_n = "n = 10 stands for m = 2 in the exponent, the gaps are mixed up; the number follows from neither"
    mixed = gap_of_n, "n for m, gaps mixed"
    yield Step(where, "arms with gap 0", "0", [1], [1],
                   "the best arm's gap is 0; here all three are positive", "no best arm", "gaps 3, 7 and 2")
    yield Step(where, "m times the sum of the gaps", "28", [exploration], [exploration],
                   "2 (3 + 7 + 2)", "addition")
    yield Step(where, "rounds after the exploration, n - m k", "6", [committed], [committed],
                   "10 - 2 * 3", "subtraction")
    yield Step(where, "term of gap 2", "0.2706", by_gap[2.0], by_gap[2.0], "though written with n = 10 and gap 3")
    yield Step(where, "term of gap 3", "0.000091492", by_gap[3.0], by_gap[3.0], *mixed)
    yield Step(where, "term of gap 7", "1.027e-10", by_gap[7.0], by_gap[7.0], *mixed)
    yield Step(where, "bound of the regret", "28.2706", [from_printed], bound,
                   "the factor n - m k is dropped", "factor dropped")
    yield Step(counts, "sum over the arms of E[T_i(n)]", f"{arms * (pulls + committed)}", pulled, pulled,
                   "the factor P(A = i) is missing: the sum would be 18, and must be n",
                   "count without probability", "m + (n - m k) for every arm")
    yield Step(counts, "bound of P(A = i), gap 2", f"{pulls + committed:.3f}", probability, probability,
                   "a count bounds no probability; exp(-m Delta^2 / 4) does",
                   "count without probability", "at most m + (n - m k)")


def _ucb1() -> Iterator[Step]:
    means = np.array([1.0, 0.5, 0.8])
    two, three = "UCB1, round 2 (section 9)", "UCB1, round 3 (section 9)"
    once, again = ucb1_bonus(3, 1), np.array([ucb1_bonus(4, pulls) for pulls in (2, 1, 1)])
    printed_again = np.array([0.924, 1.553, 1.553])
    squared = "no value of sqrt(2 ln t / N)", "value of a root"
    yield Step(two, "sqrt(2 ln 3)", "1.386", [once], [once], *squared)
    yield Step(two, "indices of the arms", "2.386 1.886 2.186", means + 1.386, means + once, "from 1.386")
    yield Step(two, "arm chosen", "1", [_best(means + 1.386)], [_best(means + once)])
    yield Step(three, "sqrt(2 ln 4 / N) of N = 2, 1", "0.924 1.553", again[:2], again[:2], *squared)
    yield Step(three, "indices of the arms", "1.924 2.053 2.353", means + printed_again, means + again,
                   "from .924, 1.553")
    yield Step(three, "arm chosen", "3", [_best(means + printed_again)], [_best(means + again)])


def _ucb_delta() -> Iterator[Step]:
    horizons = (1e4, 1e8, 1e16)
    least = [2 * math.log(horizon) for horizon in horizons]
    yield Step("UCB(delta), regret (section 11)", "regret times gap at T = 1e4, 1e8, 1e16, variance 1: at least",
                   " ".join(f"{math.log(math.log(horizon)):.2f}" for horizon in horizons), least, least,
                   "no consistent policy has less than 2 ln T in the long run (Lai and Robbins)",
                   "order ln ln T", "of order ln ln T")


def _hedge() -> Iterator[Step]:
    first, second = np.array([0.4, 0.3, 0.5]), np.array([0.2, 0.4, 0.3])
    rates = learning_rate(1, 3), learning_rate(2, 3)
    weights = hedge_weights(np.ones(3), rates[0], first)
    chances = _shares(weights)
    printed_weights, printed_chances = np.array([0.8521, 0.8869, 0.8190]), np.array([0.327, 0.341, 0.315])
    again, expected = _shares(printed_weights), [float(first.mean())]
    one, two, three = (f"Hedge, round {round_} (section 16)" for round_ in (1, 2, 3))
    decimal = "log10 in place of ln", "log10 for ln"
    yield Step(one, "learning rate", "0.398", rates[:1], rates[:1], *decimal)
    yield Step(one, "probabilities", "0.333 0.333 0.333", _shares(np.ones(3)), _shares(np.ones(3)))
    yield Step(one, "expected loss", "0.4", expected, expected)
    yield Step(two, "weights", "0.8521 0.8869 0.8190", hedge_weights(np.ones(3), 0.398, first), weights,
                   "the first two are those of a rate of 0.4, not 0.398", "rate 0.4")
    yield Step(two, "probabilities", "0.327 0.341 0.315", again, chances,
                   "they sum to .983", "not divided by the sum")
    yield Step(two, "expected loss", "0.2963", [float(printed_chances @ second)], [float(chances @ second)],
                   f"the printed weights, divided by their sum, give {again @ second:.4f}")
    yield Step(two, "expected loss if the losses stay", "0.2963", [float(again @ first)], [float(chances @ first)],
                   "the fall from 0.4 comes from other losses (.2 .4 .3 for .4 .3 .5), not from learning",
                   "losses changed")
    yield Step(two, "learning rate", "0.282", rates[1:], rates[1:], *decimal)
    yield Step(three, "weights", "0.8057 0.8258 0.7925", hedge_weights(printed_weights, 0.282, second),
                   hedge_weights(weights, rates[1], second),
                   "the second and third are 4 and 5 % too large", "weights of round 3")


def _exp3() -> Iterator[Step]:
    rates = [learning_rate(round_, 3) for round_ in (1, 2, 3)]
    start = np.zeros(3)
    equal = exp3_probabilities(rates[0], start)
    totals = exp3_totals(start, 1, 0.5, equal[1])
    chances = exp3_probabilities(rates[1], totals)
    later = exp3_totals(totals, 0, 0.8, chances[0])
    last = exp3_probabilities(rates[2], later)
    printed_totals, printed_later = np.array([0.0, -0.5, 0.0]), np.array([0.427, -0.5, 0.0])
    from_printed = exp3_probabilities(0.23, printed_later)
    one, two, three = (f"EXP3, round {round_} (section 19.{round_})" for round_ in (1, 2, 3))
    unchosen = "arms that were not chosen get their + 1 too", "unchosen arms"
    decimal, before = ("log10 in place of ln", "log10 for ln"), "from the rate and the S before"
    yield Step(one, "learning rate", "0.398", rates[:1], rates[:1], *decimal)
    yield Step(one, "probabilities", "0.333 0.333 0.333", equal, equal)
    yield Step(one, "S of the arm chosen, 2", "-0.5", totals[1:2], totals[1:2])
    yield Step(one, "S of all arms", "0.0 -0.5 0.0", totals, totals, *unchosen)
    yield Step(two, "learning rate", "0.28", rates[1:2], rates[1:2], *decimal)
    yield Step(two, "probabilities", "0.349 0.303 0.349", exp3_probabilities(0.28, printed_totals), chances, before)
    yield Step(two, "S of the arm chosen, 1", "0.427", exp3_totals(start, 0, 0.8, 0.349)[:1], later[:1],
                   "from the S before and .349")
    yield Step(two, "S of all arms", "0.427 -0.5 0.0", exp3_totals(printed_totals, 0, 0.8, 0.349), later, *unchosen)
    yield Step(three, "learning rate", "0.23", rates[2:], rates[2:], *decimal)
    yield Step(three, "probabilities", "0.368 0.298 0.33", from_printed, last, before)
    yield Step(three, "most probable arm", "1", [_best(from_printed)], [_best(last)],
                   "not one that was rewarded: the arm that was never played")
# fmt: on


def _shares(weights: Array) -> Array:
    return weights / weights.sum()


def _best(numbers: Numbers) -> int:
    """Return the index of the arm with the largest number, counted from 1."""
    return int(np.argmax(numbers)) + 1


def _last_digit(printed: str) -> float:
    """Return the value of one unit of the last printed digit, or 0 for whole numbers."""
    exponent = int(printed.partition("e")[2] or 0)
    return 10.0 ** (exponent - _decimals(printed)) if _decimals(printed) else 0.0


def _decimals(printed: str) -> int:
    return len(printed.partition("e")[0].partition(".")[2])


def _spelled(number: float, like: str, decimals: int) -> str:
    if "e" in like:
        return f"{number:.{decimals}e}"
    return f"{number:.{min(max(decimals, 3), 6) if decimals else 0}f}"
