"""What serves only one paper: kinds of figures, a kind of claim, computations."""
