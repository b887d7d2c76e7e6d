"""Claims of the papers, each a kind with keys of its own, checked against aggregated results."""

from bench.report.claims.check import check

__all__ = ["check"]
