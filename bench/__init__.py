"""Bandits that tune hyper-parameters: environments, algorithms, tuners and the one loop that joins them."""
