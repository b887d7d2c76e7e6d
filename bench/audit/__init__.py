"""The judgement of papers by readings, printed numbers beside ours, headlines, and tallies of verdicts by origin."""
