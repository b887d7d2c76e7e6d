"""Check the committed results: python -m runners.verify [figure=cdt/figure2] [paper=cdt] [sample=100] [seed=0]

Results of scale paper are committed; your own papers and figures are checked in the same way. First every table, claim
and published number is derived again from the committed repetitions and measured seconds, and compared byte by byte.
All files are compared with results/SHA256SUMS: a missing, altered or additional one is named.

Then ``sample`` repetitions, drawn at random, are played again with ``jobs`` workers (default: 2); sample=all plays all.
By default they are 300, or as many as fit into a few minutes, without long ones, and differ from day to day unless
``seed`` is given. Every last value and every point of a curve is compared with the committed one: exactly on the same
kind of processor with the same versions, otherwise to a relative tolerance of 1e-6.

The exit code is 1 if a value differs, a file is damaged, or settings or data of a figure's runs have changed.
"""

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from bench.errors import ConfigError
from runners.command import plain_command, read_words

_DEFAULTS = {"sample": "", "figure": "", "paper": "", "seed": "", "jobs": 2}


def verify(words: Sequence[str]) -> bool:
    """Derive, draw, play and compare results; return whether no result differs, is damaged or is outdated."""
    from runners.execute import verify as execute  # slow to import

    return execute.verify(**_parse(words))


def _parse(words: Sequence[str]) -> dict[str, Any]:
    given = read_words(words, _DEFAULTS)
    if not given["jobs"]:
        raise ConfigError("jobs: found '0', expected a whole number, at least 1")
    for key, least, other in (("sample", 1, ", or all"), ("seed", 0, "")):
        text = given[key]
        if text.isdecimal() and int(text) >= least:
            given[key] = int(text)
        elif text and not (other and text == "all"):
            raise ConfigError(f"{key}: found '{text}', expected a whole number, at least {least}{other}")
        given[key] = given[key] if text else None
    return given


main = partial(plain_command, __doc__, verify)

if __name__ == "__main__":
    sys.exit(main())
