"""What every tuner, environment and algorithm must do, and what each tuner can: found out by trying."""
