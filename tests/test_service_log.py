"""The log of a service is replayed for other tuners: as if they had been asked, for any tuner of the log."""

import numpy as np
import pandas as pd
import pytest
from own_log import CONFIGURATIONS, reward_of, service_log

import bandit_bench as bb
from bench.envs.service_log import ServiceLog
from bench.seeding import Seeds


def replayed(tuner, repetition, rounds=None):
    """Return the rewards of a tuner on a part of the log."""
    environment = ServiceLog(path=service_log(), n_parts=5)
    environment.start(10**9, Seeds(0, repetition).child("env"))
    tuner.start(bb.Problem(environment.space, environment.expected_rounds), bb.Seeds(repetition))
    rewards = []
    while rounds is None or len(rewards) < rounds:
        reward = environment.play(tuner.ask())
        if reward is None:
            break
        tuner.tell(reward)
        rewards.append(reward)
    return rewards


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_a_configuration_earns_its_mean_though_the_tuner_that_made_the_log_had_learnt(configuration):
    rate, model = configuration
    rewards = np.concatenate(
        [replayed(bb.tuner("fixed", configuration={"rate": rate, "model": model}), part) for part in range(5)]
    )
    assert abs(rewards.mean() - CONFIGURATIONS[configuration]) < 4 * 0.5 / np.sqrt(len(rewards))


def test_a_tuner_that_learns_earns_as_much_as_live():
    rounds = 60
    from_log = [np.mean(replayed(bb.tuner("ucb1"), part, rounds)) for part in range(5)]
    live, rng = [], np.random.default_rng(5)
    for seed in range(200):
        tuner = bb.tuner("ucb1")
        tuner.start(bb.Problem(ServiceLog(path=service_log()).space, 10**3), bb.Seeds(seed))
        rewards = []
        for _ in range(rounds):
            rewards.append(reward_of(tuner.ask(), rng))
            tuner.tell(rewards[-1])
        live.append(np.mean(rewards))
    assert abs(np.mean(from_log) - np.mean(live)) < 4 * np.std(live) / np.sqrt(len(from_log))


def test_tuners_are_compared_and_unfit_logs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    data = ("service_log", {"path": service_log()})
    made = bb.compare(["gaussian_ts", "ucb1", "random"], env=data, repetitions=5)
    assert made.finals["accepted"].min() > 30
    table = made.table.set_index("method")["mean"]
    assert table["Gaussian TS"] > table["Random each round"]
    with pytest.raises(bb.BenchError, match=r"repetitions: found 6, expected at most 5"):
        bb.compare(["ucb1", "random"], env=data, repetitions=6)
    table = pd.read_csv(service_log()).assign(propensity=np.nan)  # as of a tuner that does not draw
    table.to_csv(tmp_path / "none.csv", index=False)
    with pytest.raises(bb.BenchError, match=r"none.csv, line 2, propensity: .* learnt \(task.history\), not replayed"):
        bb.compare(["ucb1", "random"], env=("service_log", {"path": str(tmp_path / "none.csv")}), repetitions=5)
    rare = pd.read_csv(service_log())
    rare.loc[0, "propensity"] = 0.0016  # of 1,200 asks in a part: 1.9 rounds
    rare.to_csv(tmp_path / "rare.csv", index=False)
    with pytest.raises(bb.BenchError, match=r"0.0016 in 1,200 asks .* 1.9 rounds .* more asks, .*gamma"):
        bb.compare(["ucb1", "random"], env=("service_log", {"path": str(tmp_path / "rare.csv")}), repetitions=5)
