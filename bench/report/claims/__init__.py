"""Claims of the papers, each a kind with keys of its own, checked against aggregated results."""

from bench.report.claims.check import check, still_open
from bench.report.claims.judgement import VERDICTS
from bench.report.claims.origin import ORIGIN_WORDS, ORIGINS, added_up, sources, spell_by_origin, tallies

__all__ = [
    "ORIGINS",
    "ORIGIN_WORDS",
    "VERDICTS",
    "added_up",
    "check",
    "sources",
    "spell_by_origin",
    "still_open",
    "tallies",
]
