"""What the habo paper needs: its worked examples, computed again, and the figure that shows them."""
