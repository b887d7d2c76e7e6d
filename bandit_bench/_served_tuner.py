"""The tuner of a service: its state and its asks, in one SQLite file."""

import csv
import io
import json
import os
import sqlite3
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.configuration_check import ConfigurationCheck
from bench.errors import BenchError
from bench.rewards import number, short
from bench.space import Configuration
from bench.tuners.base import Tuner
from bench.tuners.state import compare

_SCHEMA = """
CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), tuner TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS asks (id INTEGER PRIMARY KEY, ticket INTEGER UNIQUE NOT NULL, asked TEXT NOT NULL,
    configuration TEXT NOT NULL, propensity REAL, told TEXT, reward REAL);
CREATE TABLE IF NOT EXISTS open (id INTEGER PRIMARY KEY, ticket INTEGER UNIQUE NOT NULL, memory TEXT NOT NULL);
"""
_EXPECTED = "expected a file that this server has written, or none, in a folder that can be written"


class ServedTuner:
    """A started tuner with its state and its asks in a file that only one process may open.

    Raises BenchError if another process has the file open, or if the file does not belong to such a tuner.
    """

    def __init__(self, tuner: Tuner, path: str | Path, margin: float = 0.0) -> None:
        self.margin = margin
        tuner.save()  # raises for a tuner that was not started, or cannot be saved
        space = tuner._given["space"]
        self._tuner, self._names = tuner, space.names
        self._check = ConfigurationCheck(space, tuner.leaves_space)
        self._file = _opened(path)
        self._path, self._place = path, _place(path)
        self._apart: set[int] = set()  # the tickets in the table `open`
        try:
            found = self._file.execute("SELECT tuner FROM state").fetchone()
            if found:
                self._go_on(json.loads(found[0]))
            self.together([lambda served: served._file.execute("DELETE FROM open")])  # all are written again
        except (sqlite3.Error, BenchError, ValueError, RecursionError) as error:
            self.close()
            of_state = "expected a state that this server has written, or no file"
            expected = _EXPECTED if isinstance(error, sqlite3.Error) else of_state
            raise BenchError(f"{path}: {error}; {expected}") from None

    def _go_on(self, saved: Any) -> None:
        """Restore a saved state, or learn the rewards of the log that lie in the new space if the space has changed."""
        tuner = self._tuner
        now = tuner._identity()
        differs = [key for key in ("space", "excluded") if type(saved) is dict and saved.get(key) != now.get(key)]
        if not differs or not tuner.learns_history:
            rows = self._file.execute("SELECT ticket, memory FROM open ORDER BY id")
            tuner.restore(saved, {ticket: json.loads(memory) for ticket, memory in rows})
            return
        for key in ("class", "settings", "horizon", "rounds"):
            compare(f"{type(tuner).__name__}: saved state", key, saved.get(key), now[key])
        told = self._file.execute("SELECT configuration, reward FROM asks WHERE told IS NOT NULL ORDER BY told, id")
        history = [(json.loads(configuration), reward) for configuration, reward in told]
        latest = self._file.execute(
            "SELECT ticket, configuration FROM asks WHERE told IS NULL ORDER BY id DESC LIMIT 10000"
        ).fetchall()
        waiting = {ticket: json.loads(text) for ticket, text in reversed(latest)}  # the oldest is forgotten first
        learnt = tuner.change(tuner._given["space"], history, waiting)
        print(
            f"another space: {learnt:,} of {len(history):,} rewards in the file lie in it and were learnt", flush=True
        )

    def together(self, calls: list[Callable[["ServedTuner"], Any]]) -> list[Any]:
        """Make the calls, write their changes in one transaction, and return the answers.

        The answer to a refused call is its BenchError. Raises OSError if the file was removed or replaced, because
        SQLite would continue to write to the removed file.
        """
        answers: list[Any] = []
        self._file.execute("BEGIN")
        for call in calls:
            try:
                answers.append(call(self))
            except BenchError as error:
                answers.append(error)
        self._write()
        self._file.execute("COMMIT")
        if _place(self._path) != self._place:
            raise FileNotFoundError("found another file in its place, expected the one it has opened")
        return answers

    def _write(self) -> None:
        """Write the state and only the newly opened or closed tickets, because thousands of tickets may be open."""
        opened, closed = self._tuner.tickets_apart(self._apart)
        self._file.executemany("DELETE FROM open WHERE ticket = ?", [(ticket,) for ticket in closed])
        rows = [(ticket, json.dumps(memory)) for ticket, memory in opened.items()]
        self._file.executemany("INSERT INTO open (ticket, memory) VALUES (?, ?)", rows)
        self._apart = self._apart - closed | opened.keys()
        state = json.dumps(self._tuner.save(self._apart))
        self._file.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (state,))

    @cached_property
    def _candidates(self) -> list[Configuration]:
        """All configurations if every hyper-parameter has candidates, else none, because a space may have billions."""
        space = self._tuner._given["space"]
        return space.product() if all(parameter.candidates for parameter in space.parameters) else []

    def ask(self) -> dict[str, Any]:
        chances = self._tuner.probabilities().get("configuration")
        ticket, proposed = self._tuner.ask_ticket()
        configuration, propensity = self._check.read(proposed), None
        if chances is not None and len(chances) == len(self._candidates):
            propensity = float(chances[self._candidates.index(configuration)])
        row = (ticket, _now(), json.dumps(configuration), propensity)
        self._file.execute("INSERT INTO asks (ticket, asked, configuration, propensity) VALUES (?, ?, ?, ?)", row)
        return {"ticket": ticket, "configuration": configuration}

    def tell(self, ticket: Any, reward: Any) -> dict[str, Any]:
        """Learn a reward.

        The same reward is accepted again, because the answer to the first request may have been lost.
        """
        if type(ticket) is int and abs(ticket) < 2**63:
            known = self._file.execute("SELECT reward FROM asks WHERE ticket = ?", (ticket,)).fetchone()
            if known and known[0] is not None and known[0] == number(reward):
                return {"learnt": "before"}
        self._tuner.tell(reward, ticket=ticket or 0)  # without a ticket the reward would be the latest ask's
        self._file.execute("UPDATE asks SET reward = ?, told = ? WHERE ticket = ?", (float(reward), _now(), ticket))
        return {"learnt": "now"}

    def played(self) -> dict[str, Any]:
        latest = "SELECT configuration FROM asks ORDER BY id DESC LIMIT 1000"
        rows = self._file.execute(
            f"SELECT configuration, COUNT(*) FROM ({latest}) GROUP BY 1 ORDER BY 2 DESC"
        ).fetchall()
        asks = [(_read(configuration), number) for configuration, number in rows[:3]]
        return {"of": sum(number for _, number in rows), "asks": asks}

    def recommend(self) -> dict[str, Any]:
        return asdict(self._tuner.recommend(self.margin))

    def log(self) -> str:
        """Return the learnt rewards as CSV, in the order in which they were told."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["asked", "told", *self._names, "propensity", "reward"])
        rows = (
            "SELECT asked, told, configuration, propensity, reward FROM asks WHERE told IS NOT NULL ORDER BY told, id"
        )
        for asked, told, configuration, propensity, reward in self._file.execute(rows):
            values = _read(configuration)
            writer.writerow([asked, told, *(values.get(name) for name in self._names), propensity, reward])
        return text.getvalue()

    def close(self) -> None:
        self._file.close()


def _read(text: Any) -> Configuration:
    """Return the configuration in a column of the file. Raises BenchError if the file was altered."""
    try:
        return dict(json.loads(text).items())
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise BenchError(f"found the configuration {short(text)}, expected the one that was asked") from None


def _opened(path: str | Path) -> sqlite3.Connection:
    try:
        if Path(path).is_file():
            with Path(path).open("rb") as content:
                if content.read(16) not in (b"", b"SQLite format 3\0"):  # SQLite accepts short files
                    raise BenchError(f"{path}: found another kind of file, {_EXPECTED}")
        file = sqlite3.connect(path, timeout=0.0, isolation_level=None, check_same_thread=False)
        file.execute("PRAGMA locking_mode = EXCLUSIVE")
        rows = file.execute("SELECT name, type FROM sqlite_master WHERE type != 'index'").fetchall()
        found: dict[str, str] = dict(rows)
        if found and not (found.keys() >= {"state", "asks"} and {*found.values()} == {"table"}):
            names = ", ".join(f"{kind} {name}" for name, kind in sorted(found.items()))
            raise BenchError(f"{path}: found the {names}, {_EXPECTED}")
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = FULL")
        file.executescript(f"BEGIN EXCLUSIVE;{_SCHEMA}COMMIT;")
        file.execute("SELECT ticket, asked, configuration, propensity, told, reward FROM asks LIMIT 0")  # raises
        file.execute("SELECT id, ticket, memory FROM open LIMIT 0")
        _place(path)  # raises for a database in memory
    except (sqlite3.Error, OSError) as error:
        if "locked" in str(error):
            raise BenchError(
                f"{path}: found in use by another server, expected a separate file for each server"
            ) from None
        raise BenchError(f"{path}: {error}; {_EXPECTED}") from None
    return file


def _place(path: str | Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
