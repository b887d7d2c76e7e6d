"""Playing runs on all processors, and writing figures as soon as their runs are there."""
