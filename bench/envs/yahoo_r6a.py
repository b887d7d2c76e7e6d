from typing import ClassVar

import numpy as np

from bench.component import component
from bench.data.yahoo_r6a import DIM, fingerprint, load_log
from bench.envs.contextual import ContextualEnvironment, Link, RewardNoise
from bench.seeding import Seeds


@component
class YahooR6A(ContextualEnvironment):
    """News on a front page, with a round for every distinct time stamp of the log, about 2,880 rounds in all.

    Arms are the articles that were shown at that stamp, ordered by id, so their number changes. The success probability
    of an arm is its click-through rate at that stamp, clicks divided by shows. Rewards are drawn with this probability
    in each repetition. Without the files, a generated log is used. Source: cdt, section 5; the click-through rate per
    stamp from the authors' code.
    """

    reads: ClassVar[tuple[str, ...]] = ("yahoo_r6a",)

    @property
    def link(self) -> Link:
        return "logistic"

    @property
    def fingerprint(self) -> str:
        return fingerprint()

    def start(self, rounds: int, seeds: Seeds) -> None:
        log = load_log()
        n_arms = np.diff(log.starts)
        self.dim = DIM
        self.n_arms = int(n_arms.max())
        self.sub_gaussian = 0.5
        self.feature_norm = float(np.linalg.norm(log.features, axis=1).max())
        self._starts = log.starts.tolist()
        self._features = np.ascontiguousarray(log.features.T)
        self._article = log.article
        self._rates = log.clicks / log.shows
        self._best = np.maximum.reduceat(self._rates, log.starts[:-1]).tolist()
        self._average = (np.add.reduceat(self._rates, log.starts[:-1]) / n_arms).tolist()
        self._round = 0
        self._noise = RewardNoise("logistic", self.sub_gaussian, seeds.generator("noise"))

    def observe(self) -> np.ndarray | None:
        r = self._round
        if r == len(self._best):
            return None
        self._round += 1
        arms = slice(self._starts[r], self._starts[r + 1])
        self.means = self._rates[arms]
        self.best_mean, self.average_mean = self._best[r], self._average[r]
        return self._features.take(self._article[arms], axis=1).T

    def pull(self, arm: int) -> float:
        return self._noise.reward(self.means.item(arm))
