"""Check that every committed table follows from its repetitions: derive it again, and compare byte by byte."""

import csv
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from bench.errors import BenchError, one_line
from bench.report.figure import Figure
from runners.config.figures import load_figure
from runners.results.derive import derive_committed
from runners.results.folder import ResultFolder
from runners.results.pages import overviews

NOISE = 1e-14
"""Largest difference between numbers due to the last digits of another kind of machine, such as slopes of 0."""


class Mismatch(NamedTuple):
    """A file that differs from the derived one: its path below the results, and the first line and cell that differ."""

    file: str
    line: int
    column: str
    committed: str
    derived: str

    def __str__(self) -> str:
        where = f", {self.column}" if self.column else ""
        return f"{self.file}, line {self.line}{where}: committed '{self.committed}', derived '{self.derived}'"


class Rederived(NamedTuple):
    """A result derived again: names of files, differences, and the files that no repetition supports.

    ``problems``: a sentence for each file that cannot be compared.
    """

    compared: Sequence[str] = ()
    differences: Sequence[Mismatch] = ()
    unbacked: Sequence[str] = ()
    problems: Sequence[str] = ()


def compare_committed(root: Path, names: Sequence[str], each: Callable[..., Any] = starmap) -> list[Rederived]:
    """Derive all tables of some committed results again and compare them; ``each`` calls a function for each."""
    folders = [(name, folder.path) for name in names for folder in ResultFolder.of(root, name)]
    return list(each(_rederived, [(_compare_result, root, load_figure(name), folder) for name, folder in folders]))


def compare_overviews(root: Path) -> Rederived:
    """Derive the overviews of claims and published numbers from the figures' tables, and compare them."""
    return _rederived(_compare_overviews, root)


def _compare_overviews(root: Path) -> Rederived:
    return _compare_files(root, {name: text.encode() for name, text in overviews(root).items()}, exact=True)


def _rederived(compare: Callable[..., Rederived], *arguments: Any) -> Rederived:
    found = tried(compare, *arguments)
    return Rederived(problems=[found]) if isinstance(found, str) else found


def tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function, or its error, of any type, as one sentence: a file may be damaged."""
    try:
        return function(*arguments)
    except BenchError as error:
        return one_line(error)
    except Exception as error:
        where = next((f"{item}: " for item in reversed(arguments) if isinstance(item, Path)), "")
        return f"{where}cannot be read ({type(error).__name__}: {one_line(error)})"


def _compare_result(root: Path, figure: Figure, folder: Path) -> Rederived:
    where = folder.relative_to(root).as_posix()
    names = [f"{where}/{path.name}" for path in sorted(folder.glob("*.csv"))]
    if not ResultFolder(folder).is_backed(figure):
        return Rederived(unbacked=names)
    derived = derive_committed(figure, folder)
    files = {f"{where}/{file}": content for file, content in derived.files().items()}
    compared = _compare_files(root, files, exact=ResultFolder(folder).is_of_this_machine)
    return compared._replace(unbacked=[name for name in names if name not in files])


def _compare_files(root: Path, files: Mapping[str, bytes], *, exact: bool) -> Rederived:
    differences = [_difference(name, root / name, content, exact) for name, content in files.items()]
    return Rederived(list(files), [difference for difference in differences if difference])


def _difference(name: str, path: Path, derived: bytes, exact: bool) -> Mismatch | None:
    committed = path.read_bytes() if path.is_file() else b""
    if committed == derived:
        return None
    if not path.is_file():
        return Mismatch(name, 1, "", "(no such file)", derived.decode().partition("\n")[0])
    ours, theirs = (_rows(name, content) for content in (committed, derived))
    no_cells: list[str] = []
    for number, (one, other) in enumerate(itertools.zip_longest(ours, theirs, fillvalue=no_cells), start=1):
        for column, a, b in itertools.zip_longest(theirs[0], one, other, fillvalue=""):
            if a != b and (exact or not _is_noise(a, b)):
                return Mismatch(name, number, column, a, b)
    return Mismatch(name, len(ours), "", "(ends of lines)", "") if exact else None


def _rows(name: str, content: bytes) -> list[list[str]]:
    """Return the cells of each line of a CSV file, or the lines of any other text."""
    lines = content.decode(errors="replace").splitlines()
    return [*csv.reader(lines)] if name.endswith(".csv") else [[""], *([line] for line in lines)]


def _is_noise(a: str, b: str) -> bool:
    try:
        return math.isclose(float(a), float(b), rel_tol=0.0, abs_tol=NOISE)
    except ValueError:
        return False
