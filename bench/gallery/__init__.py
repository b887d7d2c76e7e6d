"""The pages that a reader browses."""

from bench.gallery.build import build, build_comparisons
from bench.gallery.overview import counted, overview, overview_text
from bench.gallery.papers import COMPARE, PaperPage, comparisons, read

__all__ = [
    "COMPARE",
    "PaperPage",
    "build",
    "build_comparisons",
    "comparisons",
    "counted",
    "overview",
    "overview_text",
    "read",
]
