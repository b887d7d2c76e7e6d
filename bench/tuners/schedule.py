from collections.abc import Sequence
from typing import Any, ClassVar

from bench.configuration_check import ConfigurationCheck
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tuners.base import Problem, Tuner


class Schedule(Tuner):
    """Proposes the configurations of another run of ``tuner``, in the same order or shuffled, and learns nothing."""

    remembers: ClassVar[tuple[str, ...] | None] = ()
    learns_history: ClassVar[bool] = True

    def __init__(self, tuner: Tuner, chosen: Sequence[Configuration], shuffled: bool) -> None:
        self._tuner = tuner
        self._chosen = chosen
        self._shuffled = shuffled
        self.leaves_space = tuner.leaves_space  # type: ignore[misc]

    def searched(self, space: Space) -> Space:
        return self._tuner.searched(space)

    def random_rounds(self, problem: Problem) -> int:
        return self._tuner.random_rounds(problem)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        order = range(len(self._chosen))
        self._order = iter(seeds.generator("order").permutation(len(self._chosen)) if self._shuffled else order)

    def _ask(self) -> Configuration:
        place = next(self._order, None)
        if place is None:
            raise ConfigError(
                f"task.yoked: found more than the {len(self._chosen)} decisions of the first run, expected the same "
                "number: a log, which rejects events, cannot be yoked"
            )
        return self._chosen[place]

    def _as_asked(self, configuration: Configuration) -> None:
        pass

    def _tell(self, reward: float, outcome: Any) -> None:
        pass


class RecordingCheck(ConfigurationCheck):
    """Checks configurations and appends valid configurations to ``chosen``."""

    def __init__(self, space: Space, leaves_space: bool, chosen: list[Configuration]) -> None:
        super().__init__(space, leaves_space)
        self._kept = chosen

    def read(self, configuration: Any) -> Configuration:
        found = super().read(configuration)
        self._kept.append(found.copy())
        return found
