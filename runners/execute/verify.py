"""Verifying committed results: derived again, compared with digests, and a sample of repetitions run again."""

import math
import random
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.errors import BenchError, ConfigError, one_line
from bench.report.provenance import folder_of_runs
from bench.report.typeset import duration
from runners.config.folders import look_again
from runners.config.runner import Runner
from runners.config.tree import choices
from runners.execute.accept import ENOUGH, accept
from runners.execute.manifest import check_shared_runs
from runners.execute.sample import TOLERANCE, draw, outdated, run_anew, runnable
from runners.execute.workers import spread, workers
from runners.results.capture import environment
from runners.results.committed import FILE, SECONDS
from runners.results.golden import Rederived, compare_committed, compare_overviews
from runners.results.replay import CommittedRun, committed_runs
from runners.results.stamps import belongs, damage, packages_then
from runners.results.store import results_folder


def verify(*, figure: str = "", paper: str = "", seconds: float = 180, seed: int = 0, jobs: int = 2) -> bool:
    """Verify the results of a figure, of a paper or of all; return whether nothing differs, is damaged or outdated.

    Raises ConfigError where there are none, or none of which the data is here.
    """
    end = time.perf_counter() + seconds
    look_again()
    names = _with_results(figure, paper)
    with workers(Runner(progress=False), jobs):
        problems, derived = _derive(names, jobs, overviews=not (figure or paper))
        results, unreadable = _read(names)
        problems += unreadable
        is_equal = _sample(results, (end - time.perf_counter()) * jobs, seed, jobs, bool(figure), bool(problems))
    old = [_tried(outdated, folder, runs) for folder, runs in results.items()]
    old += [_tried(check_shared_runs, name, folder) for name in names for folder in _folders(name)]
    for words, sentences in (("damaged", problems), ("outdated", sorted(filter(None, old)))):
        for sentence in sentences:
            print(f"{words}: {sentence}")
    if problems:
        print("to restore what is damaged: git checkout, or make the result again: runners.reproduce ... renew=true")
    _say_what_is_to_be_confirmed(results, f" FIGURE={figure}" if figure else f" PAPER={paper}" if paper else "", jobs)
    return is_equal and derived and not problems and not any(old)


def confirm(*, figure: str = "", paper: str = "", seconds: float = math.inf, jobs: int = 2) -> bool:
    """Confirm results with today's code and packages, see `runners.execute.accept`; damaged ones are left and named."""
    names = _with_results(figure, paper)
    problems = [sentence for name in names for folder in _folders(name) for sentence in damage(folder)]
    results, unreadable = _read(names)
    for sentence in [*problems, *unreadable]:
        print(f"damaged, and not confirmed: {sentence}")
    sound = [run for folder, runs in results.items() if not damage(folder) for run in runs]
    return accept(sound, jobs=jobs, seconds=seconds, train=bool(figure)) and not (problems or unreadable)


def _with_results(figure: str, paper: str) -> list[str]:
    """Return the figure, or all of a paper or of all papers, as far as there are results; ConfigError if of none."""
    root = results_folder()
    wanted = [figure] if figure else [name for name in choices("figure") if not paper or name.startswith(f"{paper}/")]
    names = [name for name in wanted if _folders(name)]
    if not names:
        word = f"figure={figure}" if figure else f"paper={paper or '<paper>'}"
        raise ConfigError(
            f"found no results of {figure or paper or 'any figure'} at scale paper below {root}, expected those of "
            f"python -m runners.reproduce {word} scale=paper"
        )
    return names


def _folders(name: str) -> list[Path]:
    """Return the results of a figure, also where files of them are missing."""
    return sorted({path.parent for path in (results_folder() / name).glob("paper*/*") if path.is_file()})


def _tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function does, or in one sentence why it can't: damaged files lead to errors of any kind."""
    try:
        return function(*arguments)
    except BenchError as error:
        return one_line(error)
    except Exception as error:
        where = next((f"{item}: " for item in arguments if isinstance(item, Path)), "")
        return f"{where}cannot be read ({type(error).__name__}: {one_line(error)})"


def _read(names: Sequence[str]) -> tuple[dict[Path, list[CommittedRun]], list[str]]:
    """Return the runs that repetitions are committed of, by the folder with these, and a sentence for what is damaged.

    Figures with the same repetitions have the same runs, once.
    """
    results: dict[Path, list[CommittedRun]] = {}
    problems = []
    for name in names:
        for folder in _folders(name):
            source = folder_of_runs(folder)
            if source not in results and (source / FILE).is_file():
                figure = "/".join(source.parts[-3:-1])
                runs = _tried(lambda name, folder: list(committed_runs(name, folder)), figure, source)
                if isinstance(runs, str):
                    problems.append(runs)
                else:
                    results[source] = runs
    return results, problems


def _derive(names: Sequence[str], jobs: int, *, overviews: bool) -> tuple[list[str], bool]:
    """Derive all tables again, print what differs and what no repetition backs.

    Returns a sentence for each file that is damaged, and whether no table differs.
    """
    root = results_folder()
    compared = compare_committed(root, names, spread(Runner(progress=False), jobs))
    if overviews:
        found = _tried(compare_overviews, root)
        compared.append(Rederived(problems=[found]) if isinstance(found, str) else found)
    differences = [difference for result in compared for difference in result.differences]
    derived = {file for result in compared for file in result.compared}
    print(f"{len(derived)} tables derived again: {len(differences)} differ")
    for difference in sorted(differences):
        print(f"differs: {difference}")
    unbacked = sorted(file for result in compared for file in result.unbacked)
    others = [file for file in unbacked if not file.endswith(f"/{SECONDS}")]
    if unbacked:
        count = len(unbacked) - len(others)
        words = [f"{SECONDS} of {count} result{'s' * (count > 1)}", *([", ".join(others)] if others else [])]
        print(f"measured seconds, which repetitions cannot confirm: {'; '.join(words)}")
    problems = [sentence for result in compared for sentence in result.problems]
    for name in names:
        for folder in _folders(name):
            where = folder.relative_to(root).as_posix()
            tables = {Path(file).name for file in derived if file.rpartition("/")[0] == where}
            problems += damage(folder, apart_from=tables)
    places = {root / name for name in names}
    if overviews and not compared[-1].problems:
        places |= {root, *(place.parent for place in places)}
    problems += [f"{path}: found a file that belongs to no result" for path in _strays(root, places, derived)]
    return problems, not differences


def _strays(root: Path, places: Iterable[Path], derived: Collection[str]) -> list[Path]:
    """Return the files that lie beside results and are neither overviews, pages nor their pictures."""
    files = [path for place in sorted(places) for path in sorted(place.iterdir()) if path.is_file()]
    known = [root / name for name in derived]
    return [path for path in files if belongs(path.name) and path.suffix != ".svg" and path not in known]


def _sample(
    results: dict[Path, list[CommittedRun]], core_seconds: float, seed: int, jobs: int, named: bool, is_damaged: bool
) -> bool:
    """Run some repetitions again, print what was compared, and return whether all are equal."""
    try:
        runs = runnable([run for of_result in results.values() for run in of_result], named)
    except ConfigError:
        if is_damaged:
            return False
        raise
    drawn = draw(runs, core_seconds, random.Random(seed))
    equal, compared, first = run_anew(drawn, jobs)
    figures = len({run.name for run, _ in drawn})
    print(f"{len(drawn)} repetitions of {figures} figure{'s' * (figures > 1)} run anew: {compared:,} values")
    print(f"{equal:,} equal, {compared - equal:,} differ{': first ' + first if first else ''}")
    if not all(run.same_machine for run, _ in drawn):
        print(f"some were made on another processor or with other versions: equal to a relative {TOLERANCE:g}")
    return compared == equal


def _say_what_is_to_be_confirmed(results: dict[Path, list[CommittedRun]], words: str, jobs: int) -> None:
    """Print a line for each result that other code or packages made, and how to confirm them, with an estimate."""
    seconds: dict[str, float] = {}
    for folder, of_result in results.items():
        waiting = [run for run in of_result if run.is_asked and not run.is_confirmed]
        if waiting:
            then, now = packages_then(folder), environment()["packages"]
            other = [f"{name} {then[name]}, now {now.get(name)}" for name in then if then[name] != now.get(name)]
            what = f"other versions ({'; '.join(other)}), perhaps other code" if other else "other code"
            where = folder.relative_to(results_folder())
            print(f"to be confirmed: {where}: {len(waiting)} of {len(of_result)} runs, made by {what}")
        for run in waiting:
            times = run.seconds * min(ENOUGH, len(run.committed)) * (not run.trains_first)
            seconds[run.key] = max(seconds.get(run.key, 0.0), times)
    if seconds:
        cost = duration(sum(seconds.values()) / jobs)
        print(f"to confirm them by {ENOUGH} repetitions of each: make verify ACCEPT=1{words}, about {cost}")
