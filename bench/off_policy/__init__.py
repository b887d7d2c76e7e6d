"""Estimators, lower bounds and reward models of policies for off-policy evaluation."""
