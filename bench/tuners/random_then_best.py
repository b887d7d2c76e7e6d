from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem
from bench.tuners.round_robin import RoundRobin


@component
class RandomThenBest(RoundRobin):
    """Try random configurations in turn during the first phase, then keep the one with the highest mean reward.

    They are uniform on the interval if there is one, else on the candidates. Source: online_hpo, section 7.1.3.

    Parameters
    ----------
    n_points
        Number of configurations, however many hyper-parameters there are.
    """

    def _points(self, problem: Problem, n_train: int, seeds: Seeds) -> list[Configuration]:
        rng = seeds.generator("points")
        return [problem.space.sample(rng) for _ in range(self.n_points)]
