"""What the cdt paper needs: probed values of a hyper-parameter, the steepness claim, and selected repetitions."""
