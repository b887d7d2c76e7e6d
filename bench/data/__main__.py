"""The command ``python -m bench.data``, which fetches or lists data sets."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.data.catalogue import CATALOGUE, Dataset, find_dataset
from bench.data.fetch import fetch
from bench.data.files import compare, locate
from bench.errors import BenchError, DataError, one_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    The code is 0, or 1 after an error message, 130 after an interrupt and 141 if the output is closed.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.data", description="Data sets of the benchmark suite.")
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="download a data set into the cache")
    fetching.add_argument("dataset", help=f"one of: {', '.join(CATALOGUE)}; or all: those that need no account")
    fetching.add_argument("--url", help="a mirror of the archive; the checksums must still match")
    commands.add_parser("status", help="list every data set: its path, or how to get it")
    heldout = commands.add_parser("heldout", help="measure how well MovieLens factors predict held-out ratings")
    heldout.add_argument("--output", type=Path, help="folder for heldout.csv and heldout.md")
    heldout.add_argument("--seed", type=int, default=0, help="seed of the split and of the factors (default: 0)")
    options = parser.parse_args(arguments)
    try:
        if options.command == "fetch":
            if options.dataset == "all":
                _fetch_all()
            else:
                dataset = find_dataset(options.dataset)
                print(f"{dataset.title}: {dataset.licence}.")
                print(f"{dataset.name}: {fetch(dataset, options.url, print)}")
        elif options.command == "status":
            for dataset in CATALOGUE.values():
                print(_status(dataset))
        else:
            _heldout(options.output, options.seed)
        sys.stdout.flush()
    except BenchError as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        return 141
    except OSError as error:  # the folder of data may be unreadable
        print(f"error: {error.filename}: cannot be read ({error.strerror}), expected a readable one", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; complete files are kept, rerun for the rest", file=sys.stderr)
        return 130
    return 0


def _fetch_all() -> None:
    """Fetch the missing data sets that need no account.

    Prints the size and the terms of each data set and, after a failure, its substitute. If ``BENCH_DATA_DIR`` names a
    folder of data sets, nothing is fetched.
    """
    if os.environ.get("BENCH_DATA_DIR"):
        print(f"nothing is fetched: data sets are those in BENCH_DATA_DIR ({os.environ['BENCH_DATA_DIR']})")
        return
    for dataset in CATALOGUE.values():
        if not dataset.url or locate(dataset) is not None:
            continue
        print(f"fetching {dataset.title}, {dataset.size}; its terms: {dataset.licence}", flush=True)
        try:
            print(f"{dataset.name}: real data, checksum verified: {fetch(dataset, say=print)}", flush=True)
        except DataError as error:
            print(f"{dataset.name}: not fetched ({one_line(error)}); {dataset.stand_in}", flush=True)


def _status(dataset: Dataset) -> str:
    path = locate(dataset)
    if path is None:
        where = (
            f"not found; to get it: {dataset.how_to_get}; or set BENCH_DATA_DIR to a folder that has "
            f"{dataset.folder}/{dataset.file}; until then: {dataset.stand_in}"
        )
    else:
        where = f"{path} ({_checked(dataset, path)})"
    return f"{dataset.name}: {dataset.title}\n  where:   {where}\n  licence: {dataset.licence}"


def _checked(dataset: Dataset, path: Path) -> str:
    names = [path.name] if dataset.text_checksum else [*dataset.checksums]
    try:
        wrong = [name for name in names if compare(dataset, path.with_name(name))[1]]
    except DataError as error:
        return one_line(error)
    if wrong:
        return f"checksum of {', '.join(wrong)} does NOT match the published one: used only with BENCH_DATA_ALTERED=1"
    return "checksum matches" if names else "no known checksum"


def _heldout(output: Path | None, seed: int) -> None:
    from bench.data.heldout import describe, held_out_error, write_tables
    from bench.data.movielens import fingerprint, load_ratings

    identity = fingerprint()
    table = held_out_error(load_ratings(), seed=seed)
    print(describe(table, identity), end="")
    if output is not None:
        write_tables(table, identity, output)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as on Ctrl-C: unfinished files are removed
    sys.exit(main())
