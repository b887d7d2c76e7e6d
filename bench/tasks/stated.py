"""Checks of the constants that an environment states at its start, and of the expected rewards of every round."""

from typing import Any, NoReturn

from bench.errors import TaskError
from bench.rewards import number, short

_ROUNDING = 1e-6
"""Relative tolerance for contradictions between expected rewards."""

_TINY = 1e-12


def check_constant(environment: Any, name: str) -> float:
    """Return a constant that an environment states after its start.

    Raises TaskError unless the constant is finite and at least 0.
    """
    value: Any = getattr(environment, name, None)
    converted = number(value)
    if converted is None or converted < 0:
        raise TaskError(
            f"{type(environment).__name__}.{name}: found {short(value)} after start, expected a finite number, at "
            "least 0"
        )
    return converted


def regrets(environment: Any, round_: int, mean: Any, played: str) -> dict[str, float]:
    """Return the regret of the ``played`` arm, whose expected reward is ``mean``, and of random play, as floats.

    This function is called if the regrets that the environment computed are not floats, or are negative, possibly by
    rounding. Raises TaskError if an expected reward is not a finite number, or larger than the best.
    """
    name = f"the expected reward of the {played} played"
    stated = {"best_mean": environment.best_mean, name: mean, "average_mean": environment.average_mean}
    found: dict[str, float] = {}
    for key, said in stated.items():
        value = number(said)
        if value is None:
            raise TaskError(f"{_where(environment, round_)}: found {key} = {short(said)}, expected a finite number")
        found[key] = value
        best = found["best_mean"]
        if value > best + _ROUNDING * max(abs(best), abs(value)) + _TINY:
            raise TaskError(
                f"{_where(environment, round_)}: found {key} = {short(value)}, expected at most best_mean = "
                f"{short(best)}"
            )
    best, mean, average = found.values()
    return {"regret": best - mean, "random_regret": best - average}


def refuse_means(environment: Any, round_: int, n_arms: int) -> NoReturn:
    """Raise TaskError, because the number of expected rewards differs from the number of contexts."""
    raise TaskError(
        f"{_where(environment, round_)}: found {len(environment.means)} means, expected {n_arms}, one for each of the "
        "contexts"
    )


def _where(environment: Any, round_: int) -> str:
    return f"round {round_}: {type(environment).__name__}"
