"""Measure the suite beside other libraries: python -m runners.upkeep.peers [--only coba,obp] [--repeats 7].

Each library is installed into an environment of its own below ``.venv-peers`` and plays saved problems in a process of
its own; obp, scikit-optimize and Optuna are dependencies of the suite and use its environment. Both sides play the same
problems by turns on one core, and seconds of the processor are counted. A library that cannot be installed is named
with the reason. Writes ``results/benchmark/peers.csv``, ``peers.md``, ``peers.png`` and ``peers.svg``; with ``--only``
the rows of the other libraries stay as they are.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from bench.errors import ConfigError
from bench.report.page import draw
from bench.report.saving import save
from bench.report.tables import to_csv
from runners.cli import command
from runners.results.capture import environment
from runners.results.store import results_folder, write_text
from runners.upkeep.peers.cases import CASES
from runners.upkeep.peers.measure import NUMBERS, measure
from runners.upkeep.peers.page import markdown, picture


def main(arguments: list[str]) -> int:
    """Measure, print, and write ``results/benchmark/``; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="libraries, with commas between them; default: all")
    parser.add_argument("--repeats", type=int, default=7, help="timed runs of each case, at most")
    options = parser.parse_args(arguments)
    return command(lambda: measure_and_write(options.only, options.repeats))


def measure_and_write(only: str, repeats: int) -> bool:
    """Return whether every case was measured. Raises ConfigError if a library is unknown, or without repetitions."""
    known = list(dict.fromkeys(case.peer for case in CASES))
    chosen = [name for name in only.split(",") if name] or known
    for name in chosen:
        if name not in known:
            raise ConfigError(f"--only: found '{name}', expected one of: {', '.join(known)}")
    if repeats < 1:
        raise ConfigError(f"--repeats: found {repeats}, expected at least 1")
    table = measure([case for case in CASES if case.peer in chosen], repeats)
    is_complete = bool((table["reason"] == "").all())
    folder = results_folder() / "benchmark"
    file = folder / "peers.csv"
    if only and file.exists():
        before = _read(file)
        table = pd.concat([before[~before["peer"].isin(chosen)], table], ignore_index=True)
        table = table.sort_values("peer", key=lambda names: names.map(known.index), kind="stable")
    write_text(file, to_csv(table, digits=6))
    table = _read(file)  # so that page and picture show what the file says, to the last digit
    write_text(folder / "peers.md", markdown(table, environment()))
    if (table["reason"] == "").any():
        save(draw(picture(table)), folder, "peers")
    print(f"written to {folder}")
    return is_complete


def _read(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, keep_default_na=False, na_values={name: [""] for name in NUMBERS})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
