"""What docs say of late rewards, wrong horizons and a new best, made from the figures of these in the tournament."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.which_tuner import ReferenceFigure, reference_figure

Share = tuple[float, float, float]
"""A share of regret, and the ends of its interval."""

_REWARDS = ("delay 1", "delay 10", "delay 100", "batch 50", "hold 20")
_TOLD = ("a tenth of it", "ten times it")
_GP = "Changepoint GP"
_FOUND = {
    "holds": "less regret than the old best played throughout with {}",
    "tie": "level with the old best played throughout with {}",
    "open": "cannot be told from the old best played throughout with {}",
    "fails": "more regret than the old best played throughout with {}",
}
_VARIANTS = {
    _GP: "the true horizon",
    f"{_GP}, told 1 million": "a horizon of a million",
    f"{_GP}, told 1 million, 1,000 changes": "a horizon of a million and `changes=1000`",
}
_RELATIVE = ("relative", "relative_low", "relative_high")
_FEW = 4


def late_part(results: Path) -> str:
    """Return what it costs each tuner that rewards come late: the picture, the least and the most, and a table."""
    figure = reference_figure(results, "late")
    if figure is None:
        return "`figure=tournament/late`, of which there are no results yet."
    costs = sorted(_shares(figure, _REWARDS).items(), key=lambda item: item[1]["delay 100"][0])
    ends = [
        ", ".join(f"{method} ({percent(row['delay 100'])})" for method, row in rows)
        for rows in (costs[:_FEW], costs[: -_FEW - 1 : -1])
    ]
    lines = [f"| {method} | {' | '.join(percent(row[rewards]) for rewards in _REWARDS)} |" for method, row in costs]
    return "\n".join(
        [
            f"![Regret of each tuner by how rewards reach it]({figure.link('late.svg')})",
            "",
            f"Told 100 rounds late, these have the least regret to add: {ends[0]}; and these the most: {ends[1]}.",
            "",
            "<details><summary>What each adds</summary>",
            "",
            f"| tuner | {' | '.join(_REWARDS)} |",
            "| --- |" + " ---: |" * len(_REWARDS),
            *lines,
            "",
            "</details>",
        ]
    )


def live_part(results: Path) -> str:
    """Return what late rewards, a wrong horizon and a new best do to changepoint GP."""
    late, horizon, new = (reference_figure(results, name) for name in ("late", "wrong_horizon", "new_best"))
    parts = []
    if late:
        own = _shares(late, _REWARDS)[_GP]
        listed = "; ".join(f"{rewards} {percent(own[rewards])}" for rewards in _REWARDS)
        parts.append(f"**Late rewards.** Regret added to that where each reward is told at once: {listed}.")
    if horizon:
        own = _shares(horizon, _TOLD)[_GP]
        listed = "; ".join(f"{told} {percent(own[told])}" for told in _TOLD)
        parts.append(f"**A wrong horizon.** Regret added to that where it is told the horizon: {listed}.")
    if new:
        rows = new.claims[new.claims["claim"].isin(_VARIANTS)]
        listed = "; ".join(new.parts(rows, _FOUND, _VARIANTS.__getitem__))
        parts.append(
            "**A new best.** In the middle of 4,000 rounds another setting becomes better, and the one in use stays as "
            f"good as it was: {listed}."
        )
    return "\n\n".join(parts) or "`figure=tournament/late`, of which there are no results yet."


def _shares(figure: ReferenceFigure, conditions: tuple[str, ...]) -> dict[str, dict[str, Share]]:
    """Return by method and condition the regret added."""
    claims = figure.claims.to_dict("records")
    shares = {str(row["claim"]): share_of(row) for row in claims}
    first = f"{conditions[0]}, "
    methods = [claim.removeprefix(first) for claim in shares if claim.startswith(first)]
    return {method: {name: shares[f"{name}, {method}"] for name in conditions} for method in methods}


def share_of(row: Mapping[Any, Any]) -> Share:
    """Return a claim's relative difference and the ends of its interval; NaN where there is none."""
    value, low, high = (float(row[key] or "nan") for key in _RELATIVE)
    return value, low, high


def percent(share: Share) -> str:
    """Return a share in per cent with its interval, both with signs."""
    value, *ends = (_signed(number) for number in share)
    return f"{value} % ({ends[0]} to {ends[1]})" if all(ends) else f"{value} %"


def _signed(share: float) -> str:
    """Return per cent with a sign; "" where there is no end."""
    if not math.isfinite(share):
        return ""
    return f"{round(100 * share):+d}".replace("-", "\u2212").replace("+0", "0")
