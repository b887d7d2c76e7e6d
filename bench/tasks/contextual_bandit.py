import copy
import heapq
import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.arithmetic import total
from bench.envs.contextual import ContextualEnvironment
from bench.errors import ConfigError, TaskError
from bench.rewards import check_reward, played, short
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task, check_parts
from bench.tasks.feedback import draws
from bench.tasks.stated import check_constant, refuse_means, regrets
from bench.tuners.base import Problem

_FLOAT = np.dtype(np.float64)
_LARGEST = 1e150
"""The largest absolute reward that an algorithm may be told: its square is finite."""
_SELDOM = 64
"""Contexts are checked for finite values in the first 64 rounds, every 64th, and the last; a check costs
microseconds.
"""


class ContextualBandit(Task):
    """A contextual bandit algorithm that plays in an environment with the configuration as its hyper-parameters.

    The trace columns are ``reward``, which is summed, and the columns of the environment. Most environments have
    ``regret``, the best expected reward of the round less the expected reward of the arm pulled, and ``random_regret``,
    the regret of a uniformly drawn arm, computed from the means without a pull; both are summed. An event of a log that
    the environment rejects is not a round. If the tuner requests estimates, there are also ``model_mean``, the
    algorithm's estimate of the pulled arm's reward, and ``model_regret``, the greedy arm's estimate less
    ``model_mean``.

    Raises ConfigError if the algorithm does not suit the rewards, or if values are probed in a log without means.
    Raises TaskError if the environment contradicts itself (see `bench.tasks.stated`).

    Parameters
    ----------
    probe
        Values of one hyper-parameter, by its name, that are evaluated in every round without a pull. The column
        ``probe_<value>`` sums the expected rewards of the arms that this value would have pulled, all else being equal,
        with the same random draws of the algorithm. The evaluation needs a copy of the algorithm for each value and
        round. The column ``tuning_regret``, not summed, is the largest of these sums so far less the sum for the arms
        pulled (syndicated, lemma 1, with the best value of each run in place of the best value on average).
    """

    delays_algorithm: ClassVar[bool] = True

    def __init__(
        self,
        environment: ContextualEnvironment,
        algorithm: ContextualAlgorithm,
        probe: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        expected = "a contextual environment with an algorithm that plays in it"
        check_parts(expected, (environment, ContextualEnvironment), (algorithm, ContextualAlgorithm))
        if environment.link not in algorithm.links:
            raise ConfigError(
                f"algorithm: found {type(algorithm).__name__}, which needs {' or '.join(algorithm.links)} rewards, "
                f"expected one for the {environment.link} rewards of {type(environment).__name__}"
            )
        if environment.shared_context and not algorithm.per_arm:
            raise ConfigError(
                f"algorithm: found {type(algorithm).__name__} with {type(environment).__name__}, whose arms have no "
                "features of their own, expected one with coefficients for each arm: linucb, lints, epsilon_greedy or "
                "squarecb"
            )
        names = algorithm.hyper_parameters.names
        for name in probe or {}:
            if name not in names:
                raise ConfigError(f"task.probe: found '{name}', expected one of: {', '.join(names)}")
        if probe and "regret" not in environment.sums:
            raise ConfigError(
                f"task.probe: found {dict(probe)} with {type(environment).__name__}, expected an environment whose "
                "expected rewards are known"
            )
        self.environment = environment
        self.algorithm = algorithm
        self._probes = {f"probe_{value:g}": {name: value} for name in probe or {} for value in (probe or {})[name]}
        self.sums = (*environment.sums, *self._probes)

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment, algorithm = self.environment, self.algorithm
        environment.start(rounds, seeds.child("env"))
        self._shape = n_arms, dim = environment.n_arms, environment.dim
        expected = min(rounds, environment.expected_rounds or rounds)
        noise_std, norm = check_constant(environment, "sub_gaussian"), check_constant(environment, "feature_norm")
        info = BanditInfo(dim, n_arms, expected, noise_std, norm, environment.shared_context)
        algorithm.start(info, seeds.child("algorithm"))
        self._rounds = rounds
        self.traced_rounds = environment.traced_rounds
        self._looks_at = 0
        self._round = 0
        self._has_means = "regret" in environment.sums and type(environment).values is ContextualEnvironment.values
        self._probed = dict.fromkeys(self._probes, 0.0)
        self._pulled = 0.0
        delay = self.feedback.delay_algorithm
        self._delay = draws(delay, seeds.child("task").generator("delay_algorithm")) if delay != 0 else None
        self._coming: list[tuple[int, int, np.ndarray, int, float]] = []
        self._explore_rng = seeds.child("task").generator("warm_up")
        self._defaults = algorithm.hyper_parameters.defaults
        self._theoretical = tuple(algorithm.theory(1))
        per_ask = algorithm.rounds_per_decision
        return Problem(
            space=algorithm.tuned,
            horizon=math.ceil(expected / per_ask),
            rounds=expected,
            rounds_per_ask=per_ask,
            noise_std=noise_std / math.sqrt(per_ask),  # the tuner is told the mean reward of an ask
            theory=lambda: algorithm.theory(self._round + 1),
        )

    @property
    def random_rounds(self) -> int:
        return self.algorithm.random_rounds

    def explore(self) -> dict[str, Any] | None:
        return self._step(None)

    def play(self, configuration: Configuration) -> Outcome | None:
        configuration = self._complete(configuration)
        steps = []
        for _ in range(min(self.algorithm.rounds_per_decision, self._rounds - self._round)):
            values = self._step(configuration)
            if values is None:
                break
            steps.append(values)
        if not steps:
            return None
        if len(steps) == 1:
            return Outcome(steps[0]["reward"], steps[0], agreement=self._agreement)
        return Outcome(total(step["reward"] for step in steps) / len(steps), steps=tuple(steps))

    def _step(self, configuration: Configuration | None) -> dict[str, Any] | None:
        """Play one round, with a uniformly drawn arm if no configuration is given.

        The result is None if no rounds are left.
        """
        environment, algorithm = self.environment, self.algorithm
        while (contexts := environment.observe()) is not None:
            if type(contexts) is not np.ndarray or contexts.dtype is not _FLOAT:
                contexts = self._as_floats(contexts)
            if contexts.shape != self._shape:
                self._check_shape(contexts)
            if self._round >= self._looks_at:
                self._check_finite(contexts)
            if self._has_means and len(environment.means) != len(contexts):
                refuse_means(environment, self._round + 1, len(contexts))
            probed = self._probe(contexts, configuration or {}) if self._probes else {}
            self._agreement = others = None
            expected: dict[str, float] = {}
            if configuration is None:
                arm = int(self._explore_rng.integers(len(contexts)))
            else:
                wish = self.wish
                if wish.agreement:
                    others = np.array([self._arm(contexts, self._complete(other)) for other in wish.agreement])
                arm = algorithm.choose(contexts, configuration)
                if others is not None:
                    self._agreement = others == arm
                if wish.estimates:
                    expected = algorithm.expect(contexts, arm)
            reward: Any = environment.pull(arm)
            if reward is None and environment.rejects:
                continue
            if type(reward) is not float or not -_LARGEST <= reward <= _LARGEST:
                reward = self._learnable(reward, configuration or {})
            if self._has_means:
                best = environment.best_mean
                regret, of_random = best - environment.means.item(arm), best - environment.average_mean
                values: dict[str, Any] = {"reward": reward, "regret": regret, "random_regret": of_random}
                if not (type(regret) is type(of_random) is float and regret >= 0.0 and of_random >= 0.0):
                    values |= regrets(environment, self._round + 1, environment.means.item(arm), "arm")
            else:
                values = {"reward": reward, **environment.values(arm)}
            self._round += 1
            if self._delay is None:
                algorithm.update(contexts, arm, reward)
            else:
                self._update_later(contexts.copy(order="K"), arm, reward, self._delay())
            if probed:
                self._pulled += environment.means.item(arm)
                for column, mean in probed.items():
                    self._probed[column] += mean
                probed["tuning_regret"] = max(self._probed.values()) - self._pulled
            return values | probed | expected if probed or expected else values
        return None

    def _check_finite(self, contexts: np.ndarray) -> None:
        """Raise TaskError if a context, or an estimate that the algorithm made from earlier contexts, is not finite."""
        step = 1 if self._round < _SELDOM else max(1, min(_SELDOM, self._rounds - 1 - self._round))
        self._looks_at = self._round + step
        estimate = self.algorithm.estimate
        if np.isfinite(contexts).all() and (estimate is None or np.isfinite(estimate).all()):
            return
        name, found = f"{type(self.environment).__name__}.observe", "contexts"
        if np.isfinite(contexts).all():
            name, found = type(self.algorithm).__name__, "an estimate"
        raise TaskError(
            f"round {self._round + 1}: {name}: found {found} with NaN or infinity, expected contexts of finite numbers"
        )

    def _learnable(self, reward: Any, configuration: Configuration) -> float:
        reward = check_reward(reward, self._round + 1, configuration)
        if abs(reward) > _LARGEST:
            raise TaskError(
                f"round {self._round + 1}: found the reward {reward:g} for {played(configuration)}, expected at most "
                f"{_LARGEST:g} in size: the estimates of an algorithm would overflow"
            )
        return reward

    def _update_later(self, contexts: np.ndarray, arm: int, reward: float, delay: int) -> None:
        """Store a reward, and let the algorithm learn the rewards that are due after this round."""
        heapq.heappush(self._coming, (self._round + delay, self._round, contexts, arm, reward))
        while self._coming and self._coming[0][0] <= self._round:
            self.algorithm.update(*heapq.heappop(self._coming)[2:])

    def _as_floats(self, contexts: Any) -> np.ndarray:
        """Convert contexts given as a list, a table, or an array of another type to a float64 array."""
        try:
            if np.ma.is_masked(contexts):
                raise ValueError
            found = np.asarray(contexts)
            if found.dtype.kind == "O" and not all(isinstance(value, Real | np.bool_) for value in found.flat):
                raise ValueError
            if found.dtype.kind not in "biufO":
                raise ValueError
            return found.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError):
            raise TaskError(
                f"round {self._round + 1}: {type(self.environment).__name__}.observe: found contexts "
                f"{short(contexts)}, expected an array of numbers of shape (arms, {self._shape[1]})"
            ) from None

    def _check_shape(self, contexts: Any) -> None:
        most, dim = self._shape
        shape = np.shape(contexts)
        if not isinstance(contexts, np.ndarray) or not (len(shape) == 2 and 1 <= shape[0] <= most and shape[1] == dim):
            raise TaskError(
                f"round {self._round + 1}: {type(self.environment).__name__}.observe: found contexts of shape {shape}, "
                f"expected an array of shape (arms, {dim}) with at most {most} arms"
            )

    def _probe(self, contexts: np.ndarray, configuration: Configuration) -> dict[str, float]:
        """Return the expected rewards of the arms that the probed values would pull now."""
        return {
            column: self.environment.means.item(self._arm(contexts, self._complete({**configuration, **changes})))
            for column, changes in self._probes.items()
        }

    def _arm(self, contexts: np.ndarray, configuration: Configuration) -> int:
        """Return the arm that a configuration would pull now, with the same random draws of the algorithm."""
        return copy.deepcopy(self.algorithm).choose(contexts, configuration)

    def _complete(self, configuration: Configuration) -> Configuration:
        """Set the hyper-parameters that are not tuned to their theoretical values, or else to their defaults."""
        if len(configuration) == len(self._defaults):
            return configuration
        if any(name not in configuration for name in self._theoretical):
            return {**self._defaults, **self.algorithm.theory(self._round + 1, configuration), **configuration}
        return {**self._defaults, **configuration}
