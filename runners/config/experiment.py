"""One experiment: resolved settings, the parts they name, and one repetition of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from bench.algorithms.contextual import ContextualAlgorithm
from bench.data_kind import DataKind
from bench.digest import digest
from bench.envs.base import Environment
from bench.envs.direct import DirectEnvironment
from bench.errors import BenchError, ConfigError, SpaceError, TunerError
from bench.loop import run
from bench.seeding import Seeds
from bench.space import HyperParameter
from bench.tasks.base import Task
from bench.trace import Trace
from bench.tuners.base import Tuner
from bench.tuners.fault import check_proposal, cure
from runners.config import by_value
from runners.config.classes import BASES, construct, describe, import_class, is_suites, require
from runners.config.folders import named_folder
from runners.config.identity import Code, code_of
from runners.config.renamed import filed
from runners.config.tree import plain

T = TypeVar("T")

_NEEDS = {
    "change_points": "an environment with known changes, such as env=switching_sine",
    "forecasts": "a contextual bandit whose copies all forecast rewards: task=copies task.learn=all",
    "full_information": "an environment with full information (the rewards of all configurations), such as "
    "env=gaussian_arms",
}
"""What a tuner may need of a problem, in words."""

_KEYS = (*BASES, "horizon", "seed")


@dataclass(frozen=True)
class Experiment:
    """What is run: everything its numbers depend on, and nothing else.

    ``env``, ``algorithm`` (left out or None for tasks without one), ``tuner`` and ``task`` are dicts with the dotted
    path of a class as ``_target_`` and its fields; ``horizon`` is the number of rounds, ``seed`` the base seed. They
    are copied, with numpy scalars and tuples made plain. Raises ConfigError when a key is missing or unknown, or a
    value is not plain data.
    """

    settings: dict[str, Any]

    def __post_init__(self) -> None:
        settings = plain(self.settings)
        for key in settings:
            if key not in _KEYS:
                raise ConfigError(f"{key}: found an unknown key, expected one of: {', '.join(_KEYS)}")
        settings = {"algorithm": None} | settings
        for key in _KEYS:
            if settings.get(key) is None and key != "algorithm":
                raise ConfigError(f"{key}: found no value, expected one")
        for key, least in (("horizon", 1), ("seed", 0)):
            value = settings[key]
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigError(f"{key}: found {value!r}, expected a whole number, at least {least}")
        object.__setattr__(self, "settings", settings)

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "classes"}  # held ones go by value
        return {**kept, "_classes": by_value.packed(self.settings)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        by_value.unpack(state.pop("_classes"))
        self.__dict__.update(state)

    @cached_property
    def classes(self) -> dict[str, type]:
        """The classes of its parts, imported; ConfigError, naming the key, where one cannot be."""
        return part_classes(self.settings)

    @property
    def is_suites(self) -> bool:
        """Whether no class is of a user's own, which may do anything to the process that runs it."""
        return all(map(is_suites, self.classes.values()))

    @cached_property
    def fingerprint(self) -> str | None:
        """Identity of the environment's data: a checksum, ``surrogate``, or None where there is no data.

        ``altered-`` or ``packaged-`` precedes the checksum of data that is not the published one, or a sample of it.
        """
        if self.is_suites:
            return self._asked(lambda env: env.fingerprint)
        from runners.config.data_files import data_fingerprint  # of a user's own classes alone

        return self._asked(lambda env: data_fingerprint(env, self.settings, self.classes))

    def data_notes(self) -> list[str]:
        """Return notes on the data that are shown before a run, a line each."""
        notes = self._asked(lambda env: list(env.notes()))
        if self.is_suites or self.fingerprint is not None:
            return notes
        from runners.config.data_files import opened_otherwise  # of a user's own classes alone

        return [*notes, *opened_otherwise(self.classes)]

    @cached_property
    def most_repetitions(self) -> int | None:
        """The largest number of repetitions, of a log that is replayed in parts; else None."""
        env, algorithm = (self.classes.get(part, object) for part in ("env", "algorithm"))
        is_replay = hasattr(env, "most_repetitions") and issubclass(algorithm, ContextualAlgorithm)
        return self._asked(lambda env: env.most_repetitions) if is_replay else None  # type: ignore[attr-defined]

    def check_repetitions(self, number: int) -> None:
        """Raise ConfigError if there cannot be as many repetitions."""
        if number > (most := self.most_repetitions or number):
            other = ", or env.sample=bootstrap, whose intervals say nothing about other data"
            raise ConfigError(
                f"repetitions: found {number}, expected at most {most}: a log of {most} parts (env.n_parts), each "
                f"repetition replaying its own{other if 'sample' in self.settings['env'] else ''}"
            )

    def _asked(self, ask: Callable[[Environment], T]) -> T:
        """Return what ``ask`` finds out of the environment; ConfigError if a user's class fails at that."""
        settings, cls = self.settings["env"], self.classes["env"]
        named_folder("BENCH_DATA_DIR")
        if is_suites(cls):
            return ask(construct("env", cls, settings))
        try:
            return ask(construct("env", cls, settings))
        except (Exception, SystemExit) as error:
            if isinstance(error, BenchError):
                raise
            raise ConfigError(f"env: {cls.__name__} cannot say which data it reads: {describe(error)}") from error

    def on_data(self, fingerprint: str | None) -> "Experiment":
        """Return this experiment as it is where its data has another fingerprint; it is only for names, not to run."""
        other = Experiment(self.settings)
        other.__dict__["fingerprint"] = fingerprint  # in the place of the cached property
        return other

    @property
    def data_kind(self) -> DataKind:
        return DataKind.of(self.fingerprint)

    @cached_property
    def key(self) -> str:
        """What is asked, in twenty hexadecimal digits: settings by name and value, horizon, seed and data.

        The suite's classes count by name, wherever they stand, a user's by dotted path. A setting that was added later
        (`bench.component.neutral`) does not count at the value that changes nothing, nor does another name that a class
        or a setting was given since (`runners.config.renamed`).
        """
        return digest({"settings": self._filed[0], "fingerprint": self.fingerprint}, 20)

    @cached_property
    def stamp(self) -> str:
        """What answers, in twelve hexadecimal digits: the source of the code, and the packages that compute."""
        return digest([*self.code, *self._filed[1]], 12)

    @cached_property
    def code(self) -> Code:
        """The modules and packages that its parts are made of."""
        return code_of(self.classes)

    @property
    def run_id(self) -> str:
        """The name of its raw runs: key and stamp."""
        return f"{self.key}-{self.stamp}"

    @property
    def description(self) -> dict[str, Any]:
        """What key and stamp are digests of, in words."""
        return {"settings": self.settings, "fingerprint": self.fingerprint, **self.code._asdict()}

    @cached_property
    def _filed(self) -> tuple[dict[str, Any], list[str]]:
        """Settings as the key counts them, and which of their names are not today's."""
        _ = self.classes  # imports what is in the current folder
        return filed(self.settings)


def part_classes(settings: dict[str, Any]) -> dict[str, type]:
    """Import the classes that the settings name, also from the current folder; ConfigError, naming the key, else."""
    return {part: import_class(part, settings[part]) for part in BASES if settings.get(part) is not None}


def build(settings: dict[str, Any]) -> tuple[Task, Tuner]:
    """Build fresh task (with environment and algorithm) and tuner; ConfigError, naming the key, if a class refuses."""
    classes = part_classes(settings)
    require(classes)
    names = {"env": "environment", "algorithm": "algorithm"}
    parts = {names[part]: construct(part, cls, settings[part]) for part, cls in classes.items() if part in names}
    try:
        task = construct("task", classes["task"], settings["task"], **parts)
    except ConfigError as error:
        if "algorithm" in parts and isinstance(parts["environment"], DirectEnvironment):
            raise ConfigError(f"{error}; {classes['env'].__name__} is played directly: add algorithm=none") from None
        raise
    return task, construct("tuner", classes["tuner"], settings["tuner"])


def check_experiment(experiment: Experiment) -> None:
    """Find what a user can correct before anything is run or written: build the parts and start them once.

    Raises BenchError; any other error is left to the repetition, which records its traceback.
    """
    settings = experiment.settings
    _check_numbers(settings)
    task, tuner = build(settings)
    _ = experiment.run_id
    seeds = Seeds(settings["seed"])
    try:
        problem = task.start(settings["horizon"], seeds)
        for need in tuner.needs:
            if not getattr(problem, need, None):
                raise ConfigError(
                    f"tuner: found {type(tuner).__name__} with {type(task).__name__} on {settings['env']['_target_']}, "
                    f"expected {_NEEDS[need]}"
                )
        tuner.random_rounds(problem)
        tuner.start(problem, seeds.child("tuner"))
        check_proposal(tuner, problem.space)
    except SpaceError as error:
        if not is_suites(type(tuner)):
            raise TunerError(f"{type(tuner).__name__}: {error}{cure(problem.space)}") from None
        if error.name and not settings["algorithm"]:
            where = f"{type(tuner).__name__} does not fit {settings['env']['_target_']}"
            raise ConfigError(f"tuner: {where}: {error}") from None
        raise error.under(f"algorithm.space.{error.name}" if error.name else "algorithm.tune") from None
    except BenchError:
        raise
    except Exception:  # a bug, which only a traceback explains
        return


def _check_numbers(settings: dict[str, Any]) -> None:
    """Check what an algorithm would stumble over long after: a bandit's hyper-parameters are finite numbers."""
    algorithm = part_classes(settings).get("algorithm")
    spaces = getattr(algorithm, "spaces", {})
    numbers = algorithm is not None and issubclass(algorithm, ContextualAlgorithm)
    for name, changes in _mapping("algorithm.space", (settings.get("algorithm") or {}).get("space")).items():
        key = f"algorithm.space.{name}"
        try:
            parameter = HyperParameter(name, **{**spaces.get(name, {}), **_mapping(key, changes)})
        except ConfigError as error:
            raise error.under(key) from None
        if numbers:
            _check_finite(f"{key}.candidates", parameter.candidates)
            _check_finite(f"{key}.low", () if parameter.low is None else (parameter.low,))
            _check_finite(f"{key}.default", () if parameter.default is None else (parameter.default,))
    if numbers:
        for name, value in _mapping("tuner.configuration", settings["tuner"].get("configuration")).items():
            _check_finite(f"tuner.configuration.{name}", [value])
        for name, values in _mapping("task.probe", settings["task"].get("probe")).items():
            if not isinstance(values, list):
                raise ConfigError(f"task.probe.{name}: found {values!r}, expected a list of numbers")
            _check_finite(f"task.probe.{name}", values)


def _mapping(key: str, value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise ConfigError(f"{key}: found {value!r}, expected values by name")
    return value or {}


def _check_finite(key: str, values: Sequence[Any]) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise ConfigError(f"{key}: found {value!r}, expected a finite number, at least 0")


def run_repetition(experiment: Experiment, repetition: int) -> Trace:
    """Run one repetition with fresh parts."""
    settings = experiment.settings
    task, tuner = build(settings)
    return run(task, tuner, rounds=settings["horizon"], seeds=Seeds(settings["seed"], repetition))
