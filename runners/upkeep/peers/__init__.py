"""Other libraries beside this one: the same problems, the same number of decisions, in one run."""
