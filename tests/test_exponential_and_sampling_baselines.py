"""EXP3.S, CORRAL and EXP4 by agreement against their papers' formulas and bounds; Gaussian Thompson sampling."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import kstest
from scipy.stats import t as student

from bench.algorithms.lints import LinTS
from bench.algorithms.linucb import LinUCB
from bench.envs.synthetic_linear import SyntheticLinear
from bench.loop import run
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.base import Problem, Tuner, Wish
from bench.tuners.corral import Corral, descend
from bench.tuners.exp3_s import EXP3S
from bench.tuners.exp4_agreement import EXP4Agreement
from bench.tuners.gaussian_ts import GaussianTS


def started(tuner, n_arms, horizon=1_000, seed=0):
    tuner.start(Problem(Space.of(arm=range(n_arms)), horizon), Seeds(seed))
    return tuner


# EXP3.S


def test_exp3_s_updates_as_the_paper_says():
    tuner = started(EXP3S(gamma=0.3, alpha=0.05), 3)
    weights = np.ones(3)
    rng = np.random.default_rng(0)
    for _ in range(200):
        chances = 0.7 * weights / weights.sum() + 0.1
        np.testing.assert_allclose(tuner.probabilities()["configuration"], chances, rtol=1e-10)
        arm, reward = tuner.ask()["arm"], float(rng.random())
        estimate = reward / chances[arm] * (np.arange(3) == arm)
        weights = weights * np.exp(0.3 * estimate / 3) + math.e * 0.05 / 3 * weights.sum()
        tuner.tell(reward)


def test_exp3_s_defaults_and_bound():
    """Corollary 8.2: with S known, the regret against S pieces is at most 2 sqrt(e - 1) sqrt(K T (S ln(K T) + e))."""
    horizon, n = 6_000, 3
    tuner = started(EXP3S(changes=1), n, horizon)
    inside = 2 * math.log(n * horizon) + math.e
    assert tuner._gamma == pytest.approx(math.sqrt(n * inside / ((math.e - 1) * horizon)))
    assert tuner._alpha == 1 / horizon
    rng = np.random.default_rng(0)
    total = 0.0
    for t in range(horizon):
        best = 0 if t < horizon // 2 else 2
        arm = tuner.ask()["arm"]
        total += 0.8 * (arm != best)
        tuner.tell(float(rng.random() < (0.9 if arm == best else 0.1)))
    assert total < 2 * math.sqrt(math.e - 1) * math.sqrt(n * horizon * inside)
    assert total < 0.25 * 0.8 * 2 / 3 * horizon  # the bound is nearly that of uniform play; this is not


# CORRAL


def test_step_of_corral_is_mirror_descent_with_its_barrier():
    """It minimises <p, loss> + sum_i (ln(q_i / p_i) + p_i / q_i - 1) / eta_i over the simplex, q the old chances."""
    old = np.array([0.2, 0.5, 0.3])
    rates, losses = np.array([0.3, 0.1, 0.7]), np.array([0.0, 1.9, 0.0])
    new = old.copy()
    descend(new, rates, losses)

    def objective(x):
        p = np.append(x, 1 - x.sum())
        return p @ losses + np.sum((np.log(old / p) + p / old - 1) / rates)

    found = minimize(objective, old[:2], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
    np.testing.assert_allclose(new[:2], found.x, atol=1e-7)
    assert new.sum() == pytest.approx(1, abs=1e-14)


def test_corral_raises_the_rate_where_a_chance_falls():
    tuner = started(Corral(eta=0.5), 2, 1_000)
    growth = math.exp(1 / math.log(1_000))
    limits, rates = np.full(2, 4.0), np.full(2, 0.5)
    for _ in range(300):
        chosen = tuner.ask()["arm"]
        tuner.tell(float(chosen == 1))
        inverse = 1 / tuner.probabilities()["configuration"]
        risen = inverse > limits
        limits[risen] = 2 * inverse[risen]
        rates[risen] *= growth
        np.testing.assert_allclose(tuner._rates, rates)
        np.testing.assert_allclose(tuner._limits, limits)
    assert tuner._rates[0] > 0.5 * growth
    assert tuner._rates[1] == 0.5
    assert tuner.probabilities()["configuration"][1] > 0.95


def test_corral_has_less_regret_than_the_masters_bound():
    """M ln T / eta + T eta (the paper's bound, without what the bases add): 2 sqrt(M T) and a logarithm."""
    horizon, n = 5_000, 4
    tuner = started(Corral(), n, horizon)
    rng = np.random.default_rng(0)
    means = np.array([0.2, 0.5, 0.6, 0.9])
    total = 0.0
    for _ in range(horizon):
        arm = tuner.ask()["arm"]
        total += 0.9 - means[arm]
        tuner.tell(float(rng.random() < means[arm]))
    eta = math.sqrt(n / horizon)
    assert total < n * math.log(horizon) / eta + horizon * eta
    assert total < 0.4 * horizon * (0.9 - means.mean())


# EXP4 by agreement


def test_without_agreement_it_is_exp3_with_its_own_rate():
    tuner = started(EXP4Agreement(), 3)
    scores, n_arms = np.zeros(3), 1.0
    rng = np.random.default_rng(0)
    for _ in range(100):
        rate = math.sqrt(math.log(3) / n_arms)
        chances = np.exp(rate * (scores - scores.max()))
        chances /= chances.sum()
        np.testing.assert_allclose(tuner.probabilities()["configuration"], chances, rtol=1e-9)
        arm, reward = tuner.ask()["arm"], float(rng.random())
        tuner.tell(reward)
        scores += 1
        scores[arm] -= (1 - reward) / chances[arm]
        n_arms += 1 / chances[arm]


def test_where_all_agree_nothing_is_learnt_about_who_is_better():
    tuner = started(EXP4Agreement(), 4)
    for reward in np.random.default_rng(0).random(50).tolist():
        tuner.ask()
        tuner.tell(reward, Outcome(reward, agreement=np.ones(4, dtype=bool)))
    np.testing.assert_allclose(tuner.probabilities()["configuration"], 0.25)


def test_estimates_are_unbiased():
    """Averaged over the draw, what is added to the score of a candidate is the reward of its arm."""
    arms, rewards = np.array([0, 0, 1, 2]), np.array([0.3, 0.9, 0.5])
    added, chances = np.zeros(4), None
    for first in range(4):
        tuner = started(EXP4Agreement(), 4)
        tuner.ask()
        tuner.tell(0.2, Outcome(0.2, agreement=np.array([True, False, False, True])))
        before = tuner._softmax.scores.copy()
        tuner.ask()
        chances = tuner._softmax.drawn_from.copy()
        tuner._chosen = first
        tuner.tell(rewards[arms[first]], Outcome(rewards[arms[first]], agreement=arms == arms[first]))
        added += chances[first] * (tuner._softmax.scores - before)
    assert np.ptp(chances) > 0.01
    np.testing.assert_allclose(added, rewards[arms], rtol=1e-9)


class Asks(Tuner):
    """Wants to know what other values would have pulled, and plays 0.5."""

    others = (0.0, 0.5, 10.0)

    def _start(self, problem, seeds):
        self.seen = []

    @property
    def wish(self):
        return Wish(agreement=tuple({"exploration_rate": rate} for rate in self.others))

    def _ask(self):
        return {"exploration_rate": 0.5}

    def _tell(self, reward, outcome):
        self.seen.append(outcome.agreement.tolist())


@pytest.mark.parametrize("algorithm", [LinUCB, LinTS])
def test_task_tells_who_agrees_without_playing(algorithm):
    """One's own configuration always agrees, also where arms are drawn; runs are the same with the wish as without."""
    tuner, silent = Asks(), Asks()
    traces = []
    for one in (tuner, silent):
        if one is silent:
            one.others = (0.5,)
        task = ContextualBandit(SyntheticLinear(n_arms=10, dim=3), algorithm())
        traces.append(run(task, one, rounds=200, seeds=Seeds(1)).columns()["reward"])
    np.testing.assert_array_equal(*traces)
    shares = np.mean(tuner.seen, axis=0)
    assert shares[1] == 1
    assert 0 < shares[2] < shares[0] < 1


# Gaussian Thompson sampling


def test_draws_have_the_posterior_of_unknown_mean_and_variance():
    """The marginal of the mean under the prior sigma^(-1 - 2 a), by numerical integration over sigma."""
    tuner = started(GaussianTS(prior=-0.5), 2)
    rewards = {0: [0.3, 1.9, 0.4, 0.8], 1: [5.0, 5.5, 4.0, 7.0]}
    for i in range(8):
        arm = tuner.ask()["arm"]
        assert arm == i % 2
        tuner.tell(rewards[arm][i // 2])
    draws = np.array([tuner._draw() for _ in range(4_000)])
    sigma = np.exp(np.linspace(-4, 6, 4_000))
    for arm, own in rewards.items():
        x = np.array(own)
        grid = np.linspace(x.mean() - 30, x.mean() + 30, 2_001)
        squares = ((x[:, None] - grid) ** 2).sum(axis=0)
        density = np.array([np.sum(sigma ** (-1 + 1.0 - 4) * np.exp(-s / 2 / sigma**2) * sigma) for s in squares])
        exact = np.cumsum(density) / density.sum()
        assert kstest(draws[:, arm], lambda v, g=grid, e=exact: np.interp(v, g, e)).pvalue > 1e-3
        freedom = 4 - 2
        scaled = (draws[:, arm] - x.mean()) / math.sqrt(((x - x.mean()) ** 2).sum() / (4 * freedom))
        assert kstest(scaled, student(freedom).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("prior", "first"), [(-0.5, 4), (-1.0, 5), (0.0, 3), (0.5, 2)])
def test_first_rounds_are_as_many_as_the_posterior_needs(prior, first):
    tuner = started(GaussianTS(prior=prior), 3)
    asked = []
    for t in range(3 * first):
        asked.append(tuner.ask()["arm"])
        tuner.tell(float(t))
    assert asked == [0, 1, 2] * first
    assert np.isfinite(tuner._draw()).all()


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_regret_is_of_the_order_of_the_lower_bound_at_any_scale(scale):
    """The lower bound: ln T sum Delta / (ln(1 + Delta^2 / sigma^2) / 2); at T = 3,000 within a factor of three."""
    means, sigma, horizon = np.array([0.0, 0.5, 1.0]), 0.5, 3_000
    totals = []
    for seed in range(6):
        tuner = started(GaussianTS(), 3, horizon, seed)
        rng = np.random.default_rng(seed)
        total = 0.0
        for _ in range(horizon):
            arm = tuner.ask()["arm"]
            total += 1.0 - means[arm]
            tuner.tell(scale * float(means[arm] + sigma * rng.normal()))
        totals.append(total)
    gaps = 1.0 - means[:2]
    bound = math.log(horizon) * np.sum(gaps / (0.5 * np.log1p((gaps / sigma) ** 2)))
    assert np.mean(totals) < 3 * bound
    assert np.mean(totals) < 0.1 * 0.5 * horizon
