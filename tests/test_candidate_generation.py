"""The truncation threshold of candidate generation: F-scores, rounds, and cosines that are computed once."""

import numpy as np
import pytest

import bench.algorithms.candidate_generation as module
import bench.data.ali_display_ad as loader
from bench.algorithms.candidate_generation import CandidateGeneration
from bench.algorithms.dssm import Dssm
from bench.data.ali_log import AdLog
from bench.envs.ali_display_ad import AliDisplayAd
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.candidate_generation import CandidateGenerationTask, drift, f_scores
from bench.tuners.baselines import Fixed, Random

SMALL = {"surrogate_users": 200, "surrogate_ads": 60, "surrogate_days": 2}
FAST = {"steps": 3, "batch_size": 32, "embedding_dim": 4}


@pytest.fixture(autouse=True)
def empty_cache(no_data):
    loader._cache.forget()
    module._cache.forget()


def task(**settings) -> CandidateGenerationTask:
    return CandidateGenerationTask(AliDisplayAd(**SMALL), CandidateGeneration(**(FAST | settings)))


def f_score(cosines: np.ndarray, clicked: np.ndarray, threshold: float) -> float:
    """Return twice the printed quotient: precision times recall over their sum, 0 where nothing is right."""
    candidates = {i for i, cosine in enumerate(cosines.tolist()) if cosine >= threshold}
    hits = candidates & set(np.flatnonzero(clicked).tolist())
    if not hits:
        return 0.0
    precision, recall = len(hits) / len(candidates), len(hits) / int(clicked.sum())
    return 2 * precision * recall / (precision + recall)


def some_rounds(n_rounds: int, seed: int = 0) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return cosines, some of them equal, negative, 0 or 1, and clicks."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_rounds)
    cosines = [(rng.integers(-4, 5, size) / 4).astype(np.float32) for size in sizes]
    return cosines, [rng.random(size) < 0.4 for size in sizes]


def test_f_scores_are_those_of_a_slow_evaluation():
    cosines, clicked = some_rounds(300)
    first = np.cumsum([0, *map(len, cosines[:-1])])
    ordered, scores, best = f_scores(np.concatenate(cosines), np.concatenate(clicked), first)
    thresholds = np.arange(0, 9) / 8  # all the cosines there are, and one between any two
    for r, (own, clicks) in enumerate(zip(cosines, clicked, strict=True)):
        places = slice(first[r], first[r] + len(own))
        assert ordered[places].tolist() == sorted(own.tolist())
        by_hand = [f_score(own, clicks, threshold) for threshold in thresholds]
        assert best[r] == pytest.approx(max(by_hand), abs=1e-12)
        for threshold, expected in zip(thresholds, by_hand, strict=True):
            place = np.searchsorted(ordered[places], threshold)
            assert (scores[places][place] if place < len(own) else 0.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("moves", [False, True])
def test_thresholds_of_their_own_pay_where_the_best_one_moves(moves):
    """In each round the clicked ad is above the best threshold of its time, all others are below."""
    rng = np.random.default_rng(2)
    n = 400
    border = np.where(np.arange(n) < n // 2, 0.3, 0.7) if moves else np.full(n, 0.5)
    cosines = np.stack([border - 0.2 * rng.random(n), border + 0.2 * rng.random(n)], axis=1)
    clicked = np.tile([False, True], n)
    first = 2 * np.arange(n)
    ordered, scores, _ = f_scores(cosines.ravel().astype(np.float32), clicked, first)
    thresholds, one, ten = drift(ordered, scores, first)
    assert np.abs(np.array(thresholds) - border[:: n // 10]).max() < 0.05
    assert ten == pytest.approx(n, rel=0.02)
    assert one == pytest.approx(n * 5 / 6 if moves else n, rel=0.02)


@pytest.fixture
def played():
    """A task after its start, with its log and cosines."""
    one = task()
    one.start(50, Seeds(1))
    return one, one.environment.log, one.algorithm.scores(one.environment.log)


def test_a_round_pays_the_f_score_of_its_user(played):
    one, log, cosines = played
    thresholds = np.random.default_rng(3).random(50)
    for u, threshold in zip(one.environment.users, thresholds, strict=True):
        own = slice(log.starts[u], log.starts[u + 1])
        outcome = one.play({"threshold": float(threshold)})
        expected = f_score(cosines[own], log.clicked[own], threshold)
        assert outcome.reward == outcome.values["reward"] == pytest.approx(expected, abs=1e-12)
        grid = [0.0, 1.0, *cosines[own][cosines[own] >= 0].tolist()]
        best = max(f_score(cosines[own], log.clicked[own], value) for value in grid)
        assert outcome.values["regret"] == pytest.approx(best - expected, abs=1e-12)
        assert outcome.values["regret"] >= 0
    assert one.play({"threshold": 0.5}) is None


def test_repetitions_see_the_same_rounds():
    """Only the tuner's draws differ, as the printed standard deviation of grid search, 0, shows."""
    first, second = (run(task(), Fixed(), rounds=60, seeds=Seeds(0, r)).columns()["reward"] for r in (0, 1))
    assert first.tolist() == second.tolist()
    first, second = (run(task(), Random(), rounds=60, seeds=Seeds(0, r)).columns()["reward"] for r in (0, 1))
    assert first.tolist() != second.tolist()


def test_a_warm_up_ends_with_the_log(played):
    task, _, _ = played
    assert sum(task.explore() is not None for _ in range(10_000)) == len(task.environment.users)


@pytest.fixture
def trainings(monkeypatch):
    """The arguments with which an encoder was trained."""
    fit, calls = Dssm.fit, []
    monkeypatch.setattr(Dssm, "fit", lambda self, *arguments: calls.append(arguments) or fit(self, *arguments))
    return calls


def test_the_encoder_is_trained_once(tmp_path, trainings, capsys):
    log = loader.load_log(*SMALL.values())
    scores = CandidateGeneration(**FAST).scores(log)
    said = capsys.readouterr().err
    assert "DSSM: loss " in said
    assert "3 steps take about a minute or less" in said  # not what 10,000 steps take
    assert "15 to 30" not in said
    module._cache.forget()
    again = CandidateGeneration(**FAST).scores(log)
    assert CandidateGeneration(**FAST).scores(log) is again
    assert trainings == [(3, 32, 0.001, 1.0)]
    np.testing.assert_array_equal(again, scores)
    assert not scores.flags.writeable
    assert not list((tmp_path / "cache").rglob("*.tmp"))


CHANGES = [{"steps": 4}, {"batch_size": 33}, {"embedding_dim": 5}, {"learning_rate": 0.01}, {"smoothing": 2}]


@pytest.mark.parametrize("change", [*CHANGES, {"model_seed": 1}, {"identity": "other"}])
def test_another_setting_or_log_is_trained_anew(trainings, change):
    log = loader.load_log(*SMALL.values())
    CandidateGeneration(**FAST).scores(log)
    if "identity" in change:
        CandidateGeneration(**FAST).scores(AdLog(**log.arrays(), **change))
    else:
        CandidateGeneration(**(FAST | change)).scores(log)
    assert len(trainings) == 2
