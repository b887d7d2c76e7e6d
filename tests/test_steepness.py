"""The claim on how steeply the reward changes with a hyper-parameter."""

import numpy as np
import pandas as pd
import pytest
from claim_cases import methods, row_of


def probed(slopes: list[float], noise: float, n: int = 12) -> pd.DataFrame:
    """Sums over 100 rounds of rewards at 0.5, 1 and 2 whose slopes between them are given, with the same noise."""
    rng = np.random.default_rng(4)
    heights = np.cumsum([0.0, 0.5 * slopes[0], 1.0 * slopes[1]])
    shared, own = rng.normal(0, 5, (n, 1)), rng.normal(0, noise, (n, 3))
    frame = methods(A=np.ones(n)).assign(rounds=100)
    return frame.assign(**dict(zip(("probe_0.5", "probe_1", "probe_2"), 100 * (heights + shared + own).T, strict=True)))


@pytest.mark.parametrize(
    ("slopes", "length", "estimate", "verdict"),
    [
        ([0.1, -0.3], 1.0, 0.3, "holds"),  # downwards counts, too
        ([0.5, 0.1], 1.5, 0.75, "holds"),
        ([0.5, 0.1], 4.0, 2.0, "fails"),
        ([0.5, 0.1], 2.0, 1.0, "open"),
    ],
)
def test_steepness_is_the_largest_slope_times_the_length(
    slopes: list[float], length: float, estimate: float, verdict: str
) -> None:
    claim = {"kind": "steepness", "length": length, "expect": "at_most"}
    kind = {"kind": "bench.papers.cdt.lipschitz.Lipschitz", "blocks": 2}
    row = row_of(claim, probed(slopes, 0.003), **kind)
    assert (row["verdict"], row["estimate"]) == (verdict, pytest.approx(estimate, abs=0.02))
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
    row = row_of(claim, methods(A=range(10)), **kind)
    assert (row["verdict"], row["note"]) == ("open", "the results have no two probed values")
