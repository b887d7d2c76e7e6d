"""TPE: the tree-structured Parzen estimator, by Optuna."""

from typing import Any

from pydantic import PositiveInt

from bench.component import component
from bench.tuners.optuna_tuner import OptunaTuner


@component
class TPE(OptunaTuner):
    """Prefer values that are likely among good trials and unlikely among the others.

    Arguments of Optuna's ``TPESampler`` whose defaults differ between its versions 4 and 5 are set explicitly.

    Parameters
    ----------
    n_startup
        Random trials at the start.
    multivariate
        Whether the densities are joint ones; if not, each hyper-parameter is sampled on its own, as in the original.

    Source: Bergstra et al. 2011, as in Optuna's ``TPESampler``; opl_hpo, section 2.
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
