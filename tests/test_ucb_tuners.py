"""ETC, UCB and the tuners that forget, against indices computed anew from everything that was played."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import entropy
from tuning import started

from bench.tuners.dynamic_means import WindowedMeans
from bench.tuners.forgetting_ucb import BanditOverBandit, DiscountedUCB, SlidingWindow, SlidingWindowUCB
from bench.tuners.restarting_ucb import MUCB, GLRklUCB, divergence, largest_ratio, upper_bound
from bench.tuners.ucb import ETC, UCB1, UCBDelta


def play(tuner, *rewards):
    """Tell the rewards; return the arms that earned them."""
    arms = []
    for reward in rewards:
        arms.append(tuner.ask()["arm"])
        tuner.tell(float(reward))
    return arms


def upper_bounds(history, width, weights=None):
    """Return weighted mean + sqrt(width / weighted count) of each of four arms; infinite without a pull."""
    weights = np.ones(len(history)) if weights is None else weights
    bounds = np.full(4, math.inf)
    for arm in {arm for arm, _ in history}:
        w = weights * [pulled == arm for pulled, _ in history]
        bounds[arm] = w @ [reward for _, reward in history] / w.sum() + math.sqrt(width / w.sum())
    return bounds


def ucb1(history):
    return upper_bounds(history, 2 * math.log(max(len(history), 1)))


def constant(width):
    return lambda history: upper_bounds(history, width)


def discounted(discount, scale):
    def index(history):
        weights = discount ** np.arange(len(history) - 1.0, -1.0, -1.0)
        return upper_bounds(history, scale * math.log(max(weights.sum(), 1.0)), weights)

    return index


def windowed(length, scale):
    return lambda history: upper_bounds(history[-length:], scale * math.log(max(min(len(history), length), 1)))


def divergence_of(p, q):
    return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a)


def kl(history):
    bounds = np.full(4, math.inf)
    for arm in {arm for arm, _ in history}:
        rewards = [reward for pulled, reward in history if pulled == arm]
        p, limit = np.mean(rewards), math.log(len(history)) / len(rewards)
        bounds[arm] = brentq(lambda q, p=p, limit=limit: divergence_of(p, q) - limit, p, 1 - 1e-16) if p < 1 else 1
    return bounds


def forced(index, period):
    """All four arms in turn at the beginning of each period."""
    return lambda history: np.eye(4)[place] if (place := len(history) % period) < 4 else index(history)


# Windows are those of `SlidingWindow`
INDICES = {
    "ucb1": (UCB1(), ucb1),
    "ucb delta": (UCBDelta(delta=0.025), constant(2 * math.log(40))),
    "hoeffding": (UCBDelta(delta=0.025, width="hoeffding"), constant(math.log(40) / 2)),
    "delta 1 / T^2": (UCBDelta(), constant(4 * math.log(1_000))),
    "discounted": (DiscountedUCB(discount=0.9, xi=0.7, bound=2.0), discounted(0.9, 16 * 0.7)),
    "slowly discounted": (DiscountedUCB(discount=0.99), discounted(0.99, 4 * 0.6)),
    "discounted, no change": (DiscountedUCB(changes=0), discounted(1.0, 4 * 0.6)),
    "default discount": (DiscountedUCB(changes=4), discounted(1 - math.sqrt(4 / 1_000) / 4, 4 * 0.6)),
    "window": (SlidingWindowUCB(window=37, xi=0.7, bound=2.0), windowed(37, 4 * 0.7)),
    "window, no change": (SlidingWindowUCB(changes=0), windowed(1_000, 0.6)),
    # 2 sqrt(1,000 ln 1,000 / 20), rounded up
    "default window": (SlidingWindowUCB(changes=20), windowed(38, 0.6)),
    "m-ucb": (MUCB(window=10_000, gamma=1 / 3), forced(ucb1, 12)),
    # b = sqrt(4 ln(2 4 10^6)) = 7.9740, gamma = sqrt(4 (2 b + 3 sqrt 8) / 2,000), 4 / gamma = 18.1
    "default m-ucb": (MUCB(window=8), forced(ucb1, 18)),
    "m-ucb, no change": (MUCB(changes=0), ucb1),
    "glr": (GLRklUCB(alpha=0.25, delta=1e-9), forced(kl, 16)),
    # alpha = sqrt(4 ln 1,000 / 1,000) = 0.16623
    "default glr": (GLRklUCB(delta=1e-9), forced(kl, 24)),
}


@pytest.mark.parametrize("means_of", [SlidingWindow, WindowedMeans])
def test_a_huge_reward_hides_no_other_once_it_has_left_the_window(means_of):
    """1e17 + 1 - 1e17 is 0 in floating point."""
    window = SlidingWindow(1, 10) if means_of is SlidingWindow else WindowedMeans(10, 1)
    for round_ in range(15):
        window.learn(0, 1e17 if round_ == 3 else 1.0)
    assert (window._sums[0] if means_of is SlidingWindow else window.stats[0, 1]) == 10.0


@pytest.mark.parametrize("name", INDICES)
def test_the_largest_index_is_played(name):
    tuner, index = started(INDICES[name][0], 4), INDICES[name][1]
    rng = np.random.default_rng(1)
    history = []
    for _ in range(400):
        arm, values = tuner.ask()["arm"], index(history)
        assert values[arm] == pytest.approx(values.max(), rel=1e-8)
        assert np.isfinite(values[arm]) or arm == np.argmax(values)  # of arms without a pull the first
        history.append((arm, float(rng.random() < 0.3 + 0.1 * arm)))
        tuner.tell(history[-1][1])
    assert len({arm for arm, _ in history[100:]}) > 2


@pytest.mark.parametrize("tuner", [UCB1(), UCBDelta(), ETC(pulls_per_arm=1)])
def test_of_equals_the_first_is_chosen_even_in_a_run_of_one_round(tuner):
    assert play(started(tuner, 3), *[0.5] * 4) == [0, 1, 2, 0]
    assert play(started(tuner, 1, 1), 0.5) == [0]


def test_etc_tries_in_turn_and_stays_with_the_best_mean():
    """Means 0.4, 0.7, 0.5 after m K = 6 rounds, not after 5; later rewards do not count."""
    tuner = started(ETC(pulls_per_arm=2), 3)
    assert play(tuner, 0.4, 0.6, 0.9, 0.4, 0.8, 0.1) == [0, 1, 2, 0, 1, 2]
    assert play(tuner, -100.0, 3.0, -100.0, 0.0) == [1, 1, 1, 1]
    assert play(started(ETC(), 2, 5), 1.0, 0.0, 1.0, 0.0, 1.0) == [0, 1, 0, 1, 0]


def bernoulli(tuner, means_of, seed):
    """Play Bernoulli arms whose means are ``means_of(t)`` for 4,000 rounds; return the arms."""
    rng = np.random.default_rng(seed)
    return np.ravel([play(tuner, rng.random() < means_of(t)[tuner.ask()["arm"]]) for t in range(4_000)])


@pytest.mark.parametrize("make", [lambda: MUCB(window=200, changes=1), GLRklUCB, lambda: GLRklUCB(restart="local")])
def test_detectors_notice_a_change_and_nothing_else(make):
    """False alarms in 3 runs without a change: none expected; with a change of .6, one restart soon after it."""
    for seed in range(3):
        tuner = started(make(), 2, 4_000)
        bernoulli(tuner, lambda t: (0.2, 0.5), seed)
        assert tuner.restarts == 0
        tuner = started(make(), 2, 4_000)
        arms = bernoulli(tuner, lambda t: (0.2, 0.8) if t < 2_000 else (0.8, 0.2), seed)
        assert tuner.restarts >= 1
        assert np.mean(arms[3_500:] == 0) > 0.7


def test_m_ucb_restarts_when_the_halves_of_a_window_differ():
    """By more than b = 1.5, of the last six rewards since the restart."""
    tuner, rng = started(MUCB(window=6, threshold=1.5, gamma=1.0), 1), np.random.default_rng(0)
    last, restarts = [], 0
    for _ in range(400):
        last.append(float(1 + 0.8 * rng.normal()))
        play(tuner, last[-1])
        if len(last) >= 6 and abs(sum(last[-6:-3]) - sum(last[-3:])) > 1.5:
            last, restarts = [], restarts + 1
        assert tuner.restarts == restarts
    assert 10 < restarts < 60


@pytest.mark.parametrize("step", [1, 5])
def test_ratio_is_the_gain_in_log_likelihood_of_two_means(step):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.random(40) < 0.3, rng.random(25) < 0.7]).astype(float)

    def log_likelihood(y):
        return -len(y) * entropy([y.mean(), 1 - y.mean()])

    exact = max(log_likelihood(x[:s]) + log_likelihood(x[s:]) for s in range(step, 65, step)) - log_likelihood(x)
    assert largest_ratio(np.concatenate([[0], np.cumsum(x)]), step) == pytest.approx(exact, rel=1e-10)


def test_divergence_and_bound_at_the_ends():
    for p in (0.0, 0.2, 1.0):
        for q in (0.1, 0.999):
            assert divergence(p, q) == pytest.approx(entropy([p, 1 - p], [q, 1 - q]), rel=1e-12, abs=1e-15)
    assert upper_bound(0.0, 0.1) == pytest.approx(1 - math.exp(-0.1), abs=1e-9)


def test_after_a_local_restart_a_candidate_counts_its_own_rounds():
    """The largest q with N kl(mean, q) <= ln(rounds since the candidate's own restart)."""
    tuner, rng = started(GLRklUCB(restart="local", delta=1e-3), 3, 1_000), np.random.default_rng(2)
    rewards, began, played = [[], [], []], [0, 0, 0], 0
    for t in range(1_000):
        arm, restarts = tuner.ask()["arm"], tuner.restarts
        share = min(1.0, math.sqrt((restarts + 1) * 3 * math.log(1_000) / 1_000))
        period = max(3, math.floor(3 / share))
        if t % period >= 3 and all(rewards):
            logs = [math.log(max(t - start, 1)) for start in began]
            indices = [upper_bound(np.mean(seen), log / len(seen)) for seen, log in zip(rewards, logs, strict=True)]
            assert indices[arm] == pytest.approx(max(indices), rel=1e-8)
            played += restarts > 0
        rewards[arm].append(float(rng.random() < ((0.9, 0.5, 0.1) if t < 400 else (0.1, 0.5, 0.9))[arm]))
        tuner.tell(rewards[arm][-1])
        if tuner.restarts > restarts:
            rewards[arm], began[arm] = [], t + 1
    assert played > 100


@pytest.mark.parametrize(("settings", "delta"), [({"delta": 1e-4}, 1e-4), ({}, 1 / math.sqrt(1_000))])
def test_a_change_is_noticed_where_the_ratio_exceeds_the_threshold(settings, delta):
    """One arm, 40 rewards 0, then 1 until the ratio of the n rewards exceeds ln(n sqrt(n) / delta)."""
    tuner = started(GLRklUCB(every=1, **settings), 1)
    for n in range(1, 100):
        play(tuner, n > 40)
        mean = max(0, n - 40) / n
        assert tuner.restarts == (n * entropy([mean, 1 - mean]) > math.log(n**1.5 / delta))
        if tuner.restarts:
            break
    assert 41 < n < 60


def test_bandit_over_bandit_plays_blocks_by_fresh_windows_and_learns_from_them():
    """The windows, by hand for H = 100; the default H is sqrt(K T); each block by a fresh sliding-window UCB."""
    assert started(BanditOverBandit(block=100), 3).windows == [1, 2, 6, 15, 39, 100]
    assert started(BanditOverBandit(), 9, 10_000).windows[-1] == 300
    assert started(BanditOverBandit(), 9, 4).windows[-1] == 4
    tuner, rng, seen = started(BanditOverBandit(block=60), 4, 600, seed=3), np.random.default_rng(1), set()
    for _ in range(10):
        fresh = {window: started(SlidingWindowUCB(window=window), 4, 600) for window in tuner.windows}
        for _ in range(60):
            arm = tuner.ask()["arm"]
            fresh = {window: base for window, base in fresh.items() if base.ask()["arm"] == arm}
            reward = rng.random() < 0.2 * arm
            play(tuner, reward)
            for base in fresh.values():
                base.tell(float(reward))
        assert fresh  # there is a window whose choices these are
        seen.add(max(fresh))
    assert len(seen) > 2


def test_bandit_over_bandit_rewards_its_master_as_the_paper_says():
    """H = 100, 10 blocks: 1/2 + 70 / (200 + 4 / 2 sqrt(100 ln(1000 / 10))) of the first window, drawn with 1/6."""
    tuner = started(BanditOverBandit(block=100, noise_std=0.5), 3)
    master, n = tuner._master, 6
    play(tuner, *[0.7] * 100)
    beta = min(1, math.sqrt(n * math.log(n) / ((math.e - 1) * 10)))
    growth = math.exp(beta * (0.5 + 70 / (200 + 2 * math.sqrt(100 * math.log(100)))))
    chances = np.sort(master.probabilities)
    assert chances[:-1] == pytest.approx(beta / n + (1 - beta) / (growth + n - 1), rel=1e-9)
