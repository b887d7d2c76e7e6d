"""Tuning a model that learns from a table."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.metrics import r2_score
from test_tabular_data import real

from bench.algorithms.supervised import RandomForest, SupervisedAlgorithm
from bench.component import component
from bench.data.tabular import Table
from bench.envs.tabular import HousePrices, TabularEnvironment, Titanic
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.training import Training
from bench.tuners.baselines import Fixed

HOUSES = {
    "space": {"max_depth": {"default": 5}, "max_features": {"candidates": [None, "sqrt", "log2"], "default": None}}
}


@component
class Toy(TabularEnvironment):
    """Numbers 0 .. 19, to be predicted as they are."""

    metric = "r2"

    def load(self) -> Table:
        numbers = np.arange(20.0)
        return Table(numbers[:, None], numbers, ("x",))


@component
class Stump(SupervisedAlgorithm):
    """Predicts ``slope`` times the feature; counts its trainings."""

    spaces: ClassVar = {
        "slope": {"candidates": (0.5, 1.0, -1.0)},
        "unused": {"candidates": (None, "a"), "default": "a"},
    }
    trainings: ClassVar = []

    def predict(self, configuration, features, target, queries, classes):
        assert not classes
        self.trainings.append(configuration)
        return configuration["slope"] * queries[:, 0]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Nothing is remembered from other tests."""
    monkeypatch.setattr("bench.tasks.training._trained", {})
    monkeypatch.setattr(Stump, "trainings", [])


def r2(env, slope):
    return r2_score(env.test_target, slope * env.test_features[:, 0])


def test_reward_is_the_score_and_the_start_is_the_incumbent():
    task = Training(Toy(), Stump(tune=["slope"]))
    problem = task.start(5, Seeds(0))
    assert problem.space.names == ("slope",)
    configuration, score = problem.incumbent
    assert configuration == {"slope": 0.5}
    assert score == pytest.approx(r2(task.environment, 0.5))
    outcome = task.play({"slope": -1.0})
    assert outcome.reward == outcome.values["score"] == pytest.approx(r2(task.environment, -1.0))
    assert outcome.reward < 0
    assert outcome.values["best_score"] == score  # the start's
    assert outcome.values["regret_so_far"] == score - outcome.reward
    assert not {"held_out_score", "regret"} & set(outcome.values)
    assert task.play({"slope": 1.0}).values["best_score"] == 1.0
    assert Stump.trainings[-1] == {"slope": 1.0, "unused": "a"}  # what is not tuned stands at its default
    values = task.play({"slope": -1.0}).values
    assert values["best_score"] == 1.0
    assert values["regret_so_far"] == 1.0 - outcome.reward
    assert values["mean_best_score"] == pytest.approx((score + 1.0 + 1.0) / 3)
    assert values["configurations"] == 3  # the start, -1 and 1


def test_repeated_training_is_skipped_and_its_cost_still_counts(monkeypatch):
    """A clock that a training moves by 10 seconds and a tuner by 1: every round costs 11."""
    clock = [0.0]
    monkeypatch.setattr("bench.tasks.training.time.process_time", lambda: clock[0])
    train = Stump.predict

    def slow(self, *arguments):
        clock[0] += 10.0
        return train(self, *arguments)

    monkeypatch.setattr(Stump, "predict", slow)

    def play(task, slopes):
        costs = []
        for slope in slopes:
            costs.append(task.play({"slope": slope}).costs)
            clock[0] += 1.0
        return costs

    task = Training(Toy(), Stump())
    task.start(5, Seeds(0))
    begun = len(Stump.trainings)
    costs = play(task, [1.0, 1.0, 0.5, -1.0])
    assert len(Stump.trainings) == begun + 2  # the start, 0.5, and the second 1.0 are known
    assert [cost["training"] for cost in costs] == [10.0] * 4
    assert [cost["training_spent"] for cost in costs] == [10.0, 0.0, 0.0, 10.0]
    assert [cost["tuning"] for cost in costs] == [10.0, 11.0, 11.0, 11.0]
    assert [cost["tuning_spent"] for cost in costs] == [10.0, 1.0, 1.0, 11.0]

    # Another run of this process trains nothing, and counts what it would have spent
    other = Training(Toy(), Stump())
    other.start(5, Seeds(0, 1))
    assert play(other, [1.0, 1.0, 0.5, -1.0]) == costs
    assert len(Stump.trainings) == begun + 2


def test_other_data_splits_and_settings_are_trained_anew():
    def trained(env, algorithm):
        before = len(Stump.trainings)
        task = Training(env, algorithm)
        task.start(5, Seeds(0))
        task.play({"slope": 1.0})
        return len(Stump.trainings) - before

    @component
    class OtherStump(Stump):
        pass

    assert trained(Toy(), Stump()) == 3  # the start's first training is not the one whose seconds count
    assert trained(Toy(), Stump()) == 0
    assert trained(Toy(split_seed=1), Stump()) == 3
    assert trained(Toy(test_share=0.5), Stump()) == 3
    assert trained(Toy(), OtherStump()) == 3


def test_regret_is_measured_from_the_best_score_there_is():
    task = Training(Toy(), Stump(tune=["slope", "unused"]), best_score={"real": 1.0})
    trace = run(task, Fixed({"slope": 0.5}), rounds=3).columns()
    gap = 1.0 - r2(task.environment, 0.5)
    assert trace["regret"].tolist() == pytest.approx([gap, 2 * gap, 3 * gap])
    assert trace["score"].tolist() == pytest.approx([1.0 - gap] * 3)


def test_held_out_rows_judge_the_choice_and_do_not_make_it():
    """If the feature equals the target in the test rows only, slope 1 is chosen, and fails on the held-out rows."""
    environment = Toy(held_out_share=0.3)
    task = Training(environment, Stump(tune=["slope"]))
    task.start(3, Seeds(0))
    parts = [environment.train_target, environment.test_target, environment.held_out_target]
    assert [len(part) for part in parts] == [10, 4, 6]
    assert sorted(np.concatenate(parts)) == list(range(20))
    environment.held_out_features = -environment.held_out_features
    found = [task.play({"slope": slope}).values for slope in (1.0, -1.0)]
    held_out = r2_score(environment.held_out_target, environment.held_out_features[:, 0])
    assert [values["held_out_score"] for values in found] == pytest.approx([held_out] * 2)
    assert found[1]["best_score"] == 1.0


def test_a_repetition_can_have_a_split_of_its_own():
    def split(seeds, **settings):
        task = Training(Toy(**settings), Stump())
        task.start(3, seeds)
        task.play({"slope": -1.0})
        return task.environment.test_target.tolist()

    assert split(Seeds(0, 0)) == split(Seeds(0, 1)) == split(Seeds(0, 1), split_seed=42)
    assert split(Seeds(0, 0), split_seed=None) != split(Seeds(0, 1), split_seed=None)
    assert split(Seeds(0, 1), split_seed=None) == split(Seeds(0, 1), split_seed=None)
    assert len(Stump.trainings) == 3 * 3  # the fixed split and two drawn: the start twice, and -1


def test_the_substitute_has_a_best_score_of_its_own():
    class Substitute(Toy):
        fingerprint = "surrogate"

    task = Training(Substitute(), Stump(), best_score={"real": 9.0, "surrogate": 1.0})
    task.start(3, Seeds(0))
    assert task.play({"slope": 1.0}).values["regret"] == 0.0
    task = Training(Substitute(), Stump(), best_score={"real": 9.0})
    task.start(3, Seeds(0))
    assert "regret" not in task.play({"slope": 1.0}).values


@pytest.mark.parametrize("env", [Titanic(), HousePrices()])
def test_forest_is_scikit_learns(monkeypatch, env):
    from sklearn.datasets import load_breast_cancer, load_diabetes
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.model_selection import train_test_split

    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)
    monkeypatch.setattr("bench.data.files.cache_folder", lambda: Path("nowhere"))
    classes = isinstance(env, Titanic)
    x, y = (load_breast_cancer if classes else load_diabetes)(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=42)
    forest = RandomForestClassifier if classes else RandomForestRegressor

    task = Training(env, RandomForest())
    _, start = task.start(5, Seeds(3)).incumbent
    same = forest(n_estimators=50, max_depth=None, min_samples_split=2, max_features="sqrt", random_state=42)
    assert start == pytest.approx(same.fit(x_train, y_train).score(x_test, y_test), abs=1e-12)
    chosen = {"n_estimators": 60, "max_depth": 5, "min_samples_split": 8, "max_features": None}
    same = forest(**chosen, random_state=42).fit(x_train, y_train)
    assert task.play(chosen).reward == pytest.approx(same.score(x_test, y_test), abs=1e-12)


@real
@pytest.mark.parametrize(
    ("env", "algorithm", "published"),
    [(Titanic(), RandomForest(), 0.7762), (HousePrices(), RandomForest(**HOUSES), 0.8588)],
)
def test_the_published_start_is_reproduced_exactly(env, algorithm, published):
    _, score = Training(env, algorithm).start(5, Seeds(0)).incumbent
    assert round(score, 4) == published
