"""Uniformly random arms beside methods: drawn, or only mentioned where they would leave no room for the methods."""

import math

from bench.report.plot import Panel, Text

RANDOM_CAPTION = "Random arms: expected regret of uniformly random arms, computed from the means."
FAR = 3.0
"""Beyond this many times the largest number of a method, random arms are mentioned only."""


def room_for_random_arms(panel: Panel, top: float, random: float, is_log: bool) -> float | None:
    """Return the upper end of a linear axis that leaves out random arms, and say so in the panel; None if they fit.

    Parameters
    ----------
    panel
        The panel.
    top
        The largest number drawn of a method.
    random
        The regret of uniformly random arms, NaN if unknown.
    is_log
        Whether the axis is logarithmic: then everything fits.
    """
    if is_log or not math.isfinite(random) or top <= 0 or random <= FAR * top:
        return None
    words = f"random arms: {random:,.0f}, above this axis"
    how = {"ha": "left", "va": "top", "color": "#555555", "fontstyle": "italic", "fontsize": 8.0, "zorder": 6}
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    panel.texts.append(Text(0.02, 0.98, words, on="xy", how={**how, "bbox": box}))
    return 1.22 * top
