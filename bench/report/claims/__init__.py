"""Claims of the papers, each a kind with keys of its own, checked against aggregated results."""

from bench.report.claims.check import after_holm, check, still_open
from bench.report.claims.judgement import VERDICTS, spell

__all__ = ["VERDICTS", "after_holm", "check", "spell", "still_open"]
