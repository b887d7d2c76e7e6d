"""The capabilities of a tuner, which are the spaces that it can search and optional features."""

import copy
import json

from bench.conformance.drive import SPACE, outcomes, problem
from bench.seeding import Seeds
from bench.space import HyperParameter, Space
from bench.tuners.base import Tuner
from bench.tuners.fault import fault_of


def capabilities(tuner: Tuner) -> dict[str, bool]:
    """Return the capabilities of a tuner that has not started, determined by starting it on small problems.

    The result is empty if the tuner cannot search any space, because its error then hides the other capabilities.
    """
    other = copy.deepcopy(tuner)
    spaces = {
        "choose among numbers": _takes(tuner, HyperParameter("x", candidates=(0.5, 1.0, 2.0))),
        "search an interval": searches_interval(tuner),
        "choose among words": _takes(tuner, HyperParameter("x", candidates=("a", "b", "c"))),
        "tune several hyper-parameters at once": tuner.multiple and _takes(tuner, *SPACE.parameters),
    }
    if not any(spaces.values()):
        return {}
    return spaces | {
        "take rewards that come after further asks": tuner.remembers is not None,
        "start from a log of earlier rewards": tuner.learns_history,
        "save its state and continue from it": _goes_on(tuner, other),
    }


def searches_interval(tuner: Tuner) -> bool:
    """Return whether a tuner that has not started can search an interval without candidates."""
    return _takes(tuner, HyperParameter("x", low=0.1, high=5.0))


def _takes(tuner: Tuner, *parameters: HyperParameter) -> bool:
    try:
        tuner.start(problem(100, Space(parameters)), Seeds(1))
        return fault_of(tuner, Space(parameters), tuner.ask()) is None
    except (Exception, SystemExit):  # a user's class may raise any error
        return False


def _goes_on(tuner: Tuner, other: Tuner) -> bool:
    try:
        tuner.start(problem(100), Seeds(1))
        other.start(problem(100), Seeds(2))
        for outcome in outcomes(12):
            tuner.ask()
            tuner.tell(outcome.reward, outcome)
        other.restore(json.loads(json.dumps(tuner.save())))
        return [tuner.ask() for _ in range(5)] == [other.ask() for _ in range(5)]
    except (Exception, SystemExit):  # a user's class may raise any error
        return False
