"""The pages that a reader browses."""

from bench.report.gallery.build import build, read
from bench.report.gallery.overview import overview, overview_text

__all__ = ["build", "overview", "overview_text", "read"]
