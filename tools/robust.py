"""What docs say of rewards with outliers and changing noise, made from the tournament's figure of these."""

from pathlib import Path

from tools.late import percent, share_of
from tools.which_tuner import reference_figure

_METHODS = {"Changepoint GP, robust": "with `robust`", "TV-GP-UCB, estimated": "TV-GP-UCB, estimated"}


def robust_part(results: Path) -> str:
    """Return a table of regret added to that of changepoint GP, by the rewards and by method."""
    figure = reference_figure(results, "robust")
    if figure is None:
        return "`figure=tournament/robust`, of which there are no results yet."
    cells: dict[str, dict[str, str]] = {}
    for row in figure.claims.to_dict("records"):
        share = percent(share_of(row)) if row["relative"] else ""
        cells.setdefault(row["case"], {})[row["claim"]] = share + "†" * (row["holm"] == "no")
    lines = [f"| {case} | {' | '.join(of_case[method] for method in _METHODS)} |" for case, of_case in cells.items()]
    head = f"| rewards | {' | '.join(_METHODS.values())} |\n| --- |" + " ---: |" * len(_METHODS)
    return "\n".join([head, *lines])
