"""The HTML pages of the gallery."""
