from abc import abstractmethod
from typing import Any, ClassVar

from pydantic import PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner


@component
class OptunaTuner(Tuner):
    """An Optuna study that maximises the reward, round by round.

    A hyper-parameter is searched on its interval if it has one (as integer or on a log scale if so declared), else on
    its candidates as categories. A conditional one (``when``) is suggested if its condition holds; otherwise it has its
    usual value, which is not passed to the sampler.
    """

    requires: ClassVar[tuple[str, ...]] = ("optuna",)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        # Imported here because it takes half a second
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._parameters = problem.space.parameters
        sampler = self._sampler(int(seeds.generator("sampler").integers(2**31)))
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._trial: Any = None

    @abstractmethod
    def _sampler(self, seed: int) -> Any:
        """Return the sampler."""

    def _ask(self) -> Configuration:
        from optuna.trial import TrialState

        if self._trial is not None:  # asked again before tell: this trial gets no result
            self._study.tell(self._trial, state=TrialState.FAIL)
        self._trial = self._study.ask()
        configuration: Configuration = {}
        for parameter in self._parameters:
            if parameter.when is None or configuration.get(parameter.when[0]) == parameter.when[1]:
                configuration[parameter.name] = _suggest(self._trial, parameter)
            else:
                configuration[parameter.name] = parameter.default
        return configuration

    def _tell(self, reward: float, outcome: Any) -> None:
        self._study.tell(self._trial, reward)
        self._trial = None


@component
class OptunaRandom(OptunaTuner):
    """Draw every trial independently and uniformly (on a log scale if the hyper-parameter has one).

    Source: Bergstra and Bengio 2012, as in Optuna's ``RandomSampler``; opl_hpo, section 2.
    """

    def _sampler(self, seed: int) -> Any:
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=seed)


@component
class TPE(OptunaTuner):
    """Tree-structured Parzen estimator, by Optuna: prefers values likely among good trials, unlikely among others.

    Arguments of Optuna's ``TPESampler`` whose defaults differ between its versions 4 and 5 are set explicitly.
    Source: Bergstra et al. 2011, as in Optuna's ``TPESampler``; opl_hpo, section 2.

    Parameters
    ----------
    n_startup
        Random trials at the start.
    multivariate
        Whether the densities are joint ones; if not, each hyper-parameter is sampled separately, as in the original.
    """

    n_startup: PositiveInt = 10
    multivariate: bool = False

    def _sampler(self, seed: int) -> Any:
        from bench.tuners.tpe_sampler import RememberingTPESampler

        return RememberingTPESampler(
            n_startup_trials=self.n_startup,
            n_ei_candidates=24,
            multivariate=self.multivariate,
            group=False,
            seed=seed,
        )


def _suggest(trial: Any, parameter: HyperParameter) -> Any:
    if parameter.low is None or parameter.high is None:
        return trial.suggest_categorical(parameter.name, parameter.candidates)
    if parameter.integer:
        return trial.suggest_int(parameter.name, int(parameter.low), int(parameter.high), log=parameter.log)
    return trial.suggest_float(parameter.name, parameter.low, parameter.high, log=parameter.log)
