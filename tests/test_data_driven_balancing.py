"""Data-driven regret balancing against traces by hand, a plain reading of the paper, and as a master over copies."""

import math

import numpy as np
import pytest
from tuning import started

from bench.loop import run
from bench.seeding import Seeds
from bench.tuners.baselines import Random
from bench.tuners.data_driven_balancing import D3RB, ED2RB
from bench.tuners.tsallis_inf import TsallisINF
from runners.config.compose import from_overrides
from runners.config.experiment import build


def trace(tuner, rewards, rounds):
    """Return the arms played and the final coefficients; arm i always earns ``rewards[i]``."""
    tuner = started(tuner, len(rewards))
    arms = []
    for _ in range(rounds):
        arms.append(tuner.ask()["arm"])
        tuner.tell(rewards[arms[-1]])
    return arms, tuner.coefficients.tolist()


def test_equal_rewards_by_hand():
    """No coefficient grows, phi is the root of n, at least 1: after rounds 1 and 2 arm 0 has sqrt(2), and so on."""
    expected = [0, 0, 1, 1, 0, 1, 0, 1, 0, 1]
    for tuner in (D3RB(), ED2RB()):
        assert trace(tuner, [0.5, 0.5], 10) == (expected, [1.0, 1.0])


def test_doubling_by_hand():
    """Rewards 10 and 0, two arms, delta 0.5, c = 0.1, so that e = 0.1 sqrt(ln 4 / n) for n = 1, 2, and d_min = 1.

    Round 1: arm 0, n = 1, gap < 0, phi = 1. Round 2: arm 0, phi = sqrt(2). Round 3: arm 1, n = 1: gap = 10 - 0.1
    sqrt(ln 4 / 2) - 0.1 sqrt(ln 4) = 9.799 > 1, d = phi = 2. Round 4: arm 0, n = 3, phi = sqrt(3). Round 5: arm 0, n =
    4, phi = 2. Round 6: of equal potentials the first, arm 0, n = 5, phi = sqrt(5). Round 7: arm 1, n = 2: gap > 9.7 >
    2 / sqrt(2), d = 4, phi = 4 sqrt(2) = sqrt(32). Then arm 0 until n = 33: rounds 8 to 35. Round 36: arm 1, n = 3: gap
    sqrt(3) = 17 > 4, d = 8, phi = 8 sqrt(3).
    """
    arms, coefficients = trace(D3RB(delta=0.5, width=0.1), [10.0, 0.0], 36)
    assert arms == [0, 0, 1, 0, 0, 0, 1, *[0] * 28, 1]
    assert coefficients == [1.0, 8.0]


def test_estimating_by_hand():
    """As above; the estimate takes the place of the doubling, and the potential at most doubles.

    Round 3: d = gap = 9.799, phi = min(9.799, 2) = 2. Round 7: n = 2, d = gap sqrt(2), phi = min(.., 4) = 4. Then arm 0
    until n = 17, where phi = sqrt(17) > 4: rounds 8 to 19. Round 20: n = 3, phi = 8; means 10 and 0 after 17 and 3
    rounds: e_0 = 0.1 sqrt(ln(4 ln 17) / 17), e_1 = 0.1 sqrt(ln(4 ln 3) / 3), d = sqrt(3) (10 - e_0 - e_1).
    """
    arms, coefficients = trace(ED2RB(delta=0.5, width=0.1), [10.0, 0.0], 20)
    assert arms == [0, 0, 1, 0, 0, 0, 1, *[0] * 12, 1]
    errors = 0.1 * math.sqrt(math.log(4 * math.log(17)) / 17) + 0.1 * math.sqrt(math.log(4 * math.log(3)) / 3)
    assert coefficients == pytest.approx([1.0, math.sqrt(3) * (10 - errors)], abs=1e-12)


AUTHORS = {
    D3RB: (
        "0011223012012012302020202020202020202020200001000010000100001300000000000000003000000000000000000002"
        "00002000020000200002000020000000000000000000000000",
        [0.5, 2.0, 2.0, 4.0],
    ),
    ED2RB: (
        "0011223012301201202020202023021102020202020200120000000010000020003000000220200000000000100000000000"
        "00201000000000030000000000000001000200000000000000",
        [0.5, 1.5462174884, 1.1025986063, 2.6185030539],
    ),
}
"""Choices and last coefficients of BalancingHyperparamDoublingDataDriven, pacchiano/modelselection at 233f26a.

It was run once, changed as docs/peers.md says: sums divided by n, the logarithm of `D3RB`, bounds of arms played alone.
"""


@pytest.mark.parametrize("tuner", [D3RB, ED2RB])
def test_choices_of_the_authors_class_with_the_bounds_as_stated(tuner):
    own, counts, asked = started(tuner(least=0.5, delta=0.1, width=0.3), 4), [0] * 4, ""
    for _ in range(150):
        arm = own.ask()["arm"]
        asked += str(arm)
        counts[arm] += 1
        own.tell([0.9, 0.2, 0.5, -1.0][arm] + 0.5 * math.sin(1.7 * counts[arm] * (arm + 1)))
    choices, coefficients = AUTHORS[tuner]
    assert asked == choices
    np.testing.assert_allclose(own.coefficients, coefficients, rtol=1e-9)


@pytest.mark.parametrize("tuner", [D3RB, ED2RB])
def test_plain_reading_of_the_paper(tuner):
    """Four arms with noise: the asks of a reading with lists, which keeps every reward."""
    rng = np.random.default_rng(1)
    own = started(tuner(least=0.2, delta=0.1, width=0.3), 4)
    seen, d, phi = [[] for _ in range(4)], [0.2] * 4, [0.2] * 4

    def error(rewards):
        return 0.3 * math.sqrt(math.log(4 * max(1, math.log(len(rewards))) / 0.1) / len(rewards))

    for _ in range(1_500):
        arm = phi.index(min(phi))
        assert own.ask()["arm"] == arm
        reward = float(rng.normal([0.9, 0.2, 0.5, -1.0][arm], 0.5))
        own.tell(reward)
        seen[arm].append(reward)
        best = max(sum(rewards) / len(rewards) - error(rewards) for rewards in seen if rewards)
        n, upper = len(seen[arm]), sum(seen[arm]) / len(seen[arm]) + error(seen[arm])
        if tuner is ED2RB:
            d[arm] = max(0.2, math.sqrt(n) * (best - upper))
            phi[arm] = max(phi[arm], min(d[arm] * math.sqrt(n), 2 * phi[arm]))
            continue
        if upper + d[arm] * math.sqrt(n) / n < best:
            d[arm] *= 2
        phi[arm] = d[arm] * math.sqrt(n)
    np.testing.assert_allclose(own.coefficients, d, rtol=1e-9)
    assert max(d) > 0.2
    assert len(seen[0]) > 2 * len(seen[3])


COPIES = (
    "env=synthetic_linear",
    "env.n_arms=6",
    "env.dim=3",
    "algorithm=linucb",
    "algorithm.tune=[exploration_rate]",
    "algorithm.space.exploration_rate.candidates=[1000.0,0.1]",
    "task=copies",
    "task.learn=played",
    "tuner=random",
    "horizon=1000",
)
"""Two copies of LinUCB, one of which explores all the time."""


@pytest.mark.parametrize("tuner", [D3RB(width=0.1), ED2RB(width=0.1), TsallisINF()], ids=["d3rb", "ed2rb", "tsallis"])
def test_master_over_copies_prefers_the_one_that_exploits(tuner):
    regrets = []
    for each in (tuner, Random()):
        task, _ = build(from_overrides(list(COPIES)).experiment)
        regrets.append(run(task, each, rounds=1_000, seeds=Seeds(3)).columns()["regret"][-1])
    assert regrets[0] < 0.5 * regrets[1]
