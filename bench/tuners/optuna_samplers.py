from collections.abc import Sequence
from typing import Any

from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from bench.arithmetic import rounded


class RoundingSampler(BaseSampler):
    """A wrapper of any sampler that rounds suggestions to `bench.arithmetic.DIGITS` significant digits.

    Trials store the rounded suggestions, so that the last digits of a sampler's densities, which depend on the
    processor, do not affect later suggestions.
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
