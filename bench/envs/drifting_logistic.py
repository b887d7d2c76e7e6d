from bench.component import component
from bench.envs.drifting import Drifting
from bench.envs.synthetic_logistic import SyntheticLogistic


@component
class DriftingLogistic(Drifting, SyntheticLogistic):
    """Contextual logistic bandit whose theta, arms' popularity and scale of x'theta may change during a run."""
