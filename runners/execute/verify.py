"""Verification of committed results: tables derived again, digests compared, and a sample played again."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.errors import ConfigError, one_line
from runners.config.folders import look_again
from runners.config.runner import Runner
from runners.config.tree import choices
from runners.execute.manifest import check_shared_runs
from runners.execute.sample import Size, outdated, play_sample
from runners.execute.workers import spread, workers
from runners.results import checksums
from runners.results.folder import REPETITIONS, SECONDS, ResultFolder
from runners.results.rederived import compare_committed, compare_overviews, tried
from runners.results.replay import CommittedRun, committed_runs
from runners.results.store import results_folder


def verify(
    *,
    figure: str = "",
    paper: str = "",
    sample: Size = None,
    seed: int | None = None,
    jobs: int = 2,
) -> bool:
    """Verify the results of a figure, of a paper or of all; return whether nothing differs, is damaged or outdated.

    ``sample`` is the number of repetitions to play again; None: 300, or as many as fit into some minutes. ``seed`` is
    the seed of the draw; None: a different one each day. Raises ConfigError if there are no results, or their data is
    missing.
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
        try:
            return play_sample(every, sample, seed, jobs, is_named=bool(figure)) and is_sound
        except ConfigError as error:
            if is_sound:
                raise
            print(f"nothing played again: {one_line(error)}")
            return False


def _with_results(figure: str, paper: str) -> list[str]:
    """Return the figure, or all of a paper or of all papers, that have results; ConfigError if none has."""
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
    """Return the result folders of a figure, even if files are missing."""
    return sorted({path.parent for path in (results_folder() / name).glob("paper*/*") if path.is_file()})


def _read(names: Sequence[str], jobs: int) -> tuple[dict[Path, list[CommittedRun]], list[str]]:
    """Return the runs with committed repetitions, by folder, and a sentence for each damaged one.

    Figures with the same repetitions have the same runs, once.
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
    """Derive all tables again; print the differences and the files that no repetition supports.

    Returns a sentence for each damaged, missing or additional file, and whether no table differs.
    """
    root = results_folder()
    compared = compare_committed(root, names, spread(Runner(progress=False), jobs))
    if overviews:
        compared.append(compare_overviews(root))
    differences = [difference for result in compared for difference in result.differences]
    derived = {file for result in compared for file in result.compared}
    print(f"{len(derived)} tables derived again: {len(differences)} differ")
    for difference in sorted(differences):
        print(f"differs: {difference}")
    _say_what_is_not_backed(sorted(file for result in compared for file in result.unbacked))
    problems = [sentence for result in compared for sentence in result.problems]
    damaged = checksums.damage(root, ["."] if overviews else names)
    said = {difference.file for difference in differences}
    problems += [sentence for name, sentence in damaged.items() if name not in said]
    return problems, not differences


def _say_what_is_not_backed(files: Collection[str]) -> None:
    """Print the files that no repetitions support."""
    others = [file for file in files if not file.endswith(f"/{SECONDS}")]
    if files:
        count = len(files) - len(others)
        words = [f"{SECONDS} of {count} result{'s' * (count > 1)}", *([", ".join(others)] if others else [])]
        print(f"measured seconds, which repetitions cannot confirm: {'; '.join(words)}")
