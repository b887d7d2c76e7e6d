"""The number of repetitions that a command requests, if it is not just a number."""

from typing import Any

from bench.errors import ConfigError
from bench.report.claims.judgement import FIRST_LOOK

UNTIL_DECIDED = "until_decided"
MAX_REPETITIONS = 400
"""The largest number of repetitions by default."""


def most_repetitions(repetitions: Any, max_repetitions: Any) -> int | None:
    """Return the largest number of repetitions, given two words (or None); None if not ``until_decided``."""
    if repetitions != UNTIL_DECIDED:
        if max_repetitions is not None:
            raise ConfigError(f"max_repetitions={max_repetitions} requires repetitions={UNTIL_DECIDED}")
        if isinstance(repetitions, str) and not repetitions.lstrip("+-").isdigit():
            raise ConfigError(f"repetitions: found '{repetitions}', expected a whole number or {UNTIL_DECIDED}")
        return None
    text = str(MAX_REPETITIONS if max_repetitions is None else max_repetitions)
    if not text.isdigit() or not FIRST_LOOK <= int(text) <= 10**6:
        raise ConfigError(
            f"max_repetitions: found {max_repetitions}, expected a whole number from {FIRST_LOOK} (fewer decide "
            "nothing) to 1000000"
        )
    return int(text)
