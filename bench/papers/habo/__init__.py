"""Code for the habo paper: the recomputed worked examples, and the figure that shows them."""
