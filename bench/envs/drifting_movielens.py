import numpy as np
from pydantic import PositiveInt

from bench.component import component
from bench.data.movielens_times import users_by_period
from bench.envs.movielens import Movielens
from bench.errors import ConfigError
from bench.seeding import Seeds


@component
class DriftingMovielens(Movielens):
    """MovieLens whose audience changes: theta is the mean factor of users who rated in the current part of the log.

    With one period it is the environment without drift. The mean taste of all who rated in a tenth of the real log is
    nearly that of any other tenth (cosines above 0.98): what changes is which users are there, if they are few.

    Parameters
    ----------
    periods
        Parts of the log, equal in ratings and in time order, that follow each other in equal parts of the run. In each
        theta is the mean factor of ``n_users`` random users of those who rated in it, of all if they are fewer.
    """

    periods: PositiveInt = 20

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self._round = 0
        self._period = 0
        if self.periods == 1:
            self.change_points: tuple[int, ...] = ()
            return
        self.change_points = tuple(round(i * rounds / self.periods) for i in range(1, self.periods))
        users, rng = self._factors().users, seeds.generator("audience")
        self._thetas = []
        for raters in users_by_period(self.periods):
            if len(raters) and raters[-1] >= len(users):
                raise ConfigError(f"env.periods: found factors of {len(users)} users, expected those of all who rated")
            theta = users[rng.choice(raters, min(self.n_users, len(raters)), replace=False)].mean(axis=0)
            self._thetas.append(theta / np.linalg.norm(theta) if self.normalise_theta else theta)
        self._enter(0)

    def _enter(self, period: int) -> None:
        self._period = period
        self.theta = self._thetas[period]
        self._scale, self._shift = self._mean_map(self._films.T @ self.theta)

    def observe(self) -> np.ndarray:
        while self._period < len(self.change_points) and self._round >= self.change_points[self._period]:
            self._enter(self._period + 1)
        self._round += 1
        return super().observe()
