"""Pages of all results, for a browser: python -m runners.gallery

To serve them, on this machine only: python -m http.server --bind 127.0.0.1 --directory results
"""

import sys
from functools import partial

from runners.command import plain_command, read_words
from runners.results.store import results_folder


def gallery(words: list[str]) -> bool:
    """Write the pages, and print the path of the first page."""
    from runners.execute.progress import said_if_slow  # slow to import
    from runners.results.pages import write_gallery

    read_words(words, {})
    with said_if_slow("pages are written, which may take some minutes if all are new", None):
        first, count = write_gallery(results_folder())
    print(f"gallery, {count} pages written: {first}")
    return True


main = partial(plain_command, __doc__, gallery)

if __name__ == "__main__":
    sys.exit(main())
