"""AD2ME against algorithm 2 of the online_hpo paper, written down slowly.

The slow version remembers nothing but the pulls, computes every sum anew, and tests each piece of [0, 1] between two
ends of intervals for being covered.
"""

import math

import numpy as np
import pytest
from tuning import LINE

from bench.seeding import Seeds
from bench.tuners.ad2me import AD2ME, _uncovered
from bench.tuners.base import Problem
from bench.tuners.sd2me import SD2ME

WEIGHTS = ("hard", "soft")
DELTA = 0.05


def by_hand(kind, rounds, changes):
    """Return lambda or gamma of theorem 4.2."""
    share = (rounds / (3 * changes)) ** 0.75
    return math.floor(2 * share) if kind == "hard" else 1 - 1 / share


def uncovered_pieces(centers, widths):
    """Return the pieces of [0, 1] outside all intervals, from left to right."""
    ends = np.concatenate([centers - widths, centers + widths, [0.0, 1.0]])
    ends = np.unique(ends[(ends >= 0) & (ends <= 1)])
    middles = 0.5 * (ends[1:] + ends[:-1])
    outside = (np.abs(middles[:, None] - centers) > widths).all(axis=1)
    return [(a, b) for a, b, out in zip(ends[:-1], ends[1:], outside, strict=True) if out]


class Slow:
    def __init__(self, kind, rounds, changes, bonus=2.0, width="all_rounds"):
        self.kind, self.memory = kind, by_hand(kind, rounds, changes)
        self.bonus, self.width = bonus, width
        self.centers, self.arms, self.rewards = [], [], []

    def state(self):
        """Return n_t, R_t and xi_t of all arms."""
        t = len(self.arms) + 1
        s = np.arange(1, t)
        w = np.where(s >= t - self.memory, 1.0, 0.0) if self.kind == "hard" else self.memory ** (t - s - 1.0)
        arms, rewards = np.array(self.arms, dtype=int), np.array(self.rewards)
        n = np.array([w[arms == k].sum() for k in range(len(self.centers))])
        r = np.array([(w * rewards)[arms == k].sum() for k in range(len(self.centers))])
        with np.errstate(divide="ignore"):
            if self.width == "one_round":
                return n, r, np.sqrt(math.log(2 / DELTA) / (2 * n))
            return n, r, np.sqrt(math.log(2 * t**1.5 / DELTA**0.5) / n)

    def ask(self, shares):
        """Return the arm to pull; a new one lies at the next of ``shares`` of the uncovered part."""
        n, r, xi = self.state()
        pieces = uncovered_pieces(np.array(self.centers), xi)
        if pieces:
            left = shares.random() * sum(b - a for a, b in pieces)
            for a, b in pieces:
                if left <= b - a:
                    break
                left -= b - a
            self.centers.append(a + left)
            return len(self.centers) - 1
        if (n == 0).any():
            return int(np.flatnonzero(n == 0)[0])
        return int(np.argmax(r / n + self.bonus * xi))


def drive(kind, rounds, changes, reward_of, settings=None):
    """Let both play the same rounds; yield after each choice."""
    seeds = Seeds(8)
    tuner = AD2ME(weights=kind, changes=changes, **(settings or {}))
    tuner.start(Problem(LINE, rounds), seeds)
    slow = Slow(kind, rounds, changes, **(settings or {}))
    shares = seeds.child("x").generator("arms")
    for t in range(1, rounds + 1):
        x = tuner.ask()["x"]
        arm = slow.ask(shares)
        yield tuner, slow, x, arm
        reward = reward_of(t, slow.centers[arm])
        tuner.tell(reward)
        slow.arms.append(arm)
        slow.rewards.append(reward)


def drifting(scale):
    rng = np.random.default_rng(4)
    return lambda t, x: scale * float(rng.random() * max(0.0, 1.0 - abs(x - (0.2 if t // 600 % 2 else 0.8))))


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_decisions_and_sums_are_those_of_the_paper_round_by_round(kind, scale):
    """With rewards of another scale than [0, 1] bad arms are left alone for long: then their pulls leave the window."""
    came_back = False
    for tuner, slow, x, arm in drive(kind, 2000, 1, drifting(scale)):
        assert x == pytest.approx(slow.centers[arm], abs=1e-9)
        ((_, chooser),) = tuner._choosers
        n, r, _ = slow.state()
        stats = chooser._means.stats[: len(n)] * chooser._means.scale
        np.testing.assert_allclose(stats[:, 0], n, atol=1e-10, rtol=0)
        np.testing.assert_allclose(stats[:, 1], r, atol=1e-10, rtol=0)
        assert len(chooser._values) == len(slow.centers)
        came_back |= bool(arm in slow.arms and n[arm] == 0)
    assert len(slow.centers) >= 3
    assert came_back == (kind == "hard" and scale > 1)


@pytest.mark.parametrize("settings", [{"bonus": 1.0}, {"width": "one_round"}])
def test_other_constants_change_decisions_as_they_say(settings):
    arms, printed = [], []
    for _, slow, x, arm in drive("soft", 1000, 1, drifting(1.0), settings):
        assert x == pytest.approx(slow.centers[arm], abs=1e-9)
        arms.append(x)
    printed = [x for _, _, x, _ in drive("soft", 1000, 1, drifting(1.0))]
    assert arms != printed


def place(centers, widths, share, log_term=2.0):
    stats = np.array([[log_term / width**2, 0.5] for width in widths]).reshape(-1, 2)
    return _uncovered(np.array(centers), stats, len(centers), 1.0, log_term, share)


def test_the_place_of_a_new_arm_is_uniform_on_the_uncovered_part():
    assert place([0.5], [0.3], 0.25) == pytest.approx(0.1)
    assert place([0.5], [0.3], 0.75) == pytest.approx(0.9)
    assert place([0.9, 0.3], [0.1, 0.2], 0.2) == pytest.approx(0.08)
    assert place([0.9, 0.3], [0.1, 0.2], 0.5) == pytest.approx(0.6)
    assert place([], [], 0.7) == pytest.approx(0.7)
    rng = np.random.default_rng(0)
    for _ in range(300):
        centers, widths = rng.random(4), rng.random(4) * 0.2
        pieces = uncovered_pieces(centers, widths)
        length = sum(b - a for a, b in pieces)
        point = place(centers, widths, share := rng.random())
        before = sum(min(b, point) - a for a, b in pieces if a < point)
        assert before == pytest.approx(share * length, abs=1e-9)


def test_an_interval_from_farther_away_may_cover_what_the_neighbours_leave():
    """By its neighbours at 0.45 and 0.55 the arm at 0.5 would seem to leave gaps; those at the ends cover them."""
    assert place([0.1, 0.45, 0.5, 0.55, 0.9], [0.41, 0.01, 0.01, 0.01, 0.41], 0.5) == -1.0
    assert place([0.1, 0.45, 0.5, 0.55, 0.9], [0.38, 0.01, 0.01, 0.01, 0.40], 0.5) == pytest.approx(0.485)


def test_intervals_that_touch_leave_nothing_uncovered():
    assert place([0.25, 0.75], [0.25, 0.25], 0.5) == -1.0
    assert place([0.25, 0.75], [0.25, 0.2499], 0.5) > 0
    assert place([0.0], [1.0], 0.5) == -1.0


@pytest.mark.parametrize("cls", [AD2ME, SD2ME])
def test_memory_is_the_theorems_times_its_factor(cls):
    totals = {}
    for kind in WEIGHTS:
        for factor in (1.0, 4.0):
            tuner = cls(weights=kind, memory_factor=factor)
            tuner.start(Problem(LINE, 10_000), Seeds(1))
            for _ in range(10_000):
                tuner.ask()
                tuner.tell(0.5)
            totals[kind, factor] = tuner._choosers[0][1]._means.total
        assert totals[kind, 4.0] == pytest.approx(4 * totals[kind, 1.0], rel=0.01)


@pytest.mark.parametrize("rounds", [1, 5, 20])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_runs_shorter_than_the_formulas_are_made_for_go_on(kind, rounds):
    tuner = AD2ME(weights=kind)
    tuner.start(Problem(LINE, rounds), Seeds(1))
    for _ in range(rounds):
        assert 0.0 <= tuner.ask()["x"] <= 1.0
        tuner.tell(0.5)
