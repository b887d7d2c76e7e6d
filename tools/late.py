"""What docs say of late rewards, wrong horizons and a new best, made from the figures of these in the tournament."""

import math
from pathlib import Path

import pandas as pd

from runners.results.store import results_folder
from tools.which_tuner import ReferenceFigure, reference_figure

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


def late_part(results: Path | None = None) -> str:
    """Return what it costs each tuner that rewards come late: the picture, the least and the most, and a table."""
    figure = reference_figure(results or results_folder(), "late")
    if figure is None:
        return "`figure=tournament/late`, of which there are no results yet."
    costs = _shares(figure, _REWARDS).sort_values("delay 100", key=lambda column: column.str[0])
    ends = [
        ", ".join(f"{method} ({_percent(row['delay 100'])})" for method, row in rows.iterrows())
        for rows in (costs.head(_FEW), costs.tail(_FEW)[::-1])
    ]
    lines = [f"| {method} | {' | '.join(map(_percent, row[list(_REWARDS)]))} |" for method, row in costs.iterrows()]
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


def live_part(results: Path | None = None) -> str:
    """Return what late rewards, a wrong horizon and a new best do to changepoint GP."""
    folder = results or results_folder()
    late, horizon, new = (reference_figure(folder, name) for name in ("late", "wrong_horizon", "new_best"))
    parts = []
    if late:
        costs = _shares(late, _REWARDS).loc[_GP]
        listed = "; ".join(f"{rewards} {_percent(costs[rewards])}" for rewards in _REWARDS)
        parts.append(f"**Late rewards.** Regret added to that where each reward is told at once: {listed}.")
    if horizon:
        costs = _shares(horizon, _TOLD).loc[_GP]
        listed = "; ".join(f"{told} {_percent(costs[told])}" for told in _TOLD)
        parts.append(f"**A wrong horizon.** Regret added to that where it is told the horizon: {listed}.")
    if new:
        rows = new.claims[new.claims["claim"].isin(_VARIANTS)]
        listed = "; ".join(new.parts(rows, _FOUND, _VARIANTS.__getitem__))
        parts.append(
            "**A new best.** In the middle of 4,000 rounds another setting becomes better, and the one in use stays as "
            f"good as it was: {listed}."
        )
    return "\n\n".join(parts) or "`figure=tournament/late`, of which there are no results yet."


def _shares(figure: ReferenceFigure, conditions: tuple[str, ...]) -> pd.DataFrame:
    """Return by method and condition the regret added, as a share, with the ends of its interval."""
    rows = figure.claims.set_index("claim")[list(_RELATIVE)]
    first = f"{conditions[0]}, "
    methods = [claim.removeprefix(first) for claim in rows.index if claim.startswith(first)]
    shares = {
        condition: [tuple(float(end or "nan") for end in rows.loc[f"{condition}, {method}"]) for method in methods]
        for condition in conditions
    }
    return pd.DataFrame(shares, index=methods)


def _percent(share: tuple[float, float, float]) -> str:
    value, *ends = (_signed(number) for number in share)
    return f"{value} % ({ends[0]} to {ends[1]})" if all(ends) else f"{value} %"


def _signed(share: float) -> str:
    """Return per cent with a sign; "" where there is no end."""
    if not math.isfinite(share):
        return ""
    return f"{round(100 * share):+d}".replace("-", "\u2212").replace("+0", "0")
