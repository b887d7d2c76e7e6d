"""Pages of all results, to be opened in a browser: python -m runners.gallery

With ``serve=true`` they are served on this machine alone, at ``port`` (default: 8765), and kept up to date while runs
go on, which the page ``live.html`` shows.
"""

import sys

from bench.errors import BenchError, ConfigError, one_line
from runners.results.pages import write_gallery
from runners.results.store import results_folder

PORT = 8765


def main() -> int:
    """Write the gallery into the folder of results, and serve it if asked to; return the exit code."""
    words = sys.argv[1:]
    if "--help" in words or "-h" in words:
        print(__doc__)
        return 0
    try:
        port = _port(words)
        if port is None:
            first, count = write_gallery(results_folder())
            print(f"gallery, {count} pages written: {first}")
        else:
            from runners.serve import serve

            serve(results_folder(), port, lambda: write_gallery(results_folder()))
    except (BenchError, OSError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def _port(words: list[str]) -> int | None:
    """Return the port to serve at; None if the pages are only to be written.

    Raises
    ------
    ConfigError
        When a word is none of those expected.
    """
    given = {"serve": "false", "port": str(PORT)}
    for word in words:
        key, _, value = word.partition("=")
        if key not in given:
            raise ConfigError(f"{key}: found an unknown key, expected one of: {', '.join(sorted(given))}")
        given[key] = value
    serve, port = given["serve"].lower(), given["port"]
    if serve not in ("true", "false"):
        raise ConfigError(f"serve: found '{given['serve']}', expected true or false")
    if not port.isdigit() or not 1024 <= int(port) <= 65535:
        raise ConfigError(f"port: found '{port}', expected a whole number from 1024 to 65535")
    return int(port) if serve == "true" else None


if __name__ == "__main__":
    sys.exit(main())
