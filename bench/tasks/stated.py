"""What an environment says of itself is checked: constants once per start, expected rewards in every round."""

from typing import Any, NoReturn

from bench.errors import TaskError
from bench.rewards import is_number, short

_ROUNDING = 1e-6
"""Expected rewards may contradict each other by this share of the larger one."""

_TINY = 1e-12


def check_constant(environment: Any, name: str) -> float:
    """Return what an environment says after its start. Raises TaskError if it is no finite number, at least 0."""
    value: Any = getattr(environment, name, None)
    if not is_number(value) or value < 0:
        raise TaskError(
            f"{type(environment).__name__}.{name}: found {short(value)} after start, expected a finite number, at "
            "least 0"
        )
    return float(value)


def check_means(environment: Any, round_: int, mean: Any, played: str) -> None:
    """Raise TaskError if the best expected reward is below that of what was ``played``, or below the average.

    It is called where a comparison of the three has failed; within rounding they are right.
    """
    best, average = environment.best_mean, environment.average_mean
    found = {f"the expected reward of the {played} played": mean, "average_mean": average}
    for name, value in {"best_mean": best, **found}.items():
        if not is_number(value):
            raise TaskError(f"{_where(environment, round_)}: found {name} = {short(value)}, expected a finite number")
    for name, value in found.items():
        if value > best + _ROUNDING * max(abs(best), abs(value)) + _TINY:
            raise TaskError(
                f"{_where(environment, round_)}: found {name} = {short(value)}, expected at most best_mean = "
                f"{short(best)}"
            )


def refuse_means(environment: Any, round_: int, n_arms: int) -> NoReturn:
    """Raise TaskError: an environment has not as many expected rewards as contexts."""
    raise TaskError(
        f"{_where(environment, round_)}: found {len(environment.means)} means, expected {n_arms}, one for each of the "
        "contexts"
    )


def _where(environment: Any, round_: int) -> str:
    return f"round {round_}: {type(environment).__name__}"
