"""Figures whose numbers follow from formulas alone: one function each, nothing is run."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from bench.errors import ConfigError
from bench.report.computed.worked_examples import worked_examples

__all__ = ["COMPUTATIONS", "compute"]

COMPUTATIONS: dict[str, Callable[[], pd.DataFrame]] = {"worked_examples": worked_examples}


def compute(figure: Mapping[str, Any]) -> pd.DataFrame:
    """Return the table of a figure of kind `computed`.

    Parameters
    ----------
    figure
        The figure as a plain dict; `compute` names the function.

    Raises
    ------
    ConfigError
        If there is no such function.
    """
    name = figure.get("compute")
    if name not in COMPUTATIONS:
        raise ConfigError(
            f"figure '{figure.get('name', '?')}', key 'compute': found {name!r}, expected one of: "
            f"{', '.join(COMPUTATIONS)}"
        )
    return COMPUTATIONS[name]()
