"""Upper bounds of a bandit algorithm's expected regret, as formulas in the number of rounds."""

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt, ValidationError, validate_call

from bench.errors import ConfigError
from bench.stats import Array

Gaps = Annotated[list[NonNegativeFloat], Field(min_length=1)]
"""Difference of expected rewards between the best arm and each arm; 0 for the best."""
Several = Annotated[int, Field(ge=2)]
Share = Annotated[float, Field(gt=0, lt=1)]


def regret_bound(formula: Mapping[str, Any], rounds: npt.ArrayLike) -> Array:
    """Return the regret bound after each number of rounds in ``rounds``.

    ``rounds`` is an increasing array of numbers of at least 1, and its last entry is the horizon. The result has the
    same shape. ``formula`` has a ``name``, a key of `FORMULAS`, and the arguments of this formula by name. Raises
    ConfigError if the formula is unknown or its arguments are wrong.
    """
    numbers = {str(key): value for key, value in formula.items() if key != "name"}
    name = formula.get("name")
    if name not in FORMULAS:
        raise ConfigError(f"formula.name: found {name!r}, expected one of: {', '.join(FORMULAS)}")
    try:
        return FORMULAS[name](np.asarray(rounds, dtype=np.float64), **numbers)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"formula.{key}: found {first['input']!r} for '{name}', {first['msg'].lower()}") from None


def etc(t: Array, gaps: Gaps, pulls_per_arm: PositiveInt) -> Array:
    """ETC on 1-sub-Gaussian arms: m sum Delta + (n - m K) sum Delta exp(-m Delta^2 / 4). Source: habo, theorem 1.

    During the exploration phase each arm has been tried at most ceil(n / K) times.
    """
    delta, m = np.array(gaps), pulls_per_arm
    wrong = (delta * np.exp(-m * delta**2 / 4.0)).sum()
    tries = np.minimum(m, np.ceil(t / len(delta)))
    return np.asarray(tries * delta.sum() + np.maximum(t - m * len(delta), 0.0) * wrong)


def etc_two_arms(t: Array, gap: PositiveFloat) -> Array:
    """ETC on two 1-sub-Gaussian arms with m = max{1, ceil(4 / Delta^2 ln(n Delta^2 / 4))} for the horizon n.

    The bound is min{n Delta, Delta + 4 / Delta (1 + max{0, ln(n Delta^2 / 4)})}. Source: habo, section 7.
    """
    log = max(0.0, math.log(t[-1] * gap**2 / 4.0))
    return np.minimum(t * gap, gap + 4.0 / gap * (1.0 + log))


def ucb1(t: Array, gaps: Gaps) -> Array:
    """UCB1 on rewards in [0, 1]: sum 8 ln t / Delta + (1 + pi^2 / 3) sum Delta. Source: Auer et al. 2002, theorem 1."""
    delta = _positive(gaps)
    return np.asarray(8.0 * np.log(t) * (1.0 / delta).sum() + (1.0 + math.pi**2 / 3.0) * delta.sum())


def ucb_delta(t: Array, gaps: Gaps, delta: Share | None = None) -> Array:
    """UCB(delta) on 1-sub-Gaussian arms: sum Delta min{t, 1 + 8 ln(1 / delta) / Delta^2 + t (t + 1) delta}.

    For delta = 1 / T^2, the default, and t = T the bound is below 3 sum Delta + sum 16 ln T / Delta; for a fixed delta
    the bound soon becomes vacuous. Source: Lattimore and Szepesvari 2020, proof of theorem 7.1 with c = 1/2.
    """
    gap = _positive(gaps)[:, None]
    chance = 1.0 / t[-1] ** 2 if delta is None else delta
    pulls = np.minimum(t, 1.0 + 8.0 * math.log(1.0 / chance) / gap**2 + t * (t + 1.0) * chance)
    return np.asarray((gap * pulls).sum(axis=0))


def exp3(t: Array, n_arms: Several, factor: PositiveFloat = 2.0) -> Array:
    """EXP3 in its reward form, rewards in [0, 1]: 2 sqrt(K t ln K). Source: habo, section 20."""
    return np.asarray(factor * np.sqrt(n_arms * t * math.log(n_arms)))


def exp3_weight(t: Array, n_arms: Several, gamma: Share, best: NonNegativeFloat = 1.0) -> Array:
    """EXP3 in its weight form: (e - 1) gamma G + K ln K / gamma. Source: Auer et al. 2002b, theorem 3.1.

    G = ``best`` t is the total reward of the best arm.
    """
    return np.asarray((math.e - 1.0) * gamma * best * t + n_arms * math.log(n_arms) / gamma)


def hedge(t: Array, n_arms: Several, eta: PositiveFloat) -> Array:
    """Hedge at a constant rate, rewards in [0, 1]: ln K / eta + eta t / 8. Source: Cesa-Bianchi and Lugosi 2006."""
    return np.asarray(math.log(n_arms) / eta + eta * t / 8.0)


def tuning(t: Array, candidates: Annotated[list[PositiveInt], Field(min_length=1)]) -> Array:
    """EXP3 over candidates of hyper-parameters: sum_l 2 sqrt((e - 1) n_l t ln n_l). Source: syndicated, theorem 2."""
    n = np.array(candidates, dtype=np.float64)
    return np.asarray(2.0 * math.sqrt(math.e - 1.0) * np.sqrt(n * np.log(n)).sum() * np.sqrt(t))


def dynamic(t: Array, changes: PositiveInt) -> Array:
    """SD2ME and AD2ME, without constant and logarithms: Gamma^(1/4) t^(3/4). Source: online_hpo, theorem 4.1."""
    return np.asarray(changes**0.25 * t**0.75)


def sd2me(t: Array, epochs: PositiveInt, changes: PositiveInt | None = None) -> Array:
    """SD2ME, hard drop: lambda Gamma + 2 rho T + 6 ln(lambda + 1) T / (lambda rho^2) for every horizon T in ``t``.

    Here lambda = floor(6^(1/4) (T / changes)^(3/4)) and rho = (6 / lambda)^(1/3). Gamma is the number of stationary
    epochs, and ``changes`` is the tuner's estimate of Gamma, by default equal to Gamma. Source: online_hpo, last line
    of the proof of theorem 4.1, for the expectation.
    """
    window = _window(6.0**0.25 * (t / (changes or epochs)) ** 0.75)
    spacing = (6.0 / window) ** (1.0 / 3.0)
    return np.asarray(window * epochs + 2.0 * spacing * t + 6.0 * np.log(window + 1.0) * t / (window * spacing**2))


def ad2me(t: Array, epochs: PositiveInt, delta: Share, changes: PositiveInt | None = None) -> Array:
    """AD2ME, hard drop: 3 Gamma lambda + pi T sqrt(ln(2 T^1.5 / delta^0.5)) / lambda^(1/3) for every T in ``t``.

    Here lambda = floor(2 (T / (3 changes))^(3/4)). Gamma is the number of stationary epochs, and ``changes`` is the
    tuner's estimate of Gamma, by default equal to Gamma. Source: online_hpo, last line of the proof of theorem 4.2,
    with probability 1 - delta.
    """
    window = _window(2.0 * (t / (3.0 * (changes or epochs))) ** 0.75)
    log = math.log(2.0) + 1.5 * np.log(t) - 0.5 * math.log(delta)
    return np.asarray(3.0 * epochs * window + math.pi * t * np.sqrt(log) / window ** (1.0 / 3.0))


def _window(length: Array) -> Array:
    return np.maximum(1.0, np.floor(length * (1.0 + 1e-12)))


def _positive(gaps: list[float]) -> Array:
    return np.array([gap for gap in gaps if gap > 0])


FORMULAS: dict[str, Callable[..., Array]] = {
    function.__name__: validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)
    for function in (ad2me, dynamic, etc, etc_two_arms, ucb1, ucb_delta, exp3, exp3_weight, hedge, tuning, sd2me)
}
