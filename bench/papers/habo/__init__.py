"""Code for the habo paper: its worked examples, recomputed, and the figure that shows them."""
