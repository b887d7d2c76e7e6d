"""Runs on all processors, and figures written as soon as their runs are finished."""
