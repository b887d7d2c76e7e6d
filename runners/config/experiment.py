"""One experiment: resolved settings, the parts they name, and one repetition of it."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
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
from runners.config.classes import BASES, construct, describe, import_class, is_named, is_suites, require
from runners.config.folders import named_folder
from runners.config.identity import Code, code_of, other_here, prepare_compiled, session_note, token_of
from runners.config.key import checksum_of_files, counted
from runners.config.tree import plain

T = TypeVar("T")

_NEEDS = {
    "change_points": "an environment with known changes, such as env=switching_sine",
    "forecasts": "a contextual bandit whose copies all forecast rewards: task=copies task.learn=all",
    "full_information": "an environment with full information (the rewards of all configurations), such as "
    "env=gaussian_arms",
}
"""Facts that a tuner may need of a problem, as text."""

_KEYS = (*BASES, "horizon", "seed")


class Experiment:
    """What is run: everything its numbers depend on, and nothing else.

    ``env``, ``algorithm`` (left out or None for tasks without one), ``tuner`` and ``task`` are dicts with the dotted
    path of a class as ``_target_`` and its fields; ``horizon`` is the number of rounds, ``seed`` the base seed. They
    are copied, with numpy scalars and tuples made plain. ``classes``, by part, are those that were handed over as
    objects: they are used in place of what ``_target_`` names, here and in workers. Raises ConfigError when a key is
    missing or unknown, or a value is not plain data.
    """

    def __init__(self, settings: Mapping[str, Any], classes: Mapping[str, type] = MappingProxyType({})) -> None:
        self.settings: dict[str, Any] = {"algorithm": None} | plain(settings)
        settings = self.settings
        for key in settings:
            if key not in _KEYS:
                raise ConfigError(f"{key}: found an unknown key, expected one of: {', '.join(_KEYS)}")
        for key in _KEYS:
            if settings.get(key) is None and key != "algorithm":
                raise ConfigError(f"{key}: found no value, expected one")
        for key, least in (("horizon", 1), ("seed", 0)):
            value = settings[key]
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigError(f"{key}: found {value!r}, expected a whole number, at least {least}")
        self.handed = {part: cls for part, cls in classes.items() if not is_named(cls)}
        """Classes without a dotted path, by part."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and (self.settings, self.handed) == (other.settings, other.handed)

    def __getstate__(self) -> dict[str, Any]:
        _ = self.tokens  # in a worker the classes are other objects
        return {name: value for name, value in self.__dict__.items() if name != "classes"}  # its import loads the rest

    @cached_property
    def classes(self) -> dict[str, type]:
        """The classes of its parts, given or imported; ConfigError, naming the key, if an import fails."""
        return part_classes(self.settings, self.handed)

    @property
    def is_suites(self) -> bool:
        """Whether all classes are the suite's; a user's class may do anything to its process."""
        return all(map(is_suites, self.classes.values()))

    @cached_property
    def fingerprint(self) -> str | None:
        """Identity of the data: a checksum, ``surrogate``, or None where there is no data.

        ``altered-`` or ``packaged-`` precedes the checksum of data that is not the published one, or a sample of it. It
        is what the environment says, and that of the files which settings name (`runners.config.key`).
        """
        declared = self._asked(lambda env: env.fingerprint)
        files = checksum_of_files(self.settings, self.classes, declared)
        return declared if files is None else files if declared is None else f"{declared}-with-{files}"

    def data_notes(self) -> list[str]:
        """Return notes on the data and on classes of this session, shown before a run, one per line."""
        notes = self._asked(lambda env: list(env.notes_on(self.settings["horizon"])))
        return [*notes, *(session_note(part, cls) for part, cls in self.handed.items())]

    @cached_property
    def rounds(self) -> int:
        """The approximate number of rounds of a repetition: the horizon, unless the data ends earlier."""
        return min(self.settings["horizon"], self._asked(lambda env: env.rounds_there) or self.settings["horizon"])

    @cached_property
    def most_repetitions(self) -> int | None:
        """The largest number of repetitions of a log that is replayed in parts; else None."""
        env, algorithm = (self.classes.get(part, object) for part in ("env", "algorithm"))
        is_played = issubclass(env, DirectEnvironment) or issubclass(algorithm, ContextualAlgorithm)
        is_replay = hasattr(env, "most_repetitions") and is_played
        return self._asked(lambda env: env.most_repetitions) if is_replay else None  # type: ignore[attr-defined]

    def check_repetitions(self, number: int) -> None:
        """Raise ConfigError if ``number`` repetitions are impossible."""
        if number > (most := self.most_repetitions or number):
            other = ", or env.sample=bootstrap, whose intervals say nothing about other data"
            raise ConfigError(
                f"repetitions: found {number}, expected at most {most}: a log of {most} parts (env.n_parts), each "
                f"repetition replaying its own{other if 'sample' in self.settings['env'] else ''}"
            )

    def _asked(self, ask: Callable[[Environment], T]) -> T:
        """Return the answer of the environment to ``ask``; ConfigError if a user's class fails."""
        settings, cls = self.settings["env"], self.classes["env"]
        named_folder("BENCH_DATA_DIR")
        try:
            return ask(construct("env", cls, settings))
        except (Exception, SystemExit) as error:
            if isinstance(error, BenchError) or is_suites(cls):
                raise
            raise ConfigError(f"env: {cls.__name__} cannot say which data it reads: {describe(error)}") from error

    def check_here(self) -> None:
        """Raise ConfigError if code or data of this process, perhaps on another machine, differ from the run's name."""
        other = other_here(self.code)
        if (data := Experiment(self.settings, self.handed).fingerprint) != self.fingerprint:
            other.append(f"data, which is now {data}")
        if other:
            raise ConfigError(
                f"run {self.run_id}: found other code or data than when it was started ({', '.join(other)}), expected "
                "the same; start it again"
            )

    def on_data(self, fingerprint: str | None) -> "Experiment":
        """Return this experiment as it is where its data has another fingerprint; it is only for names, not to run."""
        other = Experiment(self.settings, self.handed)
        other.__dict__["fingerprint"] = fingerprint  # in the place of the cached property
        return other

    @property
    def data_kind(self) -> DataKind:
        return DataKind.of(self.fingerprint)

    @cached_property
    def key(self) -> str:
        """Hash of the question, twenty hexadecimal digits: settings by name and value, horizon, seed and data.

        The suite's classes count by name, independent of their module; a user's by dotted path, or without one by the
        object itself. A setting that was added later (`bench.component.neutral`) does not count at its neutral value.
        """
        asked = {"settings": counted(self.settings, self.classes), "fingerprint": self.fingerprint}
        return digest(asked | ({"session": self.tokens} if self.handed else {}), 20)

    @cached_property
    def tokens(self) -> dict[str, str]:
        return {part: token_of(cls) for part, cls in self.handed.items()}

    @cached_property
    def stamp(self) -> str:
        """Hash of the code that answers, twelve hexadecimal digits: the science, a user's files, and the packages
        that compute."""
        return digest(list(self.code), 12)

    @cached_property
    def code(self) -> Code:
        return code_of(self.classes)

    @property
    def run_id(self) -> str:
        """The name of its raw runs: key and stamp."""
        return f"{self.key}-{self.stamp}"

    @property
    def description(self) -> dict[str, Any]:
        """The inputs of key and stamp, as text."""
        return {"settings": self.settings, "fingerprint": self.fingerprint, **self.code._asdict()}


def part_classes(settings: Mapping[str, Any], handed: Mapping[str, type]) -> dict[str, type]:
    """Return the class of each part: given, or imported, also from the current folder. Raises ConfigError."""
    parts = [part for part in BASES if settings.get(part) is not None]
    found = {part: handed[part] if part in handed else import_class(part, settings[part]) for part in parts}
    for cls in found.values():
        prepare_compiled(cls)
    return found


def build(experiment: Experiment) -> tuple[Task, Tuner]:
    """Build a fresh task (with environment and algorithm) and tuner; ConfigError, naming the key, if a class
    refuses."""
    settings, classes = experiment.settings, experiment.classes
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
    """Build the parts and start them once, to find errors that a user can correct before the run.

    Raises BenchError; any other error is left to the repetition, which records its traceback.
    """
    settings = experiment.settings
    _check_numbers(experiment)
    task, tuner = build(experiment)
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
    except Exception:  # a bug, to be explained by its traceback
        return


def _check_numbers(experiment: Experiment) -> None:
    """Check numbers that an algorithm would otherwise fail on much later: a bandit's hyper-parameters are finite."""
    settings, algorithm = experiment.settings, experiment.classes.get("algorithm")
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
    settings = experiment.settings
    task, tuner = build(experiment)
    return run(task, tuner, rounds=settings["horizon"], seeds=Seeds(settings["seed"], repetition))
