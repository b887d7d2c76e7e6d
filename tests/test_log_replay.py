"""The replay of a log against the truth, from a policy and rewards that are known."""

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from own_log import COLUMNS, N_ARMS, frame, logging_policy, means

from bench.algorithms.linucb import LinUCB
from bench.envs.log_replay import LogReplay
from bench.envs.logged import LoggedData
from bench.errors import ConfigError
from bench.loop import run
from bench.off_policy.estimators import estimator_terms
from bench.seeding import Seeds
from bench.stats import mean_interval
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.baselines import Fixed
from runners import compare
from runners.config.compose import from_overrides
from runners.config.experiment import run_repetition
from runners.run import run_and_report

ROWS = 60_000
PARTS = 200


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "rows.parquet"
    frame(ROWS).to_parquet(path)
    return str(path)


def environment(path, **settings):
    return LogReplay(path=path, **COLUMNS | settings)


POLICIES = {
    "first": lambda x: np.eye(N_ARMS)[np.zeros(len(x), dtype=int)],
    "third": lambda x: np.eye(N_ARMS)[np.full(len(x), 2)],
    "best": lambda x: np.eye(N_ARMS)[means(x).argmax(axis=1)],
    "random": lambda x: np.full((len(x), N_ARMS), 1 / N_ARMS),
}
"""Probabilities of the arms, shape (n, arms), given the contexts."""


def truth(policy):
    """Return the value of a policy, from a grid of contexts."""
    grid = np.stack(np.meshgrid(*[(np.arange(200) + 0.5) / 100 - 1] * 2), axis=-1).reshape(-1, 2)
    return float((policy(grid) * means(grid)).sum(axis=1).mean())


@cache
def chances(path, policy):
    """Return the cumulative chances of the arms, shape (rows, arms), for the contexts of a log's rows."""
    return policy(pd.read_parquet(path, columns=["user_a", "user_b"]).to_numpy()).cumsum(axis=1)


def replay(path, policy, repetition, **settings):
    """Play a policy that does not learn; return the environment at its end, the rows seen and the arms pulled."""
    env = environment(path, **settings)
    env.start(10**9, Seeds(1, repetition).child("env"))
    up_to = chances(path, policy)
    rng = np.random.default_rng([7, repetition])
    rows, pulls = [], []
    while env.observe() is not None:
        rows.append(env._row)
        pulls.append(int(up_to[env._row].searchsorted(rng.random(), side="right")))
        env.pull(pulls[-1])
    return env, np.array(rows), np.array(pulls)


@cache
def replays(path, name):
    """Return the final values of each part of a log."""
    return [replay(path, POLICIES[name], repetition, n_parts=PARTS)[0].values(0) for repetition in range(PARTS)]


@pytest.mark.parametrize("name", POLICIES)
def test_replay_and_estimates_are_unbiased(name, log):
    """200 parts of a log, each a repetition: means within 3 standard errors of the truth; SNIPS is biased by 1 / n."""
    values, true = replays(log, name), truth(POLICIES[name])
    for column in ("mean_reward", "ips", "snips", "dr"):
        found = np.array([value[column] for value in values])
        assert abs(found.mean() - true) < 3 * found.std() / math.sqrt(PARTS), column
    rounds = np.array([value["accepted"] for value in values])
    expected = ROWS / PARTS * frame(ROWS)["p"].min()
    assert abs(rounds.mean() - expected) < 4 * math.sqrt(expected / PARTS)


def test_estimates_of_few_rounds_are_unbiased_where_a_trace_records_them(tmp_path):
    """At the last accepted event of 60, in 4,000 orders, against the mean of all 60 terms; with that event 3 % more."""
    rng = np.random.default_rng(0)
    likely = rng.random(60) < 0.5
    p = np.where(likely == (item := rng.random(60) < 0.5), 0.7, 0.3)
    click = rng.random(60) < np.where(likely, 0.9, 0.2)
    table = pd.DataFrame({"user": 1, "item": item.astype(int), "click": click.astype(float), "p": p})
    table.to_csv(tmp_path / "rows.csv", index=False)
    env = environment(str(tmp_path / "rows.csv"), context="user", propensity="p", sample="all")
    found = []
    for repetition in range(4_000):
        env.start(60, Seeds(0, repetition))
        while env.observe() is not None:
            if env.pull(1) is not None:
                ips = env.values(1)["ips"]
        found.append(ips)
    true = (item * click / p).mean()
    assert abs(np.mean(found) - true) < 3 * np.std(found) / math.sqrt(4_000) < 0.01 * true


def test_the_interval_of_a_difference_covers_the_true_one(log):
    """20 comparisons of 10 repetitions, each with its own part and number of accepted rounds: 95 % intervals."""
    ends = [*zip(replays(log, "first"), replays(log, "third"), strict=True)]
    assert np.mean([left["accepted"] != right["accepted"] for left, right in ends]) > 0.8
    differences = np.array([left["mean_reward"] - right["mean_reward"] for left, right in ends])
    true = truth(POLICIES["first"]) - truth(POLICIES["third"])
    intervals = [mean_interval(part) for part in np.split(differences, 20)]
    assert sum(interval.low <= true <= interval.high for interval in intervals) >= 16


def test_estimates_are_those_of_whole_arrays(log):
    """By the estimators for arrays, the doubly robust one with ridge regressions solved anew.

    SNIPS is of all events, the others of those before the last accepted one.
    """
    env, rows, pulls = replay(log, POLICIES["random"], 3, n_parts=PARTS)
    data, table = frame(ROWS).iloc[rows], env._log
    logged = LoggedData(
        table.contexts[rows], data["item"].to_numpy(), data["click"].to_numpy(), data["p"].to_numpy(), 0
    )
    policy, values = np.eye(N_ARMS)[pulls], env.values(0)
    predictions = np.zeros((len(rows), N_ARMS))
    for t in range(len(rows)):
        for arm in range(N_ARMS):
            x, y = (array[:t][logged.actions[:t] == arm] for array in (logged.contexts, logged.rewards))
            predictions[t, arm] = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y) @ logged.contexts[t]
    before = np.flatnonzero((pulls == logged.actions) & env._coins[: len(rows)])[-1]
    for name, n in (("ips", before), ("snips", len(rows)), ("dr", before)):
        terms = estimator_terms(name, logged, policy, predictions)
        assert values[name] == pytest.approx(terms[:n].mean(), rel=1e-9)


def test_an_accepted_event_is_a_round_and_tuners_are_told_the_expected_horizon(log):
    env = environment(log, n_parts=20)
    trace = run(ContextualBandit(env, LinUCB()), Fixed(), rounds=10**6, seeds=Seeds(0, 4))
    columns = trace.columns()
    assert columns["accepted"].tolist() == columns["round"].tolist()
    np.testing.assert_allclose(columns["reward"] / columns["round"], columns["mean_reward"])
    assert env.expected_rounds == int(ROWS / 20 * frame(ROWS)["p"].min())
    assert abs(trace.round - env.expected_rounds) < 5 * math.sqrt(env.expected_rounds)
    assert columns["mean_reward"][-1] > frame(ROWS)["click"].mean()


def test_by_default_a_repetition_plays_its_whole_part_as_announced(log, tmp_path, monkeypatch, capsys):
    """It may exceed the suite's usual horizon; a given horizon ends it earlier; a trace has many of its rounds."""
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    words = ["env=log", f"env.path={log}", *(f"env.{key}={value}" for key, value in COLUMNS.items()), "env.n_parts=2"]
    expected = int(ROWS / 2 * frame(ROWS)["p"].min())
    whole = from_overrides([*words, "repetitions=1", "tuner=fixed"])
    trace = run_repetition(whole.experiment, 0)
    assert abs(trace.round - expected) < 5 * math.sqrt(expected)
    assert len(trace.columns()["round"]) > 400
    assert trace.columns()["round"][-1] == trace.round
    assert whole.experiment.rounds == expected
    env = environment(log, n_parts=2)
    env.start(10**9, Seeds(0, 0).child("env"))
    assert sum(env.observe() is not None for _ in range(ROWS)) == ROWS // 2
    run_and_report(from_overrides([*words, "repetitions=2", "horizon=300", "tuner=fixed"]))
    out = capsys.readouterr().out
    assert f"the first 300 accepted rounds (horizon=300) of about {expected:,}, and tuners are told 300" in out
    assert re.search(r"final_accepted +300\n", out)


def test_parts_are_disjoint_and_make_up_the_log_in_the_order_asked_for(log):
    times, seen = frame(ROWS)["time"].to_numpy(), []
    for repetition in range(3):
        env = environment(log, n_parts=3, order="time", time="time")
        env.start(100, Seeds(0, repetition).child("env"))
        assert (np.diff(times[env._rows]) > 0).all()
        seen.append(env._rows)
    assert sorted(np.concatenate(seen)) == list(range(ROWS))
    shuffled = environment(log, sample="all")
    shuffled.start(100, Seeds(0).child("env"))
    assert sorted(shuffled._rows) == list(range(ROWS)) != list(shuffled._rows)
    drawn = environment(log, sample="bootstrap")
    drawn.start(100, Seeds(0).child("env"))
    assert len(set(drawn._rows)) == pytest.approx(ROWS * (1 - math.exp(-1)), rel=0.02)


def test_kinds_of_files_make_no_difference(tmp_path):
    table = frame(6_000)
    table.to_parquet(tmp_path / "rows.parquet")
    table.to_csv(tmp_path / "rows.csv", index=False, encoding="utf-8-sig")
    table[:2_000].to_csv(tmp_path / "part-1.csv.gz", index=False)
    table[2_000:][table.columns[::-1]].to_csv(tmp_path / "part-2.csv.gz", index=False)
    found = [environment(str(tmp_path / name))._load() for name in ("rows.parquet", "rows.csv", "part-*.csv.gz")]
    for other in found[1:]:
        for name, array in found[0].arrays().items():
            np.testing.assert_array_equal(array, other.arrays()[name])


def test_arms_with_features_have_those_of_the_context_times_their_own(log, tmp_path):
    pd.DataFrame({"item": range(N_ARMS), "price": [1.0, 2.0, 3.0, 4.0], "kind": ["a", "b", "a", "b"]}).to_csv(
        tmp_path / "arms.csv", index=False
    )
    env = environment(log, arms=str(tmp_path / "arms.csv"))
    env.start(100, Seeds(0).child("env"))
    contexts = env.observe()
    assert contexts.shape == (N_ARMS, 3 * 4)  # a, b, constant; price, kind=a, kind=b, constant
    row = frame(ROWS).iloc[env._row]
    spread = frame(ROWS)[["user_a", "user_b"]]
    x = np.append((row[["user_a", "user_b"]] - spread.mean()) / spread.std(ddof=0), 1.0).astype(float)
    z = np.column_stack([(np.arange(4) - 1.5) / np.std(range(4)), [1, 0, 1, 0], [0, 1, 0, 1], np.ones(4)])
    for arm in range(N_ARMS):
        expected = np.outer(x / np.linalg.norm(x), z[arm] / np.linalg.norm(z[arm])).ravel()
        np.testing.assert_allclose(contexts[arm], expected, rtol=0, atol=1e-12)


def test_the_features_of_a_service_are_those_of_the_log(log):
    page = (Path(__file__).parents[1] / "docs" / "your_data.md").read_text()
    (code,) = (body for body in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S) if "def features" in body)
    numbers, names = frame(ROWS)[["user_a", "user_b"]].to_numpy(), {}
    exec(code, names)
    names |= {"mean": numbers.mean(axis=0), "std": numbers.std(axis=0)}
    env = environment(log)
    env.start(100, Seeds(0).child("env"))
    context = env.observe()[0]
    np.testing.assert_allclose(context, names["features"](numbers[env._row], np.empty(0)), rtol=0, atol=1e-12)


def test_a_uniform_log_needs_no_column_of_propensities(tmp_path):
    table = frame(4_000)
    policy = np.full((4_000, N_ARMS), 1 / N_ARMS)
    rng = np.random.default_rng(1)
    table["item"] = rng.integers(N_ARMS, size=4_000)
    assert not np.allclose(logging_policy(table[["user_a", "user_b"]].to_numpy()), policy)
    table.to_csv(tmp_path / "rows.csv", index=False)
    env = environment(str(tmp_path / "rows.csv"), propensity="uniform", sample="all")
    env.start(100, Seeds(0).child("env"))
    assert env.expected_rounds == 1_000
    assert env._coins.all()


def test_there_are_as_many_repetitions_as_parts_and_a_hint_of_more_rows(tmp_path, monkeypatch, capsys):
    """More are refused before any output or file; until_decided ends there; a page counts accepted rounds."""
    frame(4_000).to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    words = ["env=log", f"env.path={tmp_path / 'rows.csv'}", *(f"env.{key}={value}" for key, value in COLUMNS.items())]
    refused = r"^repetitions: found 30, expected at most 10: a log of 10 parts .*, or env\.sample=bootstrap, "
    with pytest.raises(ConfigError, match=refused):
        compare.compare(["tuner=tl,theory", *words, "repetitions=30"])
    with pytest.raises(ConfigError, match=refused):
        run_and_report(from_overrides(["tuner=tl", *words, "repetitions=30"]))
    assert not capsys.readouterr().out
    assert from_overrides([*words, "env.sample=bootstrap"]).experiment.most_repetitions is None
    assert compare.compare(["tuner=tl,theory", *words, "repetitions=until_decided", "name=parts"])
    folder, out = tmp_path / "results" / "compare" / "parts", capsys.readouterr().out
    finals = pd.read_csv(folder / "finals.csv")
    assert finals.groupby("method")["repetition"].count().to_dict() == {"TL": 10, "Theory": 10}
    assert re.search(r"TL ends .*: open, .*; about [\d.,]+ times as many rows, in [\d,]+ parts, would decide it", out)
    assert "repetitions would decide" not in out
    assert "accepted rounds" in (folder / "index.html").read_text()


def test_means_are_compared_and_sums_refused(tmp_path, monkeypatch, capsys):
    """Through the command: the column, the accepted rounds beside it, the notes before, and the refusal."""
    frame(4_000).to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    words = ["tuner=tl,theory", "env=log", f"env.path={tmp_path / 'rows.csv'}", "env.n_parts=2", "repetitions=2"]
    words += [f"env.{key}={value}" for key, value in COLUMNS.items()]
    assert compare.compare(words)
    out = capsys.readouterr().out
    assert out.count("log: 4,000 rows, 4 actions") == 1
    assert out.count(" accepted rounds\n") == 2
    assert "TL ends with more mean reward per round than Theory" in out
    with pytest.raises(ConfigError, match=r"column: found 'regret', .*LogReplay.*column=mean_reward"):
        compare.compare([*words, "column=regret"])
    with pytest.raises(ConfigError, match="column: found 'reward', a sum over accepted rounds"):
        compare.compare([*words, "column=reward"])
