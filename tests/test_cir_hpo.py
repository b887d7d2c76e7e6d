"""Tuning on logged data against a slow, independent reading of algorithms 1 and 2."""

from functools import cache

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from bench.algorithms.softmax_policy import SoftmaxPolicy
from bench.envs.synthetic_logged import SyntheticLogged
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.off_policy_learning import OffPolicyLearning
from bench.tuners.baselines import Random

SMALL = {"n_train": 300, "n_validation": 300, "n_test": 3000}
CIR = {"objective": "lower_bound", "imitation": True}
VARIANTS = {
    "baseline": {},
    "cir": CIR,
    "without cso": {"imitation": True},
    "without air": {"objective": "lower_bound"},
    "mixed test": {**CIR, "imitation_test": "mixed"},
    "slow gamma": {**CIR, "gamma": 1.0, "alpha_init": 0.2, "delta": 0.3},
    "hoeffding": {**CIR, "bound": "hoeffding"},
    "bernstein": {**CIR, "bound": "bernstein"},
    "snips": {"estimator": "snips"},
    "dr": {**CIR, "estimator": "dr"},
    "from pi0": {**CIR, "initial_incumbent": "logging_policy"},
    "baseline from nothing": {"initial_incumbent": "none"},
}


def learn(rounds=8, beta0=2.0, tuner=None, seed=0, **settings):
    task = OffPolicyLearning(SyntheticLogged(beta0=beta0, **SMALL), SoftmaxPolicy(n_trees=3), **settings)
    return run(task, tuner or Random(), rounds=rounds, seeds=Seeds(seed)), task


@cache
def fitted(configuration, state, data):
    """Return scikit-learn's model; variants of an algorithm are trained on the same data."""
    c, (contexts, rewards) = dict(configuration), (np.frombuffer(part).reshape(shape) for part, shape in data)
    if c["model"] == "random_forest":
        own = {name: c[name] for name in ("max_depth", "min_samples_split", "max_samples")}
        model = RandomForestClassifier(n_estimators=3, random_state=state, **own)
    else:
        model = LogisticRegression(C=c["C"], l1_ratio=c["l1_ratio"], solver="saga", max_iter=1000, random_state=state)
    return model.fit(contexts, rewards)


def slowly(task, configurations, rounds):
    """Follow the two algorithms step by step, with scikit-learn and scipy, and return the columns."""
    env, seeds = task.environment, Seeds(0)
    data = env.validation
    rows = np.arange(len(data.rewards))
    state = int(seeds.child("algorithm").generator("training").integers(2**31))

    def mu(c, contexts):
        train = np.hstack([env.train.contexts, env.action_features[env.train.actions]])
        data = tuple((part.astype(float).tobytes(), part.shape) for part in (train, env.train.rewards))
        model = fitted(tuple(c.items()), state, data)
        columns = [
            model.predict_proba(np.hstack([contexts, np.tile(e, (len(contexts), 1))]))[:, 1]
            for e in env.action_features
        ]
        return np.stack(columns, axis=1)

    def policy(c, contexts):
        weights = np.exp(c["beta"] * mu(c, contexts))
        return weights / weights.sum(axis=1, keepdims=True)

    default = {"model": "logistic_regression", "C": 1.0, "l1_ratio": 0.5}
    predictions = mu(default, data.contexts) if task.estimator == "dr" else None

    def ips(pi):
        return pi[rows, data.actions] / data.propensities * data.rewards

    def estimate_and_objective(pi):
        weights = pi[rows, data.actions] / data.propensities
        terms = weights * data.rewards
        if task.estimator == "snips":
            return (weights * data.rewards).sum() / weights.sum(), (weights * data.rewards).sum() / weights.sum()
        if task.estimator == "dr":
            terms = (pi * predictions).sum(1) + weights * (data.rewards - predictions[rows, data.actions])
        n, value = len(terms), terms.mean()
        if task.objective == "estimate":
            return value, value
        log, largest = np.log(2 / task.delta), (pi / data.policy).max()
        margin = {
            "t_test": stats.t.ppf(1 - task.delta, n - 1) * np.sqrt(terms.var() / (n - 1)),
            "hoeffding": largest * np.sqrt(2 * log / n),
            "bernstein": np.sqrt(2 * log * terms.var() / (n - 1)) + 7 * largest * log / (3 * (n - 1)),
        }[task.bound]
        return value, value - margin

    def true_value(c, alpha):
        pi = (1 - alpha) * policy(c, env._contexts) + alpha * env._policy
        return (pi * env._means).sum(axis=1).mean()

    estimate, best = estimate_and_objective(data.policy)
    value = (env._policy * env._means).sum(axis=1).mean()
    is_algorithm_2 = task.imitation or task.objective == "lower_bound"
    if task.initial_incumbent == "none" or (task.initial_incumbent is None and is_algorithm_2):
        best = -np.inf
    scores, alpha, out = [], task.alpha_init, []
    for t, c in enumerate(configurations, start=1):
        trained = policy(c, data.contexts)
        if task.imitation:
            against = trained if task.imitation_test == "trained" else (1 - alpha) * trained + alpha * data.policy
            test = stats.ttest_rel(ips(data.policy), ips(against))
            scores.append(np.sign(test.statistic) if test.pvalue <= task.delta else 0)
            alpha = task.alpha_init + (1 - task.alpha_init) * (t / rounds) ** task.gamma * np.mean(scores)
            alpha = np.clip(alpha, 0, 1)
        else:
            scores.append(0)
            alpha = 0.0
        mixed = (1 - alpha) * trained + alpha * data.policy
        own, objective = estimate_and_objective(mixed)
        if objective > best:
            best, estimate, value = objective, own, true_value(c, alpha)
        out.append([objective, alpha, scores[-1], best, estimate, value])
    return np.array(out)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_trial_equals_a_slow_implementation_of_the_algorithms(variant):
    trace, task = learn(**VARIANTS[variant])
    columns = trace.columns()
    configurations = [{name: columns[name][i] for name in SoftmaxPolicy.spaces} for i in range(8)]
    for configuration in configurations:  # a trace holds floats
        configuration |= {name: int(configuration[name]) for name in ("max_depth", "min_samples_split")}
    expected = slowly(task, configurations, 8)
    made = [columns[name] for name in ("reward", "alpha", "score", "objective", "validation_value", "true_value")]
    np.testing.assert_allclose(np.stack(made, axis=1), expected, rtol=1e-9, atol=1e-12)


def test_trials_are_significant_either_way_and_values_below_the_logging_policy_are_marked():
    runs = [learn(rounds=10, beta0=beta0, imitation=True)[0].columns() for beta0 in (-3, 3, 20)]
    runs.append(learn(rounds=30, beta0=20.0)[0].columns())
    columns = {name: np.concatenate([run[name] for run in runs]) for name in runs[0]}
    assert set(columns["score"]) == {-1, 0, 1}
    np.testing.assert_array_equal(columns["is_below_logging"], columns["true_value"] < columns["logging_value"])
    assert set(columns["is_below_logging"]) == {0.0, 1.0}


def test_on_a_tie_algorithm_1_keeps_the_incumbent_and_algorithm_2_replaces_it():
    """Against uniform logging a policy with beta = 0 is the logging policy up to rounding."""
    env = SyntheticLogged(beta0=0.0, **SMALL)
    for settings, replaced in (({}, False), ({"objective": "lower_bound"}, True)):
        task = OffPolicyLearning(env, SoftmaxPolicy(), initial_incumbent="logging_policy", **settings)
        task.start(3, Seeds(0))
        before = task._incumbent
        task._evaluate = lambda _, task=task: (task._incumbent["validation_value"], task._objective)
        task.play({"model": "logistic_regression", "beta": 5.0})
        assert (task._incumbent is not before) == replaced


def test_the_distribution_of_overestimation_is_that_of_all_trials():
    trace, task = learn(rounds=30, trial_contexts=500)
    columns = trace.columns()
    overestimations = columns["trial_validation_value"] - columns["trial_true_value"]
    np.testing.assert_allclose(columns["trial_overestimation"], overestimations, rtol=1e-12, atol=1e-15)
    for q in (5, 50, 95):
        assert columns[f"overestimation_q{q}"][-1] == pytest.approx(np.percentile(overestimations, q), abs=1e-12)
    assert columns["mean_overestimation"][-1] == pytest.approx(overestimations.mean(), abs=1e-12)
    assert columns["largest_overestimation"][-1] == pytest.approx(overestimations.max(), abs=1e-15)
    lost = task.environment.best_value - columns["trial_true_value"]
    np.testing.assert_allclose(columns["regret"], np.cumsum(lost), rtol=1e-12)
    assert (lost > -0.05).all()  # on other contexts than the best value
    for level in (0, 0.02, 0.2):
        assert columns[f"beyond_{level:g}"][-1] == pytest.approx((overestimations > level).mean(), abs=1e-12)
    assert 0 < columns["beyond_0"][-1] < 1


@pytest.mark.parametrize("settings", [{}, CIR], ids=["baseline", "cir"])
def test_a_seed_repeats_the_run_and_costs_are_kept_apart(settings):
    one, again, other = (learn(rounds=4, seed=seed, **settings)[0] for seed in (3, 3, 4))
    made, same, differing = (trace.columns() for trace in (one, again, other))
    for name, values in made.items():
        np.testing.assert_array_equal(values, same[name])
    assert (made["reward"] != differing["reward"]).any()
    assert {"training", "scoring", "trials", "true_value", "tuner"} == set(one.costs)
    assert all(seconds > 0 for seconds in one.costs.values())
    assert one.costs["trials"] == pytest.approx(one.costs["training"] + one.costs["scoring"])
