"""Rewards that come late, in batches, of configurations that are held, and a start from a log."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import registry
from conformance import rounds as affordable

from bench.algorithms.linucb import LinUCB
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.envs.moving_peak import SwitchingTriangle
from bench.envs.synthetic_linear import SyntheticLinear
from bench.errors import ConfigError, TunerError
from bench.loop import run
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome, Task
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tasks.direct import Direct
from bench.tasks.feedback import Feedback, read_history
from bench.tuners.base import CandidateTuner, Problem

PLAYED = [
    name
    for name in registry.names("tuner")
    if name != "theory" and {*registry.build("tuner", name).needs} <= {"change_points"}
]
"""Tuners that need no more than this environment offers."""


class Counts(Task):
    """The reward of round t is t."""

    def start(self, rounds, seeds):
        self.round = 0
        return Problem(Space.of(x=[1.0, 2.0]), rounds, noise_std=1.0)

    def play(self, configuration):
        self.round += 1
        return Outcome(float(self.round), {"reward": float(self.round)})


class Listens(CandidateTuner):
    """Proposes the candidates in turn; records each reward with its candidate and time."""

    def _begin(self, n, problem, seeds):
        self.problem, self.asked, self.told = problem, 0, []

    def _choose(self):
        self.asked += 1
        return self.asked % 2

    def _tell(self, reward, outcome):
        self.told.append((self.asked, reward, self._chosen))


def told(rounds=12, tuner=None, **feedback: Any):
    task, tuner = Counts(), tuner or Listens()
    task.feedback = Feedback(**feedback)
    run(task, tuner, rounds=rounds)
    return tuner


def test_a_delay_of_three_rounds_tells_each_reward_three_rounds_later():
    assert told(delay=3).told == [(t + 3, float(t), t % 2) for t in range(1, 10)]


def test_a_batch_is_told_at_once_when_it_is_complete():
    assert told(batch=5).told == [(5 if t <= 5 else 10, float(t), t % 2) for t in range(1, 11)]


def test_a_configuration_that_is_held_counts_as_one_ask_with_the_mean_reward():
    tuner = told(hold=4)
    assert tuner.told == [(1, 2.5, 1), (2, 6.5, 0), (3, 10.5, 1)]
    assert tuner.problem.horizon == 3
    assert tuner.problem.total_rounds == 12
    assert tuner.problem.noise_std == 0.5


@pytest.mark.parametrize(("factor", "asks"), [(0.1, 2), (1, 20), (10, 200)])
def test_a_wrong_horizon_is_told_to_the_tuner_alone(factor, asks):
    tuner = told(20, horizon_factor=factor)
    assert (tuner.problem.horizon, tuner.problem.total_rounds) == (asks, asks)
    assert tuner.asked == 20


@pytest.mark.parametrize("name", PLAYED)
def test_every_tuner_plays_on_beyond_the_horizon_that_it_was_told(name):
    task = Direct(SwitchingTriangle())
    task.feedback = Feedback(horizon_factor=0.1)
    rounds = affordable(name, 200)
    assert run(task, registry.build("tuner", name), rounds=rounds).round == rounds


class ReusesOutcome(Counts):
    """Returns the same object every round, and reveals its reward among its values."""

    reveals = ("reward",)

    def start(self, rounds, seeds):
        self.outcome = Outcome(0.0, {}, rewards=np.zeros(2))
        return super().start(rounds, seeds)

    def play(self, configuration):
        outcome = super().play(configuration)
        self.outcome.reward = outcome.reward
        self.outcome.values.update(outcome.values)
        self.outcome.rewards[:] = outcome.reward
        return self.outcome


def test_an_outcome_that_a_task_reuses_is_told_unchanged():
    class Looks(Listens):
        def _tell(self, reward, outcome):
            self.told.append((reward, outcome.reward, outcome.values["reward"], *outcome.rewards))

    for feedback, rewards in (({"delay": 3}, range(1, 10)), ({"batch": 4}, range(1, 13))):
        task, tuner = ReusesOutcome(), Looks()
        task.feedback = Feedback(**feedback)
        run(task, tuner, rounds=12)
        assert tuner.told == [(float(t),) * 5 for t in rewards]
    task, tuner = ReusesOutcome(), Listens()
    task.feedback = Feedback(hold=3)
    trace = run(task, tuner, rounds=6)
    assert [reward for _, reward, _ in tuner.told] == [2.0, 5.0]
    assert trace.columns()["reward"].tolist() == [1, 3, 6, 10, 15, 21]


def test_delays_have_the_requested_mean_or_range():
    for delay, mean, least, most in (({"geometric": 20}, 20, 0, 10**6), ({"uniform": [5, 15]}, 10, 5, 15)):
        waited = [asked - int(reward) for asked, reward, _ in told(20_000, delay=delay).told]
        assert np.mean(waited) == pytest.approx(mean, rel=0.05)
        assert least <= min(waited)
        assert max(waited) <= most


@pytest.mark.parametrize("delay", [-1, {"geometric": -1}, {"uniform": [3, 1]}, {"uniform": 3}, {"normal": 1}, {}])
def test_an_invalid_delay_is_refused(delay):
    with pytest.raises(ConfigError, match=r"^task\.delay: found .*, expected a number of rounds, at least 0"):
        Feedback(delay=delay)


def test_a_tuner_that_cannot_take_late_rewards_says_so_before_the_first_round():
    class InOrder(Listens):
        remembers = None

    with pytest.raises(TunerError, match=r"^InOrder: found task.delay = 2, task.batch = 1, expected none: it cannot"):
        told(tuner=InOrder(), delay=2)
    assert len(told(tuner=InOrder(), hold=3).told) == 4


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("feedback", [{"delay": 20}, {"batch": 7}, {"hold": 5}], ids=str)
def test_every_tuner_takes_late_rewards_or_says_that_it_cannot(name, feedback):
    task, tuner = Direct(SwitchingTriangle()), registry.build("tuner", name)
    task.feedback = Feedback(**feedback)
    if tuner.remembers is None and "hold" not in feedback:
        with pytest.raises(TunerError, match="it cannot take late rewards"):
            run(task, tuner, rounds=60)
    else:
        rounds = 16 if name == "gp_minimize" else 120 if "hold" in feedback else affordable(name, 120)
        assert run(task, tuner, rounds=rounds).round == rounds


@pytest.mark.parametrize("name", PLAYED)
def test_rewards_that_are_told_at_once_by_tickets_change_no_bit(name):
    """A delay that is drawn, and always 0, takes the way of late rewards."""
    traces = []
    for delay in (0, {"uniform": [0, 0]}):
        task, tuner = Direct(SwitchingTriangle()), registry.build("tuner", name)
        if tuner.remembers is None:
            pytest.skip("it takes no late rewards")
        task.feedback = Feedback(delay=delay, batch=1, hold=1)
        assert task.feedback.at_once == (delay == 0)
        trace = run(task, tuner, rounds=affordable(name, 300), seeds=Seeds(3))
        traces.append(trace.columns())
    assert "x" in traces[0]
    for column, values in traces[0].items():
        np.testing.assert_array_equal(values, traces[1][column])


@component
class OneHot(ContextualEnvironment):
    """Three arms whose features are the unit vectors, with fixed rewards."""

    def start(self, rounds, seeds):
        self.dim = self.n_arms = 3
        self.sub_gaussian = self.feature_norm = 1.0
        self.rewards = np.random.default_rng(5).normal([0.2, 0.3, 0.4], 0.5, (rounds, 3))
        self.means, self.best_mean, self.average_mean = np.array([0.2, 0.3, 0.4]), 0.4, 0.3
        self.round = -1
        self.pulled = []

    def observe(self):
        self.round += 1
        return np.eye(3)

    def pull(self, arm):
        self.pulled.append(arm)
        return float(self.rewards[self.round, arm])


@pytest.mark.parametrize("delay", [0, 1, 7])
def test_an_algorithm_that_learns_late_pulls_as_computed_by_hand(delay):
    """LinUCB on unit vectors with ridge 1: (sum + sqrt(n + 1)) / (n + 1) of rewards that are ``delay`` rounds old."""
    environment = OneHot()
    task = ContextualBandit(environment, LinUCB())
    task.feedback = Feedback(delay_algorithm=delay)
    run(task, registry.build("tuner", "fixed", configuration={"exploration_rate": 1.0}), rounds=60)
    expected: list[int] = []
    for round_ in range(60):
        bounds = []
        for arm in range(3):
            known = [environment.rewards[t, arm] for t in range(max(0, round_ - delay)) if expected[t] == arm]
            bounds.append((sum(known) + np.sqrt(len(known) + 1)) / (len(known) + 1))
        expected.append(int(np.argmax(bounds)))
    assert environment.pulled == expected
    assert len(set(expected)) == 3


def linear(**feedback: Any):
    task = ContextualBandit(SyntheticLinear(n_arms=5, dim=3), LinUCB())
    task.feedback = Feedback(**feedback)
    return run(task, registry.build("tuner", "fixed"), rounds=2_000, seeds=Seeds(1)).columns()["regret"][-1]


def test_an_algorithm_that_never_hears_of_a_reward_plays_as_in_its_first_round():
    assert linear() < 0.5 * linear(delay_algorithm=10_000)
    assert linear(delay_algorithm={"uniform": [0, 0]}) == linear()
    with pytest.raises(ConfigError, match=r"^task\.delay_algorithm: found 5 with Counts, expected 0"):
        told(delay_algorithm=5)


def test_a_tuner_starts_from_a_log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,x,reward\n1,1.0,0.25\n2,2,0.75\n")
    assert read_history(path, Space.of(x=[1.0, 2.0])) == [({"x": 1.0}, 0.25), ({"x": 2.0}, 0.75)]
    ucb = registry.build("tuner", "ucb1")
    told(2, ucb, history=str(path))
    assert ucb._arms.pulls == 4
    with pytest.raises(TunerError, match=r"^EXP3: found a history, expected none"):
        told(2, registry.build("tuner", "exp3"), history=str(path))
    path.write_text("x,reward\n3.0,1\n")
    with pytest.raises(TunerError, match=r"^UCB1: history, pair 1: found x = 3.0, expected one of 1.0, 2.0"):
        told(2, registry.build("tuner", "ucb1"), history=str(path))


@pytest.mark.parametrize(
    "history", ["x", [1], [({"x": 1.0}, 0.5, 3)], [{"x": 1.0}], pd.DataFrame({"x": [1.0], "reward": [1]})]
)
def test_a_log_in_another_form_is_refused_and_nothing_is_learnt(history):
    ucb = registry.build("tuner", "ucb1")
    ucb.start(Problem(Space.of(x=[1.0, 2.0]), horizon=10))
    with pytest.raises(TunerError, match=r"^UCB1: history, pair 1: found .*, expected a configuration and its reward"):
        ucb.learn(history)
    assert ucb.learn([({"x": 1.0}, 0.5), [{"x": 2.0}, 1]]) == 2


@pytest.mark.parametrize(
    "text",
    ["\ufeffx,reward\n1.0,0.5\n", "x, reward\n1.0, 0.5\n", "x,reward\r\n1,.5\r\n", '"x","reward"\n"1e0","5e-1"\n\n'],
)
def test_a_log_may_come_from_another_program(text, tmp_path):
    (tmp_path / "log.csv").write_bytes(text.encode())
    assert read_history(tmp_path / "log.csv", Space.of(x=[1.0, 2.0])) == [({"x": 1.0}, 0.5)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x\n3.0\n", "line 1: found no column 'reward'"),
        ("x;reward\n1.0;0.5\n", "line 1: found no column 'x'"),
        ("x,reward,reward\n1.0,0.5,0.7\n", "line 1: found 2 columns 'reward'"),
        ("x,reward\n1.0,0,5\n", "line 2: found more values than columns"),  # 0,5 is 0.5 in many countries
        ("x,reward\n1.0\n", "line 2: found no value of 'reward'"),
    ],
)
def test_a_log_with_other_columns_is_one_sentence(text, found, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(ConfigError, match=rf"log.csv: {found}[^\n]*, expected [^\n]*$"):
        read_history(tmp_path / "log.csv", Space.of(x=[1.0, 2.0]))


def test_a_log_is_learnt_before_the_first_ask_alone_and_counts_as_if_asked():
    one, other = registry.build("tuner", "gaussian_ts"), registry.build("tuner", "gaussian_ts")
    rng = np.random.default_rng(0)
    space = Space.of(x=[1.0, 2.0])
    pairs = [({"x": 1.0 + i % 2}, float(rng.normal(i % 2))) for i in range(40)]
    for tuner in (one, other):
        tuner.start(Problem(space, 100), Seeds(1))
    one.learn(pairs)
    np.testing.assert_allclose(one._arms.means, [np.mean([r for _, r in pairs[i::2]]) for i in (0, 1)])
    other.ask()
    with pytest.raises(TunerError, match="found a history after the first ask"):
        other.learn(pairs)


@pytest.mark.parametrize(("reward", "learnt"), [(1e100, 1e100), (1.1e100, 1e100), (-1e308, -1e100), (10**200, 1e100)])
def test_rewards_beyond_1e100_are_learnt_as_1e100_whichever_way_they_come(reward, learnt):
    tuner = Listens()
    tuner.start(Problem(Space.of(x=[1.0, 2.0]), 100), Seeds(1))
    tuner.ask()
    tuner.tell(reward)
    ticket, _ = tuner.ask_ticket()
    tuner.tell(reward, ticket=ticket)
    assert [each for _, each, _ in tuner.told] == [learnt] * 2
