import copy
import io
import pickle
from typing import Any

import numpy as np

from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.envs.contextual import ContextualEnvironment
from bench.errors import TaskError
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.base import Outcome
from bench.tasks.copies import CopiedAlgorithm, Copies

_PART = 4096
"""Bytes of a part of a state; equal parts of several states, such as most of a reward history, are stored once."""

_MOST = 2**30
"""Limit on the bytes of all past states together."""


class SmoothedCopies(Copies):
    """The task `copies` with ``learn: played``, in which a copy plays a past policy in every second decision.

    In its first, third, ... decision a copy plays its current policy and learns from the rewards. In its second,
    fourth, ... decision the copy plays a policy drawn uniformly and independently from the policies of its odd
    decisions so far, the latest included, and learns nothing. The mean reward of the even decisions is therefore the
    mean over the copy's whole past, which changes slowly for any copy and can be used by a master such as
    `stochastic_corral`.

    A past policy is the copy's state and configuration at the earlier decision, with new random draws. States stay in
    memory, and equal parts of 4096 bytes are stored once. They need 20 MB after 10,000 decisions with 10 features; 200
    MB for UCB-GLM, whose state has all rewards so far.

    Raises TaskError once states need more than 1 GB. Source: Pacchiano, Phan, Abbasi-Yadkori, Rao, Zimmert, Lattimore
    and Szepesvari 2020 (smoothing); including the latest policy in the draw is our assumption.
    """

    def __init__(self, environment: ContextualEnvironment, algorithm: ContextualAlgorithm) -> None:
        super().__init__(environment, algorithm, learn="played")
        self.algorithm = self.copied = self._smoothed = SmoothedAlgorithm(algorithm, False, self._complete)

    def play(self, configuration: Configuration) -> Outcome | None:
        self._smoothed.begin(self._complete(configuration))
        return super().play(configuration)

    def _arm(self, contexts: np.ndarray, configuration: Configuration) -> int:
        algorithm, completed = self._smoothed.policy_of(configuration)
        return copy.deepcopy(algorithm).choose(contexts, completed)


class SmoothedAlgorithm(CopiedAlgorithm):
    """Copies of an algorithm that alternate with their past policies; `begin` must be called before each decision."""

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._rng = seeds.generator("past_policies")
        self._past: list[list[tuple[bytes, ...]]] = [[] for _ in self.copies]
        self._is_second = [True] * len(self.copies)
        self._parts: dict[bytes, bytes] = {}

    def begin(self, configuration: Configuration) -> None:
        """Choose whether the configuration's copy or one of its past policies plays this decision."""
        self._deciding = self._place(configuration)
        self._policy = self._next_policy(self._deciding, configuration)

    def policy_of(self, configuration: Configuration) -> tuple[ContextualAlgorithm, Configuration]:
        """Return the policy that plays ``configuration`` in this decision, and the configuration passed to it."""
        place = self._place(configuration)
        return self._policy if place == self._deciding else (self.copies[place], configuration)

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._played = self._deciding
        algorithm, completed = self._policy
        return algorithm.choose(contexts, completed)

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        if self._played is not None and self._is_second[self._played]:
            self._played = None
        else:
            super().update(contexts, arm, reward)

    def _next_policy(self, place: int, configuration: Configuration) -> tuple[ContextualAlgorithm, Configuration]:
        self._is_second[place] = not self._is_second[place]
        past = self._past[place]
        if self._is_second[place]:
            return _Restoring(io.BytesIO(b"".join(past[self._rng.integers(len(past))])), self._rng).load()
        policy = self.copies[place], configuration
        file = io.BytesIO()
        _Keeping(file, protocol=5).dump(policy)
        state = file.getvalue()
        parts = (state[i : i + _PART] for i in range(0, len(state), _PART))
        past.append(tuple(self._parts.setdefault(part, part) for part in parts))
        if len(self._parts) * _PART > _MOST:
            raise TaskError(
                f"task=smoothed_copies: found past states of more than {_MOST / 1e9:.0f} GB after "
                f"{sum(map(len, self._past))} of them, expected fewer rounds or an algorithm that keeps less"
            )
        return policy


class _Keeping(pickle.Pickler):
    """Pickles a state without its generators."""

    def persistent_id(self, obj: Any) -> str | None:
        return "generator" if isinstance(obj, np.random.Generator) else None


class _Restoring(pickle.Unpickler):
    """Unpickles a state with one given generator for all its draws."""

    def __init__(self, file: io.BytesIO, rng: np.random.Generator) -> None:
        super().__init__(file)
        self._rng = rng

    def persistent_load(self, pid: Any) -> np.random.Generator:
        return self._rng
