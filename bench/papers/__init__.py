"""Code for single papers: kinds of figures, a kind of claim, computations."""
