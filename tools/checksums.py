"""Record results that another program wrote, or that were removed: python -m tools.checksums [FOLDER ...].

Each argument is a folder or a file below the results, such as movielens, or cdt/figure2; without arguments all files
are recorded.
"""

import sys
from collections.abc import Sequence

from runners.results.checksums import note
from runners.results.store import results_folder


def main(names: Sequence[str]) -> int:
    """Write ``SHA256SUMS``; return the exit code."""
    root = results_folder()
    note(root, [root / name for name in names] or [root])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
