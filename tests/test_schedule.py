"""Yoked runs, against runs that are put together by hand."""

import numpy as np
import pytest
from tuning import LINE

from bench.errors import ConfigError
from bench.loop import run
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.baselines import Fixed, Random
from bench.tuners.changepoint_gp import ChangepointGP
from bench.tuners.gaussian_ts import GaussianTS
from bench.tuners.schedule import Schedule
from runners.config.compose import from_overrides
from runners.config.experiment import build

ROUNDS = 150
LINEAR = ("env=synthetic_linear", "env.n_arms=6", "env.dim=3", "algorithm=linucb", "algorithm.tune=[exploration_rate]")
ORDERS = ("in_order", "shuffled")


def play(tuner, *words, seeds=Seeds(3, 1), rounds=ROUNDS):  # noqa: B008
    task, _ = build(from_overrides([*LINEAR, "tuner=random", f"horizon={rounds}", *words]).experiment)
    return run(task, tuner, rounds=rounds, seeds=seeds).columns()


class Watched(GaussianTS):
    """Records its rewards."""

    def start(self, problem, seeds=None):
        self.told = []
        super().start(problem, seeds)

    def _tell(self, reward, outcome):
        self.told.append((self._candidates[self._chosen], reward))
        super()._tell(reward, outcome)


class Replayed(Fixed):
    """Proposes a list of configurations."""

    def _start(self, problem, seeds):
        self.left = iter(self.planned)

    def _ask(self):
        return next(self.left)


def test_the_schedule_is_that_of_a_run_with_seeds_of_its_own():
    """Chosen and told as in a separate run; then played with the usual seeds, as if planned beforehand."""
    yoked, alone = Watched(), Watched()
    found = play(yoked, "task.yoked=in_order")
    play(alone, seeds=Seeds(3, 1).child("first_run"))
    assert yoked.told == alone.told
    assert len({str(configuration) for configuration, _ in alone.told}) > 1
    planned = Replayed()
    planned.planned = [configuration for configuration, _ in alone.told]
    expected = play(planned)
    for column in ("regret", "reward", "random_regret"):
        np.testing.assert_array_equal(found[column], expected[column])


def test_shuffled_plays_the_same_as_often():
    alone = Watched()
    play(alone, seeds=Seeds(3, 1).child("first_run"))
    rates = [configuration["exploration_rate"] for configuration, _ in alone.told]
    order = Seeds(3, 1).child("tuner").generator("order").permutation(ROUNDS)
    found = play(Watched(), "task.yoked=shuffled")
    planned = Replayed()
    planned.planned = [{"exploration_rate": rates[place]} for place in order]
    np.testing.assert_array_equal(found["regret"], play(planned)["regret"])
    assert planned.planned != [{"exploration_rate": rate} for rate in rates]


@pytest.mark.parametrize("order", ORDERS)
def test_a_constant_schedule_is_itself(order):
    tuner = Fixed({"exploration_rate": 0.5})
    np.testing.assert_array_equal(play(tuner, f"task.yoked={order}")["regret"], play(tuner)["regret"])


@pytest.mark.parametrize("order", ORDERS)
def test_random_choice_has_the_same_distribution(order):
    """Over 60 repetitions the difference of mean regrets is within 3.5 of its standard errors."""
    differences = []
    for repetition in range(60):
        seeds = Seeds(11, repetition)
        pair = [
            play(Random(), *words, seeds=seeds, rounds=60)["regret"][-1] for words in ((), (f"task.yoked={order}",))
        ]
        differences.append(pair[0] - pair[1])
    assert 0 < abs(np.mean(differences)) < 3.5 * np.std(differences, ddof=1) / np.sqrt(60)


def test_warm_up_and_epochs():
    """SGD-TS begins with random pulls, and one decision covers several rounds."""
    words = ("env=synthetic_logistic", "algorithm=sgd_ts", "algorithm.tune=[learning_rate]")
    for order in ORDERS:
        assert len(play(Random(), *words, f"task.yoked={order}")["regret"]) == ROUNDS


@pytest.mark.parametrize("words", [("task.hold=7",), ("task.delay=5", "task.batch=3"), ("task=copies",)])
def test_with_other_settings_of_the_task(words):
    found = [play(ChangepointGP(), *words, f"task.yoked={order}")["regret"][-1] for order in ORDERS]
    assert found[0] != found[1]


def test_another_order_is_one_sentence():
    with pytest.raises(ConfigError, match=r"^[^\n]*yoked: found 'reversed', expected 'in_order' or 'shuffled'$"):
        play(Random(), "task.yoked=reversed")


def test_the_key_is_as_without():
    keys = {
        from_overrides([*LINEAR, "tuner=random", *words]).experiment.key
        for words in ((), ("task.yoked=null",), ("task.yoked=in_order",), ("task.yoked=shuffled",))
    }
    assert len(keys) == 3


def test_more_decisions_than_in_the_first_run_are_one_sentence():
    schedule = Schedule(Random(), [{"x": 0.25}, {"x": 0.5}], shuffled=False)
    schedule.start(Problem(LINE, 3), Seeds(1))
    assert [schedule.ask()["x"] for _ in range(2)] == [0.25, 0.5]
    with pytest.raises(ConfigError, match=r"^task\.yoked: found more than the 2 decisions [^\n]*, expected"):
        schedule.ask()
