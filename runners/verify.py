"""Check the committed results: python -m runners.verify [figure=cdt/figure2] [paper=cdt] [sample=100] [seed=0]

Committed are those of scale paper; your own papers and figures are checked as the suite's are. First every table,
claim and published number is derived again from the committed repetitions and measured seconds, and compared byte by
byte. All files are compared with results/SHA256SUMS: what is missing, altered or additional is named.

Then ``sample`` repetitions, drawn at random, are played again with ``jobs`` workers (default: 2); sample=all plays all.
Without ``sample`` they are 300, or as many as a few minutes suffice for, without those that take long. Each day plays
others, unless ``seed`` says which. Every last value and every point of a curve is compared with the committed one:
exactly on the same kind of processor with the same versions, otherwise to a relative tolerance of 1e-6.

The exit code is 1 if any differs or is damaged, or if settings or data of a figure's runs have changed since it was
made.
"""

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from bench.errors import ConfigError
from runners.command import plain_command, read_words
from runners.config.tree import choices, unknown_choice

_DEFAULTS = {"sample": "", "figure": "", "paper": "", "seed": "", "jobs": 2}


def verify(words: Sequence[str]) -> bool:
    """Derive, draw, play and compare; return whether nothing differs, is damaged or outdated."""
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
    if given["paper"] and given["paper"] not in choices("paper"):
        raise unknown_choice("paper", given["paper"])
    if given["figure"] and given["figure"] not in choices("figure"):
        raise unknown_choice("figure", given["figure"])
    return given


main = partial(plain_command, __doc__, verify)

if __name__ == "__main__":
    sys.exit(main())
