"""One experiment: resolved settings, the parts they name, and one repetition of it."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

from bench.algorithms.contextual import ContextualAlgorithm
from bench.data.catalogue import CATALOGUE, Dataset
from bench.data.files import locate
from bench.data_kind import DataKind
from bench.digest import digest
from bench.envs.base import Environment
from bench.envs.direct import DirectEnvironment
from bench.errors import BenchError, ConfigError, SpaceError, TunerError
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.base import Task
from bench.trace import Trace
from bench.tuners.base import Tuner
from bench.tuners.fault import check_proposal, cure
from runners.config.classes import BASES, construct, describe, import_class, is_named, is_suites, require
from runners.config.identity import (
    Code,
    checksum_of_files,
    code_of,
    counted,
    other_here,
    prepare_compiled,
    session_note,
    token_of,
)
from runners.config.tree import plain

T = TypeVar("T")

_NEEDS = {
    "change_points": "an environment with known changes, such as env=switching_sine",
    "forecasts": "a contextual bandit whose copies all forecast rewards: task=copies task.learn=all",
    "full_information": "an environment with full information (the rewards of all configurations), such as "
    "env=gaussian_arms",
}
"""Facts that a tuner may need of a problem, as text."""


class Experiment:
    """The inputs of a run, which are everything that its numbers depend on, and nothing else.

    ``env``, ``algorithm`` (left out or None for tasks without an algorithm), ``tuner`` and ``task`` are dicts with the
    fields of a class, and with the dotted path of the class as ``_target_``. ``horizon`` is the number of rounds,
    ``seed`` the base seed. The settings are copied, with numpy scalars and tuples made plain. ``classes`` holds, by
    part, the classes that were handed over as objects; they replace ``_target_``, here and in workers. Raises
    ConfigError if a key is missing, or a value is not plain data.
    """

    def __init__(self, settings: Mapping[str, Any], classes: Mapping[str, type] = MappingProxyType({})) -> None:
        self.settings: dict[str, Any] = {"algorithm": None} | plain(settings)
        for key in (*BASES, "horizon", "seed"):
            if self.settings.get(key) is None and key != "algorithm":
                raise ConfigError(f"{key}: found no value, expected one")
        self.handed = {part: cls for part, cls in classes.items() if not is_named(cls)}
        """Classes without a dotted path, by part."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and (self.settings, self.handed) == (other.settings, other.handed)

    def __getstate__(self) -> dict[str, Any]:
        _ = self.tokens  # in a worker the classes are other objects
        return {name: value for name, value in self.__dict__.items() if name != "classes"}  # its import loads the rest

    @cached_property
    def classes(self) -> dict[str, type]:
        """The classes of the parts, handed over or imported, if necessary from the current folder.

        Raises ConfigError, naming the key, if a class cannot be imported.
        """
        parts = [part for part in BASES if self.settings.get(part) is not None]
        found = {part: self.handed.get(part) or import_class(part, self.settings[part]) for part in parts}
        for cls in found.values():
            prepare_compiled(cls)
        return found

    @property
    def own(self) -> dict[str, type]:
        """The user's own classes, by part; a user's class may do anything to its process."""
        return {part: cls for part, cls in self.classes.items() if not is_suites(cls)}

    @property
    def own_names(self) -> str:
        """The names of the user's own classes, such as ``tuner MyTuner``, or of all classes if none is a user's."""
        return ", ".join(f"{part} {cls.__name__}" for part, cls in (self.own or self.classes).items())

    @cached_property
    def fingerprint(self) -> str | None:
        """The identity of the data: a checksum, ``surrogate``, or None if the experiment reads no data.

        ``altered-`` precedes the checksum of data that differs from the published data, and ``packaged-`` the checksum
        of a sample. The identity consists of the environment's fingerprint and a checksum of the files that settings
        name.
        """
        declared = self._asked(lambda env: env.fingerprint)
        files = checksum_of_files(self.settings, self.classes, declared)
        return declared if files is None else files if declared is None else f"{declared}-with-{files}"

    def data_notes(self) -> list[str]:
        """Return one line for each note to show before a run, on the data and on classes defined in this session."""
        notes = self._asked(lambda env: list(env.notes_on(self.settings["horizon"])))
        return [*notes, *(session_note(part, cls) for part, cls in self.handed.items())]

    def missing_data(self) -> list[Dataset]:
        """Return the suite's data sets that the environment reads and that are missing."""
        cls: Any = self.classes["env"]
        return [CATALOGUE[name] for name in cls.data_sets(self.settings["env"]) if locate(CATALOGUE[name]) is None]

    @cached_property
    def rounds(self) -> int:
        """The approximate number of rounds of a repetition: the horizon, unless the data ends earlier."""
        return min(self.settings["horizon"], self._asked(lambda env: env.rounds_there) or self.settings["horizon"])

    @cached_property
    def most_repetitions(self) -> int | None:
        """The largest number of repetitions if a log is replayed in parts, else None."""
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
        """Return the result of ``ask`` on the environment. Raises ConfigError if a user's class fails."""
        settings, cls = self.settings["env"], self.classes["env"]
        try:
            return ask(construct("env", cls, settings))
        except (Exception, SystemExit) as error:
            if isinstance(error, BenchError) or is_suites(cls):
                raise
            raise ConfigError(f"env: {cls.__name__} cannot say which data it reads: {describe(error)}") from error

    def check_here(self) -> None:
        """Raise ConfigError if the code or data in this process, perhaps on another machine, differs from the run's."""
        other = other_here(self.code)
        if (data := Experiment(self.settings, self.handed).fingerprint) != self.fingerprint:
            other.append(f"data, which is now {data}")
        if other:
            raise ConfigError(
                f"run {self.run_id}: found other code or data than when it was started ({', '.join(other)}), expected "
                "the same; start it again"
            )

    def on_data(self, fingerprint: str | None) -> "Experiment":
        """Return the experiment with the key that it has on data with another fingerprint; the result cannot be run."""
        other = Experiment(self.settings, self.handed)
        other.fingerprint = fingerprint
        return other

    @property
    def data_kind(self) -> DataKind:
        return DataKind.of(self.fingerprint)

    @cached_property
    def key(self) -> str:
        """Hash of the request in twenty hexadecimal digits, made of settings by name and value, horizon, seed and data.

        A class of the suite counts by its name, independently of its module. A user's class counts by its dotted path,
        or by the class object if there is no path. A setting that was added later (`bench.component.neutral`) does not
        count at its neutral value.
        """
        asked = {"settings": counted(self.settings, self.classes), "fingerprint": self.fingerprint}
        return digest(asked | ({"session": self.tokens} if self.handed else {}), 20)

    @cached_property
    def tokens(self) -> dict[str, str]:
        return {part: token_of(cls) for part, cls in self.handed.items()}

    @cached_property
    def stamp(self) -> str:
        """Hash of the code in twelve hexadecimal digits, made of science, a user's files, and computing packages."""
        return digest(list(self.code), 12)

    @cached_property
    def code(self) -> Code:
        return code_of(self.classes)

    @property
    def run_id(self) -> str:
        """The name of the folder of raw results, made of key and stamp."""
        return f"{self.key}-{self.stamp}"

    @property
    def description(self) -> dict[str, Any]:
        """The inputs of the key and the stamp, as plain data."""
        return {"settings": self.settings, "fingerprint": self.fingerprint, **self.code._asdict()}


def build(experiment: Experiment) -> tuple[Task, Tuner]:
    """Build a fresh task, with its environment and algorithm, and a fresh tuner.

    Raises ConfigError, naming the key, if a class refuses a setting.
    """
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

    Raises BenchError for such an error; any other error is left to the repetition, which records its traceback.
    """
    settings = experiment.settings
    _ = experiment.run_id
    seeds, problem = Seeds(settings["seed"]), None
    try:
        task, tuner = build(experiment)
        _check_numbers(task, settings)
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
        tuner_class = experiment.classes["tuner"]
        if problem and not is_suites(tuner_class):
            raise TunerError(f"{tuner_class.__name__}: {error}{cure(problem.space)}") from None
        if error.name and not settings["algorithm"]:
            where = f"{tuner_class.__name__} does not fit {settings['env']['_target_']}"
            raise ConfigError(f"tuner: {where}: {error}") from None
        raise error.under(f"algorithm.space.{error.name}" if error.name else "algorithm.tune") from None
    except BenchError:
        raise
    except Exception:  # a bug, to be explained by its traceback
        return


def _check_numbers(task: Task, settings: Mapping[str, Any]) -> None:
    """Refuse negative or infinite numbers, with which the suite's bandits would fail much later, or silently."""
    algorithm = getattr(task, "algorithm", None)
    if not isinstance(algorithm, ContextualAlgorithm) or not is_suites(type(algorithm)):
        return
    given = {
        f"algorithm.space.{parameter.name}": [*parameter.candidates, *filter(None, (parameter.low, parameter.default))]
        for parameter in algorithm.hyper_parameters.parameters
    }
    fixed, probed = settings["tuner"].get("configuration") or {}, settings["task"].get("probe") or {}
    given |= {f"tuner.configuration.{name}": [value] for name, value in fixed.items()}
    given |= {f"task.probe.{name}": values for name, values in probed.items()}
    for key, values in given.items():
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ConfigError(f"{key}: found {value!r}, expected finite numbers, at least 0")


def run_repetition(experiment: Experiment, repetition: int) -> Trace:
    settings = experiment.settings
    task, tuner = build(experiment)
    return run(task, tuner, rounds=settings["horizon"], seeds=Seeds(settings["seed"], repetition))
