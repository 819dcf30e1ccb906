"""A headless browser: chromium, driven by the DevTools protocol through a pipe."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --no-default-browser-check "
    "--disable-background-networking --disable-extensions --window-size=1500,1000 --remote-debugging-pipe"
)
TIMEOUT = 60.0


def found() -> str | None:
    """The path of the browser; none where it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. `said` are the messages on its console, `asked` the addresses that it requested."""

    def __init__(self, profile: Path) -> None:
        program = found()
        assert program is not None
        (its_in, self._out), (self._in, its_out) = os.pipe(), os.pipe()
        command = [program, *OPTIONS.split(), f"--user-data-dir={profile}"]
        # chromium reads from descriptor 3 and writes to 4.
        self._process = subprocess.Popen(
            command,
            preexec_fn=lambda: (os.dup2(its_in, 3), os.dup2(its_out, 4)),
            pass_fds=[3, 4],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(its_in)
        os.close(its_out)
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session: str | None = None
        self._events: deque[dict[str, Any]] = deque()
        self.said: list[str] = []
        self.asked: list[str] = []
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.tell(f"{domain}.enable")

    def close(self) -> None:
        """Ends the browser."""
        self._process.terminate()
        self._process.wait(TIMEOUT)
        os.close(self._in)
        os.close(self._out)

    def tell(self, method: str, **parameters: Any) -> Any:
        """Sends a command and waits for its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            answer = self._next(time.monotonic() + TIMEOUT)
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer}"
                return answer["result"]

    def wait(self, event: str) -> dict[str, Any]:
        """Waits for an event, unless it has already arrived."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            while self._events:
                happened = self._events.popleft()
                if happened["method"] == event:
                    return dict(happened["params"])
            self._next(deadline)

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            more = os.read(self._in, 1 << 16) if ready else b""
            assert more, "the browser says no more"
            self._rest += more
        first, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        if "method" in message:
            self._note(message["method"], message["params"])
            self._events.append(message)
        return message

    def _note(self, event: str, what: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.said.append(f"exception: {details.get('exception', {}).get('description', details['text'])}")
        elif event == "Runtime.consoleAPICalled":
            self.said.append(f"{what['type']}: {[word.get('value') for word in what['args']]}")
        elif event == "Log.entryAdded":
            self.said.append(f"{what['entry']['level']}: {what['entry']['text']}")
        elif event == "Network.requestWillBeSent":
            self.asked.append(what["request"]["url"])

    def open(self, page: Path) -> None:
        """Opens a file in the page."""
        self.tell("Page.navigate", url=page.as_uri())
        self.wait("Page.loadEventFired")

    def views(self, page: Path) -> Iterator[tuple[int, str]]:
        """Opens a page wide and narrow, light and dark, and gives the width and the scheme of each view. It has to be
        silent, and to ask for nothing but itself."""
        self.said.clear()
        self.asked.clear()
        for width in (1280, 600):
            self.tell("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            for scheme in ("light", "dark"):
                self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                self.open(page)
                self.until(f"document.documentElement.dataset.theme === '{scheme}'")
                yield width, scheme
        self.tell("Emulation.clearDeviceMetricsOverride")
        assert self.said == []
        assert {url for url in self.asked if not url.startswith("data:")} == {page.as_uri()}

    def ask(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        answer = self.tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{expression}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Waits until a condition of JavaScript holds."""
        deadline = time.monotonic() + TIMEOUT
        while not self.ask(condition):
            assert time.monotonic() < deadline, f"never: {condition}"
            time.sleep(0.02)

    def place(self, expression: str) -> tuple[float, float]:
        """The centre of an element, after scrolling it into view."""
        script = f"""(() => {{
            const element = {expression};
            element.scrollIntoView({{ block: "center" }});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()"""
        x, y = self.ask(script)
        return float(x), float(y)

    def hover(self, x: float, y: float) -> None:
        """Moves the mouse to a point."""
        for step in (-3, 0):
            self.tell("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)

    def click(self, x: float, y: float) -> None:
        """Clicks at a point."""
        for kind in ("mousePressed", "mouseReleased"):
            self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path: Path) -> None:
        """A picture of the whole page."""
        size = self.tell("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.tell("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))
