import importlib.util
import inspect
import warnings
from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar

from bench.arithmetic import rounded
from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner

_PACKAGES = {"CmaEsSampler": "cmaes", "GPSampler": "torch"}
"""Packages that samplers require in addition to Optuna."""


@component
class OptunaTuner(Tuner):
    """An Optuna study that maximises the reward, round by round.

    A hyper-parameter is searched on its interval (as integer or on a log scale if so declared), or on its candidates as
    categories if there is no interval. A conditional hyper-parameter (``when``) is suggested if its condition holds;
    otherwise it has its usual value, which is not passed to the sampler. Rewards and numbers proposed are rounded to
    `bench.arithmetic.DIGITS` significant digits, so that the suggestions do not depend on the processor. A saved state
    holds asks and rewards, which are replayed when the state is restored.
    """

    requires: ClassVar[tuple[str, ...]] = ("optuna",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_number",)
    learns_history: ClassVar[bool] = True
    heeds: ClassVar[tuple[str, ...]] = ("when",)
    unsaved: ClassVar[tuple[str, ...]] = ("_study",)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._parameters = problem.space.parameters
        self._seed = int(seeds.generator("sampler").integers(2**31))
        self._events: list[tuple[int, float] | Configuration | None] = []
        self._number = 0
        self._study = self._begin()

    def _begin(self) -> Any:
        # Imported here because the import takes half a second
        import optuna

        from bench.tuners.optuna_samplers import RoundingSampler

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        return optuna.create_study(direction="maximize", sampler=RoundingSampler(self._sampler(self._seed)))

    @abstractmethod
    def _sampler(self, seed: int) -> Any:
        """Return the sampler."""

    def _ask(self) -> Configuration:
        return self._suggest(None)

    def _tell(self, reward: float, outcome: Any) -> None:
        self._events.append((self._number, reward))
        self._study.tell(self._number, rounded(reward))

    def _as_asked(self, configuration: Configuration) -> None:
        self._suggest(configuration)

    def _suggest(self, given: Configuration | None) -> Configuration:
        """Begin a trial with a given configuration, or with a configuration from the sampler."""
        self._events.append(given)
        if given is not None:
            self._study.enqueue_trial(given)
        trial = self._study.ask()
        self._number = trial.number
        configuration: Configuration = {}
        for parameter in self._parameters:
            if parameter.when is None or configuration.get(parameter.when[0]) == parameter.when[1]:
                configuration[parameter.name] = _suggest(trial, parameter)
            else:
                configuration[parameter.name] = parameter.default
        return configuration

    def _rebuild(self) -> None:
        number, events, self._events = self._number, self._events, []
        self._study = self._begin()
        for event in events:
            if isinstance(event, tuple):
                self._number, reward = event
                self._tell(reward, None)
            else:
                self._suggest(event)
        self._number = number


@component
class Optuna(OptunaTuner):
    """Any sampler of Optuna, by its name.

    Raises ConfigError if the sampler is unknown, refuses its settings, or needs a package that is not installed.

    Parameters
    ----------
    sampler
        The name of a class in ``optuna.samplers``, such as ``GPSampler`` or ``CmaEsSampler``.
    arguments
        Arguments of the sampler, such as ``{n_startup_trials: 5}``; its seed is the run's.
    """

    label: ClassVar[str] = "Optuna"
    follows_last_digits: ClassVar[bool] = True

    sampler: str = "TPESampler"
    arguments: dict[str, Any] = field(default_factory=dict)

    def _sampler(self, seed: int) -> Any:
        from optuna import samplers

        names = [name for name in samplers.__all__ if name.endswith("Sampler") and not name.startswith("Base")]
        if self.sampler not in names:
            raise ConfigError(f"tuner.sampler: found '{self.sampler}', expected one of: {', '.join(sorted(names))}")
        cls = getattr(samplers, self.sampler)
        known = inspect.signature(cls).parameters
        for name in self.arguments:
            if name not in known or name == "seed":
                valid = ", ".join(argument for argument in known if argument != "seed")
                raise ConfigError(f"tuner.arguments: found '{name}', expected arguments of {self.sampler}: {valid}")
        package = _PACKAGES.get(self.sampler)
        if package and importlib.util.find_spec(package) is None:
            raise ConfigError(
                f"tuner.sampler: {self.sampler} needs {package}, which is not installed: pip install {package}"
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the warning that the sampler is experimental
                return cls(**self.arguments, **({"seed": seed} if "seed" in known else {}))
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"tuner.arguments: found {self.arguments}, which {self.sampler} refuses ({error}), expected others"
            ) from None

    def _suggest(self, given: Configuration | None) -> Configuration:
        try:
            return super()._suggest(given)
        except (ImportError, ValueError) as error:
            raise ConfigError(
                f"tuner.sampler: found {self.sampler}, which cannot search this space ({error}), expected another"
            ) from None


@component
class OptunaRandom(OptunaTuner):
    """Draw every trial independently and uniformly, on a log scale if the hyper-parameter has such a scale.

    Source: Bergstra and Bengio 2012, as in Optuna's ``RandomSampler``; opl_hpo, section 2.
    """

    def _sampler(self, seed: int) -> Any:
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=seed)


def _suggest(trial: Any, parameter: HyperParameter) -> Any:
    if parameter.low is None or parameter.high is None:
        return trial.suggest_categorical(parameter.name, parameter.candidates)
    if parameter.integer:
        return trial.suggest_int(parameter.name, int(parameter.low), int(parameter.high), log=parameter.log)
    return trial.suggest_float(parameter.name, parameter.low, parameter.high, log=parameter.log)
