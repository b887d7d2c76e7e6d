import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, PositiveInt

from bench.component import component
from bench.data.open_bandit import Campaign, CampaignName, load_campaign
from bench.data.open_bandit_log import N_POSITIONS, OpenBanditLog
from bench.data.open_bandit_policy import probabilities, probabilities_of_log
from bench.envs.contextual import Link
from bench.envs.logged import LoggedData, LoggedEnvironment, Policy
from bench.envs.replay import Replay
from bench.jit import kernel
from bench.seeding import Seeds

_Z = 1.959963984540054
"""Standard normal quantile of two-sided 95 % intervals."""

_STATIC = N_POSITIONS + 2
"""Features in the replay that are not hashed: the position, the item's numerical feature, the user-item affinity."""


@component
class OpenBandit(Replay, LoggedEnvironment):
    """The two logs of one campaign, in which an action is an item and its position on the page is part of the context.

    For off-policy learning, ``n_tuning`` random rows of the Thompson-sampling log, one half for training and one for
    validation, are the logged data, and the whole uniform log is the test data. A context is the user's four features
    and the position, one-hot; an item's features are one numerical feature and three categorical features, one-hot.

    For online bandits, the uniform log is replayed (Li et al. 2011): an event whose item is not the chosen one is
    rejected. Repetitions replay disjoint random parts of the log, each in chronological order. Their results are
    therefore independent, and an interval over them reflects the variation of the data as well as of the algorithm.
    Rewards are clicks; expected rewards, and so regret, are unknown. Each row is treated as an event, although a page
    view has three rows. The features of an item are the position, one-hot, the item's numerical feature, the user-item
    affinity a as a / (1 + a), and ``n_hashed`` signed hashed features (item, its categories, and these crossed with the
    user's features); each item's features are scaled to norm 1. Source: opl_hpo, appendix A. The paper states 240
    actions for the men's campaign, which is 80 items of another campaign times 3 positions; the position in the context
    and the equal halves are assumed.

    Parameters
    ----------
    campaign
        ``men`` (34 items), ``women`` (46) or ``all`` (80).
    n_tuning
        Number of rows to draw from the Thompson-sampling log, at most all rows.
    n_hashed
        Number of hashed features in the replay.
    """

    reads: ClassVar[tuple[str, ...]] = ("open_bandit",)

    compared: ClassVar[str] = "ctr"

    campaign: CampaignName = "men"
    n_tuning: Annotated[int, Field(ge=2)] = 100_000
    n_hashed: PositiveInt = 32

    @property
    def link(self) -> Link:
        return "logistic"

    @property
    def fingerprint(self) -> str:
        return load_campaign(self.campaign).fingerprint

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._data = data = load_campaign(self.campaign)
        self.n_actions = self.n_arms = data.n_items
        self._start_logged(data, seeds)
        self._start_replay(data, seeds)

    # Off-policy learning

    def _start_logged(self, data: Campaign, seeds: Seeds) -> None:
        self.action_features = np.column_stack(
            (data.item_scores, *(_one_hot(codes) for codes in data.item_categories.T))
        )
        n = min(self.n_tuning, len(data.bts))
        rows = seeds.generator("tuning").choice(len(data.bts), n, replace=False)
        self.train, self.validation = (self._logged(part) for part in (rows[: n // 2], rows[n // 2 :]))
        # A reward of 0 adds nothing to an IPS estimate: only rows with a click are needed
        self._clicked = np.flatnonzero(data.random.clicks)
        self._test_contexts = _contexts(data.random, self._clicked)
        times, positions = data.random.timestamps[self._clicked], data.random.positions[self._clicked]
        self._test_policy = probabilities(data.bts, data.n_items, times, positions)
        self.logging_value = self.value(lambda contexts, policy: policy)

    def _logged(self, rows: np.ndarray) -> LoggedData:
        log = self._data.bts
        return LoggedData(
            contexts=_contexts(log, rows),
            actions=log.items[rows],
            rewards=log.clicks[rows],
            propensities=log.propensities[rows],
            policy=probabilities_of_log(log, self.n_actions, rows),
        )

    def value(self, policy: Policy, rows: int | None = None) -> float:
        """Return the IPS estimate of the policy's value, in clicks per item shown, on the whole uniform log."""
        return float(self.value_terms(policy).mean())

    def value_terms(self, policy: Policy) -> np.ndarray:
        """Return each row's term of the IPS estimate on the uniform log, shape (rows,).

        The estimate is the mean of the terms. The policy is evaluated only on the rows with a click, so it must treat
        every row independently.
        """
        log, clicked = self._data.random, self._clicked
        terms = np.zeros(len(log))
        if len(clicked):
            chosen = policy(self._test_contexts, self._test_policy)[np.arange(len(clicked)), log.items[clicked]]
            terms[clicked] = chosen / log.propensities[clicked]
        return terms

    def value_interval(self, policy: Policy) -> tuple[float, float]:
        """Return a 95 % confidence interval of ``value`` by the normal approximation.

        The interval reflects the randomness of the uniform log only. With few clicks the upper end is too low.
        """
        terms = self.value_terms(policy)
        middle, half = float(terms.mean()), _Z * float(terms.std(ddof=1)) / math.sqrt(len(terms))
        return middle - half, middle + half

    # Replay

    def _start_replay(self, data: Campaign, seeds: Seeds) -> None:
        self.dim = _STATIC + self.n_hashed
        self.sub_gaussian = 0.5
        self.feature_norm = 1.0
        part = self.part(len(data.random), seeds)
        self._own, self._crossed, self._first = self._hashed(data)
        self._affinity_starts = np.searchsorted(data.random.affinity_rows, np.arange(len(data.random) + 1))
        self.expected_rounds = max(1, len(part) // self.n_arms)
        self._score = data.item_scores / max(float(np.abs(data.item_scores).max()), 1e-12)
        self._memory = np.empty((self.dim, self.n_arms))
        self.start_replay(part, data.random.items, data.random.clicks)

    def _hashed(self, data: Campaign) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Hash the items' features, and their crosses with the users' features, independently of the seed.

        Returns the items' features, shape (n_hashed, n_items); the additional features for each value of the users'
        features, shape (values, n_hashed, n_items); and the first value of each user feature, shape (4,).
        """
        rng = Seeds(0, 0, ("env", "open_bandit")).generator("hashing")
        sizes = [len(names) for names in data.random.names]
        groups = [np.arange(data.n_items), *data.item_categories.T]

        def draw(group: np.ndarray, out: np.ndarray) -> None:
            buckets = rng.integers(self.n_hashed, size=group.max() + 1)
            signs = rng.choice((-1.0, 1.0), size=group.max() + 1)
            np.add.at(out, (buckets[group], np.arange(len(group))), signs[group])

        own = np.zeros((self.n_hashed, data.n_items))
        for group in groups:
            draw(group, own)
        crossed = np.zeros((sum(sizes), self.n_hashed, data.n_items))
        for value in crossed:
            for group in groups[1:]:
                draw(group, value)
        first = np.cumsum([0, *sizes[:-1]])
        scale = 1.0 / math.sqrt(len(groups) + len(sizes) * (len(groups) - 1))  # norm 1 without collisions
        return own * scale, crossed * scale, first

    def observe(self) -> np.ndarray | None:
        row = self.next_event()
        if row is None:
            return None
        log = self._data.random
        start, end = self._affinity_starts[row], self._affinity_starts[row + 1]
        _fill(
            self._own,
            self._crossed,
            self._first + log.users[row],
            log.positions[row],
            self._score,
            log.affinity_items[start:end],
            log.affinities[start:end],
            self._memory,
        )
        return self._memory.T

    def values(self, arm: int) -> dict[str, Any]:
        """Return the click-through rates so far of accepted events and of all events (the uniform policy).

        ``ctr_low`` and ``ctr_high`` are 95 % limits of the first rate by Wilson's method. Before the first click, an
        interval over repetitions would have length 0.
        """
        n, ctr = self._accepted, self._earned / self._accepted
        middle = (ctr + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z * math.sqrt(ctr * (1 - ctr) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
        return {
            "ctr": ctr,
            "ctr_low": max(0.0, middle - half),
            "ctr_high": min(1.0, middle + half),
            "logged_ctr": self._logged_reward / self._seen,
            "share_accepted": self._accepted / self._seen,
        }


def _one_hot(codes: np.ndarray, size: int | None = None) -> np.ndarray:
    return np.eye(int(codes.max()) + 1 if size is None else size)[codes]


def _contexts(log: OpenBanditLog, rows: np.ndarray) -> np.ndarray:
    users = [_one_hot(log.users[rows, at], len(names)) for at, names in enumerate(log.names)]
    return np.column_stack((*users, _one_hot(log.positions[rows], N_POSITIONS)))


@kernel
def _fill(
    own: np.ndarray,
    crossed: np.ndarray,
    values: np.ndarray,
    position: int,
    score: np.ndarray,
    affinity_items: np.ndarray,
    affinities: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the features of all items in one event, each of norm 1, into ``out``, shape (dim, n_items)."""
    n_hashed, n_items = own.shape
    for i in range(n_hashed):
        for k in range(n_items):
            out[i, k] = own[i, k]
            for value in values:
                out[i, k] += crossed[value, i, k]
    out[n_hashed:] = 0.0
    out[n_hashed + position] = 1.0
    out[-2] = score
    for j in range(affinity_items.size):
        out[-1, affinity_items[j]] = affinities[j] / (1.0 + affinities[j])
    for k in range(n_items):
        total = 0.0
        for i in range(out.shape[0]):
            total += out[i, k] * out[i, k]
        norm = np.sqrt(total)
        for i in range(out.shape[0]):
            out[i, k] /= norm
