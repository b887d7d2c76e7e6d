"""Claims, tables and figures, made from aggregated results alone, without running an experiment."""
