"""Tasks: what plays a configuration and pays a reward."""
