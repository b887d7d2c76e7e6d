"""The comparison with other libraries: with obp, which is installed, and with one that is not."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tools import peers, players
from tools.peers import CASES, result_of
from tools.players import random_result


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
    data = dict(players.arm_features(np.random.default_rng(5), 60))
    choices = players.linucb(data, 60, 0)()
    assert choices == plain_linucb(data["contexts"], data["rewards"])
    assert result_of(choices, data) < random_result(data, 60)


def test_estimates_are_those_of_the_formulas():
    data = dict(players.log(np.random.default_rng(5), 3, rows=500))
    rows, action, reward, predicted = np.arange(500), data["action"], data["reward"], data["predictions"]
    estimates = {name: players.estimates(name, data, 3, 0)() for name in ("ips", "snips", "dr")}
    for name in estimates:  # obp's own loop gives the same
        assert players.obp_estimates(name, data, 3, 0)() == pytest.approx(estimates[name])
    for place, policy in enumerate(data["policies"]):
        weights = policy[rows, action] / data["logging"][rows, action]
        assert estimates["ips"][place] == pytest.approx(np.mean(weights * reward))
        assert estimates["snips"][place] == pytest.approx(np.sum(weights * reward) / np.sum(weights))
        corrected = (policy * predicted).sum(axis=1) + weights * (reward - predicted[rows, action])
        assert estimates["dr"][place] == pytest.approx(corrected.mean())


def test_linucb_per_arm_plays_as_a_plain_loop_with_a_block_for_each_arm_does():
    data = dict(players.shared_contexts(np.random.default_rng(5), 60, n_arms=4, dim=3))
    blocks = np.einsum("ij,tk->tijk", np.eye(4), data["contexts"]).reshape(60, 4, 12)
    choices = players.linucb(data, 60, 0)()
    assert choices == plain_linucb(blocks, data["rewards"])
    assert set(choices) == set(range(4))


@pytest.mark.parametrize("does", [case.does for case in CASES if case.peer == "obp" and "per arm" in case.does])
def test_our_policies_and_those_of_obp_learn_the_same_problem(does):
    case = next(case for case in CASES if (case.peer, case.does) == ("obp", does))
    data = dict(case.problem(np.random.default_rng(5), 600, n_arms=4, dim=3))
    regrets = [result_of(player(data, 600, 0)(), data) for player in (case.ours, case.theirs)]
    assert max(regrets) < 0.75 * random_result(data, 600)


@pytest.mark.parametrize(("n", "skipped"), [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (20, 5)])
def test_the_interval_of_a_median_is_the_narrowest_that_covers(n, skipped):
    values = np.random.default_rng(n).permutation(n)
    assert peers.median_interval(values) == ((n - 1) / 2, skipped, n - 1 - skipped)

    def coverage(skip: int) -> float:
        return 1.0 - 2.0 * sum(math.comb(n, i) for i in range(skip + 1)) / 2.0**n

    assert n < 6 or coverage(skipped) >= 0.95
    assert coverage(skipped + 1) < 0.95


def test_both_sides_play_the_same_and_rows_of_what_is_not_installed_stay(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    folder = tmp_path / "benchmark"
    ips = replace(next(case for case in CASES if case.does == "IPS"), decisions=8, sizes={"rows": 500})
    peers.measure([ips], 1)
    table = pd.read_csv(folder / "peers.csv")
    (row,) = table.to_dict("records")
    assert (row["does"], row["n"], row["decisions"]) == ("IPS", 1, 8)
    assert row["ratio_low"] == row["ratio"] == row["ratio_high"]
    assert row["ratio"] == pytest.approx(row["ours_per_second"] / row["theirs_per_second"], rel=1e-4)
    assert row["our_result"] == pytest.approx(row["their_result"], rel=1e-4)
    assert "obp 0." in (folder / "peers.md").read_text()

    capsys.readouterr()
    peers.measure([replace(ips, peer="nothing")], 1)
    assert capsys.readouterr().out == "not measured: nothing, IPS: nothing is not installed\n"
    assert pd.read_csv(folder / "peers.csv").equals(table)


def test_the_committed_page_is_what_the_table_says():
    folder = Path(__file__).resolve().parents[1] / "results" / "benchmark"
    page = (folder / "peers.md").read_text()
    assert peers.markdown(peers.read(folder / "peers.csv"), {}).partition("None, None")[0] == page.partition("AMD")[0]
