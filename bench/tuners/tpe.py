"""TPE: the tree-structured Parzen estimator, by Optuna."""

from typing import Any

from pydantic import PositiveInt

from bench.component import component
from bench.tuners.optuna_tuner import OptunaTuner


@component
class TPE(OptunaTuner):
    """Prefer values that are likely among good trials and unlikely among the others, each hyper-parameter by itself.

    Parameters
    ----------
    n_startup
        Random trials at the start.

    Source: Bergstra et al. 2011, as Optuna's ``TPESampler`` has it by default; opl_hpo, section 2.
    """

    n_startup: PositiveInt = 10

    def _sampler(self, seed: int) -> Any:
        from optuna.samplers import TPESampler

        return TPESampler(n_startup_trials=self.n_startup, seed=seed)
