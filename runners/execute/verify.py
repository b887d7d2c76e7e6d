"""Verification of committed results: tables derived again, digests compared, and a sample played again."""

import csv
import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from bench.errors import BenchError, ConfigError, one_line
from bench.report.figure import Figure
from runners.config.figures import load_figure
from runners.config.folders import look_again
from runners.config.runner import Runner
from runners.config.tree import choices, unknown_choice
from runners.execute.manifest import check_shared_runs
from runners.execute.sample import Size, outdated, play_sample
from runners.execute.workers import spread, workers
from runners.results import checksums
from runners.results.derive import derive_committed
from runners.results.folder import REPETITIONS, SECONDS, ResultFolder
from runners.results.pages import overviews
from runners.results.replay import CommittedRun, committed_runs
from runners.results.store import results_folder

NOISE = 1e-14
"""Largest difference between numbers due to the last digits of another kind of machine, such as slopes of 0."""


def verify(
    *,
    figure: str = "",
    paper: str = "",
    sample: Size = None,
    seed: int | None = None,
    jobs: int = 2,
) -> bool:
    """Verify the results of a figure, a paper or all papers; return whether all are equal, undamaged and up to date.

    ``sample`` is the number of repetitions to play again; None stands for 300, or as many as fit into some minutes.
    ``seed`` is the seed of the draw; None stands for a different seed each day. Raises ConfigError for an unknown name,
    and if there are no results, or their data is missing.
    """
    look_again()
    names = _with_results(figure, paper)
    seed = int(datetime.now(UTC).strftime("%Y%m%d")) if seed is None else seed
    with workers(Runner(progress=False), jobs):
        problems, derived = _derive(names, jobs, overviews=not (figure or paper))
        results, unreadable = _read(names, jobs)
        problems += unreadable
        old = [tried(outdated, folder, runs) for folder, runs in results.items()]
        old += [tried(check_shared_runs, ResultFolder(folder)) for name in names for folder in _folders(name)]
        for words, sentences in (("damaged", problems), ("outdated", sorted(filter(None, old)))):
            for sentence in sentences:
                print(f"{words}: {sentence}", flush=True)
        if problems:
            print("to restore damaged files: git checkout, or make the result again: runners.reproduce ... renew=true")
        is_sound = derived and not problems and not any(old)
        every = [run for runs in results.values() for run in runs]
        if not every and all(load_figure(name).source != "runs" for name in names):
            print("nothing to play again: the numbers are measured seconds, or follow from formulas")
            return is_sound
        try:
            return play_sample(every, sample, seed, jobs, is_named=bool(figure)) and is_sound
        except ConfigError as error:
            if is_sound:
                raise
            print(f"nothing played again: {one_line(error)}")
            return False


def _with_results(figure: str, paper: str) -> list[str]:
    """Return the names of the figures with results: the given figure, or the figures of a paper or of all papers.

    Raises ConfigError if no figure has results.
    """
    for group, name in (("paper", paper), ("figure", figure)):
        if name and name not in choices(group):
            raise unknown_choice(group, str(name))
    root = results_folder()
    wanted = [figure] if figure else [name for name in choices("figure") if not paper or name.startswith(f"{paper}/")]
    noted = {"/".join(name.split("/")[:2]) for name in checksums.read(root)}
    names = [name for name in wanted if _folders(name) or name in noted]
    if not names:
        word = f"figure={figure}" if figure else f"paper={paper or '<paper>'}"
        raise ConfigError(
            f"found no results of {figure or paper or 'any figure'} at scale paper below {root}, expected those of "
            f"python -m runners.reproduce {word} scale=paper"
        )
    return names


def _folders(name: str) -> list[Path]:
    """Return the result folders of a figure, even if some of their files are missing."""
    return sorted({path.parent for path in (results_folder() / name).glob("paper*/*") if path.is_file()})


def _read(names: Sequence[str], jobs: int) -> tuple[dict[Path, list[CommittedRun]], list[str]]:
    """Return the runs that have committed repetitions, by folder, and a sentence for each damaged result.

    Runs that several figures share are returned once.
    """
    sources = dict.fromkeys(ResultFolder(folder).with_runs for name in names for folder in _folders(name))
    wanted = [(source,) for source in sources if source.has(REPETITIONS)]
    found = dict(spread(Runner(progress=False), jobs)(_runs_of, wanted))
    of_folders = {source.path: found[source.path] for (source,) in wanted}  # in the same order for any number of jobs
    problems = [runs for runs in of_folders.values() if isinstance(runs, str)]
    return {source: runs for source, runs in of_folders.items() if not isinstance(runs, str)}, problems


def _runs_of(folder: ResultFolder) -> tuple[Path, list[CommittedRun] | str]:
    return folder.path, tried(committed_runs, folder.name, folder.path)


def _derive(names: Sequence[str], jobs: int, *, overviews: bool) -> tuple[list[str], bool]:
    """Derive all tables again; print the differences and the files that are not supported by repetitions.

    Returns a sentence for each damaged, missing or additional file, and whether all tables are equal.
    """
    root = results_folder()
    compared = compare_committed(root, names, spread(Runner(progress=False), jobs))
    if overviews:
        compared.append(compare_overviews(root))
    differences = {name: difference for result in compared for name, difference in result.differences.items()}
    derived = {file for result in compared for file in result.compared}
    print(f"{len(derived)} tables derived again: {len(differences)} differ")
    for difference in sorted(differences.values()):
        print(f"differs: {difference}")
    _say_what_is_not_backed(sorted(file for result in compared for file in result.unbacked))
    problems = [sentence for result in compared for sentence in result.problems]
    damaged = checksums.damage(root, ["."] if overviews else names)
    problems += [sentence for name, sentence in damaged.items() if name not in differences]
    return problems, not differences


def _say_what_is_not_backed(files: Collection[str]) -> None:
    """Print the files that are not supported by repetitions."""
    others = [file for file in files if not file.endswith(f"/{SECONDS}")]
    if files:
        count = len(files) - len(others)
        words = [f"{SECONDS} of {count} result{'s' * (count > 1)}", *([", ".join(others)] if others else [])]
        print(f"measured seconds, which repetitions cannot confirm: {'; '.join(words)}")


class Rederived(NamedTuple):
    """A result derived again.

    ``compared`` lists the compared files, ``differences`` has a sentence for each file that differs, and ``unbacked``
    lists the files that are not supported by repetitions. ``problems`` has a sentence for each result that cannot be
    compared.
    """

    compared: Sequence[str] = ()
    differences: Mapping[str, str] = {}
    unbacked: Sequence[str] = ()
    problems: Sequence[str] = ()


def compare_committed(root: Path, names: Sequence[str], each: Callable[..., Any] = starmap) -> list[Rederived]:
    """Derive all tables of some committed results again and compare them.

    ``each`` applies a function to the arguments of each result, as `itertools.starmap` does.
    """
    folders = [(name, folder.path) for name in names for folder in ResultFolder.of(root, name)]
    return list(each(_compare, [(root, load_figure(name), folder) for name, folder in folders]))


def compare_overviews(root: Path) -> Rederived:
    """Derive the overviews of claims and published numbers from the figures' tables, and compare them."""
    found = tried(overviews, root)
    if isinstance(found, str):
        return Rederived(problems=[found])
    return _compare_files(root, {name: text.encode() for name, text in found.items()}, exact=True)


def _compare(root: Path, figure: Figure, folder: Path) -> Rederived:
    found = tried(_compare_result, root, figure, folder)
    return Rederived(problems=[found]) if isinstance(found, str) else found


def tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function, or its error as a sentence, because a damaged file may raise any error."""
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
    found = {name: _difference(name, root / name, content, exact) for name, content in files.items()}
    return Rederived(list(files), {name: difference for name, difference in found.items() if difference})


def _difference(name: str, path: Path, derived: bytes, exact: bool) -> str:
    """Return the first line and cell of a file that differ from the derived file, or "" if the files are equal."""
    committed = path.read_bytes() if path.is_file() else b""
    if committed == derived:
        return ""
    if not path.is_file():
        return f"{name}: committed (no such file), derived '{derived.decode().partition(chr(10))[0]} ...'"
    ours, theirs = (_rows(name, content) for content in (committed, derived))
    no_cells: list[str] = []
    for number, (one, other) in enumerate(itertools.zip_longest(ours, theirs, fillvalue=no_cells), start=1):
        for column, a, b in itertools.zip_longest(theirs[0], one, other, fillvalue=""):
            if a != b and (exact or not _is_noise(a, b)):
                where = ", ".join(filter(None, [name, f"line {number}", column]))
                return f"{where}: committed '{a}', derived '{b}'"
    return f"{name}: other ends of lines" if exact else ""


def _rows(name: str, content: bytes) -> list[list[str]]:
    """Return the cells of each line of a CSV file, or the lines of any other text."""
    lines = content.decode(errors="replace").splitlines()
    return [*csv.reader(lines)] if name.endswith(".csv") else [[""], *([line] for line in lines)]


def _is_noise(a: str, b: str) -> bool:
    try:
        return math.isclose(float(a), float(b), rel_tol=0.0, abs_tol=NOISE)
    except ValueError:
        return False
