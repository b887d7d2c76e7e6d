"""Claims of the papers, each a kind with keys of its own, checked against aggregated results."""

from bench.report.claims.check import check, still_open
from bench.report.claims.judgement import VERDICTS

__all__ = ["VERDICTS", "check", "still_open"]
