from typing import Any

from pydantic import PositiveInt

from bench.component import component
from bench.tuners.optuna_tuner import OptunaTuner


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
        # Imported here because Optuna takes half a second
        from bench.tuners.tpe_sampler import RememberingTPESampler

        return RememberingTPESampler(
            n_startup_trials=self.n_startup,
            n_ei_candidates=24,
            multivariate=self.multivariate,
            group=False,
            seed=seed,
        )
