from dataclasses import field
from typing import ClassVar

import numpy as np
from pydantic import PositiveInt

from bench.component import component
from bench.data.ali_display_ad import fingerprint, load_log
from bench.data.ali_log import AdLog
from bench.envs.base import Environment
from bench.errors import DataError
from bench.seeding import Seeds


@component
class AliDisplayAd(Environment):
    """A log of users with the ads shown to them, clicked or not; each round is one user.

    Users are ordered by the hour of the day with most of their interactions, displays included, and within an hour by
    id. Only users with a clicked ad have a round, because other users never score. As many users as there are rounds
    are taken from the order, evenly spaced, so that any horizon covers the whole day. If there are fewer users than
    rounds, the log ends with the last user. All repetitions have the same users in the same order. Without the real
    files, a generated log is used. After ``start``, ``users`` holds the rows of the rounds' users in ``log``, int64,
    shape (rounds,). Source: online_hpo, section 7.1. Assumed: no users without a click; users are evenly spaced,
    because the paper does not name its 10,000 of a million users; the earlier hour wins on a tie.

    Parameters
    ----------
    surrogate_users, surrogate_ads, surrogate_days
        Size of the generated log.
    """

    reads: ClassVar[tuple[str, ...]] = ("ali_display_ad",)

    surrogate_users: PositiveInt = 20_000
    surrogate_ads: PositiveInt = 5_000
    surrogate_days: PositiveInt = 8

    log: AdLog = field(init=False, repr=False)
    users: np.ndarray = field(init=False, repr=False)

    @property
    def fingerprint(self) -> str:
        return fingerprint()

    def start(self, rounds: int, seeds: Seeds) -> None:
        self.log = load_log(self.surrogate_users, self.surrogate_ads, self.surrogate_days)
        ordered = ordered_users(self.log)
        if not len(ordered):
            raise DataError("the log of ads: found no user with a clicked ad, expected at least one")
        n = min(rounds, len(ordered))
        self.users = ordered[np.arange(n) * len(ordered) // n]


def ordered_users(log: AdLog) -> np.ndarray:
    """Return the rows of the users with a clicked ad, sorted by main hour and then by id."""
    users = np.flatnonzero(log.clicks() > 0)
    return users[np.argsort(log.user_hour[users], kind="stable")]
