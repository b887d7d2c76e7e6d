"""The kinds of figures, each a class in a module with the kind's name."""
