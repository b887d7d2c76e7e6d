"""TPE against Optuna's TPESampler, which gets the same random numbers, and its densities against SciPy's."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from bench.algorithms.softmax_policy import SoftmaxPolicy
from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.parzen import Dimensions, Parzen
from bench.tuners.tpe import TPE

N_TRIALS = 120
SPACES = {
    "conditional": SoftmaxPolicy().tuned,
    "of all kinds": Space.of(
        size={"low": 1, "high": 1000, "integer": True, "log": True},
        share={"low": -5.0, "high": 5.0},
        kind=["a", "b", "c"],
        depth={"low": 0, "high": 4, "integer": True},
        only=["k"],
    ),
}


class Draws:
    """The random numbers of a generator, as Optuna asks for them."""

    def __init__(self, generator):
        self._generator = generator

    def choice(self, n, p, size):
        sums = np.cumsum(p)
        return np.searchsorted(sums / sums[-1], self._generator.random(size), side="right")

    def rand(self, n):
        return self._generator.random(n)

    def uniform(self, low=0.0, high=1.0, size=None):
        shape = np.broadcast(low, high).shape if size is None else size
        return np.add(low, np.subtract(high, low) * self._generator.random(shape))


@pytest.fixture
def _first_on_tie(monkeypatch):
    """Let Optuna keep equal values in the order of observation, and take the first of equally good values."""
    from optuna.samplers import TPESampler

    def compare(samples, values):
        best = min(i for i, value in enumerate(values) if value > max(values) - 1e-10)
        return {name: column[best].item() for name, column in samples.items()}

    monkeypatch.setattr(np, "argsort", partial(np.argsort, kind="stable"))
    monkeypatch.setattr(TPESampler, "_compare", staticmethod(compare))


def suggest(trial, space):
    configuration = {}
    for p in space.parameters:
        if p.when and configuration[p.when[0]] != p.when[1]:
            configuration[p.name] = p.default
        elif p.low is None:
            configuration[p.name] = trial.suggest_categorical(p.name, p.candidates)
        elif p.integer:
            configuration[p.name] = trial.suggest_int(p.name, int(p.low), int(p.high), log=p.log)
        else:
            configuration[p.name] = trial.suggest_float(p.name, p.low, p.high, log=p.log)
    return configuration


@pytest.mark.usefixtures("_first_on_tie")
@pytest.mark.parametrize("multivariate", [False, True])
@pytest.mark.parametrize("kind", SPACES)
def test_it_proposes_what_optunas_sampler_does_with_the_same_random_numbers(kind, multivariate):
    """With unanswered asks, and some equal rewards."""
    import optuna

    space, noise = SPACES[kind], np.random.default_rng(5).normal(size=N_TRIALS)
    tuner = TPE(n_startup=7, multivariate=multivariate)
    tuner.start(Problem(space, N_TRIALS), Seeds(3))
    sampler = optuna.samplers.TPESampler(n_startup_trials=7, multivariate=multivariate, constant_liar=False, seed=0)
    sampler._rng._rng = sampler._random_sampler._rng._rng = Draws(Seeds(3).generator("sampler"))
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for i, extra in enumerate(noise):
        own, trial = tuner.ask(), study.ask()
        theirs = suggest(trial, space)
        assert list(own) == list(theirs)
        for name, value in theirs.items():
            assert own[name] == (pytest.approx(value, rel=1e-7) if isinstance(value, float) else value), i
        if i % 10 == 3:
            continue
        reward = float(round(3 * extra)) + (own["beta"] / 50 if "beta" in own else -abs(own["share"] - 2))
        tuner.tell(reward)
        study.tell(trial, reward)


def test_densities_are_mixtures_of_truncated_normals():
    """Widths by hand: the larger gap to the neighbours in 1, 3, 3, 3, 6, at least 8/7; the prior's is the range."""
    values, low, high = np.array([3.0, 1.0, 3.0, 6.0, 3.0]), 1.0, 9.0
    centres, widths = [3, 1, 3, 6, 3, 5], [2, 2, 8 / 7, 3, 3, 8]
    mixture = Parzen(values[:, None], Dimensions.of([(low, high, 0.0, False, 0)]))
    points = np.linspace(low, high, 9)
    normals = [stats.truncnorm((low - m) / s, (high - m) / s, m, s) for m, s in zip(centres, widths, strict=True)]
    expected = sum(normal.pdf(points) for normal in normals) / 6 * (high - low)
    np.testing.assert_allclose(mixture.density(points[:, None]), expected, rtol=1e-12)
    drawn = mixture.sample(4000, np.random.default_rng(0))[:, 0]
    assert stats.kstest(drawn, lambda x: sum(normal.cdf(x) for normal in normals) / 6).pvalue > 0.01


@pytest.mark.parametrize(("low", "high", "is_log"), [(1, 6, False), (1, 40, True)])
def test_densities_of_whole_numbers_and_categories_add_up_to_one(low, high, is_log):
    ends = (low - 0.5, high + 0.5)
    number = (*(np.log(ends) if is_log else ends), 0.5, is_log, 0)
    scale = np.log if is_log else np.asarray
    rng = np.random.default_rng(1)
    observed = np.column_stack([scale(rng.integers(low, high + 1, 40)), rng.integers(0, 3, 40)])
    mixture = Parzen(observed, Dimensions.of([number, (0.0, 0.0, 0.0, False, 3)]))
    points = np.array([[scale(i), j] for i, j in itertools.product(range(low, high + 1), range(3))], dtype=float)
    assert math.isclose(mixture.density(points).sum(), 1.0, rel_tol=1e-12)
    drawn = mixture.sample(500, rng)
    assert {tuple(point) for point in drawn.round(9).tolist()} <= {tuple(point) for point in points.round(9).tolist()}


def test_far_from_all_observations_the_prior_is_sampled_to_the_ends():
    """Without observations the density is the prior's alone, a normal one as wide as the range."""
    prior = Parzen(np.empty((0, 1)), Dimensions.of([(-1.0, 1.0, 0.0, False, 0)]))
    drawn = prior.sample(4000, np.random.default_rng(2))[:, 0]
    assert stats.kstest(drawn, stats.truncnorm(-0.5, 0.5, 0.0, 2.0).cdf).pvalue > 0.01
    assert np.ptp(drawn) > 1.98


def test_hyper_parameters_without_effect_have_their_usual_values():
    space = Space.of(
        model=["tree", "line"],
        depth={"low": 2, "high": 32, "integer": True, "when": ("model", "tree"), "default": 7},
        slope={"low": 0.0, "high": 1.0, "when": ("model", "line")},
    )
    tuner = TPE()
    tuner.start(Problem(space, 40), Seeds(1))
    asked = []
    for _ in range(40):
        asked.append(tuner.ask())
        tuner.tell(asked[-1]["depth"] / 32 if asked[-1]["model"] == "tree" else asked[-1]["slope"])
    assert all(c["slope"] == 0.5 if c["model"] == "tree" else c["depth"] == 7 for c in asked)
    assert len({c["depth"] for c in asked}) > 5
    assert len({c["slope"] for c in asked}) > 2


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ({"low": 0.1, "high": 1.0, "default": None}, None),
        ({"candidates": ["auto", 0.5], "low": 0.1, "high": 1.0}, "auto"),
        ({"candidates": ["a", "b"], "default": "c"}, "c"),
        ({"low": 0.1, "high": 10.0, "log": True, "default": 0.0}, 0.0),
        ({"low": 0.1, "high": 10.0, "default": 1000.0}, 1000.0),
    ],
)
def test_rewards_of_a_value_outside_the_axis_do_not_draw_proposals_to_its_ends(parameter, value):
    """They count as observations in which the hyper-parameter had no effect."""
    tuner = TPE(n_startup=1)
    tuner.start(Problem(Space.of(r=parameter), 100), Seeds(3))
    tuner.learn([({"r": value}, 1.0)] * 20)
    proposals = []
    for _ in range(20):
        proposals.append(tuner.ask()["r"])
        tuner.tell(0.0)
    if "low" not in parameter:
        assert {*proposals} == {"a", "b"}
    else:
        low, high = (math.log(parameter[end]) if "log" in parameter else parameter[end] for end in ("low", "high"))
        places = [math.log(each) if "log" in parameter else each for each in proposals]
        assert sum(place < (low + high) / 2 for place in places) in range(4, 17)


@pytest.mark.parametrize(
    "parameter",
    [{"low": 0, "high": 2**60}, {"low": 2**53, "high": 2**53 + 10}, {"low": 1, "high": 10**18, "log": True}],
)
def test_whole_numbers_too_large_for_halves_are_searched_like_real_ones(parameter):
    parameter |= {"integer": True}
    space = Space.of(n=parameter)
    low, high = space.parameters[0].low, space.parameters[0].high
    tuner, distances = TPE(), []
    tuner.start(Problem(space, 60), Seeds(4))
    for _ in range(60):
        with np.errstate(divide="raise", invalid="raise"):
            asked = tuner.ask()["n"]
        assert isinstance(asked, int)
        assert low <= asked <= high
        place = math.log(asked / low) / math.log(high / low) if "log" in parameter else (asked - low) / (high - low)
        distances.append(abs(place - 0.7))
        tuner.tell(-distances[-1])
    assert np.mean(distances[-20:]) < 0.8 * np.mean(distances[:10])
