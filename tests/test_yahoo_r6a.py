"""Yahoo! R6A: parser, aggregation, cache between runs, the surrogate, and the environment."""

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from bench.data import yahoo_r6a
from bench.data.yahoo_r6a import DIM, STAMPS_PER_DAY, ClickLog, daily_files, fingerprint, load_log, parse, surrogate_log
from bench.envs.yahoo_r6a import YahooR6A
from bench.errors import DataError
from bench.seeding import Seeds

USER = b"|user 2:0.000012 3:0.000000 4:0.000006 5:0.000023 6:0.999958 1:1.000000"
FIRST = b"|109498 2:0.306008 3:0.000450 4:0.077048 5:0.230439 6:0.386055 1:1.000000"
SECOND = b"|109509 2:0.306008 3:0.000450 4:0.077048 5:0.230439 6:0.386055 1:1.000000"
THIRD = b"|109513 6:0.1 3:0.3 1:1 5:0.3 2:0.2 4:1e-1"  # features are told apart by their ids
POOL = b" ".join((FIRST, SECOND, THIRD))
GOOD = b"1241160900 109513 0 " + USER + b" " + POOL
NAME = "ydata-fp-td-clicks-v1_0.20090501"

pytestmark = pytest.mark.filterwarnings("ignore:.*daily files are parsed")


@pytest.fixture(autouse=True)
def empty_cache(no_data):
    yahoo_r6a._cache.forget()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder for the daily files, below BENCH_DATA_DIR."""
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path / "given"))
    folder = tmp_path / "given" / "yahoo-r6a"
    folder.mkdir(parents=True)
    return folder


def line(stamp: int, shown: int, click: int, pool: bytes = POOL) -> bytes:
    return b"%d %d %d " % (stamp, shown, click) + USER + b" " + pool


def read(tmp_path, *contents: bytes) -> ClickLog:
    paths = [tmp_path / f"file{i}" for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return parse(paths)


def as_dict(log: ClickLog):
    """Return {stamp: {id: (features, shows, clicks)}}."""
    rounds = {}
    for r, stamp in enumerate(log.stamps.tolist()):
        rounds[stamp] = {}
        for place in range(log.starts[r], log.starts[r + 1]):
            row = log.article[place]
            values = tuple(log.features[row].tolist()), int(log.shows[place]), int(log.clicks[place])
            rounds[stamp][int(log.ids[row])] = values
    assert sum(map(len, rounds.values())) == len(log.article)
    return rounds


def write_files(log: ClickLog, folder) -> list[Path]:
    """Write a log as daily files in the format of R6A, the lines of a stamp in random order; return their paths."""
    order, rng = (*range(1, DIM), 0), random.Random(0)  # the files have the constant last
    blocks = [
        b"|%d" % name + b"".join(b" %d:%.6f" % (i + 1, row[i]) for i in order)
        for name, row in zip(log.ids.tolist(), log.features.tolist(), strict=True)
    ]
    paths = []
    for first in range(0, len(log), STAMPS_PER_DAY):
        lines = []
        for r in range(first, min(first + STAMPS_PER_DAY, len(log))):
            places = range(log.starts[r], log.starts[r + 1])
            pool = b" ".join(blocks[log.article[place]] for place in rng.sample(places, len(places)))
            clicks = [(log.ids[log.article[p]], i < log.clicks[p]) for p in places for i in range(log.shows[p])]
            rng.shuffle(clicks)
            lines += [line(log.stamps[r], *click, pool) for click in clicks]
        paths.append(folder / f"{NAME[:-2]}{len(paths) + 1:02d}")
        paths[-1].write_bytes(b"\n".join(lines) + b"\n")
    return paths


def test_a_line_of_the_real_form(tmp_path):
    log = read(tmp_path, GOOD + b"\n" + line(1241160900, 109513, 1) + b"\n" + line(1241160900, 109498, 0) + b"\n")
    assert as_dict(log) == {
        1241160900: {
            109498: ((1.0, 0.306008, 0.00045, 0.077048, 0.230439, 0.386055), 1, 0),
            109513: ((1.0, 0.2, 0.3, 0.1, 0.3, 0.1), 2, 1),
        }
    }
    assert log.counts["lines"] == 3
    for array in log.arrays().values():
        assert not array.flags.writeable


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"1241160900 109513 " + USER + b" " + POOL,
        b"12411609x0 109513 0 " + USER + b" " + POOL,
        b"1241160900 109513 2 " + USER + b" " + POOL,
        b"1241160900 109513 0 " + USER + b" " + FIRST,  # not in the pool
    ],
)
def test_malformed_line_is_skipped_and_counted(tmp_path, bad):
    lines = [GOOD, bad, line(1241160900, 109498, 1), bad, line(1241161200, 109509, 0), GOOD]
    log = read(tmp_path, b"\n".join(lines) + b"\n")
    expected = read(tmp_path, b"\n".join(text for text in lines if text != bad))
    assert as_dict(log) == as_dict(expected)
    assert [log.counts[kind] for kind in ("lines", "lines skipped", "article blocks skipped")] == [6, 2, 0]


@pytest.mark.parametrize(
    "bad",
    [
        b"|",
        b"|id-7 1:1 2:0 3:0 4:0 5:0 6:0",
        b"|7 1:1 2:0 3:0 4:0 5:0",
        b"|7 1:1 2:nan 3:0 4:0 5:0 6:0",
        b"|7 1:1 2:1.5 3:0 4:0 5:0 6:0",
        b"|109498 1:1 2:0 3:0 4:0 5:0 6:0",  # a second time
    ],
)
def test_malformed_article_block_is_skipped_and_counted(tmp_path, bad):
    pool = b" ".join((FIRST, bad, SECOND, THIRD))
    lines = [GOOD, line(1241160900, 109509, 1, pool), line(1241160900, 109498, 1, pool), line(7, 7, 1, pool), GOOD]
    log = read(tmp_path, b"\n".join(lines))
    assert as_dict(log) == as_dict(read(tmp_path, b"\n".join([GOOD, line(1241160900, 109509, 1), lines[2], GOOD])))
    assert [log.counts[kind] for kind in ("lines", "lines skipped", "article blocks skipped")] == [5, 1, 3]


def test_rounds_are_in_order_and_arms_are_those_shown(tmp_path):
    """Stamps may come out of order or be spread over two files; an article that is never shown is no arm."""
    log = read(
        tmp_path,
        b"\n".join([line(900, 109513, 1), line(300, 109498, 0), line(900, 109498, 0)]),
        b"\n".join([line(600, 109509, 0), line(900, 109513, 0)]),
    )
    assert log.stamps.tolist() == [300, 600, 900]
    assert {stamp: sorted(arms) for stamp, arms in as_dict(log).items()} == {
        300: [109498],
        600: [109509],
        900: [109498, 109513],
    }
    assert as_dict(log)[900][109513][1:] == (2, 1)


def test_features_that_change_count_from_the_next_stamp(tmp_path):
    old, new = b"|7 1:1 2:1 3:0 4:0 5:0 6:0", b"|7 1:1 2:0 3:1 4:0 5:0 6:0"
    log = read(tmp_path, b"\n".join([line(1, 7, 0, old), line(1, 7, 1, new), line(2, 7, 1, new)]))
    assert as_dict(log) == {1: {7: ((1, 1, 0, 0, 0, 0), 2, 1)}, 2: {7: ((1, 0, 1, 0, 0, 0), 1, 1)}}


def test_written_files_give_the_log_back(tmp_path):
    log = surrogate_log(300, 100)
    plain = write_files(log, tmp_path)
    packed = tmp_path / f"{plain[0].name}.gz"
    packed.write_bytes(gzip.compress(plain[0].read_bytes()))
    for paths in (plain, [packed, plain[1]]):
        parsed = parse(paths)
        assert as_dict(parsed) == as_dict(log)
        assert (parsed.counts["lines"], parsed.counts["lines skipped"]) == (30_000, 0)
    packed.write_bytes(packed.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"01\.gz: found an invalid file"):
        parse([packed])


def test_fingerprint_is_that_of_the_content(tmp_path):
    identity = read(tmp_path, GOOD).fingerprint()
    assert read(tmp_path, GOOD + b"\r\n\n").fingerprint() == identity  # skipped lines and line ends are no content
    others = [line(1241160900, 109513, 1), line(1241160901, 109513, 0), line(1241160900, 109509, 0)]
    others += [GOOD + b"\n" + GOOD, GOOD.replace(b"2:0.2", b"2:0.3")]
    assert len({identity, *(read(tmp_path, content).fingerprint() for content in others)}) == 6


def test_each_file_is_judged_alone(tmp_path):
    with pytest.raises(DataError, match="file1: found 10 of 10 lines malformed"):
        read(tmp_path, b"\n".join([GOOD] * 1000), b"word\n" * 10)
    assert read(tmp_path, b"\n".join([GOOD, b"word"]), b"\n".join([b"word", GOOD])).counts["lines skipped"] == 2
    with pytest.raises(DataError, match="found an unreadable file"):
        parse([tmp_path])


def test_daily_files(no_data, folder):
    cached = no_data / "data" / "yahoo-r6a" / f"{NAME}.gz"
    cached.parent.mkdir(parents=True)
    cached.touch()
    assert daily_files() == [cached]
    names = [f"{NAME[:-2]}{day:02d}{'.gz' if day % 2 else ''}" for day in range(1, 11)]
    for name in [*names[::-1], f"{NAME[:-2]}11", f"{NAME[:-2]}02.gz.part", "readme.txt"]:
        (folder / name).touch()
    assert [path.name for path in daily_files()] == names
    (folder / f"{NAME[:-2]}02.gz").touch()
    with pytest.raises(DataError, match=r"02\.gz: found the same day in ydata-fp-td-clicks-v1_0.20090502,"):
        daily_files()


def test_surrogate_is_always_the_same_and_like_the_original():
    log = load_log()
    assert fingerprint() == YahooR6A().fingerprint == "surrogate"
    assert log.fingerprint() == surrogate_log().fingerprint()
    n_arms = np.diff(log.starts)
    assert len(log) == 2880
    assert set(np.diff(log.stamps)) == {300}
    assert 15 <= n_arms.min() < n_arms.max() <= 25
    assert 18 <= n_arms.mean() <= 22
    assert log.shows.sum() == 2880 * 15_900
    assert 0.035 < log.clicks.sum() / log.shows.sum() < 0.045
    assert len(np.unique(log.ids)) == len(log.ids)
    np.testing.assert_allclose(log.features[:, 1:].sum(axis=1), 1, atol=1e-12)
    best = np.maximum.reduceat(log.clicks / log.shows, log.starts[:-1]).sum()
    assert 200 < best < 260  # published rewards are near 220
    is_early = np.repeat(np.arange(len(log)) % STAMPS_PER_DAY < STAMPS_PER_DAY // 2, n_arms)
    early, late = (log.clicks[rows].sum() / log.shows[rows].sum() for rows in (is_early, ~is_early))
    assert early / late == pytest.approx(np.exp(2 * 0.15 * 2 / np.pi), rel=0.05)  # the mean of half a sine is 2 / pi


def test_rounds_are_the_events_of_the_files(folder):
    log = surrogate_log(60, 400)
    write_files(log, folder)
    env = YahooR6A()
    assert env.fingerprint == fingerprint() != "surrogate"
    env.start(1000, Seeds(1).child("env"))
    assert 1 < env.feature_norm < 1.5
    rounds = as_dict(log)
    assert (env.dim, env.n_arms, env.sub_gaussian, env.link) == (6, max(map(len, rounds.values())), 0.5, "logistic")
    sizes = set()
    for stamp in sorted(rounds):
        arms = [rounds[stamp][name] for name in sorted(rounds[stamp])]
        contexts = env.observe()
        assert contexts is not None
        assert contexts.tolist() == [list(features) for features, _, _ in arms]
        assert contexts.T.flags.c_contiguous  # the memory runs along the arms
        assert contexts.flags.writeable
        assert env.means.tolist() == [clicks / shows for _, shows, clicks in arms]
        assert env.pull(0) in (0.0, 1.0)
        sizes.add(len(arms))
    assert len(sizes) > 1
    assert env.observe() is None
    assert env.observe() is None
    env.start(1000, Seeds(1).child("env"))
    assert env.observe() is not None
