"""Judgement of papers: their readings, their numbers beside ours, headlines, and tallies of verdicts by origin."""
