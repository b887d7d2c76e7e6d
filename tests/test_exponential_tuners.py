"""Tuners with exponential weights and their kin, against their papers' formulas, in decimal arithmetic where exact."""

import itertools
import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from types import SimpleNamespace

import numpy as np
import pytest
import registry
from scipy.optimize import minimize
from scipy.stats import chisquare
from tuning import started

from bench.algorithms.lints import LinTS
from bench.algorithms.linucb import LinUCB
from bench.envs.synthetic_linear import SyntheticLinear
from bench.errors import TunerError
from bench.loop import run
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.base import Problem, Tuner, Wish
from bench.tuners.corral import Corral, descend
from bench.tuners.exp3 import EXP3, EXP3S, EXP4Agreement
from bench.tuners.experts import BestForecast, Hedge
from bench.tuners.exponential_weights import Softmax
from bench.tuners.gaussian_ts import GaussianTS
from bench.tuners.tl import TL, Syndicated, TLCombined

EXACT = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN)
RATES = (0.0, 0.01, 0.1, 1.0, 10.0)
RIDGES = (0.01, 0.1, 1.0)
SPACE = Space.of(exploration_rate=RATES, ridge=RIDGES)


# Slow readings: the weights themselves. Decimal numbers have room for exp of a billion.


class Weights:
    """EXP3 with gains: w_A *= exp(beta X / (n p_A)), p a mixture of w and uniform draws; so TL, with its beta."""

    def __init__(self, n, horizon, beta=None):
        tuned = min(1.0, math.sqrt(n * math.log(n) / ((math.e - 1.0) * horizon)))
        self.n, self.beta, self.weights = n, Decimal(tuned if beta is None else beta), [Decimal(1)] * n

    def probabilities(self):
        total = sum(self.weights)
        return [self.beta / self.n + (1 - self.beta) * w / total for w in self.weights]

    def learn(self, chosen, reward):
        self.weights[chosen] *= (self.beta / self.n * Decimal(reward) / self.probabilities()[chosen]).exp()


class Estimates:
    """EXP3 in the reward form: p_i ~ exp(eta_t S_i), S_i += 1 - [i = A] (1 - X) / p_A."""

    def __init__(self, n, eta=None):
        self.n, self.eta, self.t, self.sums = n, eta, 1, [Decimal(0)] * n

    def probabilities(self):
        rate = Decimal(self.eta or math.sqrt(math.log(self.n) / (self.n * self.t)))
        powers = [(rate * s).exp() for s in self.sums]
        return [power / sum(powers) for power in powers]

    def learn(self, chosen, reward):
        chance = self.probabilities()[chosen]
        self.sums = [s + 1 for s in self.sums]
        self.sums[chosen] -= (1 - Decimal(reward)) / chance
        self.t += 1


def usual_rewards(rng, t, index):
    """Rewards around a mean that differs between candidates, some far outside [0, 1]."""
    return float(rng.choice([-20.0, -3.0, 4.0, 30.0]) if t % 50 == 7 else rng.normal(0.3 + 0.05 * index, 0.5))


def one_sided_rewards(rng, t, index):
    """Candidates that earn a million each time: the weights reach exp of a billion."""
    return 1e6 if index % 2 else 0.0


def rate_of(configuration):
    return RATES.index(configuration["exploration_rate"])


def ridge_of(configuration):
    return RIDGES.index(configuration["ridge"])


def pair_of(configuration):
    return 3 * rate_of(configuration) + ridge_of(configuration)


# Of each tuner on bench.tuners.exponential_weights: a slow layer and the number of the candidate in a configuration,
# by the name of the probabilities.
LAYERS = {
    TL: lambda horizon: {"configuration": (Weights(5, horizon), rate_of)},
    TLCombined: lambda horizon: {"configuration": (Weights(15, horizon), pair_of)},
    Syndicated: lambda horizon: {
        "exploration_rate": (Weights(5, horizon), rate_of),
        "ridge": (Weights(3, horizon), ridge_of),
    },
}


def follow(tuner, layers, problem, rewards=usual_rewards, tolerance=1e-11):
    """Check the probabilities of each round; return the largest difference within a round."""
    rng, largest = np.random.default_rng(3), 0.0
    tuner.start(problem, Seeds(2).child("tuner"))
    with localcontext(EXACT):
        for t in range(problem.horizon):
            assert set(tuner.probabilities()) == set(layers)
            for name, (layer, _) in layers.items():
                slow = np.array(layer.probabilities(), dtype=float)
                np.testing.assert_allclose(tuner.probabilities()[name], slow, rtol=0, atol=tolerance)
                largest = max(largest, float(np.ptp(slow)))
            configuration = tuner.ask()
            reward = rewards(rng, t, rate_of(configuration) + RIDGES.index(configuration.get("ridge", 0.01)))
            tuner.tell(reward)
            for layer, number in layers.values():
                layer.learn(number(configuration), reward)
    return largest


@pytest.mark.parametrize(("rewards", "tolerance"), [(usual_rewards, 1e-11), (one_sided_rewards, 1e-8)])
@pytest.mark.parametrize("kind", LAYERS)
def test_distribution_of_every_round(kind, rewards, tolerance):
    assert follow(kind(), LAYERS[kind](500), Problem(SPACE, 500), rewards, tolerance) > 0.2


@pytest.mark.parametrize("kind", LAYERS)
def test_horizon_in_asks_or_in_rounds(kind):
    """Where a decision covers 25 rounds, T is the number of asks, or that of rounds as in the authors' code."""
    problem = Problem(SPACE, 40, rounds=1_000, rounds_per_ask=25)
    for settings, horizon in (({}, 40), ({"horizon_unit": "rounds"}, 1_000)):
        follow(kind(**settings), LAYERS[kind](horizon), problem)


@pytest.mark.parametrize(
    ("settings", "layer"),
    [
        ({}, lambda: Estimates(5)),
        ({"eta": 0.05}, lambda: Estimates(5, 0.05)),
        ({"form": "weight"}, lambda: Weights(5, 600)),
        ({"form": "weight", "gamma": 0.2}, lambda: Weights(5, 600, 0.2)),
    ],
)
def test_exp3_in_both_forms(settings, layer):
    """With some rewards outside [0, 1]."""

    def rewards(rng, t, index):
        return float(rng.choice([-3.0, 4.0]) if t % 20 == 7 else rng.random() < 0.3 + 0.1 * index)

    problem = Problem(Space.of(exploration_rate=RATES), 600)
    assert follow(EXP3(**settings), {"configuration": (layer(), rate_of)}, problem, rewards, 1e-9) > 0.1


@pytest.mark.parametrize("eta", [None, 0.3])
def test_hedge_in_the_gain_form_is_the_same(eta):
    tuner, weights = started(Hedge(eta=eta), 4), np.ones(4)
    for t, rewards in enumerate(1 - np.random.default_rng(2).random((50, 4)), start=1):
        np.testing.assert_allclose(tuner.probabilities()["configuration"], weights / weights.sum(), atol=1e-13)
        reward = float(rewards[tuner.ask()["arm"]])
        tuner.tell(reward, Outcome(reward, rewards=rewards))
        weights *= np.exp((eta or math.sqrt(math.log(4) / (4 * t))) * rewards)


@pytest.mark.parametrize("values", [None, np.ones(2), np.array([0.1, math.nan, 0.2]), np.zeros((1, 3))])
@pytest.mark.parametrize(("tuner", "told"), [(Hedge(), "rewards"), (BestForecast(), "forecast_losses")])
def test_experts_need_a_finite_value_of_each(tuner, told, values):
    started(tuner, 3)
    for outcome in (Outcome(0.5, **{told: values}), *[None] * (values is None)):
        tuner.ask()
        with pytest.raises(TunerError, match=rf"^{type(tuner).__name__}: found [^\n]*, expected [^\n]*$"):
            tuner.tell(0.5, outcome)
        for chances in tuner.probabilities().values():
            np.testing.assert_allclose(chances, 1 / 3)


def test_exp3_s_updates_as_the_paper_says():
    """With S = 2 pieces known, gamma is that of corollary 8.2 and alpha 1 / T, or they are as set."""
    for settings, gamma, alpha in (
        ({"gamma": 0.3, "alpha": 0.05}, 0.3, 0.05),
        ({}, math.sqrt(3 * (2 * math.log(3_000) + math.e) / ((math.e - 1) * 1_000)), 1e-3),
    ):
        tuner, weights, rng = started(EXP3S(**settings), 3), np.ones(3), np.random.default_rng(0)
        for _ in range(200):
            chances = (1 - gamma) * weights / weights.sum() + gamma / 3
            np.testing.assert_allclose(tuner.probabilities()["configuration"], chances, rtol=1e-10)
            arm, reward = tuner.ask()["arm"], float(rng.random())
            estimate = reward / chances[arm] * (np.arange(3) == arm)
            weights = weights * np.exp(gamma * estimate / 3) + math.e * alpha / 3 * weights.sum()
            tuner.tell(reward)


def test_step_of_corral_is_mirror_descent_with_its_barrier():
    """It minimises <p, loss> + sum_i (ln(q_i / p_i) + p_i / q_i - 1) / eta_i over the simplex, q the old chances."""
    old = np.array([0.2, 0.5, 0.3])
    rates, losses = np.array([0.3, 0.1, 0.7]), np.array([0.0, 1.9, 0.0])
    new = old.copy()
    descend(new, rates, losses)

    def objective(x):
        p = np.append(x, 1 - x.sum())
        return p @ losses + np.sum((np.log(old / p) + p / old - 1) / rates)

    best = minimize(objective, old[:2], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
    np.testing.assert_allclose(new[:2], best.x, atol=1e-7)
    assert new.sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(("settings", "rate"), [({"eta": 0.5}, 0.5), ({}, math.sqrt(2 / 1_000))])
def test_corral_raises_the_rate_where_a_chance_falls(settings, rate):
    tuner = started(Corral(**settings), 2, 1_000)
    chances, limits, rates = np.full(2, 0.5), np.full(2, 4.0), np.full(2, rate)
    for _ in range(900):
        drawn_from, chosen = tuner.probabilities()["configuration"], tuner.ask()["arm"]
        np.testing.assert_allclose(drawn_from, 0.999 * chances + 0.001 / 2, rtol=1e-9)
        tuner.tell(float(chosen == 1))
        if chosen == 0:
            descend(chances, rates, np.array([1 / drawn_from[0], 0.0]))
        inverse = 1 / (0.999 * chances + 0.001 / 2)
        rates[inverse > limits] *= math.exp(1 / math.log(1_000))
        limits[inverse > limits] = 2 * inverse[inverse > limits]
    assert rates[0] > rate == rates[1]
    assert chances[1] > 0.9


def test_corral_has_the_chances_of_the_authors_class_as_the_paper_has_it(monkeypatch):
    """The chances of CorralHyperparam in pacchiano/modelselection at 233f26a after 150 rounds, eta 0.2, T = 600.

    That class was run once, with two changes: steps start from p, not from the mixture p', and rho is not rounded.
    """
    tuner = started(Corral(eta=0.2), 4, 600)
    for t in range(150):
        arm = (t * t + t // 4) % 4
        monkeypatch.setattr("bench.tuners.corral.draw", lambda chances, rng, arm=arm: arm)
        assert tuner.ask()["arm"] == arm
        tuner.tell(0.95 if arm == 2 else 0.4 + 0.3 * math.sin(t))
    found = tuner.probabilities()["configuration"]
    np.testing.assert_allclose(found, [0.002269, 0.001684, 0.993088, 0.002959], atol=2e-6)
    np.testing.assert_allclose(tuner._rates, [0.510948, 0.510948, 0.2, 0.437004], atol=2e-6)


# EXP4 by agreement


def test_agreeing_candidates_share_rewards():
    """Estimates 1 - (1 - reward) / q for all who agree, q the sum of their chances; alone it is EXP3's."""
    tuner, scores, n_arms, rng = started(EXP4Agreement(), 4), np.zeros(4), 1.0, np.random.default_rng(0)
    for t in range(200):
        chances = np.exp(math.sqrt(math.log(4) / n_arms) * (scores - scores.max()))
        chances /= chances.sum()
        np.testing.assert_allclose(tuner.probabilities()["configuration"], chances, rtol=1e-9)
        arm, reward = tuner.ask()["arm"], float(rng.random())
        agree = np.arange(4) == arm if t % 3 == 0 else (np.arange(4) % 2 == arm % 2 if t % 3 == 1 else np.full(4, True))
        tuner.tell(reward, Outcome(reward, agreement=agree) if t % 3 else None)
        q = chances[agree].sum()
        scores += 1 - agree * (1 - reward) / q
        n_arms += 1 / q


class Asks(Tuner):
    """Asks for the arms that other values would have pulled, and plays 0.5."""

    def __init__(self, *others):
        self.others = others

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
def test_the_task_knows_agreeing_candidates_without_play(algorithm):
    """One's own configuration always agrees, also where arms are drawn; runs are the same with the wish as without."""
    traces, asks = [], [Asks(0.0, 0.5, 10.0), Asks(0.5)]
    for tuner in asks:
        task = ContextualBandit(SyntheticLinear(n_arms=10, dim=3), algorithm())
        traces.append(run(task, tuner, rounds=200, seeds=Seeds(1)).columns()["reward"])
    np.testing.assert_array_equal(*traces)
    shares = np.mean(asks[0].seen, axis=0)
    assert shares[1] == 1
    assert 0 < shares[2] < shares[0] < 1


# Gaussian Thompson sampling


@pytest.mark.parametrize(("prior", "first"), [(-0.5, 4), (-1.0, 5), (0.0, 3), (0.5, 2)])
def test_gaussian_draws_have_the_posterior_of_unknown_mean_and_variance(prior, first):
    """Under the prior sigma^(-1 - 2 a) m + sqrt(S / (n f)) t, f = n + 2 a - 1, by integration over sigma."""
    rewards = np.random.default_rng(0).normal([[0.5], [0.9]], 0.8, (2, first))
    tuner = started(GaussianTS(prior=prior), 2)
    for i in range(2 * first):
        assert tuner.ask()["arm"] == i % 2
        tuner.tell(float(rewards[i % 2, i // 2]))
    sigma, grid = (
        np.exp(np.linspace(-6, 9, 1_000)),
        np.concatenate([-np.geomspace(300, 1e-3, 1_500), np.geomspace(1e-3, 300, 1_500)]),
    )
    rng, draws = np.random.default_rng(1), []
    for x in rewards:
        squares = ((x[:, None] - x.mean() - grid) ** 2).sum(axis=0)
        density = np.array([np.sum(sigma ** (-2 * prior - first) * np.exp(-s / 2 / sigma**2)) for s in squares])
        cumulated = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
        draws.append(x.mean() + np.interp(rng.random(20_000), cumulated / cumulated[-1], grid))
    expected = np.mean(draws[1] > draws[0])
    share = np.mean([tuner.ask()["arm"] for _ in range(20_000)])
    assert share == pytest.approx(expected, abs=4 * 0.5 * math.sqrt(2 / 20_000))


# All that draw


DRAWING = [
    *("exp3", "exp3_s", "corral", "exp4_agreement", "hedge", "tl", "tl_combined", "syndicated", "gaussian_ts"),
    *("etc", "ucb1", "ucb_delta"),
]


@pytest.mark.parametrize("name", DRAWING[:8])
def test_draws_are_as_frequent_as_their_probabilities(name):
    tuner = registry.build("tuner", name)
    tuner.start(Problem(SPACE, 400), Seeds(3))
    candidates = SPACE.product()
    rewards = np.array([0.05 * (rate_of(c) + ridge_of(c)) for c in candidates])
    for _ in range(400):
        asked = tuner.ask()
        reward = 0.05 * (rate_of(asked) + RIDGES.index(asked.get("ridge", 0.01)))
        tuner.tell(reward, Outcome(reward, rewards=rewards[: len(candidates)] if tuner.multiple else rewards[::3]))
    layers = list(tuner.probabilities().values())
    joint = np.array([math.prod(chances) for chances in itertools.product(*layers)])
    assert np.ptp(joint) > 0.01
    number = pair_of if tuner.multiple else rate_of
    counts = np.bincount([number(tuner.ask()) for _ in range(20_000)], minlength=len(joint))
    assert chisquare(counts, 20_000 * joint / joint.sum()).pvalue > 1e-3


def test_a_chance_that_would_vanish_stays_positive_and_is_never_drawn():
    rng = SimpleNamespace(random=iter((0.0, 0.5, np.nextafter(1.0, 0.0))).__next__)
    softmax = Softmax(4, rng)
    softmax.scores[:] = [-1e9, 0.0, -1e250, -700.5]
    assert (softmax.probabilities(1.0) > 0).all()
    assert softmax.probabilities(1.0)[1] == 1.0
    assert [softmax.draw(1.0) for _ in range(3)] == [1, 1, 1]
