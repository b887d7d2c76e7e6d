from typing import Any

from bench.component import component
from bench.tuners.optuna_tuner import OptunaTuner


@component
class OptunaRandom(OptunaTuner):
    """Draw every trial independently and uniformly (on a log scale if the hyper-parameter has one).

    Source: Bergstra and Bengio 2012, as in Optuna's ``RandomSampler``; opl_hpo, section 2.
    """

    def _sampler(self, seed: int) -> Any:
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=seed)
