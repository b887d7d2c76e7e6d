"""The replay of a log, in which an event is a round if the pulled arm is the logged arm."""

from dataclasses import field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveInt

from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.errors import ConfigError
from bench.seeding import Seeds


@component
class Replay(ContextualEnvironment):
    """A replay that rejects events whose logged action is not the arm pulled (Li et al. 2011).

    Expected rewards are unknown. The columns of a run are the summed reward and means over the rounds so far, because
    the number of rounds differs between repetitions and tuners.

    Parameters
    ----------
    n_parts
        Number of disjoint random parts of the log, one for each repetition.
    """

    sums: ClassVar[tuple[str, ...]] = ("reward",)
    rejects: ClassVar[bool] = True
    compared: ClassVar[str] = "mean_reward"

    n_parts: PositiveInt = 10
    _repetition: int = field(init=False, repr=False, default=0)

    @property
    def most_repetitions(self) -> int | None:
        """The largest number of repetitions, or None if there is no limit."""
        return self.n_parts

    def start_replay(self, rows: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> None:
        """Prepare to replay the given ``rows`` of a log in order; ``actions`` and ``rewards`` have shape (n,)."""
        self._rows, self._actions, self._rewards = rows, actions, rewards
        self._row = -1
        self._seen = self._accepted = 0
        self._earned = self._logged_reward = 0.0

    def part(self, n_rows: int, seeds: Seeds) -> np.ndarray:
        """Return the rows of this repetition's part in order.

        The division into parts is the same for all repetitions.
        """
        self._repetition = seeds.repetition
        shuffled = _shuffled(n_rows, Seeds(seeds.base_seed, 0, seeds.path))
        return np.sort(shuffled[seeds.repetition % self.n_parts :: self.n_parts])

    def check_part(self) -> None:
        """Raise ConfigError in a repetition beyond the number of parts."""
        if self._repetition >= self.n_parts:
            raise ConfigError(
                f"repetitions: found repetition {self._repetition} (from 0) of a log in {self.n_parts} parts, expected "
                f"at most {self.n_parts} repetitions (env.n_parts), since each replays its own part"
            )

    def next_event(self) -> int | None:
        """Return the next row, or None after the last.

        Raises ConfigError in a repetition beyond the number of parts.
        """
        self.check_part()
        if self._seen == len(self._rows):
            return None
        self._row = int(self._rows[self._seen])
        self._seen += 1
        self._logged_reward += float(self._rewards[self._row])
        return self._row

    def pull(self, arm: int) -> float | None:
        """Return the logged reward, or None if the event is rejected."""
        if arm != self._actions[self._row]:
            return None
        reward = float(self._rewards[self._row])
        self._accepted += 1
        self._earned += reward
        return reward

    def values(self, arm: int) -> dict[str, Any]:
        return {
            "mean_reward": self._earned / self._accepted,
            "accepted": self._accepted,
            "share_accepted": self._accepted / self._seen,
        }


@lru_cache(maxsize=1)
def _shuffled(n_rows: int, seeds: Seeds) -> np.ndarray:
    """Return the rows in random order.

    The order is cached, because every repetition takes a part of the same order.
    """
    return seeds.generator("parts").permutation(n_rows)
