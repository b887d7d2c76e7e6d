"""Check the committed results: python -m runners.verify [figure=cdt/figure2] [paper=cdt] [seconds=180] [seed=0]

Committed are those of scale paper; your own papers and figures are checked as the suite's are. First every table,
claim and published number is derived again from the committed repetitions and measured seconds, and compared byte by
byte; all other files are compared with the digests beside them. Then some repetitions, drawn at random, are run again
with ``jobs`` workers (default: 2), until the whole has taken about ``seconds``. Every last value and every point of a
curve is compared with the committed one: exactly on the same kind of processor with the same versions, otherwise to a
relative tolerance of 1e-6. The exit code is 1 if any differs or is damaged, or if settings or data of a figure's runs
have changed since it was made. Runs that train an encoder first are drawn only of the figure that is named.

Runs that other code made, or other versions of the packages that compute, are named as to be confirmed.
``accept=true`` plays three repetitions of each of them, the shortest first, of all figures, of one ``paper`` or of one
``figure``; runs that come out as committed count as made by today's code, and of the others the first difference is
named. It can be interrupted, and goes on where it was; ``seconds`` limits the time, if it is given.
"""

import math
import sys
from collections.abc import Sequence
from typing import Any

from bench.errors import ConfigError
from runners.command import plain_command, read_words
from runners.config.tree import choices, unknown_choice

_DEFAULTS = {"seconds": 180, "figure": "", "paper": "", "seed": 0, "jobs": 2, "accept": False}


def main() -> int:
    """Verify what the command line asks for; return the exit code."""
    return plain_command(__doc__, verify)


def verify(words: Sequence[str]) -> bool:
    """Derive, draw, run and compare, or confirm; return whether nothing differs, is damaged or outdated."""
    from runners.execute import verify as execute  # slow to import

    given = _parse(words)
    seed, is_accepting = given.pop("seed"), given.pop("accept")
    if not is_accepting:
        return execute.verify(**given, seed=seed)
    limit = given.pop("seconds") if any(word.startswith("seconds=") for word in words) else math.inf
    return execute.confirm(figure=given["figure"], paper=given["paper"], jobs=given["jobs"], seconds=limit)


def _parse(words: Sequence[str]) -> dict[str, Any]:
    given = read_words(words, _DEFAULTS)
    for key in ("seconds", "jobs"):
        if not given[key]:
            raise ConfigError(f"{key}: found '0', expected a whole number, at least 1")
    if given["paper"] and given["paper"] not in choices("paper"):
        raise unknown_choice("paper", given["paper"])
    if given["figure"] and given["figure"] not in choices("figure"):
        raise unknown_choice("figure", given["figure"])
    return given


if __name__ == "__main__":
    sys.exit(main())
