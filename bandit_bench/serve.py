"""A tuner in a service: processes ask it for configurations and tell it rewards over HTTP; extra ``service``.

`serve` keeps the tuner's state and a log of all asks in one SQLite file. An answer is sent once its effect is on the
disk; requests that arrive in the meantime are written together. See docs/service.md.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bandit_bench._served_tuner import ServedTuner
from bench.errors import BenchError, one_line
from bench.packages import how_to_install
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
"""Limits on the body of a request."""
_LOCAL = ("127.0.0.1", "localhost", "::1")


def app(tuner: Tuner, path: str | Path, hosts: Collection[str] = (), margin: float = 0.0) -> Starlette:
    """Return the service as an ASGI application, which opens the file immediately.

    ``hosts`` are allowed host names in addition to the names of this machine. ``margin`` is the margin of
    `Tuner.recommend`.
    """
    served = ServedTuner(tuner, path, margin)
    waiting: asyncio.Queue[tuple[Callable[[ServedTuner], Any], asyncio.Future[Any]]] = asyncio.Queue()

    async def write() -> None:
        while True:
            batch = [await waiting.get()]
            while not waiting.empty():
                batch.append(waiting.get_nowait())
            try:
                answers = await asyncio.to_thread(served.together, [call for call, _ in batch])
            except Exception as error:  # the tuner is ahead of the file, so no further request may be answered
                try:
                    print(f"error: {path}: {type(error).__name__}: {one_line(error)}", file=sys.stderr, flush=True)
                finally:  # standard error may be on the full disk too
                    os._exit(1)
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        writing = asyncio.create_task(write())
        yield
        writing.cancel()
        served.close()

    allowed = (*_LOCAL, *hosts)
    calls: dict[str, tuple[Callable[..., Any], list[str]]] = {
        "POST /ask": (ServedTuner.ask, []),
        "POST /tell": (ServedTuner.tell, ["reward", "ticket"]),
        "GET /played": (ServedTuner.played, []),
        "GET /recommend": (ServedTuner.recommend, []),
        "GET /log": (ServedTuner.log, []),
    }

    def handler(made: Callable[..., Any], keys: list[str]) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            _check_place(request, allowed)
            message = await _message(request, keys) if request.method == "POST" else {}
            future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            waiting.put_nowait((partial(made, **message), future))
            answer = await future
            if isinstance(answer, BenchError):
                raise HTTPException(409, str(answer))
            is_text = isinstance(answer, str)
            return PlainTextResponse(answer, media_type="text/csv") if is_text else JSONResponse(answer)

        return handle

    async def say(request: Request, error: Exception) -> Response:
        status, text = getattr(error, "status_code", 500), str(getattr(error, "detail", error))
        if status in (404, 405):
            text = f"found {request.method} {request.url.path}, expected {', '.join(calls)}"
        return JSONResponse({"error": text}, status)

    routes = [Route(name.split()[1], handler(*of), methods=[name.split()[0]]) for name, of in calls.items()]
    service = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: say})
    service.router.redirect_slashes = False  # curl does not follow
    return service


def _check_place(request: Request, allowed: Collection[str]) -> None:
    """Refuse a request to a host name not in ``allowed``, as in DNS rebinding, or from a web page of another site."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    if _name(f"//{host}") not in allowed:
        raise HTTPException(421, f"found the host {host!r}, expected one of {', '.join(allowed)}: see `hosts` of serve")
    if request.headers.get("sec-fetch-site") == "cross-site":
        raise HTTPException(
            421, "found a request from a page of another site, expected one from a program or this host"
        )
    if origin is not None and _name(origin) not in allowed:
        raise HTTPException(421, f"found a request from a page at {origin!r}, expected one of {', '.join(allowed)}")


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # as of [::1
        return None


async def _message(request: Request, keys: list[str]) -> dict[str, Any]:
    """Return the body of a request, a JSON object with exactly ``keys``; an empty object may be omitted."""
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


def serve(
    tuner: Tuner,
    path: str | Path = "tuner.db",
    port: int | str = 8123,
    hosts: Collection[str] = (),
    margin: float = 0.0,
) -> None:
    """Serve on a port of this machine until Ctrl-C; the tuner continues from the state in the file at ``path``.

    If the state belongs to another space, a tuner that can learn from a log learns the rewards in the file that lie in
    its new space. ``hosts`` are further host names under which a proxy may forward requests. ``margin`` is the margin
    of ``GET /recommend``. Raises BenchError if the file or the port cannot be used.
    """
    try:
        service = app(tuner, path, hosts, margin)
        with socket.create_server(("127.0.0.1", int(port)), backlog=2048) as listening:
            number = listening.getsockname()[1]
            print(f"listening on http://127.0.0.1:{number}, state in {path}", flush=True)
            config = uvicorn.Config(service, log_level="error", access_log=False, timeout_graceful_shutdown=5)
            uvicorn.Server(config).run(sockets=[listening])
    except BenchError as error:
        sys.exit(str(error))
    except (OSError, OverflowError, ValueError) as error:
        sys.exit(f"port {port}: {error}; expected a number from 0 to 65535 that no other program uses")
    except KeyboardInterrupt:
        pass
