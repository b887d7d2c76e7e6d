"""Results are whole or absent; any damage to a file is noticed."""

import errno
import getpass
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.errors import ConfigError, StoreError
from runners.results.capture import environment
from runners.results.store import Store, alone, write_text, write_together

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


def test_a_result_is_read_back_unchanged_even_by_other_tools(store):
    store.write(RUN, 7, columns(), {"seconds": 1.5})
    for table in (store.read(RUN, 7), pd.read_parquet(store.path(RUN, 7))):
        assert list(table.columns) == list(columns())
        for name, values in columns().items():
            np.testing.assert_array_equal(table[name].to_numpy(), values)
        assert (table["round"].dtype, table["reward"].dtype) == (np.int64, np.float64)
    assert store.last_round(RUN, 7)["reward"] == columns()["reward"][-1]
    assert store.read_side(RUN, 7)["seconds"] == 1.5
    assert store.read_side(RUN, 8) == {}
    assert store.done(RUN) == {7}
    assert store.done("ab" * 10) == set()
    assert json.loads((store.folder(RUN) / "settings.json").read_text())["settings"] == {"horizon": 50}
    names = sorted(path.name for path in store.folder(RUN).iterdir())
    assert names == ["rep-00007.json", "rep-00007.parquet", "settings.json"]


def test_every_flipped_byte_and_every_lost_one_is_noticed(store):
    store.write(RUN, 0, columns(), {})
    path = store.path(RUN, 0)
    sound = path.read_bytes()
    flipped = [sound[:i] + bytes([sound[i] ^ 0x10]) + sound[i + 1 :] for i in range(0, len(sound), 3)]
    cut = [sound[:length] for length in (0, 1, 4, len(sound) // 2, len(sound) - 8, len(sound) - 1)]
    for content in (*flipped, *cut, sound + b"\n"):
        path.write_bytes(content)
        with pytest.raises(StoreError, match=r"rep-00000.parquet: found a damaged file"):
            store.read(RUN, 0)
        assert not path.exists()  # and so it is run again
    path.write_bytes(sound)
    assert len(store.read(RUN, 0)) == 50


def test_where_nothing_can_be_written_nothing_is_half_written(tmp_path, store, monkeypatch):
    (tmp_path / "raw").write_text("a file where a folder should be")
    blocked = Store(tmp_path)
    calls = [
        lambda: blocked.prepare(RUN, {}),
        lambda: blocked.write(RUN, 0, columns(), {}),
        lambda: blocked.fail(RUN, 0, {}),
        lambda: write_text(tmp_path / "raw" / "x.txt", ""),
    ]
    for call in calls:
        with pytest.raises(OSError, match=rf"{tmp_path}/raw"):
            call()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/rep-00000\.\w+'"):
        store.write(RUN, 0, columns(), {})
    assert [path.name for path in store.folder(RUN).iterdir()] == ["settings.json"]


def test_of_files_that_belong_together_all_are_written_or_none(tmp_path, monkeypatch):
    names = ("table.csv", "picture.svg", "gone.csv")
    old = {name: f"old {name}".encode() for name in names}
    write_together(tmp_path, old)
    new = {**{name: f"new {name}".encode() for name in names[:2]}, "gone.csv": None}

    def full(path: Path, *arguments: Any) -> Any:
        if "picture" in path.name:
            raise OSError(errno.ENOSPC, "No space left on device")
        return open(path, *arguments)

    monkeypatch.setattr("runners.results.store.open", full, raising=False)
    with pytest.raises(OSError, match="No space left"):
        write_together(tmp_path, new)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old
    monkeypatch.undo()
    write_together(tmp_path, new)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {name: new[name] for name in names[:2]}


def test_a_failure_is_forgotten_after_a_success_and_does_not_follow_one(store):
    assert store.failure(RUN, 2) == {}
    store.fail(RUN, 2, {"error": "TypeError: no", "traceback": "line 1\nline 2"})
    assert store.failure(RUN, 2)["traceback"] == "line 1\nline 2"
    assert store.done(RUN) == set()
    store.write(RUN, 2, columns(), {})
    store.fail(RUN, 2, {"error": "of another process"})
    assert store.failure(RUN, 2) == {}
    assert store.done(RUN) == {2}


def test_the_environment_identifies_no_user_or_machine():
    made = environment()
    text = json.dumps(made)
    assert made["python"] == platform.python_version()
    assert made["packages"]["numpy"] == np.__version__
    assert made["packages"]["pandas"] == pd.__version__
    assert made["cores"]["all"] == os.cpu_count()
    assert any(library["user_api"] == "blas" for library in made["libraries"])
    assert made["git"] is None or set(made["git"]) == {"commit", "dirty"}
    for secret in (str(ROOT), sys.prefix, f"{os.sep}site-packages"):
        assert secret not in text
    for secret in (platform.node(), os.path.expanduser("~"), getpass.getuser()):
        assert f'"{secret}"' not in text


def test_a_folder_is_written_by_one_command_at_a_time(tmp_path):
    mine, other = tmp_path / "compare" / ".mine.lock", tmp_path / "compare" / ".other.lock"
    found = pytest.raises(ConfigError, match=r"^name: found 'mine', expected another$")
    with alone(mine, ""), alone(other, ""), found, alone(mine, "name: found 'mine', expected another"):
        pass
    with alone(mine, ""):
        pass
    assert not list(mine.parent.iterdir())
