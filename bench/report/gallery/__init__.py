"""The pages that a reader browses."""

from bench.report.gallery.build import build
from bench.report.gallery.overview import counted, overview, overview_text
from bench.report.gallery.papers import PaperPage, read

__all__ = ["PaperPage", "build", "counted", "overview", "overview_text", "read"]
