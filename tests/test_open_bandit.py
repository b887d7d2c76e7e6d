"""The Open Bandit Dataset: parser, the logging policy's probabilities, off-policy values and replay."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from bench.data import open_bandit
from bench.data.open_bandit import load_campaign
from bench.data.open_bandit_log import OpenBanditLog, read_logs
from bench.data.open_bandit_policy import probabilities, probabilities_of_log
from bench.envs.open_bandit import OpenBandit
from bench.errors import ConfigError, DataError
from bench.seeding import Seeds

N_ITEMS = 3
USERS = [f"user_feature_{i}" for i in range(4)]
HEADER = ["", "timestamp", "item_id", "position", "click", "propensity_score", *USERS]
HEADER += [f"user-item_affinity_{i}" for i in range(N_ITEMS)]
ITEM_HEADER = ["", "item_id", "item_feature_0", "item_feature_1", "item_feature_2", "item_feature_3"]
SIZES = {"men": 34, "women": 46, "all": 80}


@pytest.fixture(autouse=True)
def the_sample_alone(no_data):
    open_bandit._cache.forget()


def row(number=0, **changes):
    values = dict.fromkeys(HEADER, "0.0")
    values |= {
        "": str(number),
        "timestamp": f"2019-11-24 00:00:{number % 60:02d}.5+00:00",
        "item_id": str(number % N_ITEMS),
        "position": str(1 + number % 3),
        "click": str(int(number % 4 == 0)),
        "propensity_score": "0.25",
    }
    values |= dict(zip(USERS, "abcd", strict=True))
    return [*(values | changes).values()]


def write(path: Path, rows, header=HEADER):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(",".join(line) for line in [header, *rows]) + "\n")
    return path


def items(names="pqr"):
    return [[str(i), str(i), str(0.5 - i), names[0], names[i], names[2]] for i in range(N_ITEMS)]


def dataset(root: Path, bts=None, random=None, names=("pqr", "xyz")):
    """Write a tiny campaign of men as the published zip file lays it out."""
    folder = root / "open-bandit" / "open_bandit_dataset"
    uniform = {"propensity_score": str(1 / N_ITEMS)}
    for policy, rows, own in (("bts", bts, names[0]), ("random", random, names[1])):
        changes = uniform if policy == "random" else {}
        write(folder / policy / "men" / "men.csv", rows or [row(i, **changes) for i in range(30)])
        write(folder / policy / "men" / "item_context.csv", items(own), ITEM_HEADER)
    return folder


def read_log(path, *, uniform=False):
    """Read one log, beside another one without a fault and without a feature of its own."""
    other = write(path.with_name("other.csv"), [row(1, propensity_score=str(1 / N_ITEMS))])
    return read_logs(other, path, N_ITEMS)[1] if uniform else read_logs(path, other, N_ITEMS)[0]


@pytest.fixture
def env():
    env = OpenBandit()
    env.start(100, Seeds(3).child("env"))
    return env


def log_of(timestamps, items, positions, propensities):
    n = len(items)
    return OpenBanditLog(
        timestamps=np.array(timestamps),
        items=np.array(items),
        positions=np.array(positions),
        clicks=np.zeros(n),
        propensities=np.array(propensities, dtype=float),
        users=np.zeros((n, 4), dtype=np.int64),
        affinity_rows=np.empty(0, dtype=np.int64),
        affinity_items=np.empty(0, dtype=np.int64),
        affinities=np.empty(0),
        names=(np.array(["a"]),) * 4,
    )


# The parser


@pytest.mark.parametrize("block", [1 << 24, 200], ids=["one block", "blocks of a line"])
def test_a_log_is_read_in_the_order_of_time(tmp_path, monkeypatch, block):
    monkeypatch.setattr("bench.data.open_bandit_log.BLOCK", block)
    late = row(0, timestamp="2019-11-30 23:59:59+00:00", user_feature_1="z", **{"user-item_affinity_2": "3.0"})
    early = row(1, user_feature_1="y", **{"user-item_affinity_0": "1.0", "user-item_affinity_1": "2.0"})
    log = read_log(write(tmp_path / "men.csv", [late, early]))
    assert log.timestamps.tolist() == [1574553601500000, 1575158399000000]
    assert log.items.tolist() == [1, 0]
    assert log.positions.tolist() == [1, 0]
    assert log.clicks.tolist() == [0, 1]
    assert log.propensities.tolist() == [0.25, 0.25]
    assert [names.tolist() for names in log.names] == [["a"], ["b", "y", "z"], ["c"], ["d"]]
    assert log.users.tolist() == [[0, 1, 0, 0], [0, 2, 0, 0]]
    found = zip(log.affinity_rows.tolist(), log.affinity_items.tolist(), log.affinities.tolist(), strict=True)
    assert list(found) == [(0, 0, 1.0), (0, 1, 2.0), (1, 2, 3.0)]


def test_a_uniform_log_has_uniform_propensities(tmp_path):
    rows = [row(i, propensity_score="0.3333333333") for i in range(5)]
    assert len(read_log(write(tmp_path / "men.csv", rows), uniform=True)) == 5
    rows[2] = row(2, propensity_score="0.33")
    with pytest.raises(DataError, match=r"line 4, propensity_score: found '0.33', expected 1/3"):
        read_log(write(tmp_path / "men.csv", rows), uniform=True)


# Finding the files


def test_a_full_data_set_is_preferred_to_the_sample(tmp_path, monkeypatch):
    dataset(tmp_path)
    assert load_campaign("men").n_items == 34
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    full = load_campaign("men")
    assert (full.n_items, len(full.bts), len(full.random)) == (N_ITEMS, 30, 30)
    assert not full.fingerprint.startswith("packaged")
    assert load_campaign("women").fingerprint.startswith("packaged-")


@pytest.mark.parametrize("gone", ["bts/men/men.csv", "random/men/item_context.csv"])
def test_a_part_of_a_campaign_is_an_error(tmp_path, monkeypatch, gone):
    (dataset(tmp_path) / gone).unlink()
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=rf"{gone}: found no such file beside .*, expected all four"):
        load_campaign("men")


def test_the_logs_share_the_codes_of_users_and_items(tmp_path, monkeypatch):
    """Each log has a value of a feature that the other lacks; item categories are hashed differently."""
    bts = [row(i, user_feature_0="m" if i else "only-bts") for i in range(5)]
    uniform = {"propensity_score": str(1 / N_ITEMS)}
    random = [row(i, user_feature_0="m" if i else "an-only-random", **uniform) for i in range(5)]
    dataset(tmp_path, bts, random)
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    campaign = load_campaign("men")
    for log, own in ((campaign.bts, "only-bts"), (campaign.random, "an-only-random")):
        assert log.names[0].tolist() == ["an-only-random", "m", "only-bts"]
        assert log.names[0][log.users[:, 0]].tolist() == [own, "m", "m", "m", "m"]


# The packaged sample


@pytest.mark.parametrize("name", SIZES)
def test_the_sample_is_read_as_by_a_plain_reader(name):
    campaign = load_campaign(name)
    assert campaign.n_items == SIZES[name]
    folder = Path(open_bandit._files(name)[0][0]).parents[2]
    for policy, log in (("bts", campaign.bts), ("random", campaign.random)):
        with (folder / policy / name / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(log) == len(rows) == 10_000
        assert log.items.tolist() == [int(line["item_id"]) for line in rows]
        assert log.positions.tolist() == [int(line["position"]) - 1 for line in rows]
        assert log.clicks.tolist() == [float(line["click"]) for line in rows]
        assert log.propensities.tolist() == [float(line["propensity_score"]) for line in rows]
        for at, feature in enumerate(USERS):
            assert log.names[at][log.users[:, at]].tolist() == [line[feature] for line in rows]
        dense = np.zeros((len(log), campaign.n_items))
        dense[log.affinity_rows, log.affinity_items] = log.affinities
        for item in (0, campaign.n_items - 1):
            assert dense[:, item].tolist() == [float(line[f"user-item_affinity_{item}"]) for line in rows]
    np.testing.assert_allclose(campaign.random.propensities, 1 / SIZES[name], rtol=1e-12)


# The logging policy's probabilities of all items


def test_probabilities_are_harmonic_means_of_the_neighbours_in_time():
    log = log_of([10, 20, 30, 40], [0, 1, 0, 1], [0, 0, 0, 0], [0.2, 0.4, 0.6, 0.8])
    found = probabilities(log, 3, np.array([25, 5, 45, 30, 25]), np.array([0, 0, 0, 0, 1]))
    # Item 0 was last shown with .2 and next with .6, item 1 with .4 and .8; the time of a row itself does not count
    rows = [[2 / (1 / 0.2 + 1 / 0.6), 2 / (1 / 0.4 + 1 / 0.8), 0], [0.2, 0.4, 0], [0.6, 0.8, 0]]
    rows += [[0.2, 2 / (1 / 0.4 + 1 / 0.8), 0]]
    for values, expected in zip(found, rows, strict=False):
        np.testing.assert_allclose(values, np.array(expected) / sum(expected), rtol=1e-14)
    np.testing.assert_allclose(found[4], 1 / 3)  # nothing was ever shown there


def test_rows_of_the_log_keep_the_logged_propensity():
    log = log_of([10, 20, 30, 40], [0, 1, 2, 0], [0, 0, 0, 0], [0.2, 0.4, 1.0, 0.5])
    found = probabilities_of_log(log, 3, np.array([1, 2, 3]))
    others = np.array([2 / (1 / 0.2 + 1 / 0.5), 1.0])
    np.testing.assert_allclose(found[0], [*(0.6 * others / others.sum())[:1], 0.4, (0.6 * others / others.sum())[1]])
    np.testing.assert_allclose(found[1], [0, 0, 1])
    np.testing.assert_allclose(found.sum(axis=1), 1)


# Off-policy learning


@pytest.mark.parametrize("name", SIZES)
def test_logged_data_fit_together(name):
    env = OpenBandit(campaign=name, n_tuning=4_001)
    env.start(10, Seeds(0).child("env"))
    assert (len(env.train), len(env.validation)) == (2_000, 2_001)
    assert env.n_actions == SIZES[name]
    assert env.action_features.shape[0] == SIZES[name]
    assert np.linalg.matrix_rank(env.action_features) > 20
    for data in (env.train, env.validation):
        rows = np.arange(len(data))
        np.testing.assert_array_equal(data.policy[rows, data.actions], data.propensities)
        np.testing.assert_allclose(data.policy.sum(axis=1), 1, rtol=1e-12)
        assert (data.policy >= 0).all()
        assert set(np.unique(data.rewards)) <= {0.0, 1.0}
        np.testing.assert_array_equal(data.contexts.sum(axis=1), 5)  # four features and a position, one-hot
        assert set(np.unique(data.contexts)) == {0.0, 1.0}


def test_all_rows_of_the_log_are_drawn_once_and_anew_in_each_repetition(env):
    log = load_campaign("men").bts
    drawn = np.concatenate((env.train.propensities, env.validation.propensities))
    np.testing.assert_array_equal(np.sort(drawn), np.sort(log.propensities))
    assert env.train.rewards.sum() + env.validation.rewards.sum() == 69
    again, other = OpenBandit(), OpenBandit()
    again.start(100, Seeds(3).child("env"))
    other.start(100, Seeds(3, 1).child("env"))
    np.testing.assert_array_equal(again.train.propensities, env.train.propensities)
    assert not np.array_equal(other.train.propensities, env.train.propensities)


def test_value_is_that_of_obp(env):
    from obp.ope import InverseProbabilityWeighting

    log = load_campaign("men").random
    weights = np.random.default_rng(0).random((env.train.contexts.shape[1], 34))

    def policy(contexts, logging):
        scores = np.exp(contexts @ weights)
        return 0.5 * scores / scores.sum(axis=1, keepdims=True) + 0.5 * logging

    logging = probabilities(load_campaign("men").bts, 34, log.timestamps, log.positions)
    users = [np.eye(len(names))[log.users[:, at]] for at, names in enumerate(log.names)]
    chances = policy(np.hstack((*users, np.eye(3)[log.positions])), logging)
    estimate = InverseProbabilityWeighting().estimate_policy_value(
        reward=log.clicks,
        action=log.items,
        pscore=log.propensities,
        action_dist=chances[:, :, None],
        position=np.zeros(len(log), dtype=int),
    )
    assert env.value(policy) == pytest.approx(estimate, rel=1e-12)
    assert env.value(policy, rows=10) == env.value(policy)


def test_value_of_the_uniform_policy_is_the_click_rate_of_its_log(env):
    def uniform(contexts, logging):
        return np.full_like(logging, 1 / 34)

    assert env.value(uniform) == pytest.approx(0.0046, rel=1e-12)
    low, high = env.value_interval(uniform)
    half = 1.96 * math.sqrt(0.0046 * 0.9954 / 10_000)
    assert (low, high) == pytest.approx((0.0046 - half, 0.0046 + half), abs=1e-6)


def test_value_of_the_logging_policy_agrees_with_its_own_clicks(env):
    """The uniform log, by way of the reconstructed probabilities, and the policy's own log estimate the same."""
    assert env.logging_value == env.value(lambda contexts, policy: policy)
    low, high = env.value_interval(lambda contexts, policy: policy)
    own = load_campaign("men").bts.clicks
    error = math.hypot((high - low) / 2 / 1.96, own.std() / math.sqrt(len(own)))
    assert abs(env.logging_value - own.mean()) < 3 * error
    assert env.best_value is None


# Replay


def replay(env, choose):
    """Play to the end; return the contexts of accepted events, their rewards and their values."""
    played = []
    t = 0
    while (contexts := env.observe()) is not None:
        arm = choose(t, contexts)
        reward = env.pull(arm)
        if reward is not None:
            played.append((arm, reward, env.values(arm)))
        t += 1
    return t, played


def test_replay_is_a_plain_loop_over_the_log_with_limits_that_are_wilsons():
    env = OpenBandit(n_parts=1)
    env.start(300, Seeds(0).child("env"))
    n, played = replay(env, lambda t, contexts: t % 34)
    log = load_campaign("men").random
    accepted = clicks = logged = 0
    expected, limits = [], []
    for t in range(len(log)):
        logged += log.clicks[t]
        if log.items[t] == t % 34:
            accepted += 1
            clicks += log.clicks[t]
            rates = [clicks / accepted, logged / (t + 1), accepted / (t + 1)]
            expected.append((log.items[t], log.clicks[t], rates))
            limits.append(binomtest(int(clicks), accepted).proportion_ci(0.95, "wilson"))
    assert n == len(log)
    assert len(played) == len(expected) > 200
    assert clicks > 0
    for (arm, reward, values), (item, click, rates), wilson in zip(played, expected, limits, strict=True):
        assert (arm, reward) == (item, click)
        assert (values["ctr_low"], values["ctr_high"]) == pytest.approx(tuple(wilson), abs=1e-9)
        assert [values["ctr"], values["logged_ctr"], values["share_accepted"]] == pytest.approx(rates, rel=1e-12)


def test_repetitions_replay_disjoint_parts_that_make_up_the_log():
    parts = []
    for repetition in range(7):
        env = OpenBandit(n_parts=7)
        env.start(300, Seeds(5, repetition).child("env"))
        assert np.all(np.diff(env._rows) > 0)  # in the order of time
        parts.append(env._rows)
    assert sorted(np.concatenate(parts).tolist()) == list(range(10_000))
    other = OpenBandit(n_parts=7)
    other.start(300, Seeds(6, 0).child("env"))
    assert not np.array_equal(other._rows, parts[0])


def test_there_are_no_more_repetitions_than_parts():
    env = OpenBandit(n_parts=2)
    env.start(300, Seeds(0, 2).child("env"))
    assert len(env.train) == 5_000  # off-policy learning knows no parts
    with pytest.raises(ConfigError, match=r"expected at most 2 repetitions \(env.n_parts\)"):
        env.observe()


@pytest.mark.parametrize("name", SIZES)
def test_contexts_have_norm_1_and_tell_items_and_events_apart(name):
    env = OpenBandit(campaign=name)
    env.start(300, Seeds(0).child("env"))
    assert (env.dim, env.n_arms, env.feature_norm, env.link) == (37, SIZES[name], 1.0, "logistic")
    rounds = [env.observe().copy() for _ in range(100)]
    for contexts in rounds:
        assert contexts.shape == (SIZES[name], 37)
        np.testing.assert_allclose(np.linalg.norm(contexts, axis=1), 1, rtol=1e-12)
        assert len(np.unique(contexts.round(9), axis=0)) == SIZES[name]
    assert len({contexts.tobytes() for contexts in rounds}) > 10


def test_contexts_are_position_score_affinity_and_hashed_crosses():
    """One event by a slow, direct way: the sum of signed buckets of every feature and cross that is present."""
    env = OpenBandit(n_hashed=5)
    env.start(300, Seeds(0).child("env"))
    campaign = load_campaign("men")
    log = campaign.random
    while (contexts := env.observe()) is not None:
        if env._row in log.affinity_rows:
            break
    row = env._row
    rng = Seeds(0, 0, ("env", "open_bandit")).generator("hashing")
    groups = [np.arange(34), *campaign.item_categories.T]

    def draw(codes):
        return rng.integers(5, size=codes.max() + 1), rng.choice((-1.0, 1.0), size=codes.max() + 1)

    tables = {"item": [draw(codes) for codes in groups]}
    for feature, names in enumerate(log.names):
        for value in range(len(names)):
            tables[feature, value] = [draw(codes) for codes in groups[1:]]
    present = [tables[feature, value] for feature, value in enumerate(log.users[row])]
    for item in range(34):
        x = np.zeros(10)
        drawn = list(zip(tables["item"], groups, strict=True))
        drawn += [pair for table in present for pair in zip(table, groups[1:], strict=True)]
        for (buckets, signs), codes in drawn:
            x[buckets[codes[item]]] += signs[codes[item]] / 4
        x[5 + log.positions[row]] = 1
        x[8] = campaign.item_scores[item] / np.abs(campaign.item_scores).max()
        affinity = log.affinities[(log.affinity_rows == row) & (log.affinity_items == item)].sum()
        x[9] = affinity / (1 + affinity)
        np.testing.assert_allclose(contexts[item], x / np.linalg.norm(x), atol=1e-12)
