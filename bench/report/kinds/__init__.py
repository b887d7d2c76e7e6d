"""Kinds of figures: a class each, in a module named as the kind."""
