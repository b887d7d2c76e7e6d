"""Damaged data files: a reader gives a sound result or one sentence that names the file, whatever happened to it.

``BENCH_MUTATIONS=50000 python -m pytest tests/test_mutated_data.py`` tries as many for every reader.
"""

import csv
import io
import os
import random
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pooch
import pytest
from mutations import Mutant, mutate, mutate_gzip
from time_limit import TooLong, time_limit

from bench.data import (
    ali_display_ad,
    ali_reader,
    house_prices,
    movielens,
    open_bandit,
    open_bandit_parser,
    tabular,
    titanic,
    yahoo_parser,
    yahoo_r6a,
)
from bench.data.ali_log import AD_FEATURES, USER_FEATURES, AdLog
from bench.data.ratings import Ratings
from bench.data.tabular import MISSING, Table
from bench.data.yahoo_log import ClickLog
from bench.data.yahoo_parser import YahooParser
from bench.errors import DataError

N = int(os.environ.get("BENCH_MUTATIONS", "1000"))
"""Mutations for each reader."""

CACHED = 20
"""Of so many mutations one goes all the way, through the cache folder."""

SECONDS = 5.0
"""Of the processor, that reading one tiny file may take at most."""

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*(daily files are parsed|three files are read|skipped|dropped)"),
    pytest.mark.usefixtures("altered_data"),
]


@pytest.fixture(autouse=True)
def nothing_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.delenv("BENCH_DATA_DIR", raising=False)
    monkeypatch.setattr(movielens, "SWEEPS", 1)


def same(one: Any, other: Any) -> bool:
    """Tell whether two arrays, or tuples and dicts of them, are the same to the last bit."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return bool(one == other)


# One file of each kind, with what a sound result of it must look like


@dataclass(frozen=True)
class Reader:
    """A reader, small whole files, and how to judge a result.

    ``read`` reads the files of a folder; ``check`` asserts that a result is sound, given the content of all files;
    ``load`` goes by ``BENCH_DATA_DIR`` and the cache, and returns arrays; ``forget`` empties what is in memory.
    """

    folder: str
    files: dict[str, bytes]
    delimiter: bytes
    read: Callable[[Path], Any]
    check: Callable[[Any, dict[str, bytes]], None]
    load: Callable[[], Any]
    forget: Callable[[], None]
    packed: float = 0.0
    """How often a file is packed before it is damaged."""


MOVIELENS = "".join(
    f"{user}\t{item}\t{stars}\t{881250949 + 7 * user}\n"
    for user, item, stars in [(196, 242, 3), (186, 302, 3), (22, 377, 1), (943, 1682, 5), (1, 1, 1), (22, 378, 2)]
)


def check_ratings(found: Ratings, contents: dict[str, bytes]) -> None:
    lines = [line for line in contents["u.data"].splitlines() if line]
    expected = [tuple(int(field) for field in line.split(b"\t")[:3]) for line in lines]
    assert [(u + 1, i + 1, r) for u, i, r in zip(found.user, found.item, found.rating, strict=True)] == expected
    assert len(found) == len(set(zip(found.user.tolist(), found.item.tolist(), strict=True))) > 0
    assert 0 <= found.user.min() <= found.user.max() < found.n_users == 943
    assert 0 <= found.item.min() <= found.item.max() < found.n_items == 1682
    assert set(found.rating.tolist()) <= {1.0, 2.0, 3.0, 4.0, 5.0}


def load_factors() -> Any:
    factors = movielens.movielens_factors(2, 0.05)
    return factors.users, factors.items, factors.objective, factors.fingerprint


def _article(number: int) -> str:
    return f"|{109498 + number} 2:0.{number}06008 3:0.000450 4:0.077048 5:0.2{number} 6:0.386055 1:1.000000"


YAHOO = "".join(
    f"{1241160900 + 300 * (number // 4)} {109498 + number % 3} {int(number % 5 == 0)} "
    f"|user 2:0.000012 3:0.000000 4:0.000006 5:0.000023 6:0.999958 1:1.000000 "
    f"{' '.join(_article(at) for at in range(3 + number // 6))}\n"
    for number in range(9)
)
DAY = "ydata-fp-td-clicks-v1_0.20090501"


def read_day(folder: Path) -> ClickLog:
    parser = YahooParser()
    parser.read(folder / DAY)
    return parser.log()


def check_click_log(log: ClickLog, contents: dict[str, bytes]) -> None:
    assert len(log) > 0
    assert (np.diff(log.stamps) > 0).all()
    assert log.starts[0] == 0
    assert (np.diff(log.starts) > 0).all()
    assert log.starts[-1] == len(log.article) == len(log.shows) == len(log.clicks)
    assert 0 <= log.article.min() <= log.article.max() < len(log.ids) == len(log.features)
    assert (log.ids >= 0).all()
    assert log.features.shape[1] == 6
    assert np.isfinite(log.features).all()
    assert (log.shows > 0).all()
    assert ((log.clicks >= 0) & (log.clicks <= log.shows)).all()
    for start, end in zip(log.starts[:-1], log.starts[1:], strict=True):
        assert len(set(log.ids[log.article[start:end]])) == end - start
    content = contents[DAY]
    if not content.startswith(b"\x1f\x8b"):  # every line is there, or counted as skipped
        lines = re.split(rb"\r\n|\r|\n", content.removeprefix(b"\xef\xbb\xbf"))
        assert log.counts["lines"] == len(lines) - (not lines[-1])
    assert log.shows.sum() + log.counts["lines skipped"] == log.counts["lines"]
    skipped = [count for kind, count in log.counts.items() if kind.startswith("lines skipped: ")]
    assert sum(skipped) == log.counts["lines skipped"]


def load_click_log() -> Any:
    log = yahoo_r6a.load_log()
    return log.arrays(), log.counts, yahoo_r6a.fingerprint()


ALI = {
    "user_profile.csv": "userid," + ",".join(USER_FEATURES) + " \n"
    "1,10,1,1,2,1,3,0,2\n3,12,3,1,4,2,3,0,3\n2,11,2,2,3,,3,1,1\n4,13,4,2,5,3,1,0,4\n",
    "ad_feature.csv": "adgroup_id," + ",".join(AD_FEATURES) + "\n"
    "100,5,50,500,9,1.0\n101,5,51,501,NULL,2.0\n102,6,52,502,8,3.5\n103,7,53,503,7,4.0\n",
    "raw_sample.csv": "user,time_stamp,adgroup_id,pid,nonclk,clk\n"
    "1,1494010800,100,430548_1007,1,0\n1,1494010805,100,430548_1007,0,1\n3,1494000000,102,430548_1007,1,0\n"
    "2,1494000000,100,430548_1007,0,1\n9,1494000000,999,430548_1007,1,0\n4,1494086399,103,430539_1007,0,1\n",
}


def check_ad_log(log: AdLog, contents: dict[str, bytes]) -> None:
    for ids in (log.user_ids, log.ad_ids):
        assert len(ids) > 0
        assert ids[0] >= 0
        assert (np.diff(ids) > 0).all()
    assert log.user_features.shape == (len(log.user_ids), 8)
    assert log.ad_features.shape == (len(log.ad_ids), 5)
    assert (log.user_features >= 0).all()
    assert (log.ad_features >= 0).all()
    assert (log.ad_features[:, -1] < 5).all()
    assert len(log.user_hour) == len(log.user_ids)
    assert (log.user_hour < 24).all()
    assert log.starts[0] == 0
    assert (np.diff(log.starts) > 0).all()
    assert log.starts[-1] == len(log.shown) == len(log.clicked)
    assert 0 <= log.shown.min() <= log.shown.max() < len(log.ad_ids)
    for start, end in zip(log.starts[:-1], log.starts[1:], strict=True):
        assert (np.diff(log.shown[start:end]) > 0).all()
    dropped = sum(count for kind, count in log.counts.items() if kind.startswith("rows dropped: "))
    assert log.counts["rows kept"] + dropped == log.counts["rows of the log"]
    sizes = ("rows of the log", "ads in ad_feature.csv", "users in user_profile.csv")
    for name, kind in zip(("raw_sample.csv", "ad_feature.csv", "user_profile.csv"), sizes, strict=True):
        lines = re.split(rb"\r\n|\r|\n", contents[name])
        assert log.counts[kind] == len(lines) - 1 - (not lines[-1]), name


def load_ad_log() -> Any:
    log = ali_display_ad.load_log(10, 10, 1)
    return log.arrays(), log.counts, ali_display_ad.fingerprint()


def forget_ads() -> None:
    ali_display_ad._read.forget()
    ali_display_ad._checksum.cache_clear()


N_ITEMS = 3
OBD_COLUMNS = ["", "timestamp", "item_id", "position", "click", "propensity_score"]
OBD_COLUMNS += [f"user_feature_{i}" for i in range(4)] + [f"user-item_affinity_{i}" for i in range(N_ITEMS)]


def _shown(propensity: float) -> str:
    rows = [
        f"{i},2019-11-24 00:00:{7 * i % 60:02d}.5+00:00,{i % N_ITEMS},{1 + i % 3},{int(i % 4 == 0)},{propensity},"
        f"{'ab'[i % 2]},b,{'cde'[i % 3]},d,0.0,{i % 2}.0,0.25"
        for i in range(5)
    ]
    return "\n".join([",".join(OBD_COLUMNS), *rows, ""])


def _items(names: str) -> str:
    rows = [f"{i},{i},{0.5 - i},{names[0]},{names[i]},{names[2]}" for i in range(N_ITEMS)]
    return "\n".join([",item_id,item_feature_0,item_feature_1,item_feature_2,item_feature_3", *rows, ""])


CAMPAIGN = {
    "bts/men/men.csv": _shown(0.25),
    "bts/men/item_context.csv": _items("pqr"),
    "random/men/men.csv": _shown(1 / N_ITEMS),
    "random/men/item_context.csv": _items("xyz"),
}


def check_campaign(arrays: dict[str, np.ndarray], contents: dict[str, bytes]) -> None:
    campaign = open_bandit._campaign({name: array.copy() for name, array in arrays.items()}, False)
    n_items = campaign.n_items
    assert np.isfinite(campaign.item_scores).all()
    assert campaign.item_categories.shape == (n_items, 3)
    assert ((campaign.item_categories >= 0) & (campaign.item_categories < n_items)).all()
    for policy, log in (("bts", campaign.bts), ("random", campaign.random)):
        n = len(log)
        content = contents[f"{policy}/men/men.csv"]
        if b'"' not in content:
            lines = re.split(rb"\r\n|\r|\n", content)
            assert n == len(lines) - 1 - (not lines[-1])
        assert n >= 2
        assert {len(array) for array in (log.timestamps, log.items, log.positions, log.clicks, log.propensities)} == {n}
        assert (np.diff(log.timestamps) >= 0).all()
        assert ((log.items >= 0) & (log.items < n_items)).all()
        assert ((log.positions >= 0) & (log.positions < 3)).all()
        assert set(log.clicks.tolist()) <= {0.0, 1.0}
        assert ((log.propensities > 0) & (log.propensities <= 1)).all()
        assert log.users.shape == (n, 4)
        for at, names in enumerate(log.names):
            assert all(names)
            assert ((log.users[:, at] >= 0) & (log.users[:, at] < len(names))).all()
        assert len(log.affinities) == len(log.affinity_rows) == len(log.affinity_items)
        assert np.isfinite(log.affinities).all()
        assert (log.affinities > 0).all()
        assert ((log.affinity_rows >= 0) & (log.affinity_rows < n)).all()
        assert ((log.affinity_items >= 0) & (log.affinity_items < n_items)).all()
    assert np.allclose(campaign.random.propensities, 1 / n_items)


def read_campaign(folder: Path) -> dict[str, np.ndarray]:
    return open_bandit._parse([folder / name for name in CAMPAIGN])


def load_campaign() -> Any:
    campaign = open_bandit.load_campaign("men")
    return campaign.bts.arrays(), campaign.random.arrays(), campaign.item_scores, campaign.item_categories


PASSENGERS = """PassengerId,Survived,Pclass,Name,Sex,Age,SibSp,Parch,Ticket,Fare,Cabin,Embarked
1,0,3,"Berg, ""Ole"" Mr.",male,22,1,0,A/5,7.25,,S
2,1,1,"Dale, Mrs.
Ada",female,38,1,0,PC,71.5,C85,C
3,1,3,"Eide, Miss",female,,0,0,STON,7.9,,Q
4,0,2,"Fjell, Mr.",male,54.5,0,2,1,51,E46,Q
"""
CATEGORIES = sorted(house_prices._CATEGORIES)
HOUSE_COLUMNS = [*house_prices.FEATURES, "SalePrice", "Alley"]
HOUSES = "\n".join(
    [",".join(HOUSE_COLUMNS)]
    + [
        ",".join(
            "NA" if at % 9 == row else "PQ"[row % 2] if name in house_prices._CATEGORIES else str(row + at / 2)
            for at, name in enumerate(HOUSE_COLUMNS[:-2])
        )
        + f",{1000 * row + 500},NA"
        for row in range(4)
    ]
    + [""]
)


def check_table(found: Table, content: bytes, target: str, features: tuple[str, ...], texts: set[str]) -> np.ndarray:
    """Check what all tables must be; return the rows of the file that are kept, as texts by column."""
    header, *rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    fields = np.array([[field.strip() for field in row] for row in rows if row], dtype=object)
    assert found.names == features
    assert found.features.dtype == np.float64
    assert np.isfinite(found.features).all()
    assert np.isfinite(found.target).all()
    for name in (*features, target):
        for text in fields[:, header.index(name)]:
            assert name in texts or text in MISSING or NUMBER.fullmatch(text), f"{name} = {text!r} is no number"
    return fields[:, [header.index(name) for name in (*features, target)]]


def check_passengers(found: Table, contents: dict[str, bytes]) -> None:
    fields = check_table(found, contents["train.csv"], "Survived", titanic.FEATURES, {"Sex", "Embarked"})
    whole = ~np.isin(fields, MISSING).any(axis=1)
    assert found.features.shape == (whole.sum(), 7)
    assert found.target.tolist() == [float(text) for text in fields[whole, -1]]
    assert set(found.target.tolist()) <= {0, 1}
    for at in (0, 2, 3, 4, 5):
        assert found.features[:, at].tolist() == [float(text) for text in fields[whole, at]]
    for at in (1, 6):
        assert len(set(found.features[:, at])) == len(set(fields[whole, at]))


def check_houses(found: Table, contents: dict[str, bytes]) -> None:
    fields = check_table(found, contents["train.csv"], "SalePrice", house_prices.FEATURES, set(CATEGORIES))
    assert found.features.shape == (len(fields), 75)
    assert found.target.tolist() == [float(text) for text in fields[:, -1]]
    for at, name in enumerate(house_prices.FEATURES):
        if name in CATEGORIES:
            assert len(set(found.features[:, at])) == len(set(fields[:, at]) - set(MISSING))


def load_table(load: Callable[[], Table]) -> Any:
    table = load()
    return table.features, table.target, table.names


def _encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in files.items()}


READERS = {
    "movielens": Reader(
        folder="movielens-100k",
        files=_encoded({"u.data": MOVIELENS}),
        delimiter=b"\t",
        read=lambda folder: movielens.read_ratings(folder / "u.data"),
        check=check_ratings,
        load=load_factors,
        forget=movielens._cache.forget,
    ),
    "yahoo_r6a": Reader(
        folder="yahoo-r6a",
        files=_encoded({DAY: YAHOO}),
        delimiter=b" ",
        read=read_day,
        check=check_click_log,
        load=load_click_log,
        forget=yahoo_r6a._cache.forget,
        packed=0.3,
    ),
    "ali_display_ad": Reader(
        folder="ali-display-ad",
        files=_encoded(ALI),
        delimiter=b",",
        read=ali_reader.read_log,
        check=check_ad_log,
        load=load_ad_log,
        forget=forget_ads,
    ),
    "open_bandit": Reader(
        folder="open-bandit/open_bandit_dataset",
        files=_encoded(CAMPAIGN),
        delimiter=b",",
        read=read_campaign,
        check=check_campaign,
        load=load_campaign,
        forget=open_bandit._cache.forget,
    ),
    "titanic": Reader(
        folder="titanic",
        files=_encoded({"train.csv": PASSENGERS}),
        delimiter=b",",
        read=lambda folder: titanic.read_titanic(folder / "train.csv"),
        check=check_passengers,
        load=lambda: load_table(titanic.load_titanic),
        forget=tabular._load.cache_clear,
    ),
    "house_prices": Reader(
        folder="house-prices",
        files=_encoded({"train.csv": HOUSES}),
        delimiter=b",",
        read=lambda folder: house_prices.read_house_prices(folder / "train.csv"),
        check=check_houses,
        load=lambda: load_table(house_prices.load_house_prices),
        forget=tabular._load.cache_clear,
    ),
}


# The tests


def damaged(reader: Reader, name: str, number: int) -> tuple[str, Mutant]:
    """Return the file that mutation ``number`` damages, and what becomes of it."""
    draw = random.Random(f"{name} {number}")
    file = draw.choice(list(reader.files))
    if draw.random() < reader.packed:
        return file, mutate_gzip(reader.files[file], draw)
    return file, mutate(reader.files[file], reader.delimiter, draw)


def written(reader: Reader, root: Path) -> Path:
    """Write the whole files below ``root``, as ``BENCH_DATA_DIR`` has them."""
    folder = root / reader.folder
    for name, content in reader.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def assert_one_sentence(error: DataError, folder: Path, contents: dict[str, bytes]) -> None:
    text = str(error)
    assert not set("\r\n") & set(text), "not one line"
    files = [name for name in contents if text.startswith(str(folder / name))]
    assert files, "does not begin with the file's path"
    rest = text.removeprefix(str(folder / files[0]))
    assert rest.startswith((":", ", line ")), "does not say where"
    assert "found " in rest
    assert "expected " in rest
    assert len(rest) < 400, "too long"
    if match := re.match(r", line (\d+)", rest):
        lines = re.split(rb"\r\n|\r|\n", contents[files[0]])
        assert 1 <= int(match[1]) <= len(lines), f"there are {len(lines)} lines"


def tried(attempt: Callable[[], object]) -> str:
    """Return what is wrong with an attempt, nothing if all is well."""
    try:
        with time_limit(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # of arithmetic: overflow, invalid values
            attempt()
    except (Exception, TooLong) as error:
        return f"{type(error).__name__}: {str(error) or error.__traceback__}"[:500]
    return ""


def read_or_refuse(reader: Reader, folder: Path, contents: dict[str, bytes]) -> str:
    """Return what came of reading: ``read`` or ``refused``."""
    try:
        found = reader.read(folder)
    except DataError as error:
        assert_one_sentence(error, folder, contents)
        return "refused"
    reader.check(found, contents)
    return "read"


@pytest.mark.parametrize("name", READERS)
def test_whole_files_are_read(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    assert read_or_refuse(reader, written(reader, tmp_path), reader.files) == "read"


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_soundly_or_refused_in_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = READERS[name]
    folder = written(reader, tmp_path)
    outcomes = {"read": 0, "refused": 0}
    failures = []
    for number in range(N):
        file, mutant = damaged(reader, name, number)
        size = (1 << 22, 4096, 1000)[number % 3]  # that is read at a time
        for module, constant in ((yahoo_parser, "CHUNK"), (ali_reader, "_BLOCK"), (open_bandit_parser, "BLOCK")):
            monkeypatch.setattr(module, constant, size)
        (folder / file).write_bytes(mutant.content)
        contents = reader.files | {file: mutant.content}

        def attempt(contents: dict[str, bytes] = contents) -> None:
            outcomes[read_or_refuse(reader, folder, contents)] += 1

        if wrong := tried(attempt):
            failures.append(f"mutation {number} of {file} ({', '.join(mutant.kinds)}): {wrong}")
        (folder / file).write_bytes(reader.files[file])
    assert not failures, f"{len(failures)} of {N}, such as:\n" + "\n".join(failures[:10])
    assert min(outcomes.values()) > N / 50, outcomes


@pytest.mark.parametrize("name", READERS)
def test_nothing_is_kept_of_a_damaged_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the cache after a damaged file was read is whole, and after it was refused there is nothing."""
    reader = READERS[name]
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    written(reader, tmp_path)
    reader.load()  # so that nothing is compiled within the time limit
    failures = []
    for number in range(N // CACHED):
        file, mutant = damaged(reader, name, number)
        root = tmp_path / str(number)
        folder = written(reader, root)
        (folder / file).write_bytes(mutant.content)
        monkeypatch.setenv("BENCH_DATA_DIR", str(root))
        monkeypatch.setattr(pooch, "os_cache", lambda project, root=root: root / "cache")

        def attempt(root: Path = root) -> None:
            reader.forget()
            try:
                found = reader.load()
            except DataError:
                assert not any(path.is_file() for path in (root / "cache").rglob("*")), "something was kept"
                return
            assert not list((root / "cache").rglob("*.tmp"))
            reader.forget()
            assert same(reader.load(), found), "the cache has something else"

        if wrong := tried(attempt):
            failures.append(f"mutation {number} of {file} ({', '.join(mutant.kinds)}): {wrong}")
    assert not failures, f"{len(failures)} of {N // CACHED}, such as:\n" + "\n".join(failures[:10])


@pytest.mark.parametrize("name", ["movielens", "yahoo_r6a", "ali_display_ad", "open_bandit"])
@pytest.mark.filterwarnings("ignore:.*damaged cache file")
def test_a_damaged_cache_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens to a file in the cache, the result is that of the data."""
    reader = READERS[name]
    written(reader, tmp_path / "given")
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path / "given"))
    reader.forget()
    expected = reader.load()
    (kept,) = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    whole = kept.read_bytes()
    failures = []
    for number in range(N // 4):
        mutant = mutate(whole, b",", random.Random(f"cache {name} {number}"))
        kept.write_bytes(mutant.content)
        reader.forget()
        if wrong := tried(lambda: None if same(reader.load(), expected) else pytest.fail("other numbers")):
            failures.append(f"mutation {number} ({', '.join(mutant.kinds)}): {wrong}")
    assert not failures, f"{len(failures)} of {N // 4}, such as:\n" + "\n".join(failures[:10])


@pytest.mark.filterwarnings("ignore:.*damaged cache file")
def test_a_damaged_head_of_a_kept_array_is_noticed(tmp_path: Path) -> None:
    """A smaller shape or type would end the reading of an array before its checksum."""
    expected = load_factors()
    (kept,) = (tmp_path / "cache").rglob("*.npz")
    whole = kept.read_bytes()
    for old, new in ((b"'<f8'", b"'<f4'"), (b"(943, 2)", b"(943, 1)"), (b"(2,)", b"(1,)")):
        assert old in whole
        kept.write_bytes(whole.replace(old, new, 1))
        movielens._cache.forget()
        assert same(load_factors(), expected)
