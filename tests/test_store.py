"""Results are whole or not there; whatever happens to a file is noticed."""

import errno
import getpass
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.errors import StoreError
from runners.results.capture import environment
from runners.results.store import Store, results_folder, write_text

ROOT = Path(__file__).resolve().parents[1]
RUN = "0123456789abcdef0123"


def columns(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    rate = rng.random(50)
    rate[:5] = np.nan
    return {
        "round": np.arange(1, 51, dtype=np.int64),
        "reward": rng.normal(size=50).cumsum(),
        "rate": rate,
        "kind": np.array(["low", "hög"] * 25, dtype=object),
    }


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "results")
    store.prepare(RUN, {"settings": {"horizon": 50}, "fingerprint": None})
    return store


def test_a_result_comes_back_as_it_was(store):
    store.write(RUN, 7, columns(), {"seconds": 1.5})
    table = store.read(RUN, 7)
    assert list(table.columns) == list(columns())
    for name, values in columns().items():
        np.testing.assert_array_equal(table[name].to_numpy(), values)
    assert table["round"].dtype == np.int64
    assert table["reward"].dtype == np.float64
    assert store.read_side(RUN, 7)["seconds"] == 1.5
    assert store.read_side(RUN, 8) == {}
    assert store.done(RUN) == {7}
    assert store.done("ab" * 10) == set()
    assert json.loads((store.folder(RUN) / "settings.json").read_text())["settings"] == {"horizon": 50}
    names = sorted(path.name for path in store.folder(RUN).iterdir())
    assert names == ["rep-00007.json", "rep-00007.parquet", "settings.json"]


def test_the_bytes_depend_on_the_content_alone(store, tmp_path):
    other = Store(tmp_path / "other")
    other.prepare(RUN, {})
    store.write(RUN, 0, columns(), {"seconds": 1.0})
    other.write(RUN, 0, columns(), {"seconds": 2.0})
    assert store.path(RUN, 0).read_bytes() == other.path(RUN, 0).read_bytes()
    other.write(RUN, 0, columns(1), {})
    assert store.path(RUN, 0).read_bytes() != other.path(RUN, 0).read_bytes()


def test_other_tools_can_read_it(store):
    store.write(RUN, 0, columns(), {})
    table = pd.read_parquet(store.path(RUN, 0))
    np.testing.assert_array_equal(table["reward"], columns()["reward"])


def flipped(sound: bytes, position: int) -> bytes:
    return sound[:position] + bytes([sound[position] ^ 0x10]) + sound[position + 1 :]


def damage(store: Store, repetition: int, content: bytes) -> str:
    """Put other bytes in place of a result and read it; return the error."""
    path = store.path(RUN, repetition)
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        store.read(RUN, repetition)
    assert not path.exists()  # and so it is run again
    return str(caught.value)


def test_every_flipped_byte_is_noticed(store):
    store.write(RUN, 0, columns(), {})
    sound = store.path(RUN, 0).read_bytes()
    for position in range(0, len(sound), 3):
        assert "rep-00000.parquet: found a damaged file" in damage(store, 0, flipped(sound, position))
    store.path(RUN, 0).write_bytes(sound)
    assert len(store.read(RUN, 0)) == 50


def test_a_truncated_file_is_noticed(store):
    store.write(RUN, 0, columns(), {})
    sound = store.path(RUN, 0).read_bytes()
    for length in (0, 1, 4, len(sound) // 2, len(sound) - 8, len(sound) - 1):
        assert "rep-00000.parquet: found a damaged file" in damage(store, 0, sound[:length])
    assert "found a damaged file" in damage(store, 0, sound + b"\n")


@pytest.mark.parametrize("side", [None, b"", b"{}", b'{"sha256": "0"}', b"[1]"])
def test_a_result_without_its_digest_is_noticed(store, side):
    store.write(RUN, 0, columns(), {})
    store.path(RUN, 0, ".json").unlink()
    if side is not None:
        store.path(RUN, 0, ".json").write_bytes(side)
    with pytest.raises(StoreError, match=r"damaged file, .*; it is deleted, rerun to run the repetition again$"):
        store.read(RUN, 0)
    assert store.done(RUN) == set()


def test_a_file_under_a_wrong_name_is_noticed(store):
    """Also with the side file that belongs to it."""
    for repetition in (0, 2):
        store.write(RUN, repetition, columns(), {})
    os.rename(store.path(RUN, 0), store.path(RUN, 1))
    os.rename(store.path(RUN, 0, ".json"), store.path(RUN, 1, ".json"))
    with pytest.raises(StoreError, match="found no such file"):
        store.read(RUN, 0)
    with pytest.raises(StoreError, match="found a damaged file"):
        store.read(RUN, 1)
    assert len(store.read(RUN, 2)) == 50


def test_a_listing_reads_no_result(store, monkeypatch):
    for repetition in range(5):
        store.write(RUN, repetition, columns(repetition), {})
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    assert store.done(RUN) == {0, 1, 2, 3, 4}


def test_a_damaged_file_in_a_folder_that_is_read_only_is_named_all_the_same(store, monkeypatch):
    store.write(RUN, 0, columns(), {})
    store.path(RUN, 0).write_bytes(b"PAR1")

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StoreError, match="found a damaged file"):
        store.read(RUN, 0)


@pytest.mark.parametrize("name", ["../../etc", "", "0123", RUN + "/..", RUN.upper(), "/" + RUN, RUN + "\n"])
def test_names_cannot_leave_the_folder(store, name):
    for call in (store.folder, store.done, lambda name: store.write(name, 0, columns(), {})):
        with pytest.raises(StoreError, match="expected 8 to 64 hexadecimal digits"):
            call(name)


@pytest.mark.parametrize("repetition", [-1, 1.0, "../1", True, 10**9])
def test_repetitions_are_whole_numbers(store, repetition):
    with pytest.raises(StoreError, match="expected a whole number from 0"):
        store.read(RUN, repetition)


def test_where_nothing_can_be_written_one_sentence_says_so(tmp_path):
    (tmp_path / "raw").write_text("a file where a folder should be")
    store = Store(tmp_path)
    calls = [
        lambda: store.prepare(RUN, {}),
        lambda: store.write(RUN, 0, columns(), {}),
        lambda: store.fail(RUN, 0, {}),
        lambda: write_text(tmp_path / "raw" / "x.txt", ""),
    ]
    for call in calls:
        with pytest.raises(StoreError, match=rf"^{tmp_path}/raw/.*could not be written \(") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_folder_that_vanishes_and_a_full_disk(store, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(StoreError, match=r"could not be written \(No space left"):
            store.write(RUN, 0, columns(), {})
    assert [path.name for path in store.folder(RUN).iterdir()] == ["settings.json"]
    (store.folder(RUN) / "settings.json").unlink()
    store.folder(RUN).rmdir()
    with pytest.raises(StoreError, match="could not be written"):
        store.write(RUN, 0, columns(), {})


def test_what_dead_processes_left_half_written_is_cleared_away(store):
    old, new = (store.folder(RUN) / f".rep-00000.parquet.{name}.tmp" for name in ("1-a", "2-b"))
    for path in (old, new):
        path.write_bytes(b"PAR1")
    os.utime(old, (time.time() - 3600,) * 2)
    store.prepare(RUN, {})
    assert not old.exists()
    assert new.exists()
    assert store.done(RUN) == set()


def test_a_failure_is_forgotten_after_a_success(store):
    assert store.failure(RUN, 2) == {}
    store.fail(RUN, 2, {"error": "TypeError: no", "traceback": "line 1\nline 2"})
    assert store.failure(RUN, 2)["traceback"] == "line 1\nline 2"
    assert store.done(RUN) == set()
    store.write(RUN, 2, columns(), {})
    assert store.failure(RUN, 2) == {}
    assert store.done(RUN) == {2}


def test_the_folder_of_results_can_be_moved(monkeypatch, tmp_path):
    monkeypatch.delenv("BENCH_RESULTS_DIR", raising=False)
    assert results_folder() == ROOT / "results"
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    assert results_folder() == tmp_path
    write_text(tmp_path / "a" / "b.txt", "text")
    assert (tmp_path / "a" / "b.txt").read_text() == "text"


def test_the_environment_says_what_matters_and_not_who_it_was():
    found = environment()
    text = json.dumps(found)
    assert found["python"] == platform.python_version()
    assert found["packages"]["numpy"] == np.__version__
    assert found["packages"]["pandas"] == pd.__version__
    assert found["cores"]["all"] == os.cpu_count()
    assert any(library["user_api"] == "blas" for library in found["libraries"])
    assert found["git"] is None or set(found["git"]) == {"commit", "dirty"}
    assert str(ROOT) not in text
    assert sys.prefix not in text
    for secret in (platform.node(), os.path.expanduser("~"), getpass.getuser()):
        assert f'"{secret}"' not in text
    assert f"{os.sep}site-packages" not in text
