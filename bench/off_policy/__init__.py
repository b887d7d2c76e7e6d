"""Off-policy evaluation: estimators, lower bounds and the reward models that policies are made of."""
