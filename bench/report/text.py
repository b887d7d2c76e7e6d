"""Numbers and tables as a reader sees them."""

import math
from typing import Any

import pandas as pd

INTERVAL = "95 % interval"
NONE = "–"
"""What stands for a number that is not there."""

_HEADS = {
    "n": "repetitions",
    "std": "standard deviation",
    "random_arms": "random arms",
}


def number(value: Any) -> str:
    """Return a number with four digits and separated thousands, a dash for a missing one, any text as it is."""
    if isinstance(value, str):
        return value or NONE
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NONE
    if value == round(value):
        return f"{value:,.0f}".replace("-", "−")
    decimals = 3 - math.floor(math.log10(abs(value)))
    if decimals > 7:
        return f"{value:.3e}".replace("-", "−")
    shown = f"{value:,.{max(decimals, 0)}f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown).replace("-", "−")


def interval(low: float, high: float) -> str:
    """Return an interval in brackets, a dash where there is none."""
    return f"[{number(low)}, {number(high)}]" if math.isfinite(low) and math.isfinite(high) else NONE


def duration(seconds: float) -> str:
    """Return a time in the two largest units that count."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def readable(table: pd.DataFrame) -> dict[str, Any]:
    """Return a table for a template: heads with their kind (label, number or verdict), rows, verdicts.

    Empty columns are left out; a pair ``x_low``, ``x_high`` is one column, an interval.
    """
    heads: list[tuple[str, str]] = []
    columns: list[list[str]] = []
    names = [str(name) for name in table.columns if table[name].notna().any()]
    for name in names:
        stem = name.removesuffix("_low").removesuffix("_high")
        if name.endswith("_high") and f"{stem}_low" in names:
            continue
        if name.endswith("_low") and f"{stem}_high" in names:
            cells = _intervals(table, name, f"{stem}_high")
            heads.append((INTERVAL if stem == "ci" else f"{INTERVAL} of {stem}", "number"))
        else:
            cells = [number(value) for value in table[name].tolist()]
            numeric = pd.api.types.is_numeric_dtype(table[name])
            kind = "number" if numeric else "verdict" if name == "verdict" else "label"
            heads.append((_HEADS.get(name, name).replace("_", " "), kind))
        columns.append(cells)
    verdicts = next((cells for (_, kind), cells in zip(heads, columns, strict=True) if kind == "verdict"), [])
    return {"heads": heads, "rows": [list(row) for row in zip(*columns, strict=True)], "verdicts": verdicts}


def _intervals(table: pd.DataFrame, low: str, high: str) -> list[str]:
    ends = (pd.to_numeric(table[end], errors="coerce") for end in (low, high))
    return [interval(first, last) for first, last in zip(*ends, strict=True)]
