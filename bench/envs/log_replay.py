import math
from typing import Any, Literal

import numpy as np

from bench.component import component
from bench.data.bandit_log import UNIFORM, BanditLog, Columns, load_bandit_log, paths_of
from bench.data.encode import counted
from bench.data.read import digest
from bench.envs.contextual import Link
from bench.envs.log_kernels import NONE, estimate, products
from bench.envs.replay import Replay
from bench.errors import BenchError, ConfigError, DataError
from bench.seeding import Seeds

_UNIT = 1.0
"""Ridge of the reward model of the doubly robust estimate."""
_BLOCK, _BLOCK_FLOATS = 256, 1_000_000
"""Events processed at once, and the largest number of values in their contexts, unless one event has more."""
_FAR = 4.0
"""Margin above the mean number of accepted rounds, which is binomial, in standard deviations."""
_WIDE = 2.0
"""Standard deviation of rewards above which the ranges of exploration rates are too narrow."""


@component
class LogReplay(Replay):
    """A replay of a user's log from Parquet or CSV files.

    An event is a round if its action is the arm pulled, with probability c / propensity. c is the smallest propensity
    of the log, so every event is accepted with probability c for any pulled arm, and accepted rounds are distributed as
    if actions had been logged uniformly. In a context, numbers are standardised, strings are one-hot encoded and a
    constant is added; contexts have norm 1. Without ``arms``, all arms share the context, and algorithms have
    coefficients for each arm. With ``arms``, the features of an arm are the products of the arm's own features with the
    features of the context.

    The trace columns are ``mean_reward`` of the accepted rounds so far, ``accepted``, the number of accepted rounds,
    ``share_accepted``, their share of all events, and three estimates for the same decisions from all events. ``ips``
    is by inverse propensity score, ``snips`` is self-normalised, and ``dr`` is doubly robust with a ridge regression
    for each action, learnt from earlier events. ``ips`` and ``dr`` leave out the latest accepted event: its weight is
    never 0 and would bias them. Source: Li et al. 2011 (uniform logs); Dudik et al. 2012 (rejection by propensity),
    2014 (doubly robust).

    Parameters
    ----------
    path
        Parquet (.parquet) or CSV (.csv, .csv.gz) files, or a pattern of their names.
    context
        Columns of the context, or patterns such as ``user_*``. With none, there is no context.
    action, reward, time
        The columns with the action, the reward, and, for ``order: time``, the time.
    propensity
        The column with the logging policy's probability of the logged action; ``uniform`` if all were equally likely.
    arms
        A file with a row for each action: the action column of the log, and the action's features in the other columns.
    order
        The order of the events: ``shuffled`` anew in each repetition, or by ``time``.
    sample
        The events of a repetition: a separate ``part`` of the log, ``all`` rows, or as many rows drawn with replacement
        (``bootstrap``). Only with ``part`` do intervals hold for data beyond the log.
    """

    path: str | list[str] = ""
    context: str | list[str] = ""
    action: str = "action"
    reward: str = "reward"
    propensity: str = ""
    time: str = ""
    arms: str = ""
    order: Literal["shuffled", "time"] = "shuffled"
    sample: Literal["part", "all", "bootstrap"] = "part"

    @property
    def link(self) -> Link:
        try:
            return "logistic" if np.isin(self._load().rewards, (0.0, 1.0)).all() else "linear"
        except BenchError:  # reported at the start
            return "linear"

    @property
    def shared_context(self) -> bool:
        return not self.arms

    @property
    def most_repetitions(self) -> int | None:
        return self.n_parts if self.sample == "part" else None

    @property
    def fingerprint(self) -> str:
        return digest(paths_of(self.path, self.arms))

    def _load(self) -> BanditLog:
        context = (self.context,) if isinstance(self.context, str) else tuple(self.context)
        columns = Columns(tuple(filter(None, context)), self.action, self.reward, self.propensity, self.time)
        if self.order == "time" and not self.time:
            raise ConfigError("env.time: found none with env.order=time, expected the column with the times")
        return load_bandit_log(self.path, columns, self.arms)

    def _smallest(self, log: BanditLog) -> float:
        """Return c, the probability with which any event is accepted."""
        smallest = float(log.propensities.min())
        rounds = self._n_rows(log) * smallest
        if rounds < 2:
            raise DataError(
                f"env.propensity: found a smallest propensity of {smallest:.3g} in {self._n_rows(log):,} rows "
                f"per repetition, so that about {rounds:.2g} rounds would be accepted, expected at least 2: take fewer "
                "parts (env.n_parts), or a log with more rows or without such small propensities"
            )
        return smallest

    def _n_rows(self, log: BanditLog) -> int:
        return len(log) // self.n_parts if self.sample == "part" else len(log)

    @property
    def rounds_there(self) -> int:
        log = self._load()
        return int(self._n_rows(log) * self._smallest(log))

    def notes(self) -> tuple[str, ...]:
        return self.notes_on(self.rounds_there)

    def notes_on(self, rounds: int) -> tuple[str, ...]:
        log, there = self._load(), self.rounds_there
        smallest = self._smallest(log)
        length = (
            f"about {there:,} accepted rounds, the horizon that tuners are told"
            if rounds >= there
            else f"the first {rounds:,} accepted rounds (horizon={rounds}) of about {there:,}, and tuners are told "
            f"{rounds:,}"
        )
        logged = "uniformly" if self.propensity == UNIFORM else "with different probabilities"
        rows = {
            "part": f"one of {self.n_parts} disjoint parts of the log",
            "all": "the whole log, so intervals say nothing about other data",
            "bootstrap": "as many rows drawn with replacement, so intervals shrink with more repetitions and say "
            "nothing about other data",
        }[self.sample]
        order = "in the order of time" if self.order == "time" else "in random order"
        context = f"{counted(log.contexts.shape[1], 'feature')} of the context" if self.context else "no context"
        return (
            f"log: {len(log):,} rows, {log.n_actions} actions logged {logged}, {context}"
            + (f" and {log.arms.shape[1]} of an arm" if self.arms else "")
            + f", mean reward {log.rewards.mean():.4g}",
            f"smallest propensity {smallest:.4g}; by the propensities, every action has support",
            f"a repetition replays {rows}, {order}: {length}",
            f"results hold for runs of about {min(rounds, there):,} rounds, although the log has {len(log):,} rows: in "
            "longer runs settings may rank differently",
            *_on_scale(self.reward, log.rewards),
            *log.notes,
        )

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._log = log = self._load()
        smallest = self._smallest(log)
        self.expected_rounds = expected = self.rounds_there
        self.traced_rounds = expected + math.ceil(_FAR * math.sqrt(expected))
        rows = self._sampled(len(log), seeds)
        if self.order == "time":
            place = np.empty(len(log), dtype=np.int64)
            place[log.order] = np.arange(len(log))
            rows = rows[np.argsort(place[rows], kind="stable")]
        else:
            rows = seeds.generator("order").permutation(rows)
        self._coins = seeds.generator("acceptance").random(len(rows)) < smallest / log.propensities[rows]
        self.start_replay(rows, log.actions, log.rewards)
        d_context, d_arm = log.contexts.shape[1], log.arms.shape[1]
        self.n_arms = log.n_actions
        self.dim = d_context * max(d_arm, 1)
        self.feature_norm = 1.0
        self.sub_gaussian = float(np.ptp(log.rewards)) / 2
        size = max(1, min(_BLOCK, _BLOCK_FLOATS // (self.dim * self.n_arms)))
        self._memory = np.empty((size, self.dim, self.n_arms))
        self._shown = [contexts.T for contexts in self._memory]
        self._pulled = np.empty(size, dtype=np.int64)
        self._first = self._at = self._estimated = 0
        self._block: list[tuple[int, int, float, bool]] = []
        self._arms = np.ascontiguousarray(log.arms.T) if self.arms else np.ones((1, self.n_arms))
        self._model = np.zeros((self.n_arms, d_context))
        self._spread = np.repeat(np.eye(d_context)[None] / _UNIT, self.n_arms, axis=0)
        self._totals = np.zeros(3)
        self._before = np.zeros(3)

    def _sampled(self, n_rows: int, seeds: Seeds) -> np.ndarray:
        if self.sample == "part":
            return self.part(n_rows, seeds)
        if self.sample == "bootstrap":
            return np.sort(seeds.generator("bootstrap").integers(n_rows, size=n_rows))
        return np.arange(n_rows)

    def observe(self) -> np.ndarray | None:
        if self._at == len(self._block) and not self._next_block():
            return None
        at = self._at
        self._row, self._action, self._reward, self._coin = self._block[at]
        self._at = at + 1
        self._seen += 1
        return self._shown[at]

    def _next_block(self) -> bool:
        """Process a block of events at once, which is several times faster, and return whether there were events."""
        self.check_part()
        self._estimate_block(self._at)
        log, first = self._log, self._first + len(self._block)
        rows = self._rows[first : first + len(self._memory)]
        coins = self._coins[first : first + len(rows)]
        columns = rows, log.actions[rows], log.rewards[rows], coins
        self._block = list(zip(*(each.tolist() for each in columns), strict=True))
        self._first, self._at, self._estimated = first, 0, 0
        self._pulled[:] = NONE
        products(log.contexts, rows, self._arms, self._memory)
        return len(rows) > 0

    def pull(self, arm: int) -> float | None:
        self._pulled[self._at - 1] = arm
        if arm != self._action or not self._coin:
            return None
        self._estimate_block(self._at - 1)
        self._before = self._totals / max(self._seen - 1, 1)
        self._accepted += 1
        self._earned += self._reward
        return self._reward

    def _estimate_block(self, end: int) -> None:
        """Update the estimates with the processed events of the block before event ``end``."""
        log, first = self._log, self._first
        rows, pulled = self._rows[first + self._estimated : first + end], self._pulled[self._estimated : end]
        estimate(
            log.contexts, rows, pulled, log.actions, log.rewards, log.propensities,
            self._model, self._spread, self._totals,
        )  # fmt: skip
        self._estimated = end

    def values(self, arm: int) -> dict[str, Any]:
        self._estimate_block(self._at)
        weighted, weights, _ = self._totals.tolist()
        ips, _, dr = self._before.tolist()
        return {
            **super().values(arm),
            "ips": ips,
            "snips": weighted / weights if weights else 0.0,
            "dr": dr,
        }


def _on_scale(name: str, rewards: np.ndarray) -> tuple[str, ...]:
    """Return a warning if the spread of ``rewards`` is too large for the ranges of the algorithms' settings."""
    std = float(rewards.std())
    if std <= _WIDE:
        return ()
    return (
        f"{name}: its standard deviation is {std:.3g}; exploration rates are in the same unit, and their ranges suit "
        "rewards from 0 to 1: divide it by its usual size",
    )
