"""The log of ads: its files, the generated stand-in, and the users that the environment takes from it."""

import os
from pathlib import Path

import numpy as np
import pytest

import bench.data.ali_display_ad as loader
from bench.data.ali_log import FILES, USER_FEATURES, AdLog, read_log
from bench.data.ali_surrogate import write_surrogate
from bench.envs.ali_display_ad import AliDisplayAd
from bench.errors import DataError
from bench.seeding import Seeds

GIVEN = os.environ.get("BENCH_DATA_DIR", "")
MIDNIGHT = 1_494_000_000
"""In Beijing."""

USERS = f"""userid,{",".join(USER_FEATURES) + " "}
1,10,1,1,2,1,3,0,2
3,12,3,1,4,2,3,0,3
2,11,2,2,3,,3,1,1
4,13,4,2,5,3,1,0,4
"""
ADS = """adgroup_id,cate_id,campaign_id,customer,brand,price
100,5,50,500,9,1.0
101,5,51,501,NULL,2.0
102,6,52,502,8,3.0
103,7,53,503,7,3.0
104,7,54,504,7,5.0
"""
ROWS = [
    (1, 3 * 3600, 100, 0),
    (1, 3 * 3600 + 5, 100, 1),
    (1, 3 * 3600 + 9, 100, 0),
    (1, 86_400 + 7 * 3600, 102, 0),
    (3, 22 * 3600, 103, 0),
    (3, 1 * 3600, 102, 1),  # two hours with one row each: the earlier one counts
    (2, 0, 100, 1),  # a user with a missing value
    (9, 0, 100, 1),  # unknown
    (9, 0, 999, 1),  # both unknown: counted once
    (1, 0, 101, 1),  # an ad with a missing value
    (1, 0, 999, 1),  # unknown
    ("", 0, 100, 1),  # no user
    (4, 23 * 3600 + 3599, 103, 0),
]


@pytest.fixture(autouse=True)
def empty_cache(no_data):
    loader._cache.forget()


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "given" / "ali-display-ad"
    folder.mkdir(parents=True)
    (folder / "user_profile.csv").write_text(USERS)
    (folder / "ad_feature.csv").write_text(ADS)
    lines = [f"{user},{MIDNIGHT + stamp},{ad},430548_1007,{1 - click},{click}" for user, stamp, ad, click in ROWS]
    (folder / "raw_sample.csv").write_text("\n".join(["user,time_stamp,adgroup_id,pid,nonclk,clk", *lines, ""]))
    return folder


def test_files_are_read_as_by_hand_and_dropped_rows_are_counted(folder):
    log = read_log(folder)
    assert log.user_ids.tolist() == [1, 3, 4]
    assert log.ad_ids.tolist() == [100, 102, 103]
    rows = [[10, 1, 1, 2, 1, 3, 0, 2], [12, 3, 1, 4, 2, 3, 0, 3], [13, 4, 2, 5, 3, 1, 0, 4]]
    assert log.user_features.tolist() == rows
    # Prices of the ads without a missing value are 1, 3, 3, 5: quintiles 2.2, 3, 3, 3.8
    assert log.ad_features.tolist() == [[5, 50, 500, 9, 0], [6, 52, 502, 8, 1], [7, 53, 503, 7, 1]]
    assert log.user_hour.tolist() == [3, 1, 23]
    assert log.starts.tolist() == [0, 2, 4, 5]
    assert log.shown.tolist() == [0, 1, 1, 2, 2]
    assert log.clicked.tolist() == [True, False, True, False, False]
    assert log.clicks().tolist() == [1, 1, 0]
    assert log.counts["rows of the log"] == 13
    assert {kind: count for kind, count in log.counts.items() if "dropped" in kind} == {
        "rows dropped: a missing value": 1,
        "rows dropped: user not in user_profile.csv": 2,
        "rows dropped: user with a missing value": 1,
        "rows dropped: ad not in ad_feature.csv": 1,
        "rows dropped: ad with a missing value": 1,
    }


def test_generated_files_follow_from_the_seed(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        write_surrogate(tmp_path / name, n_users=200, n_ads=50, seed=seed)
    for file in FILES:
        a, b, c = ((tmp_path / name / file).read_bytes() for name in "abc")
        assert a == b != c


def test_generated_clicks_drift_over_the_day(tmp_path):
    write_surrogate(tmp_path, n_users=4000, n_ads=1000)
    log = read_log(tmp_path)
    hour = np.repeat(log.user_hour, np.diff(log.starts))
    afternoon, night = (log.clicked[(hour >= low) & (hour < low + 5)].mean() for low in (13, 0))
    assert afternoon > 2 * night > 0.1
    assert np.mean(log.clicks() > 0) > 0.7


def test_without_files_a_generated_log_takes_their_place(monkeypatch):
    assert loader.fingerprint() == "surrogate"
    log = loader.load_log(200, 50, 2)
    assert len(log.user_ids) <= 200
    loader._cache.forget()
    monkeypatch.setattr(loader, "write_surrogate", None)  # it comes from the cache
    again = loader.load_log(200, 50, 2)
    assert again is not log
    assert again.identity == log.identity
    for name, array in log.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
        assert not again.arrays()[name].flags.writeable


def some_log(hours: list[int], clicks: list[int]) -> AdLog:
    """Return a log in which user u has ``clicks[u]`` clicked ads and one that is not clicked."""
    starts = np.concatenate(([0], np.cumsum(np.add(clicks, 1))))
    shown = np.concatenate([np.arange(n + 1) for n in clicks]).astype(np.int32)
    clicked = np.concatenate([np.arange(n + 1) < n for n in clicks])
    ids = np.arange(len(hours), dtype=np.int32)
    ads = np.arange(max(clicks) + 1, dtype=np.int32)
    users = np.zeros((len(ids), 8), dtype=np.int32)
    features = np.zeros((len(ads), 5), dtype=np.int32)
    return AdLog(ids, users, np.array(hours, dtype=np.uint8), ads, features, starts, shown, clicked)


@pytest.mark.parametrize(("rounds", "expected"), [(5, [1, 4, 0, 5, 2]), (9, [1, 4, 0, 5, 2]), (2, [1, 0]), (1, [1])])
def test_any_horizon_covers_the_day_and_a_short_log_ends(monkeypatch, rounds, expected):
    log = some_log([5, 0, 23, 5, 0, 7], [1, 2, 1, 0, 3, 1])
    monkeypatch.setattr("bench.envs.ali_display_ad.load_log", lambda *size: log)
    env = AliDisplayAd()
    env.start(rounds, Seeds(1, 2))
    assert env.users.tolist() == expected


def test_a_log_without_clicks_is_an_error(monkeypatch):
    monkeypatch.setattr("bench.envs.ali_display_ad.load_log", lambda *size: some_log([1, 2], [0, 0]))
    with pytest.raises(DataError, match="no user with a clicked ad"):
        AliDisplayAd().start(3, Seeds())


def test_the_published_log_has_its_published_size():
    path = Path(GIVEN or "nowhere") / "ali-display-ad" / "raw_sample.csv"
    if not path.is_file():
        pytest.skip("BENCH_DATA_DIR has no ali-display-ad/raw_sample.csv")
    counts = read_log(path.parent).counts
    assert counts["rows of the log"] == 26_557_961
    assert counts["users in user_profile.csv"] == 1_061_768
    assert counts["ads in ad_feature.csv"] == 846_811
