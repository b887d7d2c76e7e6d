"""A headless Chromium with one tab, driven through the DevTools protocol over a pipe."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip
# The browser reads commands from descriptor 3 and writes answers to 4
_START = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1'
_COMPLAINTS = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Network.loadingFailed")


class Chromium:
    """A browser with one tab.

    ``complaints`` holds the messages of pages on the console, and the files that pages failed to load.
    """

    def __init__(self, profile: Path) -> None:
        command = ["sh", "-c", _START, "sh", PROGRAM, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.complaints: list[str] = []
        self._number, self._session, self._loaded = 0, dict[str, str](), set[str]()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, **self._session}
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, answer["error"]
        return dict(answer["result"])

    def open(self, address: str, width: int) -> None:
        """Load a page in a window of the given width; a narrow one is a phone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        for page in ("about:blank", address):  # else an address with another end alone is not reloaded
            self.complaints.clear()
            loader = self.call("Page.navigate", url=page)["loaderId"]
            while loader not in self._loaded:
                self._next()

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        assert self._process.stdout
        while (byte := self._process.stdout.read(1)) != b"\0":
            assert byte, "the browser is gone"
            text += byte
        message: dict[str, Any] = json.loads(text)
        given = message.get("params", {})
        if message.get("method") == "Page.lifecycleEvent" and given["name"] == "load":
            self._loaded.add(given["loaderId"])
        elif message.get("method") in _COMPLAINTS and not given.get("canceled"):
            self.complaints.append(str(given))
        return message
