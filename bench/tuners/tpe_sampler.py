import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import TPESampler
from optuna.samplers._tpe.sampler import default_gamma
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState


class RememberingTPESampler(TPESampler):
    """A faster `TPESampler` with equal suggestions, for one process, one maximised objective and no constraints.

    Optuna sorts all trials and converts their values again at every suggestion, which at 1,000 trials takes twice as
    long as the suggestion itself. Here each trial's values are converted once, when it is told, and the split into good
    and other trials is done once per trial. Densities, random numbers and the choice remain Optuna's.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__(constant_liar=False, **arguments)
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
        best = self._compare(samples, good.log_pdf(samples) - others.log_pdf(samples))
        return {name: distribution.to_external_repr(best[name]) for name, distribution in search_space.items()}
