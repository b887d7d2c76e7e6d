"""Kept repetitions, and all that is derived from them."""
