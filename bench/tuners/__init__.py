"""Tuners: they propose configurations from a search space and learn from the rewards."""
