"""Environments: where rewards come from."""
