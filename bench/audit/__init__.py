"""Judging papers: readings, published numbers beside ours, headlines, and tallies of verdicts by origin."""
