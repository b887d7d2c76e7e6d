"""A tuner in a service: processes ask it for configurations and tell it rewards over HTTP; extra ``service``.

`serve` keeps the tuner's state and a log of all asks in one SQLite file. An answer is sent once what it says is on the
disk; requests that arrive meanwhile are written together. See docs/service.md.
"""

import asyncio
import csv
import io
import json
import os
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.configuration_check import ConfigurationCheck
from bench.errors import BenchError, one_line
from bench.packages import how_to_install
from bench.rewards import short
from bench.space import Configuration
from bench.tuners.base import Tuner

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route
except ImportError as missing:
    raise BenchError(f"a service needs {missing.name}, which is not installed: {how_to_install('service')}") from None

MOST_BYTES, MOST_SECONDS = 10_000, 5.0
"""Of the body of a request."""
_LOCAL = ("127.0.0.1", "localhost", "::1")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), tuner TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS asks (id INTEGER PRIMARY KEY, ticket INTEGER UNIQUE NOT NULL, asked TEXT NOT NULL,
    configuration TEXT NOT NULL, propensity REAL, told TEXT, reward REAL);
"""


class Desk:
    """A tuner that was started, its state and its asks in a file that no other process opens meanwhile.

    Raises BenchError if another process has the file open, or it is not of such a tuner.
    """

    def __init__(self, tuner: Tuner, path: str | Path) -> None:
        tuner.save()  # one that was not started, or cannot be saved, says so
        space = tuner._given["space"]
        self._tuner, self._names = tuner, space.names
        self._check = ConfigurationCheck(space, tuner.leaves_space)
        self._candidates = space.product() if all(parameter.candidates for parameter in space.parameters) else []
        self._file = _opened(path)
        found = self._file.execute("SELECT tuner FROM state").fetchone()
        try:
            if found:
                tuner.restore(json.loads(found[0]))
        except (BenchError, ValueError, RecursionError) as error:
            raise BenchError(f"{path}: {error}; expected a state that this server has written, or no file") from None
        self.together([])

    def together(self, calls: list[Callable[["Desk"], Any]]) -> list[Any]:
        """Make calls, and write what they changed, all at once; return answers, or the BenchError of a refused one."""
        answers: list[Any] = []
        self._file.execute("BEGIN")
        for call in calls:
            try:
                answers.append(call(self))
            except BenchError as error:
                answers.append(error)
        self._file.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (json.dumps(self._tuner.save()),))
        self._file.execute("COMMIT")
        return answers

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
        """Learn a reward; the same again is no error, since the answer to the first may have been lost."""
        if type(ticket) is int and abs(ticket) < 2**63:
            known = self._file.execute("SELECT reward FROM asks WHERE ticket = ?", (ticket,)).fetchone()
            if known and known[0] is not None and known[0] == reward:
                return {"learnt": "before"}
        self._tuner.tell(reward, ticket=ticket or 0)  # without a ticket it would be the latest ask's
        self._file.execute("UPDATE asks SET reward = ?, told = ? WHERE ticket = ?", (float(reward), _now(), ticket))
        return {"learnt": "now"}

    def played(self) -> dict[str, Any]:
        latest = "SELECT configuration FROM asks ORDER BY id DESC LIMIT 1000"
        rows = self._file.execute(
            f"SELECT configuration, COUNT(*) FROM ({latest}) GROUP BY 1 ORDER BY 2 DESC"
        ).fetchall()
        return {"of": sum(number for _, number in rows), "asks": rows[:3]}

    def log(self) -> str:
        """Return the rewards that were learnt as CSV, in the order in which they were told."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["asked", "told", *self._names, "propensity", "reward"])
        rows = (
            "SELECT asked, told, configuration, propensity, reward FROM asks WHERE told IS NOT NULL ORDER BY told, id"
        )
        for asked, told, configuration, propensity, reward in self._file.execute(rows):
            try:
                values: Configuration = json.loads(configuration)
                configured = [values[name] for name in self._names]
            except (ValueError, TypeError, LookupError, RecursionError):
                raise BenchError(f"found the configuration {short(configuration)}, expected as it was asked") from None
            writer.writerow([asked, told, *configured, propensity, reward])
        return text.getvalue()

    def close(self) -> None:
        self._file.close()


def _opened(path: str | Path) -> sqlite3.Connection:
    expected = "a file that this server has written, or none, in a folder that can be written"
    try:
        if Path(path).is_file() and _first_bytes(Path(path)) not in (b"", b"SQLite format 3\0"):
            raise BenchError(f"{path}: found another kind of file, expected {expected}")  # SQLite takes a short one
        file = sqlite3.connect(path, timeout=0.0, isolation_level=None, check_same_thread=False)
        file.execute("PRAGMA locking_mode = EXCLUSIVE")
        tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not {"state", "asks"} <= tables:
            raise BenchError(f"{path}: found the tables {', '.join(sorted(tables))}, expected {expected}")
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = FULL")
        file.executescript(f"BEGIN EXCLUSIVE;{_SCHEMA}COMMIT;")
    except (sqlite3.Error, OSError) as error:
        if "locked" in str(error):
            raise BenchError(
                f"{path}: found another server that uses it, expected a file of its own for each"
            ) from None
        raise BenchError(f"{path}: {error}; expected {expected}") from None
    return file


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def app(tuner: Tuner, path: str | Path, hosts: Collection[str] = ()) -> Starlette:
    """Return the service as an ASGI application; it opens the file at once. ``hosts``: names besides this machine's."""
    store = Desk(tuner, path)
    waiting: asyncio.Queue[tuple[Callable[[Desk], Any], asyncio.Future[Any]]] = asyncio.Queue()

    async def write() -> None:
        while True:
            batch = [await waiting.get()]
            while not waiting.empty():
                batch.append(waiting.get_nowait())
            try:
                answers = await asyncio.to_thread(store.together, [call for call, _ in batch])
            except Exception as error:  # the tuner is ahead of the file: nothing may be answered any more
                try:
                    print(f"error: {path}: {type(error).__name__}: {one_line(error)}", file=sys.stderr, flush=True)
                finally:  # also where the disk that is full has the log, too
                    os._exit(1)
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

    async def call(made: Callable[[Desk], Any]) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        waiting.put_nowait((made, future))
        answer = await future
        if isinstance(answer, BenchError):
            raise HTTPException(409, str(answer))
        return answer

    async def ask(request: Request) -> Response:
        await _message(request, [])
        return JSONResponse(await call(Desk.ask))

    async def tell(request: Request) -> Response:
        message = await _message(request, ["reward", "ticket"])
        return JSONResponse(await call(lambda store: store.tell(**message)))

    async def played(request: Request) -> Response:
        return JSONResponse(await call(Desk.played))

    async def log(request: Request) -> Response:
        return PlainTextResponse(await call(Desk.log), media_type="text/csv")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        writing = asyncio.create_task(write())
        yield
        writing.cancel()
        store.close()

    allowed = (*_LOCAL, *hosts)
    calls = {"POST /ask": ask, "POST /tell": tell, "GET /played": played, "GET /log": log}

    def guarded(handler: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def guard(request: Request) -> Response:
            _check_place(request, allowed)
            answer: Response = await handler(request)
            return answer

        return guard

    async def say(request: Request, error: Exception) -> Response:
        status, text = getattr(error, "status_code", 500), str(getattr(error, "detail", error))
        if status in (404, 405):
            text = f"found {request.method} {request.url.path}, expected {', '.join(calls)}"
        return JSONResponse({"error": text}, status)

    routes = [Route(name.split()[1], guarded(handler), methods=[name.split()[0]]) for name, handler in calls.items()]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: say})


def _check_place(request: Request, allowed: Collection[str]) -> None:
    """Refuse what was sent to another name, as by DNS rebinding, or from a page of another site in a browser."""
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname
    origin = request.headers.get("origin")
    if host not in allowed or request.headers.get("sec-fetch-site") == "cross-site":
        raise HTTPException(421, f"found the host {host!r}, expected one of {', '.join(allowed)}: see `hosts` of serve")
    if origin is not None and urlsplit(origin).hostname not in allowed:
        raise HTTPException(421, f"found a request of a page at {origin!r}, expected one of {', '.join(allowed)}")


async def _message(request: Request, keys: list[str]) -> dict[str, Any]:
    """Return the body, however it was sent: an object of JSON with just these keys; an empty one may be left out."""
    body = b""
    try:
        async with asyncio.timeout(MOST_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise HTTPException(413, f"found a body of more than {MOST_BYTES:,} bytes, expected a shorter one")
    except TimeoutError:
        raise HTTPException(408, f"found an unfinished body after {MOST_SECONDS:g} s, expected a whole one") from None
    try:
        message = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        found = body[:80].decode(errors="replace")
        raise HTTPException(400, f"found {found!r}, expected JSON, an object with the keys {keys}") from None
    if type(message) is not dict or sorted(message) != keys:
        raise HTTPException(400, f"found {json.dumps(message)[:80]}, expected an object with the keys {keys}")
    return message


def serve(tuner: Tuner, path: str | Path = "tuner.db", port: int | str = 8123, hosts: Collection[str] = ()) -> None:
    """Answer on a port of this machine until Ctrl-C; a tuner goes on from the state in the file at ``path``.

    It ends with a sentence where the file or the port cannot be used. ``hosts``: names besides this machine's by which
    a proxy may forward.
    """
    try:
        service = app(tuner, path, hosts)
        with socket.create_server(("127.0.0.1", int(port)), backlog=2048) as listening:
            number = listening.getsockname()[1]
            print(f"listening on http://127.0.0.1:{number}, state in {path}", flush=True)
            config = uvicorn.Config(service, log_level="error", access_log=False, timeout_graceful_shutdown=5)
            uvicorn.Server(config).run(sockets=[listening])
    except BenchError as error:
        sys.exit(str(error))
    except (OSError, OverflowError, ValueError) as error:
        sys.exit(f"port {port}: {error}; expected one that no other program uses")
    except KeyboardInterrupt:
        pass
