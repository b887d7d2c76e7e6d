"""Environments, which generate rewards."""
