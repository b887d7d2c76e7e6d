"""The comparison with other libraries: with obp, which is installed, and with one that is not."""

from pathlib import Path

import numpy as np
import pytest

from tools import peers, players
from tools.peers import result_of
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


def test_the_committed_page_agrees_with_the_table():
    folder = Path(__file__).resolve().parents[1] / "results" / "benchmark"
    page = (folder / "peers.md").read_text()
    assert peers.markdown(peers.read(folder / "peers.csv"), {}).partition("None, None")[0] == page.partition("AMD")[0]
