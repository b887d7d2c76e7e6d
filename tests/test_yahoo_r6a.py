"""Yahoo! R6A: parser, aggregation, what is kept between runs, the surrogate, and the environment."""

import gzip
import random
import re
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pooch
import pytest
from yahoo_files import write_files

from bench.data import yahoo_parser, yahoo_r6a
from bench.data.__main__ import main
from bench.data.yahoo_log import ClickLog
from bench.data.yahoo_parser import YahooParser
from bench.data.yahoo_r6a import daily_files, fingerprint, load_log
from bench.data.yahoo_surrogate import surrogate_log
from bench.envs.yahoo_r6a import YahooR6A
from bench.errors import DataError
from bench.seeding import Seeds

USER = b"|user 2:0.000012 3:0.000000 4:0.000006 5:0.000023 6:0.999958 1:1.000000"
FIRST = b"|109498 2:0.306008 3:0.000450 4:0.077048 5:0.230439 6:0.386055 1:1.000000"
SECOND = b"|109509 2:0.306008 3:0.000450 4:0.077048 5:0.230439 6:0.386055 1:1.000000"
THIRD = b"|109513 2:0.2 3:0.3 4:0.1 5:0.3 6:0.1 1:1"
POOL = b" ".join((FIRST, SECOND, THIRD))
GOOD = b"1241160900 109513 0 " + USER + b" " + POOL
NAME = "ydata-fp-td-clicks-v1_0.20090501"

pytestmark = pytest.mark.filterwarnings("ignore:.*daily files are parsed")


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)
    yahoo_r6a._cache.forget()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for the daily files, which BENCH_DATA_DIR leads to."""
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path / "given"))
    made = tmp_path / "given" / "yahoo-r6a"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List the files that were parsed, rather than read from the cache."""
    names: list[str] = []
    own = YahooParser.read

    def listed(self: YahooParser, path: Path) -> None:
        names.append(path.name)
        own(self, path)

    monkeypatch.setattr(YahooParser, "read", listed)
    return names


def line(stamp: int, shown: int, click: int, pool: bytes = POOL) -> bytes:
    return b"%d %d %d " % (stamp, shown, click) + USER + b" " + pool


def read(tmp_path: Path, *contents: bytes) -> ClickLog:
    parser = YahooParser()
    for i, content in enumerate(contents):
        path = tmp_path / f"file{i}"
        path.write_bytes(content)
        parser.read(path)
    return parser.log()


def as_dict(log: ClickLog) -> dict[int, dict[int, tuple[tuple[float, ...], int, int]]]:
    """Return {stamp: {id: (features, shows, clicks)}}."""
    rounds: dict[int, dict[int, tuple[tuple[float, ...], int, int]]] = {}
    for r, stamp in enumerate(log.stamps.tolist()):
        rounds[stamp] = {}
        for place in range(log.starts[r], log.starts[r + 1]):
            row = log.article[place]
            values = tuple(log.features[row].tolist()), int(log.shows[place]), int(log.clicks[place])
            rounds[stamp][int(log.ids[row])] = values
    assert sum(map(len, rounds.values())) == len(log.article)
    return rounds


def skipped(log: ClickLog) -> dict[str, int]:
    return {kind: count for kind, count in log.counts.items() if "skipped" in kind and count}


def test_a_line_of_the_real_form(tmp_path: Path) -> None:
    log = read(tmp_path, GOOD + b"\n" + line(1241160900, 109513, 1) + b"\n" + line(1241160900, 109498, 0) + b"\n")
    assert as_dict(log) == {
        1241160900: {
            109498: ((1.0, 0.306008, 0.00045, 0.077048, 0.230439, 0.386055), 1, 0),
            109513: ((1.0, 0.2, 0.3, 0.1, 0.3, 0.1), 2, 1),
        }
    }
    assert log.counts == {"lines": 3, "lines skipped": 0, "article blocks skipped": 0}
    for array in log.arrays().values():
        assert not array.flags.writeable


MALFORMED_LINES = [
    (b"", yahoo_parser.NO_USER),
    (b"1241160900 109513 0 " + POOL, yahoo_parser.NO_USER),
    (b"1241160900 109513 0", yahoo_parser.NO_USER),
    (b"1241160900 109513 0 " + USER, yahoo_parser.NO_ARTICLES),
    (b"1241160900 109513 " + USER + b" " + POOL, yahoo_parser.FIELDS),
    (b"1241160900 109513 0 0 " + USER + b" " + POOL, yahoo_parser.FIELDS),
    (b"1241160900  109513 0 " + USER + b" " + POOL, yahoo_parser.FIELDS),
    (b"12411609x0 109513 0 " + USER + b" " + POOL, yahoo_parser.STAMP),
    (b"12411609000000000000 109513 0 " + USER + b" " + POOL, yahoo_parser.STAMP),
    ("１241160900 109513 0 ".encode() + USER + b" " + POOL, yahoo_parser.STAMP),
    (b"1241160900 109513 2 " + USER + b" " + POOL, yahoo_parser.CLICK),
    (b"1241160900 109513 -1 " + USER + b" " + POOL, yahoo_parser.CLICK),
    (b"1241160900 109999 0 " + USER + b" " + POOL, yahoo_parser.NOT_IN_POOL),
    (b"1241160900 109513 0 " + USER + b" " + FIRST, yahoo_parser.NOT_IN_POOL),
]


@pytest.mark.parametrize(("bad", "kind"), MALFORMED_LINES)
def test_malformed_line_is_skipped_and_counted(tmp_path: Path, bad: bytes, kind: str) -> None:
    lines = [GOOD, bad, line(1241160900, 109498, 1), bad, line(1241161200, 109509, 0), GOOD]
    log = read(tmp_path, b"\n".join(lines) + b"\n")
    expected = read(tmp_path, b"\n".join(one for one in lines if one != bad))
    assert as_dict(log) == as_dict(expected)
    assert skipped(log) == {"lines skipped": 2, f"lines skipped: {kind}": 2}
    assert log.counts["lines"] == 6


MALFORMED_BLOCKS = [
    (b"|", yahoo_parser.ARTICLE_ID),
    (b"|id-7 1:1 2:0 3:0 4:0 5:0 6:0", yahoo_parser.ARTICLE_ID),
    (b"|1234567890123456789 1:1 2:0 3:0 4:0 5:0 6:0", yahoo_parser.ARTICLE_ID),
    (b"|7 1:1 2:0 3:0 4:0 5:0", yahoo_parser.FEATURE_IDS),
    (b"|7 1:1 2:0 3:0 4:0 5:0 6:0 7:0.3", yahoo_parser.FEATURE_IDS),
    (b"|7 1:1 2:0 3:0 4:0 5:0 19:0", yahoo_parser.FEATURE_IDS),
    (b"|7 1:1 2:0 3:0 4:0 5:0 6:0 6:0", yahoo_parser.FEATURE_IDS),
    (b"|7 1 2 3 4 5 6", yahoo_parser.FEATURE_VALUE),
    (b"|7 1:1 2:x 3:0 4:0 5:0 6:0", yahoo_parser.FEATURE_VALUE),
    (b"|7 1:1 2:nan 3:0 4:0 5:0 6:0", yahoo_parser.FEATURE_VALUE),
    (b"|7 1:1 2:1.5 3:0 4:0 5:0 6:0", yahoo_parser.FEATURE_VALUE),
    (b"|7 1:1 2:-0.1 3:0 4:0 5:0 6:0", yahoo_parser.FEATURE_VALUE),
    (b"|7 1:1 2:0:0 3:0 4:0 5:0 6:0", yahoo_parser.FEATURE_VALUE),
    (b"|109498 1:1 2:0 3:0 4:0 5:0 6:0", yahoo_parser.REPEATED),
]


@pytest.mark.parametrize(("bad", "kind"), MALFORMED_BLOCKS)
def test_malformed_article_block_is_skipped_and_counted(tmp_path: Path, bad: bytes, kind: str) -> None:
    pool = b" ".join((FIRST, bad, SECOND, THIRD))
    lines = [GOOD, line(1241160900, 109509, 1, pool), line(1241160900, 109498, 1, pool), line(7, 7, 1, pool), GOOD]
    log = read(tmp_path, b"\n".join(lines))
    assert as_dict(log) == as_dict(read(tmp_path, b"\n".join([GOOD, line(1241160900, 109509, 1), lines[2], GOOD])))
    assert skipped(log) == {
        "lines skipped": 1,
        f"lines skipped: {yahoo_parser.NOT_IN_POOL}": 1,
        "article blocks skipped": 3,
        f"article blocks skipped: {kind}": 3,
    }


def test_features_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    features = ["1:1", "2:0.2", "3:0.3", "4:1e-1", "5:0.3", "6:.1", "6:0.1"]
    shuffled = [features[i] for i in (5, 2, 0, 4, 1, 3)]
    assert read(tmp_path, line(1, 7, 0, b"|7 1:1 2:0.2 3:0.3 4:1e-1 5:+0.3 6:0.1")).features.tolist() == [
        [1.0, 0.2, 0.3, 0.1, 0.3, 0.1]
    ]
    with pytest.raises(DataError, match="not in the pool"):  # '.1' has no digit before the point
        read(tmp_path, line(1, 7, 0, b"|7 " + " ".join(shuffled).encode()))
    shuffled[0] = features[6]
    log = read(tmp_path, line(1, 7, 0, b"|7 " + " ".join(shuffled).encode()))
    assert log.features.tolist() == [[1.0, 0.2, 0.3, 0.1, 0.3, 0.1]]


def test_rounds_are_in_order_and_arms_are_those_shown(tmp_path: Path) -> None:
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


def test_features_that_change_count_from_the_next_stamp(tmp_path: Path) -> None:
    old, new = b"|7 1:1 2:1 3:0 4:0 5:0 6:0", b"|7 1:1 2:0 3:1 4:0 5:0 6:0"
    log = read(tmp_path, b"\n".join([line(1, 7, 0, old), line(1, 7, 1, new), line(2, 7, 1, new)]))
    assert as_dict(log) == {1: {7: ((1, 1, 0, 0, 0, 0), 2, 1)}, 2: {7: ((1, 0, 1, 0, 0, 0), 1, 1)}}


def naive(lines: list[bytes]) -> tuple[dict[int, dict[int, tuple[tuple[float, ...], int, int]]], Counter[str]]:
    """Aggregate line by line, with regular expressions, and count lines that fit or don't."""
    rounds: dict[int, dict[int, tuple[tuple[float, ...], int, int]]] = {}
    seen: Counter[str] = Counter()
    for text in lines:
        match = re.fullmatch(r"(\d+) (\d+) ([01]) \|user[^|]*((?: ?\|[^|]+)+)", text.decode("latin-1"))
        pool = {}
        for block in re.findall(r"\|([^|]+)", match[4]) if match else ():
            features = sorted(re.findall(r" (\d+):([\d.]+)", block))
            if [key for key, _ in features] == list("123456"):
                pool[int(block.split()[0])] = tuple(float(value) for _, value in features)
            else:
                seen["foreign"] += 1
        if match is None or int(match[2]) not in pool:
            seen["bad"] += 1
            continue
        arms = rounds.setdefault(int(match[1]), {})
        features, shows, clicks = arms.get(int(match[2]), (pool[int(match[2])], 0, 0))
        arms[int(match[2])] = features, shows + 1, clicks + int(match[3])
    return rounds, seen


@pytest.mark.parametrize("chunk", [2_600, 100_000, 1 << 22])
def test_aggregate_is_that_of_a_naive_parser(tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yahoo_parser, "CHUNK", chunk)
    [path] = write_files(surrogate_log(40, 60), tmp_path)
    rng = random.Random(1)
    lines = path.read_bytes().splitlines()
    for i in range(len(lines)):
        chance = rng.random()
        if chance < 0.05:
            lines[i] = lines[i][: rng.randrange(len(lines[i]))]
        elif chance < 0.1:
            lines[i] = lines[i].replace(b" 0 |user", b" 3 |user")
        elif chance < 0.2:
            lines[i] += b" |109999 2:0.5 1:1.0 7:0.5"
        elif chance < 0.25:
            blocks = lines[i].split(b" |")
            lines[i] = b" |".join(blocks[:2] + rng.sample(blocks[2:], len(blocks) - 3))
    # a line cut within a number or a block's last feature is malformed in the same way for both
    lines = [text for text in lines if text.count(b"|") < 2 or re.search(rb":\d\.\d{6}$|7:0\.5$", text)]
    log = read(tmp_path, b"\n".join(lines))
    rounds, seen = naive(lines)
    assert as_dict(log) == {stamp: rounds[stamp] for stamp in sorted(rounds)}
    assert log.counts["lines"] == len(lines)
    assert log.counts["lines skipped"] == seen["bad"] > 100
    assert log.counts["article blocks skipped"] == seen["foreign"] > 100


def test_written_files_give_the_log_back(tmp_path: Path) -> None:
    log = surrogate_log(300, 100)
    for kind, packed in (("plain", False), ("packed", True)):
        paths = write_files(log, tmp_path / kind, packed=packed, seed=packed)
        assert [path.name.removesuffix(".gz")[-8:] for path in paths] == ["20090501", "20090502"]
        parser = YahooParser()
        for path in paths:
            parser.read(path)
        assert as_dict(parser.log()) == as_dict(log)
        assert parser.counts() == {"lines": 30_000, "lines skipped": 0, "article blocks skipped": 0}
    assert (tmp_path / "packed" / f"{NAME}.gz").read_bytes()[:2] == b"\x1f\x8b"


CHANGES = {
    "packed": gzip.compress,
    "CR LF": lambda content: content.replace(b"\n", b"\r\n"),
    "CR": lambda content: content.replace(b"\n", b"\r"),
    "CR in the middle": lambda content: content.replace(b"\n", b"\r", 7),
    "byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "no line end": bytes.rstrip,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("chunk", [1 << 22, 1000, 387])
def test_packed_or_with_other_line_ends_is_the_same(tmp_path: Path, change, chunk: int, monkeypatch) -> None:
    content = b"".join(line(300 * (i % 4), 109498 + 11 * (i % 2), i % 3 % 2) + b"\n" for i in range(50))
    expected = read(tmp_path, content).fingerprint()
    monkeypatch.setattr(yahoo_parser, "CHUNK", chunk)
    log = read(tmp_path, change(content))
    assert (log.fingerprint(), log.counts["lines"], log.counts["lines skipped"]) == (expected, 50, 0)


def test_fingerprint_is_that_of_the_content(tmp_path: Path) -> None:
    log = read(tmp_path, GOOD)
    assert read(tmp_path, GOOD + b"\n\n").fingerprint() == log.fingerprint()  # skipped lines are no content
    others = [
        line(1241160900, 109513, 1),
        line(1241160901, 109513, 0),
        line(1241160900, 109509, 0),
        GOOD + b"\n" + GOOD,
    ]
    others.append(GOOD.replace(b"2:0.2", b"2:0.3"))
    prints = {read(tmp_path, content).fingerprint() for content in others}
    assert len(prints | {log.fingerprint()}) == 6


PACKED = gzip.compress(b"\n".join([GOOD] * 5000), mtime=0)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "an empty file"),
        (gzip.compress(b"", mtime=0), "an empty file"),
        (b"\n\n", r"2 of 2 lines malformed \(2: no user block\)"),
        (b"\x00" * 5_000_000, "a line of more than 4,194,304 bytes"),
        (random.Random(0).randbytes(100_000), "malformed"),
        (gzip.compress(b"id,title\n1,News\n", mtime=0), "2 of 2 lines malformed"),
        (b"word\n" * 2_000_000, "838,860 of 838,860 lines malformed"),  # it is not read to its end
        (b"1241160900 |user 1 9 11 |id-552077 |id-555224\n" * 10, "not three fields before the user block"),
        (b"\n".join([b"x", GOOD, b"x"]), "2 of 3 lines malformed"),
        (PACKED[:-20], "truncated or damaged gzip"),
        (PACKED[:-8] + bytes(8), "truncated or damaged gzip"),
        (PACKED[:300] + b"\xff\x00\xff" + PACKED[303:], "truncated or damaged gzip"),
    ],
)
def test_what_is_not_r6a_is_one_sentence(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / NAME
    path.write_bytes(content)
    with pytest.raises(DataError, match=expected) as error:
        YahooParser().read(path)
    assert str(error.value).startswith(f"{path}: found ")
    assert "expected " in str(error.value)
    assert "\n" not in str(error.value)


def test_small_chunks_are_not_judged_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yahoo_parser, "CHUNK", 1000)
    log = read(tmp_path, b"word\n" * 900 + (GOOD + b"\n") * 900)
    assert (len(log), log.counts["lines skipped"]) == (1, 900)


def test_each_file_is_judged_alone(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="file1: found 10 of 10 lines malformed"):
        read(tmp_path, b"\n".join([GOOD] * 1000), b"word\n" * 10)
    assert read(tmp_path, b"\n".join([GOOD, b"word"]), b"\n".join([b"word", GOOD])).counts["lines skipped"] == 2
    with pytest.raises(DataError, match="found an unreadable file"):
        YahooParser().read(tmp_path)


def test_daily_files(tmp_path: Path, folder: Path) -> None:
    assert daily_files() == []
    cached = tmp_path / "cache" / "bandit-tuning-bench" / "data" / "yahoo-r6a" / f"{NAME}.gz"
    cached.parent.mkdir(parents=True)
    cached.touch()
    assert daily_files() == [cached]
    names = [f"{NAME[:-2]}{day:02d}{'.gz' if day % 2 else ''}" for day in range(1, 11)]
    for name in [*names[::-1], f"{NAME[:-2]}11", f"{NAME[:-2]}02.gz.part", "readme.txt"]:
        (folder / name).touch()
    assert [path.name for path in daily_files()] == names
    (folder / f"{NAME[:-2]}02.gz").touch()
    with pytest.raises(DataError, match=r"02\.gz: found this day as ydata-fp-td-clicks-v1_0.20090502 too"):
        daily_files()


def test_a_log_is_parsed_once(folder: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write_files(surrogate_log(300, 30), folder)
    identity = fingerprint()
    log = load_log()
    assert parsed == [path.name for path in paths]
    assert identity == log.fingerprint()
    assert as_dict(log) == as_dict(surrogate_log(300, 30))

    yahoo_r6a._cache.forget()  # as in another process
    again = load_log()
    assert fingerprint() == identity
    assert as_dict(again) == as_dict(log)
    assert again.counts == log.counts
    assert len(parsed) == 2
    assert not again.clicks.flags.writeable

    moved = folder.rename(folder.with_name("elsewhere"))
    assert fingerprint() == "surrogate"
    moved.rename(folder)
    with (folder / NAME).open("ab") as file:
        file.write(line(1, 109498, 0) + b"\n")
    assert fingerprint() != identity
    assert len(parsed) == 4
    assert load_log().stamps[0] == 1


def test_what_was_skipped_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / NAME).write_bytes(b"\n".join([GOOD, GOOD, b"x", line(1, 109498, 1, POOL + b" |7 9:1")]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_log()
    [_, report] = [str(warning.message) for warning in caught]
    assert "lines skipped: no user block: 1" in report
    assert "article blocks skipped: its feature ids are not 1 to 6, each once: 1 (of 4 lines)" in report

    for first in (False, True):  # kept from above, then parsed anew
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert main(["parse", "yahoo_r6a"]) == 0
        out = capsys.readouterr().out
        assert "lines: 4\nlines skipped: 1\nlines skipped: no user block: 1\narticle blocks skipped: 1\n" in out
        assert "rounds (distinct time stamps): 2\narticles: 2\n" in out
        assert (f"{NAME}: read (4 lines so far, 1 of them skipped)" in out) == first
        (folder / NAME).touch()


def test_parse_command_says_what_it_lacks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "yahoo_r6a"]) == 1
    assert "error: found no yahoo-r6a/ydata-fp-td-clicks-v1_0.200905*" in capsys.readouterr().err
    assert main(["parse", "movielens"]) == 1
    assert "needs no parsing, expected one of: yahoo_r6a" in capsys.readouterr().err
    assert main(["fetch", "yahoo_r6a"]) == 1
    assert "cannot be downloaded" in capsys.readouterr().err
    (folder / NAME).write_bytes(b"word\n")
    assert main(["parse", "yahoo_r6a"]) == 1
    assert f"{NAME}: found 1 of 1 lines malformed" in capsys.readouterr().err
    assert main(["status"]) == 0
    assert str(folder / NAME) in capsys.readouterr().out


def test_damaged_files_are_not_hidden_by_the_surrogate(folder: Path) -> None:
    (folder / NAME).write_bytes(b"word\n")
    for attempt in (fingerprint, load_log, lambda: YahooR6A().start(10, Seeds())):
        with pytest.warns(UserWarning, match="parsed"), pytest.raises(DataError, match=NAME):
            attempt()


def test_surrogate_is_always_the_same_and_like_the_original() -> None:
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
    assert (log.features[:, 0] == 1).all()
    np.testing.assert_allclose(log.features[:, 1:].sum(axis=1), 1, atol=1e-12)
    best = np.maximum.reduceat(log.clicks / log.shows, log.starts[:-1]).sum()
    assert 200 < best < 260  # published rewards are near 220


def test_rounds_of_the_environment(folder: Path) -> None:
    log = surrogate_log(60, 400)
    write_files(log, folder)
    env = YahooR6A()
    assert env.fingerprint == fingerprint() != "surrogate"
    env.start(1000, Seeds(1).child("env"))
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
        assert env.best_mean == max(env.means)
        assert env.average_mean == pytest.approx(sum(env.means.tolist()) / len(arms), abs=1e-15)
        assert np.linalg.norm(contexts, axis=1).max() <= env.feature_norm < 1.5
        assert env.pull(0) in (0.0, 1.0)
        sizes.add(len(arms))
    assert len(sizes) > 1
    assert env.observe() is None
    assert env.observe() is None
    env.start(1000, Seeds(1).child("env"))
    assert env.observe() is not None
