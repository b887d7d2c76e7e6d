"""A headless Chromium, driven through the DevTools protocol over a pipe: nothing but the browser is needed."""

import fcntl
import json
import os
import select
import shutil
import signal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip
_PATIENCE = 1800


class Chromium:
    """One browser with one tab.

    Parameters
    ----------
    profile
        A new folder for what the browser keeps.
    """

    def __init__(self, profile: Path) -> None:
        self.complaints: list[str] = []
        """Errors and warnings of pages, and files that they did not get."""
        inbox, self._out = _pipe()
        self._in, outbox = _pipe()
        # The browser reads commands from descriptor 3 and writes answers to 4
        actions = [
            (os.POSIX_SPAWN_DUP2, inbox, 3),
            (os.POSIX_SPAWN_DUP2, outbox, 4),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        command = [str(PROGRAM), *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        self._process = os.posix_spawn(command[0], command, dict(os.environ), file_actions=actions)
        os.close(inbox)
        os.close(outbox)
        self._buffer = b""
        self._number = 0
        self._session = ""
        self._loaded: set[tuple[str, str]] = set()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.kill(self._process, signal.SIGTERM)
        os.waitpid(self._process, 0)
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def open(self, address: str, width: int, dark: bool = False) -> None:
        """Load a page in a window as wide as given; a phone's if it is narrow."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        self.prefer(dark)
        self._load("about:blank")  # else an address that differs in its end only is not loaded anew
        self.complaints.clear()
        self._load(address)

    def prefer(self, dark: bool) -> None:
        """Show dark pages, or light ones."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def _load(self, address: str) -> None:
        loader = self.call("Page.navigate", url=address)["loaderId"]
        while (loader, "load") not in self._loaded:
            self._next()

    def run(self, script: str) -> Any:
        """Return what an expression in the page comes to; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._in], [], [], _PATIENCE)[0], f"the browser said nothing for {_PATIENCE} seconds"
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser is gone"
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, given = message.get("method"), message.get("params", {})
        if method == "Page.lifecycleEvent":
            self._loaded.add((given["loaderId"], given["name"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(given["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.complaints.append(str(given["entry"]))
        elif method == "Network.loadingFailed" and not given.get("canceled"):
            self.complaints.append(str(given))


def _pipe() -> list[int]:
    """Return the two ends of a pipe, neither of them with a number that the browser needs."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved
