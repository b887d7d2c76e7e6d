"""Rewards of probed configurations, compared within blocks of rounds."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.errors import ConfigError
from bench.report.experiments import Experiments
from bench.report.labels import canonical

PROBE = "probe_"
"""What the columns of probed values begin with; the value follows."""

COLUMNS = ("probed", "blocks", "mean", "std")


def block_ends(figure: Mapping[str, Any], rounds: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Return the positions in ``rounds`` at which blocks begin and end, blocks + 1 of them.

    The figure's `drop` is the share of rounds before the first block (default 0), `blocks` the number of equal blocks
    that the rest is divided into. Ends are the closest of the rounds at hand; where those are too few, so are blocks.

    Raises
    ------
    ConfigError
        If `drop` is no share, or `blocks` no whole number above 1.
    """
    where, blocks = f"figure '{figure.get('name', '?')}'", figure.get("blocks")
    if not isinstance(blocks, int) or isinstance(blocks, bool) or blocks < 2:
        raise ConfigError(f"{where}, key 'blocks': found {blocks!r}, expected a whole number, at least 2")
    try:
        drop = float(Fraction(str(figure.get("drop", 0))))
    except (ValueError, ZeroDivisionError):
        drop = -1.0
    if not 0 <= drop < 1:
        raise ConfigError(f"{where}, key 'drop': found {figure['drop']!r}, expected a share such as 1/7 or 0.1")
    ends = rounds[-1] * np.linspace(drop, 1, blocks + 1)
    return np.unique(np.abs(rounds[None, :] - ends[:, None]).argmin(axis=1))


def block_table(figure: Mapping[str, Any], curves: pd.DataFrame, finals: pd.DataFrame) -> pd.DataFrame:
    """Return, for every experiment and probed value, the centred reward: its mean and spread over blocks.

    A block's reward of a value is the mean over its rounds; less the mean over all values, it is centred, so that
    what moves all values alike from block to block does not count.

    Parameters
    ----------
    figure
        The figure as a plain dict.
    curves
        Mean curves of the cumulative columns ``probe_<value>``, kept at the rounds where blocks begin and end.
    finals
        Final values, which tell the axes of a figure without `runs`.

    Returns
    -------
    DataFrame
        The axes, then `probed` (the value), `blocks` (their number), `mean` and `std` (divisor: blocks - 1).
    """
    data = Experiments(figure, finals)
    parts = []
    for key in data.keys:
        if "column" not in curves.columns:
            continue
        is_own = curves["column"].astype(str).str.startswith(PROBE)
        for axis, label in data.as_dict(key).items():
            is_own &= curves[axis].map(canonical) == label if axis in curves.columns else label == ""
        own = curves[is_own]
        sums = own.assign(probed=own["column"].str.removeprefix(PROBE).astype(float)).pivot(
            index="round", columns="probed", values="mean"
        )
        if len(sums) < 2:
            continue
        means = np.diff(sums.to_numpy(dtype=np.float64), axis=0) / np.diff(sums.index.to_numpy())[:, None]
        centred = means - means.mean(axis=1, keepdims=True)
        spread = centred.std(axis=0, ddof=1) if len(centred) > 1 else np.full(centred.shape[1], np.nan)
        values = {"probed": sums.columns, "blocks": len(centred), "mean": centred.mean(axis=0), "std": spread}
        parts.append(pd.DataFrame({**data.as_dict(key), **values}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*data.axes, *COLUMNS])
