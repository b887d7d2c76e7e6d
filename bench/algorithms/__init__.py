"""Bandit algorithms, whose hyper-parameters are tuned."""
