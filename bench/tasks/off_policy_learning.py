import math
import time
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, InstanceOf, NonNegativeInt, PositiveFloat

from bench.algorithms.softmax_policy import SoftmaxPolicy
from bench.component import component
from bench.envs.logged import LoggedEnvironment, Policy
from bench.off_policy.estimators import Bound, Estimator, estimator_terms, lower_bound, paired_sign
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.tuners.base import Problem

QUANTILES = (5, 25, 50, 75, 90, 95, 99)
"""Percentages of the quantiles of the trials' overestimation."""
EXCEEDED = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2)
"""Thresholds of overestimation. The mean over runs of each share beyond is the share among all trials pooled."""


@component
class OffPolicyLearning(Task):
    """Off-policy learning, in which a trial trains the configuration's policy and scores it on the validation data.

    With ``objective: estimate`` and no imitation the task is the usual procedure (algorithm 1); with ``lower_bound``
    and imitation it is CIR-HPO (algorithm 2). The tuner's reward is the objective of the trial's policy. The incumbent
    is the policy with the best objective so far; on a tie, algorithm 1 keeps the old policy and algorithm 2 takes the
    new policy.

    With imitation the policy of trial t is pi_t = (1 - alpha_t) pi_hat_t + alpha_t pi0, where pi_hat_t is the trained
    policy and alpha_t = alpha_init + (1 - alpha_init) (t / T)^gamma mean(s_1 .. s_t), clipped to [0, 1]; s_t is 1 if
    pi0 is significantly better on the validation data by inverse propensity scores, -1 if pi0 is significantly worse,
    and 0 otherwise.

    Trace columns, none summed, are the trial's ``reward`` (its objective), ``alpha`` and ``score`` (s_t), and of the
    incumbent:

    - ``objective``, ``validation_value`` (the estimate) and ``true_value``; the last two divided by the logging
      policy's true value as ``relative_validation_value`` and ``relative_true_value``;
    - ``overestimation``, the estimate less the true value; ``is_below_logging``, 1 if its true value is below the
      logging policy's, else 0; where true values are estimated, ``true_value_low`` and ``true_value_high``, the ends of
      a 95 % confidence interval;
    - ``mean_relative_true_value`` over the trials so far; ``relative_logging_value``, 1; ``logging_value`` and, where
      the best value is known, its share of that as ``logging_optimality``.

    With ``trial_contexts`` also ``trial_validation_value``, ``trial_true_value`` and ``trial_overestimation`` of the
    trial's policy and, over all trials so far, ``mean_overestimation``, ``overestimation_q5`` ..
    ``overestimation_q99``, ``largest_overestimation``, the shares of trials beyond 0, 0.02, .. as ``beyond_0``,
    ``beyond_0.02``, .. and, where the best value is known, ``regret``, the summed differences between the best value
    and the trials' true values. Costs: ``training``, ``scoring``, their sum ``trials``, and ``true_value``, which
    serves the report and not the tuning. Source: opl_hpo, algorithms 1 and 2, equations 11 to 14.

    Parameters
    ----------
    estimator
        Estimator of a policy's value on the validation data; ``dr`` uses the reward model at default hyper-parameters.
    objective
        The maximised quantity: the ``estimate`` or a ``lower_bound`` of it.
    bound
        The kind of lower bound.
    delta
        Level of the lower bound and of the test for s_t.
    imitation
        Whether policies are mixed with the logging policy.
    imitation_test
        The policy that is tested against pi0: the ``trained`` pi_hat_t, or the policy ``mixed`` with the previous
        alpha.
    alpha_init, gamma
        Parameters of alpha_t.
    initial_incumbent
        The policy that the first trial must beat, ``logging_policy`` or ``none``; null: as printed, none in algorithm 2
        only.
    trial_contexts
        Rows of the test data on which every trial's policy is evaluated, for the report; 0 for none.
    """

    sums = ()
    compared: ClassVar[str] = "relative_true_value"
    timed: ClassVar[bool] = True

    environment: InstanceOf[LoggedEnvironment]
    algorithm: InstanceOf[SoftmaxPolicy]
    estimator: Estimator = "ips"
    objective: Literal["estimate", "lower_bound"] = "estimate"
    bound: Bound = "t_test"
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1
    imitation: bool = False
    imitation_test: Literal["trained", "mixed"] = "trained"
    alpha_init: Annotated[float, Field(ge=0, le=1)] = 0.5
    gamma: PositiveFloat = 0.01
    initial_incumbent: Literal["logging_policy", "none"] | None = None
    trial_contexts: NonNegativeInt = 0
    alpha: float = field(init=False, repr=False)

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment, algorithm = self.environment, self.algorithm
        environment.start(rounds, seeds.child("env"))
        algorithm.start(environment.train, environment.action_features, seeds.child("algorithm"))
        data = environment.validation
        self._predictions = algorithm.train({}).predict(data.contexts) if self.estimator == "dr" else None
        self._logging_terms = estimator_terms("ips", data, data.policy)
        self._rounds = rounds
        self._trial = 0
        self._scores = 0
        self.alpha = self.alpha_init if self.imitation else 0.0
        self._overestimations: list[float] = []
        self._regret = 0.0
        self._total = 0.0
        self._is_algorithm_2 = self.imitation or self.objective == "lower_bound"
        estimate, objective = self._evaluate(data.policy)
        self._keep(objective, estimate, environment.logging_value, lambda contexts, logging_policy: logging_policy)
        if (self.initial_incumbent or ("none" if self._is_algorithm_2 else "logging_policy")) == "none":
            self._objective = -math.inf
        return Problem(space=algorithm.tuned, horizon=rounds, rounds=rounds)

    def play(self, configuration: Configuration) -> Outcome:
        data = self.environment.validation
        times = [time.process_time()]
        trained = self.algorithm.policy(configuration)
        times.append(time.process_time())
        self._trial += 1
        probabilities = trained(data.contexts, data.policy)
        score = self._regularise(probabilities) if self.imitation else 0
        alpha = self.alpha
        estimate, objective = self._evaluate(_mixture(probabilities, data.policy, alpha))
        is_better = objective > self._objective or (objective == self._objective and self._is_algorithm_2)
        times.append(time.process_time())

        def policy(contexts: np.ndarray, logging_policy: np.ndarray) -> np.ndarray:
            return _mixture(trained(contexts, logging_policy), logging_policy, alpha)

        if is_better:
            value = self.environment.logging_value if alpha == 1 else self.environment.value(policy)
            self._keep(objective, estimate, value, policy)
        self._total += self._incumbent["relative_true_value"]
        values = {"reward": objective, "alpha": alpha, "score": score, **self._incumbent}
        values["mean_relative_true_value"] = self._total / self._trial
        if self.trial_contexts:
            values |= self._overestimation(estimate, policy)
        times.append(time.process_time())
        training, scoring, true_value = np.diff(times).tolist()
        costs = {"training": training, "scoring": scoring, "trials": training + scoring, "true_value": true_value}
        return Outcome(objective, values, costs=costs)

    def _evaluate(self, probabilities: np.ndarray) -> tuple[float, float]:
        data = self.environment.validation
        terms = estimator_terms(self.estimator, data, probabilities, self._predictions)
        estimate = float(terms.mean())
        if self.objective == "estimate":
            return estimate, estimate
        largest_weight = 1.0 if self.bound == "t_test" else float((probabilities / data.policy).max())
        return estimate, lower_bound(self.bound, terms, largest_weight, self.delta)

    def _regularise(self, probabilities: np.ndarray) -> int:
        """Test the logging policy against the trial's policy, set alpha by equation 14 and return s_t."""
        data = self.environment.validation
        if self.imitation_test == "mixed":
            probabilities = _mixture(probabilities, data.policy, self.alpha)
        score = paired_sign(self._logging_terms, estimator_terms("ips", data, probabilities), self.delta)
        self._scores += score
        share = (self._trial / self._rounds) ** self.gamma
        alpha = self.alpha_init + (1 - self.alpha_init) * share * self._scores / self._trial
        self.alpha = min(1.0, max(0.0, alpha))
        return score

    def _keep(self, objective: float, estimate: float, value: float, policy: Policy) -> None:
        logging_value, best_value = self.environment.logging_value, self.environment.best_value
        scale = logging_value or math.nan  # all rewards of the log are 0
        self._objective = objective
        self._incumbent: dict[str, Any] = {
            "objective": objective,
            "validation_value": estimate,
            "true_value": value,
            "relative_validation_value": estimate / scale,
            "relative_true_value": value / scale,
            "overestimation": estimate - value,
            "is_below_logging": float(value < logging_value),
            "relative_logging_value": logging_value / scale,
            "logging_value": logging_value,
        }
        if best_value is not None:
            self._incumbent["logging_optimality"] = logging_value / best_value
        interval = self.environment.value_interval(policy)
        if interval is not None:
            self._incumbent |= {"true_value_low": interval[0], "true_value_high": interval[1]}

    def _overestimation(self, estimate: float, policy: Policy) -> dict[str, float]:
        value = self.environment.value(policy, self.trial_contexts)
        self._overestimations.append(estimate - value)
        so_far = np.array(self._overestimations)
        values = {
            "trial_validation_value": estimate,
            "trial_true_value": value,
            "trial_overestimation": estimate - value,
            "mean_overestimation": float(so_far.mean()),
            **{f"overestimation_q{q}": float(np.percentile(so_far, q)) for q in QUANTILES},
            "largest_overestimation": float(so_far.max()),
            **{f"beyond_{level:g}": float((so_far > level).mean()) for level in EXCEEDED},
        }
        if self.environment.best_value is not None:
            self._regret += self.environment.best_value - value
            values["regret"] = self._regret
        return values


def _mixture(probabilities: np.ndarray, logging_policy: np.ndarray, alpha: float) -> np.ndarray:
    if alpha == 0:
        return probabilities
    return logging_policy if alpha == 1 else (1 - alpha) * probabilities + alpha * logging_policy
