"""Claims of the papers, each a kind with keys of its own, checked against aggregated results."""
