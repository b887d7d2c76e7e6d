"""The comparison with other libraries: with Optuna, which is installed, and with what fails."""

import importlib.metadata
import math
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bench.report.page import draw
from runners.upkeep.peers import measure, page, theirs
from runners.upkeep.peers.__main__ import measure_and_write
from runners.upkeep.peers.cases import CASES, REQUIREMENTS, Case
from runners.upkeep.peers.ours import PLAYERS as OURS
from runners.upkeep.peers.problems import PROBLEMS, random_result


def arrays(name: str, rounds: int = 60, **arguments: int) -> dict[str, np.ndarray]:
    return PROBLEMS[name](np.random.default_rng(5), rounds, **arguments)


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
    choices = OURS["linucb"](data, 60, 0)()
    assert choices == plain_linucb(data["contexts"], data["rewards"])
    assert theirs.result_of(choices, data) < random_result(data, 60)


def test_a_shared_context_is_one_model_with_a_block_for_each_arm():
    data = arrays("shared_context", n_arms=3, dim=4)
    blocks = np.stack([np.kron(np.eye(3), context) for context in data["contexts"]])
    assert OURS["linucb"](data, 60, 0)() == plain_linucb(blocks, data["rewards"])


def test_estimates_are_those_of_the_formulas():
    data = arrays("log", 3, rows=500)
    rows, action, reward = np.arange(500), data["action"], data["reward"]
    found = {name: OURS[name](data, 3, 0)() for name in ("ips", "snips", "dr")}
    for place, policy in enumerate(data["policies"]):
        weights = policy[rows, action] / data["logging"][rows, action]
        predicted = data["predictions"]
        assert found["ips"][place] == pytest.approx(np.mean(weights * reward))
        assert found["snips"][place] == pytest.approx(np.sum(weights * reward) / np.sum(weights))
        corrected = (policy * predicted).sum(axis=1) + weights * (reward - predicted[rows, action])
        assert found["dr"][place] == pytest.approx(corrected.mean())
        assert found["dr"][place] == pytest.approx((policy * predicted).sum(axis=1).mean(), abs=0.3)


@pytest.mark.parametrize("player", ["ucb1", "exp3"])
def test_arms_and_points_that_are_better_than_random_ones(player):
    data = arrays("bernoulli", 600)
    choices = OURS[player](data, 600, 0)()
    assert len(choices) == 600
    assert theirs.result_of(choices, data) < 0.9 * random_result(data, 600)


def test_a_line_is_played_and_its_regret_is_the_distance_from_the_peak():
    data = arrays("line", 300)
    choices = OURS["zooming"](data, 300, 0)()
    regret = sum(abs(x - float(data["peak"])) for x in choices)
    assert theirs.result_of(choices, data) == pytest.approx(regret)
    assert regret < random_result(data, 300)
    uniform = np.random.default_rng(0).random(200_000)
    assert np.abs(uniform - data["peak"]).mean() * 300 == pytest.approx(random_result(data, 300), rel=0.01)


def test_our_tpe_asks_what_optuna_asks_apart_from_the_seed():
    data = arrays("optimise", 20, trials=15)
    for player in (OURS["tpe"], theirs.PLAYERS["optuna_tpe"]):
        points = player(data, 20, 0)()
        assert np.shape(points) == (20, 2)
        assert 0 <= theirs.result_of(points, data) < 0.3


@pytest.mark.parametrize(("n", "skipped"), [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (20, 5)])
def test_the_interval_of_a_median_is_the_narrowest_that_covers(n, skipped):
    values = np.random.default_rng(n).permutation(n)
    assert measure.median_interval(values) == ((n - 1) / 2, skipped, n - 1 - skipped)

    def coverage(skip: int) -> float:
        return 1.0 - 2.0 * sum(math.comb(n, i) for i in range(skip + 1)) / 2.0**n

    assert n < 6 or coverage(skipped) >= 0.95
    assert coverage(skipped + 1) < 0.95


def test_cases_name_players_problems_and_libraries_that_there_are():
    for case in CASES:
        assert case.theirs in theirs.PLAYERS
        assert case.ours in OURS
        assert {case.problem, case.our_problem} - {""} <= PROBLEMS.keys()
        assert case.peer in REQUIREMENTS or case.peer in ("obp", "optuna", "scikit-optimize")
    assert REQUIREMENTS.keys() <= {case.peer for case in CASES}


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Few cases: Optuna's TPE, one on another problem, one that fails, and a library that cannot be installed."""
    tpe = replace(next(case for case in CASES if case.theirs == "optuna_tpe"), rounds=8, arguments={"trials": 12})
    cases = (
        tpe,
        replace(tpe, does="TPE, other", our_problem="optimise", our_arguments={"trials": 2}),
        replace(tpe, does="no such player", theirs="nobody"),
        Case("nothing", "nothing", "bernoulli", "smpybandits_ucb1", "ucb1", 5),
    )
    monkeypatch.setattr("runners.upkeep.peers.__main__.CASES", cases)
    monkeypatch.setitem(REQUIREMENTS, "nothing", ("./no-such-file.whl",))
    monkeypatch.setattr(measure, "_ENVIRONMENTS", str(tmp_path / "environments"))
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    return tmp_path / "results" / "benchmark"


def test_both_sides_play_and_what_fails_is_named(small, monkeypatch, capsys):
    def refuse(peer: str) -> None:
        raise measure.PeerError("it cannot be installed: no matching distribution in /some/where/else.txt")

    real = measure.install
    monkeypatch.setattr(measure, "install", lambda peer: refuse(peer) if peer == "nothing" else real(peer))
    assert not measure_and_write("", 2)  # since something failed
    table = pd.read_csv(small / "peers.csv")
    assert table["does"].tolist() == ["TPE", "TPE, other", "no such player", "nothing"]
    same, other, *failed = table.to_dict("records")
    assert all(math.isnan(row["ratio"]) for row in failed)
    assert (same["version"], same["n"], same["decisions"]) == (importlib.metadata.version("optuna"), 2, 8)
    assert same["ratio_low"] <= same["ratio"] <= same["ratio_high"]
    assert same["ours_per_second"] > 0
    assert 0 < same["our_result"] < 0.3
    assert 0 < same["their_result"] < 0.3
    assert math.isnan(other["our_result"])
    assert not other["same_problem"]
    text = (small / "peers.md").read_text()
    assert "no such player" in text
    assert "KeyError: 'nobody'" in text
    assert "- nothing nothing: it cannot be installed: no matching distribution in else.txt" in text
    assert "/some" not in text + capsys.readouterr().out
    assert "Where the problem is not the same" in text
    assert (small / "peers.svg").exists()

    # Once more, only the other one: the rows of Optuna stay as they are, and so does the page
    assert not measure_and_write("nothing", 2)
    assert pd.read_csv(small / "peers.csv").equals(table)
    assert (small / "peers.md").read_text() == text


def test_an_unknown_library_is_named_with_the_known_ones(small):
    with pytest.raises(measure.BenchError, match="found 'fast', expected one of: optuna, nothing"):
        measure_and_write("fast", 2)
    with pytest.raises(measure.BenchError, match="found 0, expected at least 1"):
        measure_and_write("optuna", 0)
    assert not small.exists()


def test_a_worker_that_ends_is_an_error_of_its_library():
    worker = measure.Worker([sys.executable, "-c", "raise SystemExit(3)"], sees_suite=False)
    with pytest.raises(measure.PeerError, match="exit code 3"):
        worker.ask(version="numpy")
    worker.close()


def test_the_side_that_is_faster_is_named_and_drawn():
    row = {
        "peer": "p", "version": "1", "setting": "s", "decisions": 9, "unit": "rounds", "ours_per_second": 2e6,
        "theirs_per_second": 0.5, "our_result": 1.0, "their_result": 2.0, "random_result": 3.0, "note": "",
        "reason": "",
    }  # fmt: skip
    ends = {"fast": (2.0, 3.0, 4.0), "slow": (0.1, 0.2, 0.3), "level": (0.9, 1.0, 1.1), "other": (2.0, 3.0, 4.0)}
    rows = [
        row
        | {"does": name, "n": 7, "same_problem": name != "other", "ratio_low": low, "ratio": mid, "ratio_high": high}
        for name, (low, mid, high) in ends.items()
    ]
    table = pd.DataFrame([*rows, rows[0] | {"does": "few", "n": 3}])
    text = page.markdown(table, {"cpu": "a processor"})
    assert "- Library faster: p slow (0.2)." in text
    assert "- Suite faster: p fast (3)." in text
    assert "another problem: p other (3)." in text
    assert "- Not told apart, or fewer than 6 repetitions: p level (1); p few (3)." in text
    assert "2,000,000" in text
    assert "Not measured" not in text
    plot = page.picture(table)
    values = plot.numbers()
    assert values[values["what"] == "ratio"]["value"].tolist() == [3.0, 0.2, 1.0, 3.0, 3.0]
    draw(plot)
