"""The gallery: one page for all papers, and one for each, drawn from what is on disk."""

from bench.report.gallery.build import build

__all__ = ["build"]
