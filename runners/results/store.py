"""Storage of results: a folder for each run, a file for each repetition, written atomically."""

import json
import os
import re
import sys
import time
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.digest import digest
from bench.errors import ConfigError, StoreError
from bench.locks import lock
from runners.config.folders import results_folder as results_folder

if TYPE_CHECKING:  # slow to import
    import pandas as pd
    import pyarrow as pa

_DONE = re.compile(r"rep-(\d{5,9})\.parquet")
_LEFTOVER_SECONDS = 600.0
"""Age in seconds of a temporary file that was left by a dead process; writing takes milliseconds."""


class DamagedError(StoreError):
    """A stored result differs from the one that was written."""


def write_together(folder: Path, files: Mapping[str, bytes | None]) -> None:
    """Write files into a folder by name, each as a whole; a file with None as content is removed.

    Raises OSError if a file cannot be written; no file is then written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write({folder / name: content for name, content in files.items() if content is not None})
    for name in (name for name, content in files.items() if content is None):
        (folder / name).unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    write_together(path.parent, {path.name: text.encode()})


@contextmanager
def alone(path: Path, refusal: str) -> Iterator[None]:
    """Hold the lock file ``path`` inside the block.

    Raises ConfigError with the message ``refusal`` if another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        if not lock(file, wait=False):
            raise ConfigError(refusal)
        try:
            yield
        finally:
            with suppress(PermissionError):  # Windows cannot remove an open file
                path.unlink(missing_ok=True)  # no other process waits for it


class Store:
    """Raw runs below ``root/raw/<run_id>/``; safe for several processes, on one machine or on a shared file system.

    The folder of a run has ``settings.json``, the inputs of the run's name as text, and two files for each repetition.
    ``rep-00007.parquet`` is the trace, which is byte-identical for any way of running the repetition.
    ``rep-00007.json`` holds the seconds that the repetition took, the environment, and the digest with which the trace
    is checked at every read. A failed repetition has ``rep-00007.failed.json`` instead. If two processes run the same
    repetition, the later file replaces an equal one. A failed write raises OSError, and leaves no partial file under
    the final name.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).absolute()

    def folder(self, run_id: str) -> Path:
        return self.root / "raw" / run_id

    def path(self, run_id: str, repetition: int, suffix: str = ".parquet") -> Path:
        return self.folder(run_id) / f"rep-{repetition:05d}{suffix}"

    def prepare(self, run_id: str, identity: Mapping[str, Any]) -> None:
        """Create a run's folder with a description, and remove half-written files left by dead processes."""
        folder = self.folder(run_id)
        write_text(folder / "settings.json", json.dumps(identity, indent=1, sort_keys=True) + "\n")
        now = time.time()
        for entry in os.scandir(folder):
            with suppress(FileNotFoundError):  # another process may remove it too
                if entry.name.endswith(".tmp") and now - entry.stat().st_mtime > _LEFTOVER_SECONDS:
                    os.unlink(entry.path)

    def done(self, run_id: str) -> set[int]:
        """Return the repetitions with a result; the result is checked only when it is read."""
        folder = self.folder(run_id)
        try:
            with os.scandir(folder) as entries:
                return {int(match[1]) for entry in entries if (match := _DONE.fullmatch(entry.name))}
        except FileNotFoundError:
            return set()

    def has(self, run_id: str, repetition: int) -> bool:
        return self.path(run_id, repetition).is_file()

    def sound(self, run_id: str, repetitions: Collection[int]) -> set[int]:
        """Return the repetitions with a sound result; damaged results are listed on stderr and deleted.

        Raises OSError if a file cannot be read; the file is then kept, because it may be intact.
        """
        done = self.done(run_id) & set(repetitions)
        damaged = []
        for repetition in sorted(done):
            try:
                self._content(run_id, repetition)
            except DamagedError:
                damaged.append(repetition)
        if damaged:
            names = ", ".join(self.path(run_id, repetition).name for repetition in damaged)
            print(f"{self.folder(run_id)}: damaged results are deleted and run again: {names}", file=sys.stderr)
        return done - set(damaged)

    def write(self, run_id: str, repetition: int, columns: Mapping[str, np.ndarray], side: Mapping[str, Any]) -> None:
        """Store the trace of a repetition with the additional data ``side``, and remove an earlier failure."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({name: _array(values) for name, values in columns.items()})
        sink = pa.BufferOutputStream()
        pq.write_table(
            table, sink, compression="zstd", use_dictionary=False, write_statistics=False, store_schema=False
        )
        content = sink.getvalue().to_pybytes()
        side = {**side, "finished": _now(), "sha256": _digest(run_id, repetition, content)}
        of_side = json.dumps(side, indent=1, sort_keys=True).encode()
        path = self.path(run_id, repetition)
        _write({self.path(run_id, repetition, ".json"): of_side, path: content})  # last, because it marks completeness
        self.path(run_id, repetition, ".failed.json").unlink(missing_ok=True)

    def read(self, run_id: str, repetition: int) -> "pd.DataFrame":
        """Return the trace of a repetition.

        Raises StoreError if the trace is missing or damaged; a damaged trace is deleted, so that the repetition is run
        again.
        """
        return self.table(run_id, repetition).to_pandas()

    def last_round(self, run_id: str, repetition: int) -> dict[str, Any]:
        """Return the last row of a repetition's trace without pandas; the trace is checked as in `read`."""
        table = self.table(run_id, repetition)
        return {name: table.column(name)[-1].as_py() for name in table.column_names}

    def table(self, run_id: str, repetition: int) -> "pa.Table":
        """Return the trace of a repetition as an Arrow table, without pandas; the trace is checked as in `read`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = pq.ParquetFile(pa.BufferReader(self._content(run_id, repetition)))  # `read_table` imports pandas
        return file.read(use_threads=False)

    def _content(self, run_id: str, repetition: int) -> bytes:
        path = self.path(run_id, repetition)
        content = _read(path)
        if content is None:
            raise StoreError(f"{path}: found no such file, expected the result of a repetition")
        if self.read_side(run_id, repetition).get("sha256") != _digest(run_id, repetition, content):
            with suppress(OSError):
                path.unlink()
            raise DamagedError(
                f"{path}: found a damaged file, expected the result as it was written; it is deleted, rerun to run "
                "the repetition again"
            )
        return content

    def read_side(self, run_id: str, repetition: int) -> dict[str, Any]:
        """Return the additional data of a result, such as ``seconds`` and ``environment``; empty if missing."""
        return read_json(self.path(run_id, repetition, ".json"))

    def fail(self, run_id: str, repetition: int, record: Mapping[str, Any]) -> None:
        """Store the failure of a repetition, unless another process has stored a result."""
        if self.has(run_id, repetition):
            return
        text = json.dumps({**record, "failed": _now()}, indent=1)
        _write({self.path(run_id, repetition, ".failed.json"): text.encode()})

    def failure(self, run_id: str, repetition: int) -> dict[str, Any]:
        """Return the failure of the last run of a repetition; empty if the last run succeeded."""
        return read_json(self.path(run_id, repetition, ".failed.json"))


def _array(values: np.ndarray) -> "pa.Array":
    import pyarrow as pa

    if values.dtype == object:
        return pa.array(values, from_pandas=False)
    buffers = [None, pa.py_buffer(values)]  # `array` imports pandas, which takes longer than a short repetition
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _digest(run_id: str, repetition: int, content: bytes) -> str:
    """Return the sha256 of a result and of its place, so that a file under another name is detected."""
    return digest(f"{run_id}/{repetition}\n".encode() + content)


def _write(contents: Mapping[Path, bytes]) -> None:
    """Write temporary files and rename them, without fsync, as the digest detects files torn by a power failure."""
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:12]}.tmp") for path in contents}
    try:
        for path, content in contents.items():
            with open(temporary[path], "xb") as file:
                file.write(content)
        for path in contents:
            os.replace(temporary[path], path)
    except BaseException as error:
        for each in temporary.values():
            with suppress(OSError):
                os.unlink(each)
        if isinstance(error, OSError) and error.filename is None:  # as of a write to a full disk
            error.filename = str(path)
        raise


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; empty if there is no such file or no object in it."""
    try:
        content = json.loads(_read(path) or b"")
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _read(path: Path) -> bytes | None:
    """Return the content of a file, or None if there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def reuse_line(store: Store, shown: Mapping[str, Collection[int]], renew: str = "renew=true") -> str:
    """Return the days of reused repetitions and the argument that runs them again; "" if none is reused.

    ``shown`` holds the numbers of the reused repetitions by run id. An example of the returned text is "5 of 2026-11-27
    08:12, renew=true runs them again".
    """
    sides = [store.read_side(run_id, number) for run_id, numbers in shown.items() for number in numbers]
    if not sides:
        return ""
    times = sorted(datetime.fromisoformat(side["finished"]).astimezone() for side in sides if "finished" in side)
    ends = [f"{time:%Y-%m-%d %H:%M}" for time in times[:: max(1, len(times) - 1)]]
    return f"{len(sides)} of {' to '.join(dict.fromkeys(ends)) or 'an unknown day'}, {renew} runs them again"


def finished(store: Store, wanted: Mapping[str, int], *, renew: bool = False) -> dict[str, set[int]]:
    """Return the finished repetitions among the requested repetitions, by run id; ``renew`` deletes them instead."""
    done = {run_id: store.done(run_id) & set(range(n)) for run_id, n in wanted.items()}
    for run_id, n in wanted.items() if renew else ():
        for number in range(n):
            for suffix in (".parquet", ".json", ".failed.json"):
                store.path(run_id, number, suffix).unlink(missing_ok=True)
        done[run_id] = set()
    return done
