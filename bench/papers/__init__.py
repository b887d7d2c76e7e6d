"""What serves one paper alone: kinds of figures, a kind of claim, computations."""
