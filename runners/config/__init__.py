"""From names and overrides to composed runs and figures."""
