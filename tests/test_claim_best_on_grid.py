"""Claims on the best value of a grid."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from claim_cases import ON_GRID, judged, row_of
from rendered import finals_of

from bench.errors import ConfigError


def grid_finals(best: Mapping[str, float], noise: float) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    values = {
        (panel, alpha): 10 * (alpha - at) ** 2 + rng.normal(0, noise, 12)
        for panel, at in best.items()
        for alpha in np.arange(0, 5.1, 0.5)
    }
    return finals_of(values, "panel", "alpha")


DIFFERS = {"kind": "best_on_grid", "axis": "alpha", "differs": {"panel": ["Y", "Z"]}}


@pytest.mark.parametrize(
    ("z", "noise", "verdict"), [(1.0, 1.0, "holds"), (4.0, 0.1, "fails"), (4.0, 100.0, "open"), (3.9, 5.0, "open")]
)
def test_best_on_grid_differs(z: float, noise: float, verdict: str) -> None:
    row = row_of(DIFFERS, grid_finals({"Y": 4.0, "Z": z}, noise))
    assert (row["verdict"], row["expect"]) == (verdict, "differs")
    if noise <= 1:
        assert row["estimate"] == 4.0 - z


def test_best_on_grid_per_case() -> None:
    finals = grid_finals({"Y": 4.0, "Z": 1.0}, 1.0)
    claim = {**ON_GRID, "per": ["panel"]}
    rows = judged(claim, of=finals)
    assert (rows["estimate"].tolist(), rows["verdict"].tolist()) == ([4.0, 1.0], ["holds", "fails"])
    assert judged({**claim, "best": "highest"}, of=finals)["estimate"].tolist() == [0.0, 5.0]
    with pytest.raises(ConfigError, match="several experiments share one value of 'alpha'"):
        row_of(ON_GRID, finals)
    with pytest.raises(ConfigError, match="axis 'panel' is not numeric"):
        row_of({**ON_GRID, "axis": "panel", "measured": {"alpha": 1}}, finals)
