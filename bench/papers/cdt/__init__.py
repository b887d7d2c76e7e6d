"""Code for the cdt paper: probed values of a hyper-parameter, the steepness claim, and selected repetitions."""
