"""SD2ME against algorithm 1 of the online_hpo paper, written down slowly: every sum anew from the whole history."""

import math

import numpy as np
import pytest
from tuning import LINE

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.dynamic_means import DiscountedMeans, WindowedMeans, floor_at_least_one
from bench.tuners.sd2me import SD2ME

WEIGHTS = ("hard", "soft")


def weights(kind, memory, t):
    """Return w_t(s) for s = 1, ..., t - 1: equations 4 (memory: lambda) and 5 (memory: gamma)."""
    s = np.arange(1, t)
    return np.where(s >= t - memory, 1.0, 0.0) if kind == "hard" else float(memory) ** (t - s - 1)


def direct(kind, memory, history, n_arms):
    """Return n_t, R_t of all arms and W_t from the history [(arm, reward), ...]."""
    w = weights(kind, memory, len(history) + 1)
    arms = np.array([arm for arm, _ in history], dtype=int)
    rewards = np.array([reward for _, reward in history])
    pulls = [w[arms == k].sum() for k in range(n_arms)]
    sums = [(w * rewards)[arms == k].sum() for k in range(n_arms)]
    return np.array(pulls), np.array(sums), w.sum()


def started(horizon=10_000, **settings):
    tuner = SD2ME(**settings)
    tuner.start(Problem(LINE, horizon), Seeds(3))
    return tuner


def values_of(tuner):
    """Return the arms in the order in which they are numbered."""
    (_, chooser), *_ = tuner._choosers
    return chooser._values


def means_of(tuner):
    return tuner._choosers[0][1]._means


def by_hand(kind, rounds, changes):
    """Return lambda or gamma, and rho, of theorem 4.1."""
    if kind == "hard":
        lam = math.floor(6**0.25 * (rounds / changes) ** 0.75)
        return lam, (6 / lam) ** (1 / 3)
    gamma = 1 - 6**-0.25 * (changes / rounds) ** 0.75
    return gamma, (6 * (1 - gamma)) ** (1 / 3)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(("rounds", "changes"), [(1000, 5), (10_000, 25), (100_000, 1), (1_000_000, 10)])
def test_constants_are_those_of_theorem_4_1(kind, rounds, changes):
    tuner = started(rounds, weights=kind, changes=changes)
    memory, rho = by_hand(kind, rounds, changes)
    assert sorted(values_of(tuner)) == pytest.approx([rho * k for k in range(1, math.floor(1 / rho) + 1)], rel=1e-9)
    for _ in range(2000):
        tuner.ask()
        tuner.tell(0.5)
    total = min(2000, memory) if kind == "hard" else (1 - memory**2000) / (1 - memory)
    assert means_of(tuner).total == pytest.approx(total, rel=1e-9)


def test_a_spacing_that_divides_the_interval_has_an_arm_at_its_end():
    """At lambda = 6 k^3 the spacing is 1 / k, which rounding may put on either side."""
    for k in range(1, 60):
        assert floor_at_least_one(1.0 / (6.0 / (6 * k**3)) ** (1.0 / 3.0)) == k
    assert floor_at_least_one(2.999) == 2
    assert floor_at_least_one(0.3) == 1


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("scale", [1.0, 8.0])
def test_decisions_and_sums_are_those_of_the_paper_round_by_round(kind, scale):
    """With rewards of another scale than [0, 1] bad arms are left alone for long: then their pulls leave the window."""
    rounds, changes = 2000, 2
    tuner = started(rounds, weights=kind, changes=changes)
    memory, _ = by_hand(kind, rounds, changes)
    values = values_of(tuner)
    assert len(values) >= 3
    rng = np.random.default_rng(4)
    history, came_back, seen = [], 0, set()
    for t in range(1, rounds + 1):
        pulls, sums, total = direct(kind, memory, history, len(values))
        means = means_of(tuner)
        np.testing.assert_allclose(means.stats[: len(values), 0] * means.scale, pulls, atol=1e-10, rtol=0)
        np.testing.assert_allclose(means.stats[: len(values), 1] * means.scale, sums, atol=1e-10, rtol=0)
        assert means.total == pytest.approx(total, abs=1e-10)
        arm = values.index(tuner.ask()["x"])
        if (pulls == 0).any():
            assert arm == np.flatnonzero(pulls == 0)[0]
            came_back += arm in seen
        else:
            assert arm == np.argmax(sums / pulls + np.sqrt(math.log(total) / pulls))
        seen.add(arm)
        reward = scale * float(rng.random() * (0.2 + 0.8 * (arm == (t // 700) % len(values))))
        tuner.tell(reward)
        history.append((arm, reward))
    assert (came_back > 0) == (kind == "hard" and scale > 1)


@pytest.mark.parametrize(
    ("kind", "memory"), [("hard", 1), ("hard", 7), ("hard", 200)] + [("soft", g) for g in (0.0, 0.5, 0.9, 0.99, 1.0)]
)
def test_means_are_the_weighted_sums_whatever_is_pulled(kind, memory):
    """At a discount of 0.5 the common factor becomes small every hundred rounds."""
    means = (WindowedMeans if kind == "hard" else DiscountedMeans)(memory, 5)
    rng = np.random.default_rng(1)
    history = []
    for t in range(800):
        arm = int(rng.integers(5)) if t // 100 % 2 else t // 100 % 5
        reward = float(rng.random())
        means.learn(arm, reward)
        history.append((arm, reward))
        pulls, sums, total = direct(kind, memory, history, 5)
        np.testing.assert_allclose(means.stats[:5, 0] * means.scale, pulls, atol=1e-10, rtol=0)
        np.testing.assert_allclose(means.stats[:5, 1] * means.scale, sums, atol=1e-10, rtol=0)
        assert means.total == pytest.approx(total, abs=1e-10)


def test_a_huge_reward_leaves_no_trace_once_it_has_left_the_window():
    means = WindowedMeans(50, 2)
    rng = np.random.default_rng(2)
    history = []
    for t in range(200):
        arm, reward = t % 2, 1e18 if t == 60 else float(rng.random())
        means.learn(arm, reward)
        history.append((arm, reward))
    _, sums, _ = direct("hard", 50, history, 2)
    np.testing.assert_allclose(means.stats[:2, 1], sums, atol=1e-12)


def test_means_keep_what_they_know_when_arms_are_added():
    means = DiscountedMeans(0.9)
    for arm in range(100):
        means.add_arm()
        means.learn(arm, 0.5)
    pulls = means.stats[:100, 0] * means.scale
    np.testing.assert_allclose(pulls, 0.9 ** np.arange(99, -1, -1), rtol=1e-9)
    means.add_arm()
    assert means.most_promising(1.0, 1.0) == 100


@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_decision_over_several_rounds_is_one_pull(kind):
    tuner = SD2ME(weights=kind)
    tuner.start(Problem(LINE, horizon=1000, rounds=10_000, rounds_per_ask=10), Seeds(3))
    for _ in range(1000):
        tuner.ask()
        tuner.tell(0.5)
    gamma, _ = by_hand("soft", 10_000, 10)
    expected = 27 if kind == "hard" else 1 / (1 - gamma**10)  # lambda = 278 rounds
    assert means_of(tuner).total == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_two_hyper_parameters_find_a_peak_off_the_diagonal(kind):
    """Told the same rewards, they would always move together if both chose in every round."""
    space = Space.of(x={"low": 0.0, "high": 1.0}, y={"low": 1.0, "high": 100.0, "log": True})
    tuner = SD2ME(weights=kind, changes=1)
    tuner.start(Problem(space, 20_000), Seeds(5))
    rng = np.random.default_rng(6)
    played, rewards = set(), []
    for _ in range(20_000):
        configuration = tuner.ask()
        x, y = configuration["x"], math.log(configuration["y"], 100.0)
        played.add((x, y))
        mean = max(0.0, 0.95 - 0.6 * abs(x - 0.15) - 0.6 * abs(y - 0.85))
        rewards.append(mean)
        tuner.tell(float(rng.random() < mean))
    n_arms = len({x for x, _ in played})
    assert len(played) > 0.5 * n_arms**2
    assert np.mean(rewards[10_000:]) > 0.75


def test_repetitions_differ_in_the_order_of_first_pulls_only():
    orders = {
        tuple(values_of(tuner))
        for seed in range(30)
        for tuner in [SD2ME()]
        if not tuner.start(Problem(LINE, 10_000), Seeds(seed))
    }
    assert len(orders) == 6
    assert len({tuple(sorted(order)) for order in orders}) == 1


@pytest.mark.parametrize("rounds", [1, 5, 20])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_runs_shorter_than_the_formulas_are_made_for_have_one_arm(kind, rounds):
    tuner = started(rounds, weights=kind)
    for _ in range(rounds):
        assert tuner.ask() == {"x": 1.0}
        tuner.tell(0.5)
