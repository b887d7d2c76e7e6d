"""Tasks, which play a configuration and return a reward."""
