"""Claims, tables and figures, made from aggregated results alone: nothing here runs an experiment."""
