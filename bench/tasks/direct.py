from typing import Any

import numpy as np

from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError, TaskError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.tasks.stated import check_constant, regrets
from bench.tuners.base import Problem


class Direct(Task):
    """A bandit without an algorithm, whose arms are the configurations of the environment's search space.

    The trace columns are ``reward``, which is summed, and the columns of the environment. Most environments have
    ``regret``, the best expected reward of the round less the expected reward of the configuration, and
    ``random_regret``, the regret of a uniformly drawn configuration, computed without a pull; both are summed.
    Hyper-parameters that the tuner does not tune are played at their defaults and are columns too.

    Raises ConfigError if the environment has no arms, and TaskError if the environment contradicts itself (see
    `bench.tasks.stated`).
    """

    def __init__(self, environment: DirectEnvironment) -> None:
        if not isinstance(environment, DirectEnvironment):
            raise ConfigError(
                f"task: found {type(environment).__name__} without an algorithm, expected an environment whose "
                "configurations are its arms; elsewhere an algorithm chooses the arms, and the tuner its "
                "hyper-parameters: algorithm=linucb"
            )
        self.environment = environment
        self.sums = environment.sums

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment = self.environment
        environment.start(rounds, seeds.child("env"))
        self._rng = seeds.child("task").generator("warm_up")
        self._round = 0
        self._space = environment.space
        self._defaults = self._space.defaults
        self._dim = len(self._defaults)
        self._has_means = "regret" in environment.sums and type(environment).values is DirectEnvironment.values
        self.traced_rounds = environment.traced_rounds
        expected = min(rounds, environment.expected_rounds or rounds)
        return Problem(
            space=self._space,
            horizon=expected,
            rounds=expected,
            noise_std=check_constant(environment, "sub_gaussian"),
            change_points=environment.change_points,
            full_information=environment.full_information,
        )

    def explore(self) -> dict[str, Any] | None:
        outcome = self.play(self._space.sample(self._rng))
        return outcome.values if outcome else None

    def play(self, configuration: Configuration) -> Outcome | None:
        environment = self.environment
        self._round += 1
        usual = None
        if len(configuration) != self._dim:
            usual = {name: value for name, value in self._defaults.items() if name not in configuration}
            configuration = self._defaults | configuration
        reward = environment.play(configuration)
        if reward is None:
            return None
        if self._has_means:
            best = environment.best_mean
            regret, of_random = best - environment.mean, best - environment.average_mean
            values: dict[str, Any] = {"reward": reward, "regret": regret, "random_regret": of_random}
            if not (type(regret) is type(of_random) is float and regret >= 0.0 and of_random >= 0.0):
                values |= regrets(environment, self._round, environment.mean, "configuration")
        else:
            values = {"reward": reward, **environment.values()}
            if values["reward"] is not reward:
                raise TaskError(
                    f"round {self._round}: found two values with the name 'reward', expected another name in "
                    f"{type(environment).__name__}.values()"
                )
        if usual:
            values |= usual
        rewards = environment.rewards
        if rewards is not None:
            is_plain = type(rewards) is np.ndarray and rewards.dtype.char == "d"
            rewards = rewards.copy() if is_plain else np.array(rewards, dtype=float)
        return Outcome(reward, values, rewards=rewards)
