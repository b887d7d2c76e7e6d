"""The comparison with other libraries: with obp, which is installed, and with what fails."""

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


def test_estimates_are_those_of_the_formulas():
    data = arrays("log", 3, rows=500)
    rows, action, reward, predicted = np.arange(500), data["action"], data["reward"], data["predictions"]
    estimates = {name: PLAYERS[name](data, 3, 0)() for name in ("ips", "snips", "dr")}
    for name in estimates:  # obp's own loop gives the same
        assert peers_libraries.PLAYERS[f"obp_{name}"](data, 3, 0)() == pytest.approx(estimates[name])
    for place, policy in enumerate(data["policies"]):
        weights = policy[rows, action] / data["logging"][rows, action]
        assert estimates["ips"][place] == pytest.approx(np.mean(weights * reward))
        assert estimates["snips"][place] == pytest.approx(np.sum(weights * reward) / np.sum(weights))
        corrected = (policy * predicted).sum(axis=1) + weights * (reward - predicted[rows, action])
        assert estimates["dr"][place] == pytest.approx(corrected.mean())


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
        assert case.problem in PROBLEMS
        assert case.peer in REQUIREMENTS or case.peer == "obp"
    assert REQUIREMENTS.keys() <= {case.peer for case in CASES}


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Few cases: obp's IPS, one on another problem that fails, and a library that cannot be installed."""
    ips = replace(next(case for case in CASES if case.ours == "ips"), decisions=8, sizes={"rows": 500})
    cases = (
        ips,
        replace(ips, does="no such player", theirs="nobody"),
        Case("nothing", "nothing", "", "arm_features", "coba", "linucb", 5),
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
    assert not peers.measure(["obp", "nothing"], 1)  # since something failed
    table = pd.read_csv(small / "peers.csv")
    assert table["does"].tolist() == ["IPS", "no such player", "nothing"]
    row, *failed = table.to_dict("records")
    assert all(math.isnan(row["ratio"]) for row in failed)
    assert (row["n"], row["decisions"]) == (1, 8)
    assert row["ratio_low"] == row["ratio"] == row["ratio_high"]
    assert row["ratio"] == pytest.approx(row["ours_per_second"] / row["theirs_per_second"], rel=1e-4)
    assert row["our_result"] == pytest.approx(row["their_result"], rel=1e-4)
    text = (small / "peers.md").read_text()
    assert "Not measured: obp no such player: " in text
    assert "Not measured: nothing nothing: it cannot be installed: no matching distribution in else.txt" in text
    assert "/some" not in text + capsys.readouterr().out

    # Once more, only the other one: the rows of obp stay as they are, and so does the page
    assert not peers.measure(["nothing"], 1)
    assert pd.read_csv(small / "peers.csv").equals(table)
    assert (small / "peers.md").read_text() == text


def test_a_process_that_dies_is_an_error_of_its_library(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "_LIBRARIES", tmp_path / "dies.py")
    (tmp_path / "dies.py").write_text("raise SystemExit(3)")
    with pytest.raises(peers.PeerError, match="exit code 3"):
        peers.play("numpy", "linucb", sys.executable, {}, 3, 0)


def test_the_committed_page_is_what_the_table_says():
    folder = Path(__file__).resolve().parents[1] / "results" / "benchmark"
    page = (folder / "peers.md").read_text()
    assert peers.markdown(peers.read(folder / "peers.csv"), {}).partition("None, None")[0] == page.partition("AMD")[0]
