"""The judging of papers: readings, published numbers and ours, headlines, and tallies of verdicts by origin."""
