"""Zooming TS, CDT and their relatives against algorithm 1 of the cdt paper, written down slowly.

The slow version remembers nothing but the pulls: it looks for removals and gaps anew in every round, by sorting
intervals (one dimension) or on a fine grid (two).
"""

import math

import numpy as np
import pytest
from scipy.stats import norm
from tuning import LINE, SQUARE

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners import zooming
from bench.tuners.active_points import ActivePoints, _select
from bench.tuners.base import Problem
from bench.tuners.cdt import CDT, CDTCode, CDTFirstUpload
from bench.tuners.zooming import ThompsonZooming, Zooming, ZoomingDoubleRestarts, ZoomingOracle, ZoomingTS

SEEDS = Seeds(6).child("tuner")
LEAST = 1 / math.sqrt(2 * math.pi)


def normals(seeds):
    """Return a function of n that draws n standard normal numbers, one for each point since the restart.

    They are drawn in blocks of 1,024 (or 4 n); a remainder that does not suffice for all points is left unused.
    """
    rng, block = seeds.generator("ranking"), []

    def take(n):
        if len(block) < n:
            block[:] = rng.standard_normal(max(1024, 4 * n)).tolist()
        taken, block[:n] = block[:n], []
        return taken

    return take


class SlowZooming:
    """Algorithm 1: removal, activation, selection, round by round.

    ``r`` and ``s`` are radius and deviation of a point pulled once; ``restarts`` tells the rounds (from 1) that start
    afresh; ``index`` is ``random`` for f + s Z, ``fixed`` for f + s.
    """

    def __init__(self, r, s, restarts, seeds, index="random", removal=True):
        self.r, self.s, self.restarts, self.index, self.removal = r, s, restarts, index, removal
        self.normals = normals(seeds)
        self.first = seeds.generator("first_point")
        self.round = 0
        self.happened = dict.fromkeys(("restart", "remove", "activate", "select"), 0)

    def restart(self):
        self.points = []  # in the order of activation
        self.counts = []
        self.sums = []
        self.active = []
        self.final_radius = {}  # of removed points: their balls were taken out of the space as they were

    def f(self, i):
        return self.sums[i] / self.counts[i]

    def radius(self, i):
        return self.r / math.sqrt(self.counts[i])

    def remove(self):
        while True:
            f = {i: self.f(i) for i in range(len(self.points)) if self.active[i]}
            r = {i: self.radius(i) for i in f}
            worse = [u for u in f if any(f[v] - f[u] > r[v] + 2 * r[u] for v in f)]
            if not worse:
                return
            u = worse[-1]  # any order gives the same result
            self.active[u] = False
            self.final_radius[u] = r[u]
            self.happened["remove"] += 1

    def balls(self):
        return [
            (point, self.radius(i) if self.active[i] else self.final_radius[i]) for i, point in enumerate(self.points)
        ]

    def gaps(self):
        """Return the pieces of [0, 1] outside every ball, from left to right."""
        pieces, reached = [], 0.0
        for low, high in sorted((v[0] - r, v[0] + r) for v, r in self.balls()):
            if low > reached:
                pieces.append((reached, min(low, 1.0)))
            reached = max(reached, high)
            if reached >= 1.0:
                return pieces
        return [*pieces, (reached, 1.0)]

    def select(self):
        z = self.normals(len(self.points)) if self.index == "random" else None
        best = None
        for i in range(len(self.points)):
            if self.active[i]:
                factor = max(LEAST, z[i]) if z else 1.0
                value = self.f(i) + self.s / math.sqrt(self.counts[i]) * factor
                if best is None or value > best[0]:
                    best = (value, i)
        self.happened["select"] += 1
        return best[1]

    def activate(self, point):
        self.happened["activate"] += 1
        self.points.append(point)
        self.counts.append(0)
        self.sums.append(0.0)
        self.active.append(True)
        return len(self.points) - 1

    def begin(self):
        self.round += 1
        if self.restarts(self.round):
            self.happened["restart"] += 1
            self.restart()
        if self.removal:
            self.remove()

    def ask(self, asked):
        """Choose in one dimension, with the midpoint of the widest gap as the point to activate.

        ``asked`` only selects one of several equally wide gaps: a ball around the midpoint of a gap leaves two such
        gaps, and rounding would decide.
        """
        self.begin()
        gaps = self.gaps()
        if not self.points:
            self.chosen = self.activate((self.first.uniform(0.3, 0.7),))
        elif gaps:
            widest = max(high - low for low, high in gaps)
            assert widest > 1e-9  # else rounding would decide whether there is one
            midpoints = [(low + high) / 2 for low, high in gaps if high - low > widest - 1e-12]
            self.chosen = self.activate((min(midpoints, key=lambda point: abs(point - asked)),))
        else:
            self.chosen = self.select()
        return self.points[self.chosen]

    def tell(self, reward):
        self.counts[self.chosen] += 1
        self.sums[self.chosen] += reward


def every(length):
    return lambda t: (t - 1) % length == 0


def at_first(t):
    return t == 1


def theory(tau0, horizon):
    return math.sqrt(13 * tau0**2 * math.log(horizon) / 2), math.sqrt(52 * math.pi * tau0**2 * math.log(horizon))


def of_switching(tau0, horizon):
    return math.sqrt(13 / 2 * tau0**1.5 * math.log(horizon)), math.sqrt(math.pi / 2 * tau0**2 * math.log(horizon))


def line_cases():
    """Yield name, horizon, tuner, slow version, and the event without which the case proves nothing."""
    n, log_n = 2_500, math.log(2_500)
    problem = {"noise_std": 0.05}
    usual = {"activate", "select", "remove"}
    slow = SlowZooming(*theory(0.02, n), every(250), SEEDS)
    yield "theory", n, ZoomingTS(epoch_length=250, noise_std=0.02), slow, problem, usual
    r, s = theory(0.05, n)
    slow = SlowZooming(r / 4, s / 20, every(1_000), SEEDS)
    tuner = ZoomingTS(epoch_length=1_000, radius_scale=0.25, ts_scale=0.05)
    yield "scaled", n, tuner, slow, problem, usual
    slow = SlowZooming(*of_switching(0.01, n), every(700), SEEDS)
    yield "code, sharp", n, ZoomingTS(epoch_length=700, constants="code", noise_std=0.01), slow, problem, usual
    # The whole run has n + 50 rounds: T2 = k floor(2550^(3/4)) = k 358, while ln T is that of the asks
    problem = {"noise_std": 0.05, "rounds": n + 50}
    yield "cdt", n, CDT(), SlowZooming(*theory(0.05, n), every(3 * 358), SEEDS), problem, usual
    slow = SlowZooming(0.03 * math.sqrt(13 / 2 * log_n), 0.02 * math.sqrt(13), every(2 * 358), SEEDS)
    tuner = CDT(constants="code", epoch_factor=2, radius_scale=0.03, ts_scale=0.02)
    yield "cdt, code", n, tuner, slow, problem, usual
    r, s = math.sqrt(13 / 2 * log_n), math.sqrt(13)
    slow = SlowZooming(r / 20, s / 20, every(3 * 358), SEEDS, index="fixed", removal=False)
    yield "cdt_code, scaled", n, CDTCode(radius_scale=0.05, ts_scale=0.05), slow, problem, {"activate", "select"}
    r = theory(0.05, n)[0]
    slow = SlowZooming(r, 2 * r, at_first, SEEDS, index="fixed", removal=False)
    yield "zooming", n, Zooming(), slow, problem, {"activate", "select"}
    problem = {"noise_std": 0.05, "change_points": (600, 1_700)}
    slow = SlowZooming(*theory(0.05, n), lambda t: t in (1, 601, 1_701), SEEDS)
    yield "oracle", n, ZoomingOracle(), slow, problem, usual


@pytest.mark.parametrize("name", [case[0] for case in line_cases()])
def test_every_decision_in_one_dimension(name):
    horizon, tuner, slow, problem, must_happen = next(case[1:] for case in line_cases() if case[0] == name)
    tuner.start(Problem(LINE, horizon, **problem), SEEDS)
    rng = np.random.default_rng(1)
    for t in range(horizon):
        asked = tuner.ask()["x"]
        expected = slow.ask(asked)[0]
        assert asked == pytest.approx(expected, abs=1e-12), f"ask {t + 1}"
        reward = 0.9 - 0.95 * abs(asked - 0.7) + 0.05 * rng.standard_normal()
        tuner.tell(reward)
        slow.tell(reward)
    for kind in must_happen:
        assert slow.happened[kind] > 1
    assert slow.happened["restart"] == sum(slow.restarts(t) for t in range(1, horizon + 1))
    if not slow.removal:
        assert slow.happened["remove"] == 0


def test_double_restarts():
    """T = 1,000, p = 1: top epochs of ceil(1000^(3/5)) = 64; EXP3 over 1, 2, 4, ..., 64, paid the mean, clipped.

    Below, each top epoch is algorithm 1 afresh, with the T of the whole run in its constants.
    """
    horizon, lengths = 1_000, [2**i for i in range(7)]
    tuner = ZoomingDoubleRestarts(noise_std=0.02)
    tuner.start(Problem(LINE, horizon), SEEDS)
    rng = np.random.default_rng(4)
    beta = math.sqrt(7 * math.log(7) / ((math.e - 1) * 16))  # 1000 / 64, rounded up, is 16
    weights = np.ones(7)
    chances, chosen, epoch, rewards, drawn = np.empty(7), -1, 0, [], []
    for t in range(horizon):
        asked = tuner.ask()["x"]
        if t % 64 == 0:
            if t:
                weights[chosen] *= math.exp(beta / 7 * min(max(sum(rewards) / 64, 0.0), 1.0) / chances[chosen])
            chances = beta / 7 + (1 - beta) * weights / weights.sum()
            np.testing.assert_allclose(tuner.probabilities()["epoch_length"], chances, rtol=0, atol=1e-12)
            length = tuner._points._rule.restart_every
            chosen = lengths.index(length)
            slow = SlowZooming(*theory(0.02, horizon), every(length), SEEDS.child(f"epoch_{epoch}"))
            epoch, rewards = epoch + 1, []
            drawn.append(length)
        assert asked == pytest.approx(slow.ask(asked)[0], abs=1e-12)
        # The rewards of some epochs lie outside [0, 1]
        reward = (0.0, 1.4, -0.3)[epoch % 3] + 0.9 - 0.95 * abs(asked - 0.7) + 0.05 * rng.standard_normal()
        tuner.tell(reward)
        slow.tell(reward)
        rewards.append(reward)
    assert epoch == 16
    assert len(set(drawn)) > 3


def grid(steps):
    axis = np.linspace(0.0, 1.0, steps + 1)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def square_cases():
    n = 1_200
    r, s = theory(0.05, n)
    slow = SlowZooming(r, s / 10, every(500), SEEDS)
    yield "greedy", n, ZoomingTS(epoch_length=500, noise_std=0.05, ts_scale=0.1), slow, {"activate", "select", "remove"}
    # T2 = 2 floor(1200^(4/5)) = 2 * 290
    r, s = math.sqrt(13 / 2 * math.log(n)) / 20, math.sqrt(13) / 20
    slow = SlowZooming(r, s, every(580), SEEDS, index="fixed", removal=False)
    yield "cdt_code", n, CDTCode(radius_scale=0.05, ts_scale=0.05), slow, {"activate", "select"}


@pytest.mark.parametrize("name", [case[0] for case in square_cases()])
def test_every_decision_in_two_dimensions(name):
    """A new point must lie outside every ball; where none is activated, no point of a fine grid may."""
    horizon, tuner, slow, must_happen = next(case[1:] for case in square_cases() if case[0] == name)
    tuner.start(Problem(SQUARE, horizon), SEEDS)
    points = grid(70)
    rng = np.random.default_rng(3)
    for t in range(horizon):
        slow.begin()
        configuration = tuner.ask()
        asked = (configuration["x"], configuration["y"])
        balls = slow.balls()
        if not balls:
            assert asked == tuple(slow.first.uniform(0.3, 0.7, 2))
            slow.chosen = slow.activate(asked)
        elif asked not in slow.points:
            assert all(math.dist(asked, v) > r for v, r in balls), f"ask {t + 1}: the new point was covered"
            assert 0.0 <= min(asked) <= max(asked) <= 1.0
            slow.chosen = slow.activate(asked)
        else:
            centers, radii = np.array([v for v, _ in balls]), np.array([r for _, r in balls])
            squares = (points**2).sum(axis=1)[:, None] - 2 * points @ centers.T + (centers**2).sum(axis=1)
            assert (squares - radii**2).min(axis=1).max() <= 1e-9, f"ask {t + 1}: a gap was overlooked"
            slow.chosen = slow.select()
            assert asked == slow.points[slow.chosen], f"ask {t + 1}"
        reward = 0.9 - math.dist(asked, (0.3, 0.6)) + 0.05 * rng.standard_normal()
        tuner.tell(reward)
        slow.tell(reward)
    for kind in must_happen:
        assert slow.happened[kind] > 1
    assert slow.happened["restart"] == sum(slow.restarts(t) for t in range(1, horizon + 1))


def test_asked_twice_at_a_new_point():
    """A new configuration may be asked for without an answer to the last; the unanswered point must not end the zoom.

    It was never pulled, so its radius is infinite: unless it is pulled some time, nothing is ever uncovered again.
    """
    tuner = Zooming()
    tuner.start(Problem(LINE, 3_000, noise_std=0.02), SEEDS)
    tuner.ask()
    tuner.tell(0.5)
    tuner.ask()
    tuner.ask()
    tuner.tell(0.5)
    seen = set()
    for _ in range(2_000):
        seen.add(tuner.ask()["x"])
        tuner.tell(0.5)
    assert len(seen) > 10


@pytest.fixture
def rules(monkeypatch):
    """The rules with which tuners set up their points."""
    caught = []
    monkeypatch.setattr(
        zooming, "ActivePoints", lambda space, rule, seeds: caught.append(rule) or ActivePoints(space, rule, seeds)
    )
    return caught


def started(rules, tuner, space, horizon, **problem):
    tuner.start(Problem(space, horizon, **problem), SEEDS)
    return rules[-1]


def test_lengths_of_the_warm_up_by_hand():
    """sqrt(14000) = 118.3, 14000^(2/5) = 45.6; 1000^(2/6) = 10, which rounding puts below."""
    cube = Space.of(**{name: {"low": 0.0, "high": 1.0} for name in "xyz"})
    for space, horizon, length in ((LINE, 14_000, 118), (SQUARE, 14_000, 45), (cube, 1_000, 10)):
        problem = Problem(space, horizon)
        assert [CDT(warm_up_rounds=n).random_rounds(problem) for n in (None, 0, 7)] == [length, 0, 7]
        assert CDTCode().random_rounds(problem) == 30


@pytest.mark.parametrize(
    ("tuner", "space", "horizon", "length"),
    [
        # 14000^(4/5) = 2074.5, and whole powers
        (CDT(), SQUARE, 14_000, 2 * 2074),
        (CDT(epoch_factor=1), LINE, 10_000, 1_000),
        (CDT(epoch_factor=2), SQUARE, 100_000, 2 * 10_000),
        # (90000 / 3)^((z+2)/(z+3)): 30000^(2/3) = 965.49, 30000^(5/7) = 1577.7, 30000^(3/4) = 2279.5
        *(
            (ZoomingTS(pieces=3, zooming_dimension=z), LINE, 90_000, n)
            for z, n in ((0, 965), (0.5, 1577), (None, 2279))
        ),
        *((tuner(restarts=False, epoch_factor=k), LINE, 100, 101) for tuner in (CDT, CDTCode) for k in (None, 1)),
    ],
)
def test_lengths_between_restarts_by_hand(rules, tuner, space, horizon, length):
    assert started(rules, tuner, space, horizon).restart_every == length


@pytest.mark.parametrize("tuner", [Zooming, ZoomingTS, ZoomingOracle, ZoomingDoubleRestarts, CDT])
def test_the_first_point_lies_in_the_middle_or_anywhere(tuner):
    """The same draw u of a repetition gives 0.3 + 0.4 u or u."""
    for seed in range(2):
        asked = []
        for where in ("middle", "anywhere"):
            zoom = tuner(first_point=where)
            zoom.start(Problem(LINE, 100, change_points=(50,)), Seeds(seed))
            asked.append(zoom.ask()["x"])
        assert asked[0] == pytest.approx(0.3 + 0.4 * asked[1], rel=1e-12)


@pytest.mark.parametrize("tuner", [CDTCode, CDTFirstUpload])
@pytest.mark.parametrize(("learns", "total"), [("mean", 0.25), ("sum", 37.5)])
def test_the_code_learns_the_sum_of_a_decision(tuner, learns, total):
    code = tuner(learns=learns)
    code.start(Problem(LINE, 50, rounds=7_500, rounds_per_ask=150), SEEDS)
    code.ask()
    code.tell(0.25)
    assert code._points.stats[0, :2].tolist() == [1, total]


@pytest.mark.parametrize(
    ("tuner", "problem", "radius", "spread", "length"),
    [
        # ln 14000 = 9.5468126. Theory at tau0 = 1/2: r = sqrt(6.5 / 4 * 9.5468126), s = sqrt(13 pi * 9.5468126) = 2 r
        # sqrt(2 pi)
        (ZoomingTS(), {}, 3.9387270, 19.7458490, 1287),
        # Four pieces: (14000 / 4)^(3/4) = 455.04
        (ZoomingTS(pieces=4), {}, 3.9387270, 19.7458490, 455),
        # code for switching functions: r = sqrt(6.5 * 0.3535534 * 9.5468126), s = sqrt(pi / 8 * 9.5468126)
        (ZoomingTS(constants="code"), {}, 4.6839622, 1.9362398, 1287),
        (Zooming(constants="code"), {}, 4.6839622, 9.3679244, None),
        # cdt's code: r = sqrt(6.5 * 9.5468126), s = sqrt(13), whatever the noise
        (CDT(constants="code", noise_std=0.1), {}, 7.8774540, 3.6055513, 3 * 1287),
        (CDTCode(), {"space": SQUARE}, 7.8774540, 3.6055513, 2 * 2074),
        # a tuner's own noise constant stands above the task's; a decision of three rounds: 3861 // 3 asks
        (CDT(noise_std=0.25), {}, 3.9387270 / 2, 19.7458490 / 2, 3 * 1287),
        (CDT(), {"rounds": 14_000, "rounds_per_ask": 3}, 3.9387270, 19.7458490, 1287),
    ],
)
def test_constants_by_hand(rules, tuner, problem, radius, spread, length):
    rule = started(rules, tuner, **{"space": LINE, "horizon": 14_000, "noise_std": 0.5, **problem})
    assert (rule.radius, rule.spread) == (pytest.approx(radius, abs=1e-6), pytest.approx(spread, abs=1e-6))
    assert length is None or rule.restart_every == length
    assert (rule.randomised, rule.removal) == (isinstance(tuner, ThompsonZooming),) * 2


def test_points_are_mapped_onto_the_intervals():
    spaces = (SQUARE, Space.of(x={"low": 0.1, "high": 5.0}, y={"low": 0.01, "high": 1.0, "log": True}))
    tuners = [ZoomingTS(epoch_length=100) for _ in spaces]
    for tuner, space in zip(tuners, spaces, strict=True):
        tuner.start(Problem(space, 300, noise_std=0.1), SEEDS)
    rng = np.random.default_rng(5)
    for _ in range(300):
        unit, mapped = (tuner.ask() for tuner in tuners)
        assert mapped["x"] == pytest.approx(0.1 + 4.9 * unit["x"], rel=1e-12)
        assert mapped["y"] == pytest.approx(10 ** (-2 + 2 * unit["y"]), rel=1e-12)
        reward = float(rng.random())
        for tuner in tuners:
            tuner.tell(reward)


def test_the_first_upload_draws_an_index_whose_variance_is_sqrt_13_over_n(rules):
    rule = started(rules, CDTFirstUpload(), LINE, 14_000, noise_std=0.1)
    assert rule.radius == pytest.approx(7.8774540, abs=1e-6)
    assert (rule.removal, rule.restart_every) == (False, 14_001)
    # Two points with means 0.5 and 0.2 after 4 and 9 pulls: the first is preferred with probability Phi(0.3 / sd)
    stats = np.array([[4, 2.0, 0.1, 0.0, 1.0], [9, 1.8, 0.1, 0.0, 1.0]])
    draws = np.random.default_rng(3).standard_normal(80_000)
    chosen = [
        _select(stats, 2, rule.spread, rule.spread_is_variance, rule.removal, draws, start)
        for start in range(0, len(draws), 2)
    ]
    expected = norm.cdf(0.3 / math.sqrt(math.sqrt(13 / 4) + math.sqrt(13 / 9)))
    assert np.mean(np.array(chosen) == 0) == pytest.approx(expected, abs=4 * 0.5 / math.sqrt(40_000))
