"""The comparison with other libraries: with Optuna, which is installed, and with what fails."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from runners.upkeep import peers, peers_libraries
from runners.upkeep.peers import CASES, PLAYERS, PROBLEMS, REQUIREMENTS, Case, random_result
from runners.upkeep.peers_libraries import result_of


def arrays(name: str, rounds: int = 60, **sizes: int) -> dict[str, np.ndarray]:
    return dict(PROBLEMS[name](np.random.default_rng(5), rounds, **sizes))


def plain_linucb(contexts: np.ndarray, rewards: np.ndarray) -> list[int]:
    """Ridge regression with all arms' features as rows, solved afresh each round."""
    gram, moment, choices = np.eye(contexts.shape[2]), np.zeros(contexts.shape[2]), []
    for arms, paid in zip(contexts, rewards, strict=True):
        inverse = np.linalg.inv(gram)
        widths = np.sqrt(np.einsum("ij,jk,ik->i", arms, inverse, arms))
        arm = int(np.argmax(np.round(arms @ inverse @ moment + widths, 9)))
        gram += np.outer(arms[arm], arms[arm])
        moment += paid[arm] * arms[arm]
        choices.append(arm)
    return choices


def test_our_side_plays_the_saved_arms_as_a_plain_loop_does():
    data = arrays("arm_features")
    choices = PLAYERS["linucb"](data, 60, 0)()
    assert choices == plain_linucb(data["contexts"], data["rewards"])
    assert result_of(choices, data) < random_result(data, 60)


def test_a_shared_context_is_one_model_with_a_block_for_each_arm():
    data = arrays("shared_context", n_arms=3, dim=4)
    blocks = np.stack([np.kron(np.eye(3), context) for context in data["contexts"]])
    assert PLAYERS["linucb"](data, 60, 0)() == plain_linucb(blocks, data["rewards"])


def test_estimates_are_those_of_the_formulas():
    data = arrays("log", 3, rows=500)
    rows, action, reward, predicted = np.arange(500), data["action"], data["reward"], data["predictions"]
    estimates = {name: PLAYERS[name](data, 3, 0)() for name in ("ips", "snips", "dr")}
    for place, policy in enumerate(data["policies"]):
        weights = policy[rows, action] / data["logging"][rows, action]
        assert estimates["ips"][place] == pytest.approx(np.mean(weights * reward))
        assert estimates["snips"][place] == pytest.approx(np.sum(weights * reward) / np.sum(weights))
        corrected = (policy * predicted).sum(axis=1) + weights * (reward - predicted[rows, action])
        assert estimates["dr"][place] == pytest.approx(corrected.mean())


@pytest.mark.parametrize(("player", "problem"), [("ucb1", "bernoulli"), ("exp3", "bernoulli"), ("zooming", "line")])
def test_arms_and_points_are_better_than_random_ones(player, problem):
    data = arrays(problem, 600)
    choices = PLAYERS[player](data, 600, 0)()
    assert len(choices) == 600
    assert result_of(choices, data) < 0.9 * random_result(data, 600)


def test_the_regret_of_random_points_is_their_mean_distance_from_the_peak():
    data, uniform = arrays("line"), np.random.default_rng(0).random(200_000)
    assert result_of(uniform, data) / 200_000 == pytest.approx(random_result(data, 1), rel=0.01)


@pytest.mark.parametrize("player", [PLAYERS["tpe"], peers_libraries.PLAYERS["optuna"]])
def test_an_optimiser_comes_near_the_top(player):
    data = arrays("optimise", 20, trials=15)
    points = player(data, 20, 0)()
    assert np.shape(points) == (20, 2)
    assert 0 <= result_of(points, data) < 0.3


@pytest.mark.parametrize(("n", "skipped"), [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (20, 5)])
def test_the_interval_of_a_median_is_the_narrowest_that_covers(n, skipped):
    values = np.random.default_rng(n).permutation(n)
    assert peers.median_interval(values) == ((n - 1) / 2, skipped, n - 1 - skipped)

    def coverage(skip: int) -> float:
        return 1.0 - 2.0 * sum(math.comb(n, i) for i in range(skip + 1)) / 2.0**n

    assert n < 6 or coverage(skipped) >= 0.95
    assert coverage(skipped + 1) < 0.95


def test_cases_name_players_problems_and_libraries_that_there_are():
    for case in CASES:
        assert case.theirs in peers_libraries.PLAYERS
        assert case.ours in PLAYERS
        assert {case.problem, case.our_problem} - {""} <= PROBLEMS.keys()
        assert case.peer in REQUIREMENTS or case.peer in ("obp", "optuna", "scikit-optimize")
    assert REQUIREMENTS.keys() <= {case.peer for case in CASES}


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Few cases: Optuna's TPE, one on another problem that fails, and a library that cannot be installed."""
    tpe = replace(next(case for case in CASES if case.theirs == "optuna"), decisions=8, sizes={"trials": 12})
    cases = (
        tpe,
        replace(tpe, does="no such player", theirs="nobody", our_problem="optimise"),
        Case("nothing", "nothing", "", "bernoulli", "smpybandits_ucb1", "ucb1", 5),
    )
    real = peers.install

    def install(peer: str) -> str:
        if peer == "nothing":
            raise peers.PeerError("it cannot be installed: no matching distribution in /some/where/else.txt")
        return real(peer)

    monkeypatch.setattr(peers, "CASES", cases)
    monkeypatch.setattr(peers, "install", install)
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    return tmp_path / "results" / "benchmark"


def test_both_sides_play_and_what_fails_is_named(small, capsys):
    assert not peers.measure(["optuna", "nothing"], 1)  # since something failed
    table = pd.read_csv(small / "peers.csv")
    assert table["does"].tolist() == ["TPE", "no such player", "nothing"]
    assert table["same_problem"].tolist() == [True, False, True]
    row, *failed = table.to_dict("records")
    assert all(math.isnan(row["ratio"]) for row in failed)
    assert (row["n"], row["decisions"]) == (1, 8)
    assert row["ratio_low"] == row["ratio"] == row["ratio_high"]
    assert row["ratio"] == pytest.approx(row["ours_per_second"] / row["theirs_per_second"], rel=1e-4)
    assert 0 < row["our_result"] < 0.3
    assert 0 < row["their_result"] < 0.3
    text = (small / "peers.md").read_text()
    assert "Not measured: optuna no such player: " in text
    assert "Not measured: nothing nothing: it cannot be installed: no matching distribution in else.txt" in text
    assert "/some" not in text + capsys.readouterr().out

    # Once more, only the other one: the rows of Optuna stay as they are, and so does the page
    assert not peers.measure(["nothing"], 1)
    assert pd.read_csv(small / "peers.csv").equals(table)
    assert (small / "peers.md").read_text() == text


def test_a_process_that_dies_is_an_error_of_its_library(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "_LIBRARIES", tmp_path / "dies.py")
    (tmp_path / "dies.py").write_text("raise SystemExit(3)")
    with pytest.raises(peers.PeerError, match="exit code 3"):
        peers.play(sys.executable, "numpy", "linucb", Path("data.npz"), 3, 0)


def test_the_committed_page_is_what_the_table_says():
    folder = Path(__file__).resolve().parents[1] / "results" / "benchmark"
    page = (folder / "peers.md").read_text()
    assert peers.markdown(peers.read(folder / "peers.csv"), {}).partition("None, None")[0] == page.partition("AMD")[0]
