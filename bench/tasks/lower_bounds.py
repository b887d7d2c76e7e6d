from typing import Annotated

from pydantic import Field, InstanceOf

from bench.algorithms.softmax_policy import SoftmaxPolicy
from bench.component import component
from bench.envs.synthetic_logged import SyntheticLogged
from bench.off_policy.estimators import BOUNDS, estimator_terms, lower_bound
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.tuners.base import Problem


@component
class LowerBounds(Task):
    """Comparison of three lower bounds of the configuration's policy value, computed from a new log in each round.

    No trace column is summed. The columns are ``reward``, the round's estimate by inverse propensity scores,
    ``true_value`` of the policy and ``delta``. The mean so far of each bound is ``t_test``, ``hoeffding`` or
    ``bernstein``; the true value less this mean is ``t_test_gap`` and so on; and the share of rounds so far in which
    the bound was not below the true value is ``t_test_errors`` and so on. The bounds use the largest weight over the
    log's contexts and all actions. Source: opl_hpo, appendix E.

    Parameters
    ----------
    n
        Rows of a log.
    delta
        Probability with which a bound may fail.
    """

    sums = ()

    environment: InstanceOf[SyntheticLogged]
    algorithm: InstanceOf[SoftmaxPolicy]
    n: Annotated[int, Field(ge=2)] = 1000
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.05

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment, algorithm = self.environment, self.algorithm
        environment.start(rounds, seeds.child("env"))
        algorithm.start(environment.train, environment.action_features, seeds.child("algorithm"))
        self._rng = seeds.child("env").generator("logs")
        self._rounds = 0
        self._sums = dict.fromkeys(BOUNDS, 0.0)
        self._errors = dict.fromkeys(BOUNDS, 0)
        self._configuration: Configuration | None = None
        return Problem(space=algorithm.tuned, horizon=rounds, rounds=rounds)

    def play(self, configuration: Configuration) -> Outcome:
        if configuration != self._configuration:
            self._configuration = dict(configuration)
            self._policy = self.algorithm.policy(configuration)
            self._value = self.environment.value(self._policy)
        data = self.environment.draw(self.n, self._rng)
        probabilities = self._policy(data.contexts, data.policy)
        terms = estimator_terms("ips", data, probabilities)
        largest_weight = float((probabilities / data.policy).max())
        self._rounds += 1
        for bound in BOUNDS:
            low = lower_bound(bound, terms, largest_weight, self.delta)
            self._sums[bound] += low
            self._errors[bound] += low >= self._value
        estimate = float(terms.mean())
        means: dict[str, float] = {bound: total / self._rounds for bound, total in self._sums.items()}
        values = {"reward": estimate, "true_value": self._value, "delta": self.delta, **means}
        values |= {f"{bound}_gap": self._value - mean for bound, mean in means.items()}
        values |= {f"{bound}_errors": count / self._rounds for bound, count in self._errors.items()}
        return Outcome(estimate, values)
