"""Damaged data files: a reader gives a sound result, or one sentence that names the file, after any damage."""

import gzip
import os
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.data import ali_display_ad, open_bandit, yahoo_r6a
from bench.data.ali_log import AD_FEATURES, USER_FEATURES
from bench.envs.ali_display_ad import AliDisplayAd
from bench.envs.open_bandit import OpenBandit
from bench.envs.yahoo_r6a import YahooR6A
from bench.errors import DataError
from bench.seeding import Seeds

N = int(os.environ.get("BENCH_MUTATIONS", "60"))
"""Mutations for each reader."""

VALUES = [
    *(b"", b" ", b"NULL", b"NA", b"nan", b"-inf", b"true", b"x", b'"', b"-1", b"0", b"2", b"1.5", b"1e400", b"1_0"),
    *(b"2147483648", b"9" * 30, b"9" * 5000, "é".encode(), b"\0", b"|", b"1997-13-45", b"9999-12-31 23:59:59+00:00"),
]
"""Replacements of a field."""

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*(daily files are parsed|three files are read|skipped|dropped)"),
    pytest.mark.filterwarnings("ignore:.*damaged cache file"),
    pytest.mark.usefixtures("altered_data"),
]


def damaged(content: bytes, delimiter: bytes, draw: random.Random) -> bytes:
    lines = content.split(b"\n")
    at, line = draw.randrange(len(content) + 1), draw.randrange(len(lines))
    fields = lines[line].split(delimiter)
    field = draw.randrange(len(fields))
    match draw.randrange(8):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + draw.randbytes(draw.randrange(1, 9)) + content[at + draw.randrange(9) :]
        case 2:
            whole = [b"", b"\n\n", b"\0" * 99, b"<html>\n", gzip.compress(content), content.decode().encode("utf-16")]
            return draw.choice([*whole, lines[0], content.replace(delimiter, b";"), content.replace(b"\n", b"\r\n")])
        case 3:
            del fields[field]
        case 4:
            del lines[line]
            return b"\n".join(lines)
        case 5:
            lines.insert(line, lines[draw.randrange(len(lines))])
            return b"\n".join(lines)
        case _:
            fields[field] = draw.choice(VALUES)
    lines[line] = delimiter.join(fields)
    return b"\n".join(lines)


@dataclass(frozen=True)
class Reader:
    """Small complete files of a data set without a published checksum, their reader, and how to clear its cache."""

    folder: str
    files: dict[str, str]
    delimiter: bytes
    load: Callable[[], Any]
    forget: Callable[[], Any]

    def write(self, root: Path) -> Path:
        for name, content in self.files.items():
            path = root / self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return root / self.folder


POOL = "".join(f" |{109498 + i} 2:0.{i}06 3:0.0004 4:0.07 5:0.2{i} 6:0.386055 1:1.000000" for i in range(3))
LOG = "user,time_stamp,adgroup_id,pid,nonclk,clk\n1,1494010800,100,p,1,0\n1,1494010805,100,p,0,1\n"
OBD = "".join(
    f"{i},2019-11-24 00:00:{7 * i:02d}.5+00:00,{i % 3},{1 + i % 3},{int(i % 4 == 0)},%s,{'ab'[i % 2]},b,c,d,0.0,1,0.5\n"
    for i in range(5)
)
OBD_HEADER = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1,user_feature_2,"
OBD_HEADER += "user_feature_3,user-item_affinity_0,user-item_affinity_1,user-item_affinity_2\n"
ITEMS = ",item_id,item_feature_0,item_feature_1,item_feature_2,item_feature_3\n"
ITEMS += "0,0,0.5,p,p,r\n1,1,-0.5,p,q,r\n2,2,-1.5,p,r,r\n"
READERS = {
    "yahoo_r6a": Reader(
        "yahoo-r6a",
        {
            "ydata-fp-td-clicks-v1_0.20090501": "".join(
                f"{1241160900 + 300 * (i // 4)} {109498 + i % 3} {int(i % 5 == 0)} |user 2:0.1 1:1.000000{POOL}\n"
                for i in range(9)
            )
        },
        b" ",
        lambda: yahoo_r6a.load_log().arrays(),
        yahoo_r6a._cache.forget,
    ),
    "ali_display_ad": Reader(
        "ali-display-ad",
        {
            "user_profile.csv": f"userid,{','.join(USER_FEATURES)} \n1,10,1,1,2,1,3,0,2\n3,12,3,1,4,2,3,0,3\n"
            "2,11,2,2,3,,3,1,1\n",
            "ad_feature.csv": f"adgroup_id,{','.join(AD_FEATURES)}\n100,5,50,500,9,1.0\n101,5,51,501,NULL,2.0\n"
            "102,6,52,502,8,3.5\n",
            "raw_sample.csv": LOG + "3,1494000000,102,p,1,0\n2,1494000000,100,p,0,1\n9,1494000000,999,p,1,0\n",
        },
        b",",
        lambda: ali_display_ad.load_log(10, 10, 1).arrays(),
        ali_display_ad._cache.forget,
    ),
    "open_bandit": Reader(
        "open-bandit/open_bandit_dataset",
        {
            "bts/men/men.csv": OBD_HEADER + OBD.replace("%s", "0.25"),
            "bts/men/item_context.csv": ITEMS,
            "random/men/men.csv": OBD_HEADER + OBD.replace("%s", str(1 / 3)),
            "random/men/item_context.csv": ITEMS,
        },
        b",",
        lambda: open_bandit.load_campaign("men").random.arrays() | open_bandit.load_campaign("men").bts.arrays(),
        open_bandit._cache.forget,
    ),
}


ENVIRONMENTS = {
    "yahoo_r6a": YahooR6A,
    "ali_display_ad": AliDisplayAd,
    "open_bandit": OpenBandit,
}


@pytest.fixture(params=READERS)
def reader(request, no_data, tmp_path, monkeypatch) -> Reader:
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path / "given"))
    READERS[request.param].forget()
    return READERS[request.param]


def arrays(reader: Reader) -> dict[str, np.ndarray]:
    reader.forget()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # of arithmetic: overflow, invalid values
        result = {name: value for name, value in reader.load().items() if isinstance(value, np.ndarray)}
    assert all(np.isfinite(value).all() for value in result.values() if value.dtype.kind == "f")
    return result


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def kept(tmp_path: Path) -> set[Path]:
    return {path for path in (tmp_path / "cache").rglob("*.npz") if path.is_file()}


def test_damaged_files_are_read_soundly_or_refused_in_one_sentence(reader, tmp_path):
    """Nothing of a refused file is cached; the cache of a file that was read equals its content."""
    folder = reader.write(tmp_path / "given")
    whole = arrays(reader)
    assert all(map(len, whole.values()))
    refused = 0
    for number in range(N):
        draw = random.Random(number)
        name = draw.choice(list(reader.files))
        (folder / name).write_bytes(damaged(reader.files[name].encode(), reader.delimiter, draw))
        before = kept(tmp_path)
        try:
            result = arrays(reader)
            if kept(tmp_path):
                assert same(result, arrays(reader)), f"mutation {number}: the cache has something else"
        except DataError as error:
            refused += 1
            text = str(error)
            assert text.startswith(str(folder)), f"mutation {number}: {text!r} does not begin with the path"
            assert text.removeprefix(str(folder)).isprintable(), f"mutation {number}: {text!r}"
            assert len(text) - len(str(folder)) < 500, f"mutation {number}: {text!r} is too long"
            assert "found " in text, text
            assert "expected " in text, text
            assert kept(tmp_path) == before, f"mutation {number}: something was kept"
        (folder / name).write_text(reader.files[name])
    assert N / 10 < refused < N
    assert same(arrays(reader), whole)


@pytest.mark.parametrize("reader", READERS, indirect=True)
def test_other_content_of_any_file_is_another_fingerprint_and_a_missing_one_is_named(reader, request, tmp_path):
    make = ENVIRONMENTS[request.node.callspec.params["reader"]]
    (tmp_path / "given").mkdir()
    before = make().fingerprint
    folder = reader.write(tmp_path / "given")
    seen = {before, make().fingerprint}
    logs = [name for name in reader.files if "item_context" not in name]  # which both policies share
    for name in logs:
        reader.forget()
        content = reader.files[name]
        (folder / name).write_text(content + content.splitlines()[-1] + "\n")
        seen.add(make().fingerprint)
    assert len(seen) == len(logs) + 2
    assert before == "surrogate" or before.startswith("packaged-")
    if len(reader.files) > 1:
        (folder / name).unlink()
        with pytest.raises(DataError, match=f"found no (such file beside|{name})"):
            make().start(9, Seeds(1))


def test_a_damaged_cache_is_noticed(reader, tmp_path):
    reader.write(tmp_path / "given")
    expected = arrays(reader)
    files = kept(tmp_path)
    if not files:
        pytest.skip("nothing is kept of it")
    (path,) = files
    content = path.read_bytes()
    changes = [partial(damaged, content, b",", random.Random(number)) for number in range(30)]
    # A smaller type would end the reading of an array before its checksum
    changes += [lambda old=old, new=new: content.replace(old, new, 1) for old, new in
                ((b"'<f8'", b"'<f4'"), (b"'<i8'", b"'<i4'"))]  # fmt: skip
    for change in changes:
        try:
            path.write_bytes(change())
        except UnicodeDecodeError:  # only text has another encoding
            continue
        assert same(arrays(reader), expected)
