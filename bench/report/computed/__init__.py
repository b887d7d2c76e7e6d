"""Figures whose numbers follow from formulas alone: one function each, nothing is run."""

from collections.abc import Callable

import pandas as pd

from bench.report.computed.worked_examples import worked_examples

__all__ = ["COMPUTATIONS"]

COMPUTATIONS: dict[str, Callable[[], pd.DataFrame]] = {"worked_examples": worked_examples}
