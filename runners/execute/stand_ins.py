"""Missing data sets and the figures that they affect, reported before the run."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from bench.data.catalogue import CATALOGUE, OPEN_BANDIT
from bench.errors import DataError
from runners.config.compose import Run

SAMPLE = OPEN_BANDIT.name
"""The data set with a real sample that is always available."""


def missing_data(runs: Iterable[Run]) -> list[str]:
    """Return the names of the data sets that some runs need and that are missing."""
    by_env = {repr(run.experiment.settings["env"]): run.experiment for run in runs}  # of thousands of runs
    return list(dict.fromkeys(data.name for experiment in by_env.values() for data in experiment.missing_data()))


def announcement(missing: Mapping[str, Collection[str]]) -> list[str]:
    """Return the message on missing data, line by line, with the commands that fetch the free data sets."""
    by_data: dict[str, list[str]] = {}
    for figure, names in missing.items():
        for name in names:
            by_data.setdefault(name, []).append(figure)
    if not by_data:
        return []
    lines = ["Data that is not here is replaced by stand-ins, on which no verdict rests:"]
    lines += [f"  {name}: {CATALOGUE[name].stand_in}, in {', '.join(figures)}" for name, figures in by_data.items()]
    commands = [CATALOGUE[name].how_to_get for name in by_data if CATALOGUE[name].url]
    if commands:
        lines.append(f"To fetch what may be downloaded: {' && '.join(commands)} (for the rest see docs/reproduce.md)")
    return lines


def lacks_data(needed: Iterable[str]) -> bool:
    """Whether missing data sets prevent a run at scale paper; a missing data set with a real sample does not."""
    return bool(set(needed) - {SAMPLE})


def drawn_from_committed(figure: str, needed: Iterable[str], folder: Path) -> str:
    """Return the message about a figure that is drawn from committed repetitions because its data is missing."""
    names = ", ".join(name for name in needed if name != SAMPLE)
    kind = " of stand-ins" if folder.name.endswith("-surrogate") else ""
    return f"{figure}: drawn from committed repetitions{kind}; data sets that are not here: {names}"


def refuse(missing: Mapping[str, Collection[str]]) -> None:
    """Raise DataError if runs at scale paper lack data that has no real sample."""
    names = list(dict.fromkeys(name for needed in missing.values() for name in needed if name != SAMPLE))
    figures = [figure for figure, needed in missing.items() if lacks_data(needed)]
    if names:
        raise DataError(
            f"scale=paper: found no data set {', '.join(names)}, which {', '.join(figures)} need, expected it below "
            f"BENCH_DATA_DIR or fetched; get it ({'; '.join(CATALOGUE[name].how_to_get for name in names)}), or add "
            "surrogate=yes to run with stand-ins"
        )
