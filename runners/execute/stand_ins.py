"""Missing data sets and the figures that they affect, reported before the run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.data.catalogue import CATALOGUE, OPEN_BANDIT
from bench.data.files import locate
from bench.errors import DataError
from runners.config.classes import import_class
from runners.config.tree import CLASS, class_of

if TYPE_CHECKING:  # slow to import
    from bench.report.figure import Figure

SAMPLE = OPEN_BANDIT.name
"""The data set with a real sample that is always available."""


def missing_data(figure: "Figure", *, readings: bool = True) -> dict[str, list[str]]:
    """Return the missing data sets of a figure, each with the labels that need it."""
    overrides = [(label, *word.lstrip("+").split("=", 1)) for label, word in _overrides(figure, readings=readings)]
    named = {value for _, key, value in overrides if key == "env"}
    needed: dict[str, list[str]] = {}
    for label, key, value in overrides:
        part, _, setting = key.partition(".")
        settings = {setting: value} if setting else {}
        for env in (named if setting else {value}) if part == "env" else ():
            always = _data_sets(env, {}) if setting else ()
            for name in set(_data_sets(env, settings)) - set(always):
                needed.setdefault(name, []).extend([label] * (label not in ("", *needed.get(name, []))))
    return {name: labels for name, labels in needed.items() if locate(CATALOGUE[name]) is None}


def _data_sets(env: str, settings: Mapping[str, Any]) -> Sequence[str]:
    """Return the data sets that a choice of the suite, or a user's class, reads with some settings."""
    path = env if CLASS.fullmatch(env) else class_of("env", env)
    cls: Any = import_class("env", {"_target_": path}) if path else None
    return cls.data_sets(settings) if cls else ()


def _overrides(figure: "Figure", *, readings: bool) -> Iterator[tuple[str, str]]:
    """Yield all overrides of a figure, each with its label, "" for the whole figure."""
    yield from (("", override) for override in figure.common)
    for block in figure.runs:
        for labels in block.values():
            for label, overrides in labels.items():
                yield from ((label, override) for override in overrides)
    for reading in figure.readings if readings else []:
        for part in reading.overrides:
            words = [part] if isinstance(part, str) else part.overrides
            yield from ((f"reading {reading.name}", word) for word in words)


def replaced(env: str, settings: Mapping[str, Any]) -> list[str]:
    """Return a line for each missing data set in a single run, and how to get it."""
    missing = [CATALOGUE[name] for name in _data_sets(env, settings) if locate(CATALOGUE[name]) is None]
    return [f"{data.name} is not here: {data.stand_in}; to get it: {data.how_to_get}" for data in missing]


def announcement(missing: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """Return the message on missing data, by figure, with the command that fetches the free data sets."""
    by_data: dict[str, list[str]] = {}
    for figure, needed in missing.items():
        for name, labels in needed.items():
            by_data.setdefault(name, []).append(f"{figure} ({'; '.join(labels)})" if labels else figure)
    if not by_data:
        return []
    lines = ["Data that is not here is replaced by stand-ins, on which no verdict rests:"]
    lines += [f"  {name}: {CATALOGUE[name].stand_in}, in {', '.join(figures)}" for name, figures in by_data.items()]
    commands = [CATALOGUE[name].how_to_get for name in by_data if CATALOGUE[name].url]
    if commands:
        lines.append(f"To fetch what may be downloaded: {' && '.join(commands)} (for the rest see docs/reproduce.md)")
    return lines


def lacks_data(needed: Iterable[str]) -> bool:
    """Whether missing data sets prevent a run at scale paper; a real sample does not."""
    return bool(set(needed) - {SAMPLE})


def drawn_from_committed(figure: str, needed: Iterable[str], folder: Path) -> str:
    """Return the message on a figure that is drawn without its data."""
    names = [name for name in needed if name != SAMPLE]
    sets = f"its data set{'s' * (len(names) > 1)} {', '.join(names)} {'are' if len(names) > 1 else 'is'} not here"
    kind = " of stand-ins" if folder.name.endswith("-surrogate") else ""
    return f"{figure}: drawn from committed repetitions{kind}; {sets}"


def refuse(missing: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """Raise DataError for runs of the papers' size with missing data that has no real sample."""
    names = list(dict.fromkeys(name for needed in missing.values() for name in needed if name != SAMPLE))
    figures = [figure for figure, needed in missing.items() if lacks_data(needed)]
    if names:
        raise DataError(
            f"scale=paper: found no data set {', '.join(names)}, which {', '.join(figures)} need, expected it below "
            f"BENCH_DATA_DIR or fetched; get it ({'; '.join(CATALOGUE[name].how_to_get for name in names)}), or add "
            "surrogate=yes to run with stand-ins"
        )
