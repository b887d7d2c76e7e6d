from bench.component import component
from bench.envs.contextual import Link
from bench.envs.synthetic import Synthetic


@component
class SyntheticLogistic(Synthetic):
    """Contextual logistic bandit with rewards Bernoulli(1 / (1 + exp(-x'theta))).

    Source: syndicated, section 6 (features in (-1, 1)); cdt, section 5 (features in (-1/sqrt(dim), 1/sqrt(dim))).
    """

    @property
    def link(self) -> Link:
        return "logistic"

    def _sub_gaussian(self) -> float:
        return 0.5
