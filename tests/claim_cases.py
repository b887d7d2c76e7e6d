"""Helpers of the tests of claims: results with known differences, and the verdicts on a claim about them."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from rendered import NO_CURVES, check, finals_of

NOISE = np.random.default_rng(0).normal(size=20)
CENTRED = NOISE - NOISE.mean()
SHARED = np.random.default_rng(1).normal(0, 100, size=20)


def methods(**values: Any) -> pd.DataFrame:
    return finals_of(values, "method", rounds=10_000)


def pairs(panels: Iterable[str], value: Callable[[str, str], Any]) -> pd.DataFrame:
    """Return final values of the methods A and B on each panel."""
    return finals_of({(p, m): value(p, m) for p in panels for m in "AB"}, "panel", "method", rounds=10_000)


def judged(*claims: dict[str, Any], of: pd.DataFrame, curves: pd.DataFrame = NO_CURVES, **how: Any) -> Any:
    """Return the verdicts on claims; a claim without an id gets its number, starting with 1."""
    numbered = [{"id": str(number), "text": "t", **claim} for number, claim in enumerate(claims, start=1)]
    figure = {"runs": [], **{key: how.pop(key) for key in ("runs", "kind", "blocks") if key in how}}
    return check({"claims": numbered, **figure}, of, curves, **how)


def row_of(claim: dict[str, Any], finals: pd.DataFrame, curves: pd.DataFrame = NO_CURVES, **figure: Any) -> Any:
    rows = judged(claim, of=finals, curves=curves, **figure)
    assert len(rows) == 1
    return rows.iloc[0]


def verdict_of(claim: dict[str, Any], finals: pd.DataFrame, curves: pd.DataFrame = NO_CURVES) -> str:
    return str(row_of(claim, finals, curves)["verdict"])


def compare(expect: str, kind: str = "paired_difference", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "left": {"method": "A"}, "right": {"method": "B"}, "expect": expect, **more}


def bound_finals(tuner: float, candidates: list[float], rounds: int = 10_000) -> pd.DataFrame:
    values: dict[Any, Any] = {("TL", np.nan): tuner + NOISE}
    values |= {(np.nan, i): mean + NOISE[::-1] * (1 + i) for i, mean in enumerate(candidates)}
    return finals_of(values, "method", "alpha", rounds=rounds)


BOUND = {"kind": "bound", "measured": {"method": "TL"}, "over": {"alpha": "*"}}
SLOPE = {"kind": "slope", "axis": "horizon", "expect": "at_most", "threshold": 0.75}
ON_GRID = {"kind": "best_on_grid", "axis": "alpha", "expect": "at_least", "threshold": 2}
MOSTLY = {"id": "m", "kind": "count", "of": ["1"]}
RUNS = [{"panel": {"P": ["env=p"], "Q": ["env=q"]}, "method": {"A": ["tuner=a"], "B": ["tuner=b"]}}]
LESS = compare("less", per=["panel"], tie=0)
