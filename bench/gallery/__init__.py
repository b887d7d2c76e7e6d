"""The pages that a reader browses."""

from bench.gallery.build import build
from bench.gallery.overview import counted, overview, overview_text
from bench.gallery.papers import PaperPage, read

__all__ = ["PaperPage", "build", "counted", "overview", "overview_text", "read"]
