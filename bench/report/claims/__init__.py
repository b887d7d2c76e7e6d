"""The claims of the papers, checked against aggregated results; each kind of claim has its own keys."""
