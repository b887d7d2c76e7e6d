import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.samplers._tpe.parzen_estimator import _ParzenEstimator
from optuna.samplers._tpe.sampler import default_gamma
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from bench.arithmetic import first_of_best, rounded


class RoundingSampler(BaseSampler):
    """Any sampler, with suggestions of `bench.arithmetic.DIGITS` significant digits.

    The trials remember them so, too: the last digits of a sampler's densities, which depend on the processor, have no
    influence on later suggestions.
    """

    def __init__(self, sampler: BaseSampler) -> None:
        self._sampler = sampler

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return self._sampler.infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        values = self._sampler.sample_relative(study, trial, search_space)
        return {name: _rounded(value, search_space[name]) for name, value in values.items()}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        value = self._sampler.sample_independent(study, trial, param_name, param_distribution)
        return _rounded(value, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        self._sampler.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        self._sampler.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        self._sampler.reseed_rng()


def _rounded(value: Any, distribution: BaseDistribution) -> Any:
    if not isinstance(distribution, FloatDistribution):
        return value
    return min(max(rounded(value), distribution.low), distribution.high)


class StableParzenEstimator(_ParzenEstimator):
    """Optuna's density, in which values observed several times get their widths in the order of observation.

    A width is the larger gap to the neighbours in a sorted list. Optuna sorts equal values in an order that depends on
    the processor.
    """

    def _calculate_numerical_distributions(self, *arguments: Any) -> Any:
        made: Any = super()._calculate_numerical_distributions(*arguments)
        low, high, values = made.adapted_low, made.adapted_high, made.mu[:-1]  # the last one is the prior's
        n = len(values)
        order = np.argsort(values, kind="stable")
        gaps = np.diff(np.concatenate(([low], values[order], [high])))
        widths = np.maximum(gaps[:-1], gaps[1:])
        if n > 1:  # gaps to the ends do not count
            widths[0], widths[-1] = gaps[1], gaps[-2]
        sigma = made.sigma.copy()
        sigma[order] = np.clip(widths, (high - low) / min(100.0, n + 2.0), high - low)
        return made._replace(sigma=sigma)


class RememberingTPESampler(TPESampler):
    """A faster `TPESampler`, for one process, one maximised objective and no constraints.

    Its suggestions are equal, except where the processor would decide: widths are those of `StableParzenEstimator`, and
    of candidates whose ratios of densities are equal up to rounding the first is suggested.

    Optuna sorts all trials and converts their values again at every suggestion, which at 1,000 trials takes twice as
    long as the suggestion itself. Here each trial's values are converted once, when it is told, and the split into good
    and other trials is done once per trial. Densities, random numbers and the choice remain Optuna's.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(constant_liar=False, **arguments)
        self._parzen_estimator_cls = StableParzenEstimator
        self._told: list[float] = []
        self._known: dict[str, list[float]] = {}
        self._split: tuple[np.ndarray, np.ndarray] | None = None

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        super().after_trial(study, trial, state, values)
        if state != TrialState.COMPLETE or values is None:
            return
        for name, value in trial.params.items():
            column = self._known.setdefault(name, [])
            column += [math.nan] * (len(self._told) - len(column))
            column.append(trial.distributions[name].to_internal_repr(value))
        self._told.append(values[0])
        self._split = None

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        if len(self._told) < self._n_startup_trials:
            return self._random_sampler.sample_independent(study, trial, param_name, param_distribution)
        return self._sample(study, trial, {param_name: param_distribution})[param_name]

    def _sample(self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]) -> dict[str, Any]:
        if self._split is None:
            n = len(self._told)
            order = np.argsort(-np.array(self._told), kind="stable")
            n_good = (self._gamma or default_gamma)(n)
            self._split = np.sort(order[:n_good]), np.sort(order[n_good:])
        columns = {name: np.full(len(self._told), math.nan) for name in search_space}
        for name, column in columns.items():
            known = self._known.get(name, [])
            column[: len(known)] = known
        complete = ~np.isnan(sum(columns.values()))
        good, others = (
            self._parzen_estimator_cls(
                {name: column[part[complete[part]]] for name, column in columns.items()},
                search_space,
                self._parzen_estimator_parameters,
            )
            for part in self._split
        )
        samples = good.sample(self._rng.rng, self._n_ei_candidates)
        best = first_of_best(good.log_pdf(samples) - others.log_pdf(samples), 1.0)
        return {name: each.to_external_repr(samples[name][best].item()) for name, each in search_space.items()}
