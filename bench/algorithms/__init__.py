"""Bandit algorithms: what is being tuned."""
