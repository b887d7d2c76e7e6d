"""Off-policy evaluation: estimators, lower bounds and the reward models of policies."""
