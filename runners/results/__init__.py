"""Stored repetitions, and everything derived from them."""
