"""A contextual bandit algorithm that plays in its environment."""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

from bench.algorithms.base import Algorithm, BanditInfo
from bench.envs.contextual import ContextualEnvironment
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.tuners.base import Problem


class ContextualBandit(Task):
    """The configuration sets the algorithm's hyper-parameters; the round's reward is what the tuner is told.

    Trace columns: ``reward``; ``regret``, the best expected reward of the round less that of the arm pulled;
    ``random_regret``, the same for an arm drawn uniformly, computed from the means and not played; all summed.

    Parameters
    ----------
    environment, algorithm
        What is played, and what plays.
    probe
        Values of one hyper-parameter, by its name, that are tried out in every round without being played: the column
        ``probe_<value>`` sums the expected rewards of the arms that they would have pulled, all else being equal,
        the algorithm's random draws included. It costs a copy of the algorithm for each value and round.

    Raises
    ------
    ConfigError
        When the algorithm does not fit the environment's rewards.
    """

    def __init__(
        self,
        environment: ContextualEnvironment,
        algorithm: Algorithm,
        probe: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        if not isinstance(environment, ContextualEnvironment) or not isinstance(algorithm, Algorithm):
            raise ConfigError(
                f"task: found {type(environment).__name__} with {type(algorithm).__name__}, expected a contextual "
                "environment with an algorithm that plays in it"
            )
        if environment.link not in algorithm.links:
            raise ConfigError(
                f"algorithm: found {type(algorithm).__name__}, which needs {' or '.join(algorithm.links)} rewards, "
                f"with {type(environment).__name__}, whose rewards are {environment.link}, expected a pair that fits"
            )
        names = algorithm.hyper_parameters.names
        for name in probe or {}:
            if name not in names:
                raise ConfigError(f"task.probe: found '{name}', expected one of: {', '.join(names)}")
        self.environment = environment
        self.algorithm = algorithm
        self._probes = [
            (f"probe_{value:g}", {name: value}) for name, values in (probe or {}).items() for value in values
        ]
        self.sums = ("reward", "regret", "random_regret", *(column for column, _ in self._probes))

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment, algorithm = self.environment, self.algorithm
        environment.start(rounds, seeds.child("env"))
        info = BanditInfo(
            dim=environment.dim,
            n_arms=environment.n_arms,
            rounds=rounds,
            sub_gaussian=environment.sub_gaussian,
            feature_norm=environment.feature_norm,
        )
        algorithm.start(info, seeds.child("algorithm"))
        self._rounds = rounds
        self._round = 0
        self._explore_rng = seeds.child("task").generator("warm_up")
        parameters = algorithm.hyper_parameters
        self._defaults = {parameter.name: parameter.usual for parameter in parameters.parameters}
        self._theoretical = tuple(algorithm.theory(1))
        per_ask = algorithm.rounds_per_decision
        return Problem(
            space=algorithm.tuned,
            horizon=math.ceil(rounds / per_ask),
            rounds=rounds,
            rounds_per_ask=per_ask,
            noise_std=environment.sub_gaussian,
            theory=lambda: algorithm.theory(self._round + 1),
        )

    @property
    def warm_up(self) -> int:
        return self.algorithm.warm_up

    def explore(self) -> dict[str, Any] | None:
        contexts = self.environment.observe()
        if contexts is None:
            return None
        probed = self._try_out(contexts, {})
        return self._pull(contexts, int(self._explore_rng.integers(len(contexts)))) | probed

    def play(self, configuration: Configuration) -> Outcome | None:
        configuration = self._complete(configuration)
        steps = []
        for _ in range(min(self.algorithm.rounds_per_decision, self._rounds - self._round)):
            contexts = self.environment.observe()
            if contexts is None:
                break
            if self._probes:
                probed = self._try_out(contexts, configuration)
                steps.append(self._pull(contexts, self.algorithm.choose(contexts, configuration)) | probed)
            else:
                steps.append(self._pull(contexts, self.algorithm.choose(contexts, configuration)))
        if not steps:
            return None
        if len(steps) == 1:
            return Outcome(steps[0]["reward"], steps[0])
        return Outcome(sum(step["reward"] for step in steps) / len(steps), steps=tuple(steps))

    def _pull(self, contexts: Any, arm: int) -> dict[str, Any]:
        environment = self.environment
        reward = environment.pull(arm)
        self.algorithm.update(contexts, arm, reward)
        self._round += 1
        best = environment.best_mean
        return {
            "reward": reward,
            "regret": best - environment.means.item(arm),
            "random_regret": best - environment.average_mean,
        }

    def _try_out(self, contexts: Any, configuration: Configuration) -> dict[str, float]:
        """Return the expected rewards of what the probed configurations would pull now."""
        return {
            column: self.environment.means.item(
                copy.deepcopy(self.algorithm).choose(contexts, self._complete({**configuration, **changes}))
            )
            for column, changes in self._probes
        }

    def _complete(self, configuration: Configuration) -> Configuration:
        """Set what the tuner does not: at its theoretical value where there is one, else at its default."""
        if len(configuration) == len(self._defaults):
            return configuration
        if any(name not in configuration for name in self._theoretical):
            return {**self._defaults, **self.algorithm.theory(self._round + 1, configuration), **configuration}
        return {**self._defaults, **configuration}
