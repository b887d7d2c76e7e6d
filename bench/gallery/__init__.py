"""The pages that a reader browses."""
