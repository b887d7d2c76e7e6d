"""Stochastic CORRAL: a step by hand, the authors' class, and its use over copies that also play their past policies."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from tuning import started

from bench.loop import run
from bench.seeding import Seeds
from bench.tuners.baselines import Random
from bench.tuners.stochastic_corral import StochasticCorral
from runners.config.compose import from_overrides
from runners.config.experiment import build


def test_two_steps_by_hand():
    """Three candidates, T = 51 steps, eta 0.2; of the rewards only the second of each step counts, twice."""
    tuner, chances = started(StochasticCorral(eta=0.2), 3, 101), np.full(3, 1 / 3)
    for first, second in ((0.1, 0.75), (0.9, 0.25)):
        mixed = (1 - 1 / 51) * chances + 1 / 51 / 3
        np.testing.assert_allclose(tuner.probabilities()["configuration"], mixed, rtol=1e-12)
        arm = tuner.ask()["arm"]
        tuner.tell(first)
        assert tuner.probabilities()["configuration"].tolist() == [float(i == arm) for i in range(3)]
        assert tuner.ask()["arm"] == arm
        tuner.tell(second)
        losses = 2 * (1 - second) / mixed[arm] * (np.arange(3) == arm)
        shift = brentq(lambda x: np.sum(1 / (1 / chances + 0.2 * (losses - x))) - 1, 0, losses.max())  # noqa: B023
        chances = 1 / (1 / chances + 0.2 * (losses - shift))
    np.testing.assert_allclose(tuner.probabilities()["configuration"], (1 - 1 / 51) * chances + 1 / 51 / 3, rtol=1e-9)


def test_it_has_the_chances_of_the_authors_class_for_the_second_rewards(monkeypatch):
    """The chances of CorralHyperparam in pacchiano/modelselection at 233f26a after 150 steps: eta 0.2, single losses.

    That class was run once, with two changes: steps start from p, not from the mixture p', and rho is not rounded.
    """
    tuner = started(StochasticCorral(eta=0.1), 4, 1_200)
    for t in range(150):
        arm = (t * t + t // 4) % 4
        monkeypatch.setattr("bench.tuners.corral.draw", lambda chances, rng, arm=arm: arm)
        for reward in (0.5 * math.cos(t), 0.95 if arm == 2 else 0.4 + 0.3 * math.sin(t)):
            assert tuner.ask()["arm"] == arm
            tuner.tell(reward)
    found = tuner.probabilities()["configuration"]
    np.testing.assert_allclose(found, [0.002269, 0.001684, 0.993088, 0.002959], atol=2e-6)


@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_a_horizon_may_end_within_a_step(horizon):
    tuner = started(StochasticCorral(), 2, horizon)
    assert tuner._rates == pytest.approx(2 * math.sqrt(2 / max(3, math.ceil(horizon / 2))))
    for _ in range(horizon):
        tuner.ask()
        tuner.tell(0.5)


def test_late_rewards_count_by_the_place_of_their_ask():
    """Told in the order 2, 1, 3: the second ask's reward counts."""
    late, prompt = (started(StochasticCorral(eta=0.5), 3, 100) for _ in range(2))
    tickets = [late.ask_ticket() for _ in range(3)]
    assert tickets[0][1] == tickets[1][1]
    for place, reward in ((1, 0.2), (0, 0.9), (2, 0.7)):
        late.tell(reward, ticket=tickets[place][0])
    for reward in (0.9, 0.2):
        prompt.ask()
        prompt.tell(reward)
    np.testing.assert_array_equal(late._chances, prompt._chances)
    assert np.ptp(prompt._chances) > 0


def test_as_a_master_it_prefers_the_copy_that_exploits():
    """Two copies of LinUCB, one of which explores all the time."""
    words = ["env=synthetic_logistic", "env.feature_range=one", "algorithm=linucb", "task=smoothed_copies"]
    words += ["algorithm.tune=[exploration_rate]", "algorithm.space.exploration_rate.candidates=[1000.0,0.1]"]
    regrets = []
    for tuner in (StochasticCorral(eta=1), Random()):
        task, _ = build(from_overrides([*words, "tuner=random", "horizon=2000"]).experiment)
        regrets.append(run(task, tuner, rounds=2_000, seeds=Seeds(3)).columns()["regret"][-1])
    assert regrets[0] < 0.7 * regrets[1]
