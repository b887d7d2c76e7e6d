from typing import Any

from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome, Task
from bench.tuners.base import Problem


class Direct(Task):
    """A bandit over the environment's search space, without an algorithm in between: the configuration is the arm.

    Trace columns: ``reward``, summed, and the environment's: mostly ``regret``, the best expected reward of the round
    less that of the configuration, and ``random_regret``, the same for a configuration drawn uniformly, computed and
    not played; both summed. Raises ConfigError if the environment has no arms.
    """

    def __init__(self, environment: DirectEnvironment) -> None:
        if not isinstance(environment, DirectEnvironment):
            raise ConfigError(
                f"task: found {type(environment).__name__} without an algorithm, expected an environment whose "
                "configurations are its arms"
            )
        self.environment = environment
        self.sums = environment.sums

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        environment = self.environment
        environment.start(rounds, seeds.child("env"))
        self._rng = seeds.child("task").generator("warm_up")
        return Problem(
            space=environment.space,
            horizon=rounds,
            rounds=rounds,
            noise_std=environment.sub_gaussian,
            change_points=environment.change_points,
            full_information=environment.full_information,
        )

    def explore(self) -> dict[str, Any] | None:
        return self.play(self.environment.space.sample(self._rng)).values

    def play(self, configuration: Configuration) -> Outcome:
        environment = self.environment
        reward = environment.play(configuration)
        return Outcome(reward, {"reward": reward, **environment.values()}, rewards=environment.rewards)
