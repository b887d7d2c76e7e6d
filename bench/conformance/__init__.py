"""Conformance checks of tuners, environments and algorithms, and tests of the capabilities of tuners."""
