"""Lower bounds and the paired test against direct evaluation, scipy and repeated draws."""

import math

import numpy as np
import pytest
from scipy import stats

from bench.algorithms.softmax_policy import SoftmaxPolicy
from bench.envs.synthetic_linear import SyntheticLinear
from bench.envs.synthetic_logged import SyntheticLogged
from bench.errors import ConfigError
from bench.loop import run
from bench.off_policy.estimators import BOUNDS, lower_bound, paired_sign
from bench.seeding import Seeds
from bench.tasks.lower_bounds import LowerBounds
from bench.tuners.baselines import Fixed


def directly(bound, terms, largest_weight, delta):
    """Evaluate the formulas of appendix E with sums."""
    n = len(terms)
    mean = sum(terms) / n
    variance = sum((term - mean) ** 2 for term in terms) / n
    log = math.log(2 / delta)
    margin = {
        "t_test": stats.t(df=n - 1).ppf(1 - delta) * (variance / (n - 1)) ** 0.5,
        "hoeffding": largest_weight * (2 * log / n) ** 0.5,
        "bernstein": (2 * log * variance / (n - 1)) ** 0.5 + 7 * largest_weight * log / (3 * (n - 1)),
    }
    return mean - margin[bound]


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_equal_a_direct_evaluation(bound, delta):
    for n in (2, 5, 400):
        terms = np.random.default_rng(n).exponential(2.0, n)
        expected = directly(bound, terms.tolist(), 31.5, delta)
        assert lower_bound(bound, terms, 31.5, delta) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.4])
def test_paired_sign_decides_as_scipy(delta):
    rng = np.random.default_rng(7)
    seen = set()
    for shift in np.linspace(-0.4, 0.4, 60):
        first, second = rng.gamma(1.0, 1.0, 80) + shift, rng.gamma(1.0, 1.0, 80)
        test = stats.ttest_rel(first, second)
        sign = paired_sign(first, second, delta)
        assert sign == (int(np.sign(test.statistic)) if test.pvalue <= delta else 0)
        assert paired_sign(second, first, delta) == -sign
        seen.add(sign)
    assert seen == {-1, 0, 1}
    assert paired_sign(first, first, delta) == 0
    assert paired_sign(np.arange(20.0) + 1, np.arange(20.0), delta) == 1  # a constant gain


def lower_bounds(beta0, rounds, **settings):
    env = SyntheticLogged(beta0=beta0, n_test=20_000)
    task = LowerBounds(env, SoftmaxPolicy(), **settings)
    configuration = {"model": "logistic_regression", "beta": 10.0}
    return run(task, Fixed(configuration), rounds=rounds, seeds=Seeds(2)).columns(), task


def test_rounds_are_fresh_logs_whose_bounds_are_averaged():
    columns, task = lower_bounds(3.0, 40, n=300, delta=0.05)
    env, rng = task.environment, Seeds(2).child("env").generator("logs")
    policy = task.algorithm.policy({"model": "logistic_regression", "beta": 10.0})
    value = env.value(policy)
    lows, errors = {bound: [] for bound in BOUNDS}, {bound: [] for bound in BOUNDS}
    for i in range(40):
        data = env.draw(300, rng)
        chosen = policy(data.contexts, data.policy)
        weights = np.array([chosen[j, a] / data.policy[j, a] for j, a in enumerate(data.actions)])
        terms = (weights * data.rewards).tolist()
        assert columns["reward"][i] == pytest.approx(np.mean(terms), rel=1e-12)
        for bound in BOUNDS:
            lows[bound].append(directly(bound, terms, (chosen / data.policy).max(), 0.05))
            errors[bound].append(lows[bound][-1] >= value)
    for bound in BOUNDS:
        assert columns[bound][-1] == pytest.approx(np.mean(lows[bound]), rel=1e-9)
        assert columns[f"{bound}_errors"][-1] == pytest.approx(np.mean(errors[bound]))
        assert columns[f"{bound}_gap"][-1] == pytest.approx(value - np.mean(lows[bound]), rel=1e-9)
    assert (columns["true_value"] == value).all()


def test_the_task_needs_an_environment_that_draws_logs():
    with pytest.raises(ConfigError, match=r"LowerBounds.environment: found SyntheticLinear.* SyntheticLogged") as error:
        LowerBounds(environment=SyntheticLinear(), algorithm=SoftmaxPolicy())
    assert "\n" not in str(error.value)
