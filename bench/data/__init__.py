"""The catalogue of real data sets, with a download step with checksums, parsers, and generated surrogates."""
