"""SD2ME and AD2ME against algorithms 1 and 2 of the online_hpo paper, written down slowly.

The slow version remembers nothing but the pulls, computes every sum anew, and tests each piece of [0, 1] between two
ends of intervals for being covered. Both use bench.tuners.d2me.
"""

import math

import numpy as np
import pytest
from tuning import LINE

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.d2me import AD2ME, SD2ME, _uncovered
from bench.tuners.dynamic_means import DiscountedMeans, WindowedMeans, floor_at_least_one

WEIGHTS = ("hard", "soft")
DELTA = 0.05


def memory_of(cls, kind, rounds, changes, factor=1.0):
    """Return lambda or gamma of theorem 4.1 (SD2ME) or 4.2 (AD2ME), for a memory ``factor`` times as long."""
    if cls is SD2ME:
        share = 6**0.25 * (rounds / changes) ** 0.75
    else:
        share = (1 + (kind == "hard")) * (rounds / (3 * changes)) ** 0.75
    return math.floor(factor * share) if kind == "hard" else 1 - 1 / (factor * share)


def weighted(kind, memory, arms, rewards, n_arms):
    """Return n_t, R_t of all arms and W_t from the arms pulled and the rewards paid: equations 3 to 5."""
    ages = np.arange(len(arms))[::-1]
    w = (ages < memory).astype(float) if kind == "hard" else float(memory) ** ages
    return np.bincount(arms, w, n_arms), np.bincount(arms, w * rewards, n_arms), w.sum()


def spaced(kind, memory, rng):
    """Return the arms of SD2ME in the order of their first pulls."""
    rho = (6 / memory) ** (1 / 3) if kind == "hard" else (6 * (1 - memory)) ** (1 / 3)
    return (rho * (rng.permutation(math.floor(1 / rho)) + 1)).tolist()


def uncovered_pieces(centers, widths):
    """Return the pieces of [0, 1] outside all intervals, from left to right."""
    centers = np.array(centers)
    ends = np.concatenate([centers - widths, centers + widths, [0.0, 1.0]])
    ends = np.unique(ends[(ends >= 0) & (ends <= 1)])
    middles = 0.5 * (ends[1:] + ends[:-1])
    outside = (np.abs(middles[:, None] - centers) > widths).all(axis=1)
    return [(a, b) for a, b, out in zip(ends[:-1], ends[1:], outside, strict=True) if out]


class Slow:
    def __init__(self, cls, kind, memory, rng, bonus=2.0, width="all_rounds", delta=DELTA):
        self.cls, self.kind, self.memory, self.rng = cls, kind, memory, rng
        self.bonus, self.width, self.delta = bonus, width, delta
        self.arms = spaced(kind, memory, rng) if cls is SD2ME else []
        self.pulled, self.paid = np.empty(0, dtype=int), np.empty(0)

    def ask(self):
        n, r, total = weighted(self.kind, self.memory, self.pulled, self.paid, len(self.arms))
        t, self.pulls = len(self.pulled) + 1, n
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.cls is SD2ME:
                index = r / n + np.sqrt(math.log(max(total, 1)) / n)
            else:
                all_rounds, one_round = math.log(2 * t**1.5 / self.delta**0.5), math.log(2 / self.delta) / 2
                xi = np.sqrt((one_round if self.width == "one_round" else all_rounds) / n)
                if self.add_arm(uncovered_pieces(self.arms, xi)):
                    return len(self.arms) - 1
                index = r / n + self.bonus * xi
        return int(np.flatnonzero(n == 0)[0] if (n == 0).any() else np.argmax(index))

    def add_arm(self, pieces):
        """Put a new arm, uniformly on the pieces that are not covered."""
        left = self.rng.random() * sum(b - a for a, b in pieces) if pieces else 0.0
        for a, b in pieces:
            if left <= b - a:
                self.arms.append(a + left)
                break
            left -= b - a
        return bool(pieces)


def follow(cls, kind, rounds, changes, scale, per_ask=1, factor=1.0, **settings):
    """Compare all asks; return them, the slow version, and how often an arm had left the window and came back."""
    seeds, asks = Seeds(8), rounds // per_ask
    tuner = cls(weights=kind, changes=changes, memory_factor=factor, **settings)
    tuner.start(Problem(LINE, asks, rounds=rounds, rounds_per_ask=per_ask), seeds)
    memory = memory_of(cls, kind, rounds, changes, factor)
    memory = memory // per_ask if kind == "hard" else memory**per_ask
    slow = Slow(cls, kind, memory, seeds.child("x").generator("arms"), **settings)
    rng, asked, seen, came_back = np.random.default_rng(4), [], set(), 0
    for t in range(asks):
        asked.append(tuner.ask()["x"])
        arm = slow.ask()
        assert asked[-1] == pytest.approx(slow.arms[arm], abs=1e-9), f"ask {t + 1}"
        came_back += arm in seen and slow.pulls[arm] == 0
        seen.add(arm)
        peak = 0.2 if t // 600 % 2 else 0.8
        reward = scale * float(rng.random() * max(0.0, 1.0 - abs(slow.arms[arm] - peak)))
        tuner.tell(reward)
        slow.pulled, slow.paid = np.append(slow.pulled, arm), np.append(slow.paid, reward)
    assert len(seen) >= min(3, len(slow.arms))
    return asked, slow, came_back


@pytest.mark.parametrize("cls", [SD2ME, AD2ME])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_decisions_are_those_of_the_paper_round_by_round(cls, kind, scale):
    """With rewards on a scale other than [0, 1], bad arms are left alone so long that their pulls leave the window."""
    _, slow, came_back = follow(cls, kind, 2_000, 2 if cls is SD2ME else 1, scale)
    assert len(slow.arms) >= 3
    assert (came_back > 0) == (kind == "hard" and scale > 1)


@pytest.mark.parametrize(
    ("cls", "kind", "settings"),
    [
        (AD2ME, "soft", {"bonus": 1.0}),
        (AD2ME, "soft", {"width": "one_round"}),
        (AD2ME, "hard", {"delta": 1e-6}),
        (SD2ME, "soft", {"factor": 4.0}),
        (AD2ME, "hard", {"factor": 4.0}),
        (SD2ME, "hard", {"per_ask": 10}),
        (SD2ME, "soft", {"per_ask": 10}),
    ],
)
def test_settings_change_decisions_as_they_say(cls, kind, settings):
    """A decision over several rounds is one pull, and ages by that many rounds."""
    rounds = 1_000 * settings.get("per_ask", 1)
    asked, _, _ = follow(cls, kind, rounds, 1, 1.0, **settings)
    assert asked != follow(cls, kind, 1_000, 1, 1.0)[0]


def test_a_spacing_that_divides_the_interval_has_an_arm_at_its_end():
    """At lambda = 6 k^3 the spacing is 1 / k, which rounding may put on either side."""
    for k in range(1, 60):
        assert floor_at_least_one(1.0 / (6.0 / (6 * k**3)) ** (1.0 / 3.0)) == k
    assert floor_at_least_one(2.999) == 2
    assert floor_at_least_one(0.3) == 1


@pytest.mark.parametrize(
    ("kind", "memory"), [("hard", 1), ("hard", 7), ("hard", 200)] + [("soft", g) for g in (0.0, 0.5, 0.99, 1.0)]
)
def test_means_are_the_weighted_sums_for_any_pulls(kind, memory):
    """At a discount of 0.5 the common factor becomes small every hundred rounds; a huge reward leaves no trace."""
    means = (WindowedMeans if kind == "hard" else DiscountedMeans)(memory, 5)
    rng, arms, rewards = np.random.default_rng(1), np.empty(0, dtype=int), np.empty(0)
    for t in range(800):
        arm = int(rng.integers(5)) if t // 100 % 2 else t // 100 % 5
        reward = 1e18 if (kind, t) == ("hard", 60) else float(rng.random())
        means.learn(arm, reward)
        arms, rewards = np.append(arms, arm), np.append(rewards, reward)
        pulls, sums, total = weighted(kind, memory, arms, rewards, 5)
        np.testing.assert_allclose(means.stats[:5, 0] * means.scale, pulls, atol=1e-10, rtol=0)
        if kind == "soft" or not 60 <= t < 60 + 2 * memory:
            np.testing.assert_allclose(means.stats[:5, 1] * means.scale, sums, atol=1e-10, rtol=0)
        assert means.total == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_two_hyper_parameters_find_a_peak_off_the_diagonal(kind):
    """Told the same rewards, they would always move together if both chose in every round."""
    space = Space.of(x={"low": 0.0, "high": 1.0}, y={"low": 1.0, "high": 100.0, "log": True})
    tuner, rng = SD2ME(weights=kind, changes=1), np.random.default_rng(6)
    tuner.start(Problem(space, 20_000), Seeds(5))
    played, means = set(), []
    for _ in range(20_000):
        configuration = tuner.ask()
        x, y = configuration["x"], math.log(configuration["y"], 100.0)
        played.add((x, y))
        means.append(max(0.0, 0.95 - 0.6 * abs(x - 0.15) - 0.6 * abs(y - 0.85)))
        tuner.tell(float(rng.random() < means[-1]))
    assert len(played) > 0.5 * len({x for x, _ in played}) ** 2
    assert np.mean(means[10_000:]) > 0.75


@pytest.mark.parametrize("rounds", [1, 5, 20])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("cls", [SD2ME, AD2ME])
def test_runs_shorter_than_the_formulas_are_made_for_go_on(cls, kind, rounds):
    tuner = cls(weights=kind)
    tuner.start(Problem(LINE, rounds), Seeds(3))
    for _ in range(rounds):
        x = tuner.ask()["x"]
        assert x == 1.0 if cls is SD2ME else 0.0 <= x <= 1.0
        tuner.tell(0.5)


def place(centers, widths, share, log_term=2.0):
    stats = np.array([[log_term / width**2, 0.5] for width in widths]).reshape(-1, 2)
    return _uncovered(np.array(centers), stats, 1.0, log_term, share)


@pytest.mark.parametrize(
    ("centers", "widths"),
    [
        # By its neighbours at 0.45 and 0.55 the arm at 0.5 would seem to leave gaps; those at the ends cover them
        ([0.1, 0.45, 0.5, 0.55, 0.9], [0.41, 0.01, 0.01, 0.01, 0.41]),
        # Intervals that touch leave nothing uncovered
        ([0.25, 0.75], [0.25, 0.25]),
        ([0.0], [1.0]),
    ],
)
def test_where_all_is_covered_no_arm_is_added(centers, widths):
    assert place(centers, widths, 0.5) == -1.0


def test_a_new_arm_lies_anywhere_on_the_uncovered_part():
    rng = np.random.default_rng(0)
    for n in range(300):
        centers, widths, share = rng.random(n % 5), rng.random(n % 5) * 0.2, rng.random()
        pieces = uncovered_pieces(centers, widths)
        point = place(centers, widths, share)
        before = sum(min(b, point) - a for a, b in pieces if a < point)
        assert before == pytest.approx(share * sum(b - a for a, b in pieces), abs=1e-9)
