"""The loop with its trace, and its foundations: seeds, spaces, and the contextual bandit task."""

import hashlib
import itertools
import math
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import chisquare

from bench.algorithms.contextual import ContextualAlgorithm
from bench.algorithms.lints import LinTS
from bench.algorithms.linucb import LinUCB
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.envs.synthetic_linear import SyntheticLinear
from bench.envs.synthetic_logistic import SyntheticLogistic
from bench.errors import ConfigError, TaskError
from bench.loop import run
from bench.seeding import Seeds
from bench.space import HyperParameter, Space
from bench.tasks.base import Outcome, Task
from bench.tasks.contextual_bandit import ContextualBandit
from bench.trace import Trace
from bench.tuners.base import Problem, Tuner
from bench.tuners.baselines import Fixed, Theory
from bench.tuners.cdt import CDT
from bench.tuners.op import OP
from bench.tuners.tl import TL


@component
class Script(ContextualEnvironment):
    """Three arms with means 0.1, 0.5 and 0.9; the reward of round t is t, or its entry in ``odd``."""

    ends_after: int = 10**9
    odd: Any = None

    def start(self, rounds, seeds):
        self.dim, self.n_arms, self.sub_gaussian, self.feature_norm = 1, 3, 0.25, 1.0
        self.t = 0

    def observe(self):
        if self.t == self.ends_after:
            return None
        self.t += 1
        self.means = np.array([0.1, 0.5, 0.9])
        self.best_mean, self.average_mean = 0.9, 0.5
        return np.ones((3, 1))

    def pull(self, arm):
        return float((self.odd or {}).get(self.t, self.t))


@component
class Double(ContextualAlgorithm):
    """Records all calls; a theoretical value for ``second`` only."""

    spaces: ClassVar = {
        "first": {"candidates": (1.0, 2.0), "low": 0.0, "high": 3.0},
        "second": {"candidates": (10.0, 20.0), "default": 10.0},
        "third": {"candidates": (7.0, 8.0), "default": 8.0},
    }
    decision: int = 1
    random_pulls: int = 0

    @property
    def random_rounds(self):
        return self.random_pulls

    @property
    def rounds_per_decision(self):
        return self.decision

    def theory(self, round_, configuration=None):
        return {"second": 100.0 + round_}

    def start(self, info, seeds):
        self.info, self.seeds = info, seeds
        self.configurations, self.rewards, self.arms = [], [], []

    def choose(self, contexts, configuration):
        self.configurations.append(dict(configuration))
        return 1

    def update(self, contexts, arm, reward):
        self.rewards.append(reward)
        self.arms.append(arm)


class Listener(Tuner):
    """Records its input; proposes a number that counts up."""

    leaves_space: ClassVar = True

    def __init__(self, wants=0):
        self.wants = wants
        self.starts = []

    def random_rounds(self, problem):
        self.problem_before = problem
        return self.wants

    def _start(self, problem, seeds):
        self.starts.append((problem, seeds))
        self.told = []
        self.n_asked = 0

    def _ask(self):
        self.n_asked += 1
        return self.starts[-1][0].space.defaults | {"first": float(self.n_asked)}

    def _tell(self, reward, outcome):
        self.told.append(reward)


def play(rounds, tuner, *, env=None, **settings):
    algorithm = Double(**settings)
    trace = run(ContextualBandit(env or Script(), algorithm), tuner, rounds=rounds, seeds=Seeds(5))
    return trace.columns(), algorithm


@pytest.mark.parametrize(("task", "tuner"), [(0, 0), (4, 0), (0, 6), (4, 6), (6, 4), (5, 5)])
def test_warm_up_is_the_longer_of_the_two_and_never_told(task, tuner):
    listener = Listener(tuner)
    columns, algorithm = play(20, listener, random_pulls=task)
    n = max(task, tuner)
    assert listener.n_asked == len(listener.told) == 20 - n
    assert listener.told == [float(t) for t in range(n + 1, 21)]
    assert listener.starts[0][0].horizon == 20 - n
    assert algorithm.rewards == [float(t) for t in range(1, 21)]
    assert len(algorithm.configurations) == 20 - n
    assert columns["round"].tolist() == list(range(1, 21))
    assert np.isnan(columns["first"][:n]).all()
    assert columns["first"][n:].tolist() == [float(i) for i in range(1, 21 - n)]


def test_warm_up_pulls_are_uniform():
    _, algorithm = play(6_000, Listener(), random_pulls=6_000)
    assert chisquare(np.bincount(algorithm.arms, minlength=3)).pvalue > 1e-3


def test_the_facts_that_a_tuner_is_told():
    listener = Listener(2)
    _, algorithm = play(21, listener, decision=4, random_pulls=3, tune=["first", "third"])
    (problem, seeds), before = listener.starts[0], listener.problem_before
    # 21 rounds less 3 of warm-up are 18: four whole decisions and one of two rounds
    assert (problem.horizon, problem.rounds, problem.total_rounds, problem.rounds_per_ask) == (5, 21, 21, 4)
    assert listener.n_asked == 5
    assert problem.space.names == ("first", "third")
    assert problem.noise_std == 0.25 / 2  # of the mean of four rewards
    assert (before.total_rounds, before.rounds_per_ask, before.horizon) == (21, 4, 6)
    assert seeds == Seeds(5).child("tuner")
    assert algorithm.seeds == Seeds(5).child("algorithm")
    info = algorithm.info
    assert (info.dim, info.n_arms, info.rounds, info.sub_gaussian, info.feature_norm) == (1, 3, 21, 0.25, 1.0)
    assert [problem.asks(n) for n in (1, 3, 4, 7, 8)] == [1, 1, 1, 1, 2]


def test_epochs():
    """Three rounds a decision: the mean reward is told, the last decision is cut, every round stands in the trace."""
    listener = Listener()
    columns, algorithm = play(11, listener, decision=3)
    assert listener.told == [2.0, 5.0, 8.0, 10.5]
    assert columns["round"].tolist() == list(range(1, 12))
    assert columns["first"].tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4]
    assert columns["reward"].tolist() == list(itertools.accumulate(range(1, 12)))
    assert [c["first"] for c in algorithm.configurations] == columns["first"].tolist()


def test_hyper_parameters_not_tuned_have_their_theoretical_or_default_value():
    """The second has a theoretical value for the round, the third has none."""
    _, algorithm = play(4, Listener(1))
    assert algorithm.configurations == [{"first": float(i), "second": 100.0 + i + 1, "third": 8.0} for i in (1, 2, 3)]
    tuner = Fixed({"first": 2.0, "second": 20.0})
    _, algorithm = play(3, tuner, tune=["first", "second"])
    assert algorithm.configurations == [{"first": 2.0, "second": 20.0, "third": 8.0}] * 3
    # A tuner of one hyper-parameter takes the first of those that are tuned
    _, algorithm = play(3, OP(), tune=["third", "first"])
    assert {c["third"] for c in algorithm.configurations} <= {7.0, 8.0}
    assert [(c["first"], c["second"]) for c in algorithm.configurations] == [(1.0, 100.0 + t) for t in (1, 2, 3)]


@pytest.mark.parametrize("ends_after", [0, 2, 5, 6, 7])
@pytest.mark.parametrize("decision", [1, 3])
def test_a_log_that_ends_early(ends_after, decision):
    """Before, within and at the end of the warm-up and of a decision; the tuner is told the rounds that were played."""
    listener = Listener(3)
    columns, algorithm = play(50, listener, env=Script(ends_after=ends_after), decision=decision)
    assert algorithm.rewards == [float(t) for t in range(1, ends_after + 1)]
    assert columns.get("round", np.array([])).tolist() == list(range(1, ends_after + 1))
    played = list(range(4, ends_after + 1))
    chunks = [played[i : i + decision] for i in range(0, len(played), decision)]
    assert listener.told == [sum(chunk) / len(chunk) for chunk in chunks]


@pytest.mark.parametrize(("ends_after", "played"), [(10**9, 20), (12, 12), (7, 7)])
def test_a_log_may_yield_more_rounds_than_expected(ends_after, played):
    """A warm-up longer than the expected run is played in full, and the tuner is started."""
    environment = Script(ends_after=ends_after)
    environment.expected_rounds = 5
    trace = run(ContextualBandit(environment, LinUCB()), CDT(warm_up_rounds=10), rounds=20)
    assert trace.round == played
    rates = trace.columns().get("exploration_rate", np.full(played, np.nan))
    assert np.isnan(rates).sum() == min(played, 10)


@component
class Replayed(Script):
    """Rejects arms other than 1 and every third event; knows no means."""

    sums: ClassVar = ("reward",)
    rejects: ClassVar = True

    def pull(self, arm):
        return float(self.t) if arm == 1 and self.t % 3 else None

    def values(self, arm):
        return {"events": float(self.t)}


def test_a_rejected_event_is_no_round():
    listener, algorithm = Listener(), Double()
    trace = run(ContextualBandit(Replayed(ends_after=20), algorithm), listener, rounds=10).columns()
    events = [1, 2, 4, 5, 7, 8, 10, 11, 13, 14]
    assert trace["events"].tolist() == events
    assert trace["reward"].tolist() == np.cumsum(events).tolist()
    assert algorithm.rewards == listener.told == [float(event) for event in events]
    assert "regret" not in trace
    assert run(ContextualBandit(Replayed(ends_after=9), Double()), Listener(), rounds=100).round == 6
    trace = run(ContextualBandit(Replayed(), Double(random_pulls=5)), Listener(), rounds=5).columns()
    assert trace["round"].tolist() == [1, 2, 3, 4, 5]


def test_a_log_without_means_cannot_be_probed():
    with pytest.raises(ConfigError, match=r"task.probe: found .* with Replayed, expected"):
        ContextualBandit(Replayed(), Double(), probe={"first": [1.0]})


class Slow(Task):
    """Reports its costs; measured with the tuner."""

    timed = True

    def start(self, rounds, seeds):
        return Problem(Space.of(first=[1.0]), rounds)

    def play(self, configuration):
        return Outcome(1.0, {"reward": 1.0}, costs={"training": 2.0, "counted": 3.0})


def test_costs_are_summed_beside_the_trace():
    trace = run(Slow(), Listener(), rounds=5)
    tuner = trace.costs.pop("tuner")
    assert trace.costs == {"training": 10.0, "counted": 15.0}
    assert 0 < tuner < 1
    assert set(trace.columns()) == {"round", "first", "reward"}


def test_a_reward_of_the_warm_up_must_be_finite_too():
    with pytest.raises(TaskError, match=r"^round 2: found the reward nan for a random pull, expected a finite number"):
        play(9, Listener(4), env=Script(odd={2: math.nan}))


# The trace


@pytest.mark.parametrize(("rounds", "played"), [*((n, n) for n in (1, 2, 499, 500, 501, 997, 10_000)), (10_000, 6_543)])
def test_rows_and_sums_of_a_trace(rounds, played):
    """At most 500 rows, the first and the last round among them, about evenly spaced, with exact sums."""
    values = np.random.default_rng(0).normal(0, 1, (played, 2))
    trace = Trace(rounds, ("reward", "regret"))
    for reward, regret in values.tolist():
        trace.record({"reward": reward, "regret": regret, "now": reward}, {"x": regret})
    trace.finish()
    columns = trace.columns()
    kept = columns["round"]
    assert kept.dtype == np.int64
    assert (kept[0], kept[-1]) == (1, played)
    assert len(kept) == min(rounds, 500) if played == rounds else len(kept) <= 500
    step = max(1.0, (rounds - 1) / 499)
    assert np.abs(np.diff(kept[:-1]) - step).max(initial=0.0) <= 1.0
    for name, column in (("reward", 0), ("regret", 1)):
        exact = [math.fsum(values[:i, column]) for i in kept]
        np.testing.assert_allclose(columns[name], exact, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(np.stack([columns["now"], columns["x"]], axis=1), values[kept - 1])


def test_columns_of_a_trace():
    """Numbers as float64, NaN where a row has none; anything else as text."""
    trace = Trace(3, ())
    trace.record({"reward": 0.0, "a": 1}, {})
    trace.record({"reward": 0.0, "a": 2}, {"x": 3, "kind": "left"})
    trace.record({"reward": 0.0, "a": 3, "late": np.float64(0.5)}, {"x": 4, "kind": None})
    trace.finish()
    columns = trace.columns()
    assert columns["a"].tolist() == [1.0, 2.0, 3.0]
    assert columns["a"].dtype == columns["x"].dtype == np.float64
    assert math.isnan(columns["x"][0])
    assert columns["x"][1:].tolist() == [3.0, 4.0]
    assert columns["late"][2] == 0.5
    assert columns["kind"].tolist() == ["None", "left", "None"]


# Regret, and pairing


def test_regret_is_that_of_the_arm_pulled():
    columns, _ = play(10, Listener())
    np.testing.assert_allclose(columns["regret"], 0.4 * np.arange(1, 11), atol=1e-12)
    np.testing.assert_allclose(columns["random_regret"], 0.4 * np.arange(1, 11), atol=1e-12)


@pytest.mark.parametrize("environment", [SyntheticLinear(dim=3, n_arms=5), SyntheticLogistic(dim=3, n_arms=5)])
def test_contexts_and_noise_are_those_of_the_repetition(environment):
    """For any tuner, algorithm and length of the warm-up comparisons are paired.

    The gap of random play depends on the contexts alone, and reward plus regret is the best mean plus the noise.
    """
    seen = []
    for tuner, algorithm in itertools.product((Theory, OP, TL, CDT, lambda: CDT(warm_up_rounds=90)), (LinUCB, LinTS)):
        seen.append(run(ContextualBandit(environment, algorithm()), tuner(), rounds=150, seeds=Seeds(3, 4)).columns())
        np.testing.assert_array_equal(seen[-1]["random_regret"], seen[0]["random_regret"])
        if environment.link == "linear":
            noise, first = (columns["reward"] + columns["regret"] for columns in (seen[-1], seen[0]))
            np.testing.assert_allclose(noise, first, rtol=0, atol=1e-9)
    assert len({columns["regret"][-1] for columns in seen}) > 6
    other = run(ContextualBandit(environment, LinUCB()), TL(), rounds=150, seeds=Seeds(3, 5)).columns()
    assert (other["random_regret"] != seen[0]["random_regret"]).all()


# Seeds


def test_streams_differ_by_every_axis():
    streams = {
        seeds.generator(name).random()
        for base, repetition in itertools.product((0, 1, 2), (0, 1, 2))
        for seeds in (
            Seeds(base, repetition),
            Seeds(base, repetition).child("env"),
            Seeds(base, repetition).child("tuner"),
            Seeds(base, repetition).child("tuner").child("env"),
        )
        for name in ("noise", "contexts", "env")
    }
    assert len(streams) == 9 * 4 * 3


def test_streams_of_seeds_never_change():
    """A change of the scheme would silently change the meaning of every stored result."""
    digest = hashlib.sha256(b'["env", "noise"]').digest()
    words = [int.from_bytes(digest[4 * i : 4 * i + 4], "little") for i in range(8)]
    expected = np.random.Generator(np.random.PCG64(np.random.SeedSequence([7, 3, *words]))).random(4)
    assert Seeds(7, 3).child("env").generator("noise").random(4).tolist() == expected.tolist()


# Spaces


@pytest.mark.parametrize("log", [False, True])
def test_whole_numbers_get_equal_shares_of_the_interval(log):
    parameter = HyperParameter("x", low=2, high=9, log=log, integer=True)
    values = [parameter.from_unit(u) for u in np.linspace(0, 1, 80_001)]
    assert all(type(value) is int for value in values)
    edges = np.arange(1.5, 10.0)
    shares = np.diff(np.log(edges) if log else edges)
    counts = np.bincount(values, minlength=10)[2:]
    np.testing.assert_allclose(counts / len(values), shares / shares.sum(), atol=1e-3)


def test_samples_are_uniform():
    space = Space.of(a=(1, 2, 3), b={"low": 0.01, "high": 1.0, "log": True}, c={"low": -1.0, "high": 3.0})
    rng = np.random.default_rng(0)
    drawn = [space.sample(rng) for _ in range(4_000)]
    assert chisquare([sum(d["a"] == a for d in drawn) for a in (1, 2, 3)]).pvalue > 1e-3
    for values in ([math.log10(d["b"]) / 2 + 1 for d in drawn], [(d["c"] + 1) / 4 for d in drawn]):
        counts, _ = np.histogram(values, bins=10, range=(0, 1))
        assert counts.sum() == 4_000
        assert chisquare(counts).pvalue > 1e-3


def test_the_default_is_the_first_candidate_or_the_middle_of_the_interval():
    space = Space.of(
        a={"candidates": (3, None), "default": None},
        b={"candidates": (3, 4), "low": 0.0, "high": 1.0},
        c={"low": 0.0, "high": 1.0},
        d={"low": 0.01, "high": 1.0, "log": True},
    )
    assert space.defaults == {"a": None, "b": 3, "c": 0.5, "d": pytest.approx(0.1)}


def test_product_and_restriction():
    space = Space.of(a=[1, 2], b=["x", "y", "z"], c=[None])
    assert space.dim == 3
    assert [tuple(c.values()) for c in space.product()] == [(a, b, None) for a in (1, 2) for b in "xyz"]
    assert space.restrict(["b", "a"]).names == ("b", "a")
    with pytest.raises(ConfigError, match="'d'"):
        space.restrict(["d"])
    with pytest.raises(ConfigError, match="expected candidates"):
        Space.of(a={"low": 0.0, "high": 1.0}).product()
    with pytest.raises(ConfigError, match="no hyper-parameter"):
        Space(())
    with pytest.raises(ConfigError, match="no name twice"):
        Space((HyperParameter("a", (1,)), HyperParameter("a", (2,))))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"low": 0.0}, "both or neither"),
        ({"low": 0.0, "high": 2.0, "power": 2, "integer": True}, "only one of them"),
        ({"candidates": (1, 1)}, "each value once"),
        ({"candidates": ([1],)}, "numbers, strings or None"),
    ],
)
def test_a_wrong_hyper_parameter_is_one_sentence(settings, message):
    with pytest.raises(ConfigError, match=message) as error:
        HyperParameter("x", **settings)
    assert "'x'" in str(error.value)
    assert "\n" not in str(error.value)
