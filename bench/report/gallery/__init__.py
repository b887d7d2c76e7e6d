"""The pages that a reader browses."""

from bench.report.gallery.build import PaperPage, build, read
from bench.report.gallery.overview import overview, overview_text

__all__ = ["PaperPage", "build", "overview", "overview_text", "read"]
