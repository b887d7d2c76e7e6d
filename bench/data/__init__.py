"""Real data sets: a catalogue, a download step with checksums, parsers, and generated surrogates."""
