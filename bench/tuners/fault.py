"""Descriptions of the faults in a tuner's proposals, and of the cure for a user's own tuner."""

from bench.configuration_check import ConfigurationCheck
from bench.errors import TunerError
from bench.space import Configuration, Space
from bench.tuners.base import Tuner


def fault_of(tuner: Tuner, space: Space, configuration: Configuration) -> str | None:
    """Return the fault of a tuner's proposal in ``space`` with its cure, or None if the proposal has no fault."""
    searched = tuner.searched(space)
    fault = ConfigurationCheck(searched, tuner.leaves_space).fault(configuration)
    names = [*map(str, configuration)] if isinstance(configuration, dict) else []
    if fault and len(names) == 1 < len(searched.names):
        return f"{fault}; a tuner of one hyper-parameter says so in its class: multiple = False"
    if fault and names == [*searched.names]:
        return f"{fault}{cure(searched)}; a class that may leave it says leaves_space = True"
    return fault


def cure(space: Space) -> str:
    """Return a hint on how a tuner obtains values of a space, or "" if no way serves all hyper-parameters."""
    ways = [
        "problem.space.product() has the candidates" * all(p.candidates for p in space.parameters),
        "problem.space.from_unit(point) is in the interval" * all(p.continuous for p in space.parameters),
    ]
    return f"; {', and '.join(filter(None, ways))}" if any(ways) else ""


def check_proposal(tuner: Tuner, space: Space) -> None:
    """Raise TunerError with the cure if the first proposal of a started tuner cannot be played."""
    if fault := fault_of(tuner, space, tuner.ask()):
        raise TunerError(f"round 1: {type(tuner).__name__}: {fault}")
