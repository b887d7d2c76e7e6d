"""Regret balancing, plain and dynamic, by hand and against plain readings that keep every reward."""

import math

import numpy as np
from tuning import started

from bench.tuners.dynamic_balancing import DynamicBalancing
from bench.tuners.regret_balancing import RegretBalancing


def test_ten_rounds_of_two_arms_by_hand():
    """Two arms, 10 rounds, so that coefficients are 1 and 2 (floor(ln 10) = 2); delta = 0.5, c = 0.1.

    R = d sqrt(n ln(2 n)): for d = 1 first 1, then 0.83, 1.67, 2.32, 2.88, 3.39; for d = 2 twice as much. Of arm 0,
    a has d = 1 and b has 2; of arm 1, f has 1 and g has 2. Rounds 1 and 2: a, R = 1.67. Round 3: f, whose R is still 1;
    it earns 0, and 0 + 0.1 sqrt(ln 4) + 0.83 = 0.95 < 10 - 0.1 sqrt(ln(6) / 2): dropped. Round 4: a, R = 2.32. Rounds
    5 and 6: b, R = 3.33. Round 7: g, R is still 2; 0 + 0.12 + 1.67 < 9.9, dropped. Rounds 8 and 9: a. Round 10: b.
    """
    tuner = started(RegretBalancing(delta=0.5, width=0.1), 2, horizon=10)
    asked = []
    for _ in range(10):
        asked.append(tuner.ask()["arm"])
        tuner.tell([10.0, 0.0][asked[-1]])
    assert asked == [0, 0, 1, 0, 0, 0, 1, 0, 0, 0]


def test_its_choices_equal_a_plain_implementation_of_the_paper():
    rng = np.random.default_rng(3)
    own = started(RegretBalancing(least=0.1, delta=0.1, width=0.3), 3, horizon=800)
    grid = [(arm, 0.1 * 2**k) for arm in range(3) for k in range(6)]
    rewards = {pair: [] for pair in grid}
    left = list(grid)

    def bound(pair):
        n = len(rewards[pair])
        return pair[1] * math.sqrt(n * math.log(n / 0.1)) if n else pair[1]

    def error(pair):
        n = len(rewards[pair])
        return 0.3 * math.sqrt(math.log((n + 1) / 0.1) / n)

    for _ in range(800):
        pair = min(left, key=bound)
        assert own.ask()["arm"] == pair[0]
        rewards[pair].append(float(rng.normal([0.9, 0.5, -1.0][pair[0]], 0.3)))
        own.tell(rewards[pair][-1])
        best = max(np.mean(earned) - error(other) for other, earned in rewards.items() if earned)
        if np.mean(rewards[pair]) + error(pair) + bound(pair) / len(rewards[pair]) < best:
            left.remove(pair)
    assert 6 < len(left) < 18
    assert (0, 0.1) in left


def test_dynamic_balancing_chooses_as_a_plain_reading_and_wakes_suspended_candidates():
    """The rewards of the first arm fall: the others, suspended because of it, are active again."""
    rng = np.random.default_rng(3)
    own = started(DynamicBalancing(least=0.1, delta=0.1, width=0.3), 3, horizon=800)
    grid = [(arm, 0.1 * 2**k) for arm in range(3) for k in range(6)]
    rewards = {pair: [] for pair in grid}

    def error(earned):
        return 0.3 * math.sqrt(math.log(18 * max(1, math.log(len(earned))) / 0.1) / len(earned))

    resting = []
    for t in range(800):
        best = max((np.mean(earned) - error(earned) for earned in rewards.values() if earned), default=0.0)
        active = [
            pair
            for pair, earned in rewards.items()
            if not earned or np.mean(earned) + error(earned) + pair[1] / math.sqrt(len(earned)) >= best
        ]
        resting.append(set(grid) - set(active))
        pair = min(active, key=lambda pair: pair[1] * math.sqrt(len(rewards[pair])))
        assert own.ask()["arm"] == pair[0], t
        means = [0.9, 0.5, -1.0] if t < 300 else [-3.0, 0.5, -1.0]
        rewards[pair].append(float(rng.normal(means[pair[0]], 0.3)))
        own.tell(rewards[pair][-1])
    assert any(pair[0] == 1 for pair in resting[300] - resting[-1])
