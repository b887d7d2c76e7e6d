"""Conformance checks of tuners, environments and algorithms, and the capabilities of tuners, determined by trying."""
