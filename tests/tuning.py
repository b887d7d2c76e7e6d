"""Spaces, and a tuner played against a function."""

from collections.abc import Callable
from typing import Any

from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tuners.base import Problem, Tuner

LINE = Space.of(x={"low": 0.0, "high": 1.0})
SQUARE = Space.of(x={"low": 0.0, "high": 1.0}, y={"low": 0.0, "high": 1.0})


def play(
    tuner: Tuner, reward: Callable[[Configuration, int], float], horizon: int, space: Space = LINE, seed: int = 1
) -> list[dict[str, Any]]:
    """Return the configurations that the tuner asks; ``reward`` gives the reward of a configuration in a round."""
    tuner.start(Problem(space, horizon), Seeds(seed))
    asked = []
    for t in range(horizon):
        asked.append(dict(tuner.ask()))
        tuner.tell(reward(asked[-1], t))
    return asked


def started(tuner: Any, n_arms: int, horizon: int = 1_000, seed: int = 0) -> Any:
    """Return the tuner after its start on the arms 0, 1, ..."""
    tuner.start(Problem(Space.of(arm=range(n_arms)), horizon), Seeds(seed))
    return tuner
