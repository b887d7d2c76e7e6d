"""Claims that a regret stays below a bound."""

import math

import numpy as np
import pytest
from claim_cases import BOUND, NOISE, bound_finals, row_of, verdict_of
from rendered import finals_of
from scipy import stats as reference

from bench.errors import ConfigError


def price(rounds: int, *candidates: int) -> float:
    return sum(2 * math.sqrt((math.e - 1) * n * rounds * math.log(n)) for n in candidates)


def test_bound_of_one_or_several_hyper_parameters() -> None:
    finals = bound_finals(400, [900, 300, 500])
    lowest, tuner = 300 + 2 * NOISE.mean(), 400 + NOISE.mean()
    row = row_of({**BOUND, "candidates": [3]}, finals)
    assert row["estimate"] == pytest.approx(tuner / (lowest + price(10_000, 3)), rel=1e-12)
    assert (row["verdict"], row["expect"]) == ("holds", "less")
    for regret, verdict in ((900, "fails"), (lowest + price(10_000, 3), "open")):
        assert verdict_of({**BOUND, "candidates": [3]}, bound_finals(regret, [900, 300, 500])) == verdict
    row = row_of({**BOUND, "candidates": [3, 2]}, bound_finals(400, [900, 300, 500, 600, 700, 800], rounds=500))
    assert row["estimate"] == pytest.approx(tuner / (lowest + price(500, 3, 2)), rel=1e-12)


def test_bound_is_tested_against_each_candidate() -> None:
    """Below: below 1 against every candidate, each at 2.5 %; above: above 1 against one, each at 1.25 %."""
    values = np.random.default_rng(5).normal(1000, 100, size=(10, 3))
    by_label = dict(zip((("TL", np.nan), (np.nan, 0), (np.nan, 1)), values.T, strict=True))
    row = row_of({**BOUND, "candidates": [2]}, finals_of(by_label, "method", "alpha", rounds=40))

    def p(ratio: float, candidate: int) -> float:
        return float(reference.ttest_1samp(values[:, 0] - ratio * (values[:, candidate] + price(40, 2)), 0).pvalue)

    highs, lows = ([p(row[end], candidate) for candidate in (1, 2)] for end in ("ci_high", "ci_low"))
    assert pytest.approx(0.05, rel=1e-6) in (min(highs), max(highs))
    assert any(value == pytest.approx(0.025, rel=1e-6) for value in lows)
    best = min(values[:, 1].mean(), values[:, 2].mean())
    assert row["estimate"] == pytest.approx(values[:, 0].mean() / (best + price(40, 2)))


def test_bound_needs_all_candidates_and_one_length() -> None:
    finals = bound_finals(400, [900, 300])
    row = row_of({**BOUND, "candidates": [3]}, finals)
    assert (row["verdict"], row["note"]) == ("open", "'over' selects 2 runs, but the candidates make 3")
    finals.loc[0, "rounds"] = 9_000
    assert "from 9000 to 10000 rounds" in row_of({**BOUND, "candidates": [2]}, finals)["note"]
    with pytest.raises(ConfigError, match="'measured' selects 2 experiments in case 'all', expected one;"):
        row_of({**BOUND, "measured": {"alpha": "*"}, "candidates": [2]}, finals)
