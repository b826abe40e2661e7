"""Headless Chromium over the DevTools protocol and two pipes: as much of it as the page's test needs."""
import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
KEYS = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def find_browser():
    """The program, or None where there is none."""
    return os.environ.get("REGRAPH_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab. What the page complains of and asks for is kept in `complaints` and `requests`."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(prefix="regraph-browser-")
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()
        # The browser reads from 3 and writes to 4; neither may be in the way of the other.
        ends = [os.dup(to_browser), os.dup(from_browser)]
        while min(ends) < 5:
            ends = [os.dup(end) for end in ends]

        def connect():
            os.setsid()
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.complaints = []
        self.requests = []
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        os.close(self.writer)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.reader)
        self.profile.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.reader, 1 << 16)
            if not data:
                raise ConnectionError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str(params["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 120
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != self.number:
                self.note(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def look(self, width, dark):
        """Sets the width in pixels and the colors that the user prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        """Opens a page and returns the seconds until it was drawn."""
        self.complaints.clear()
        self.requests.clear()
        start = time.monotonic()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while time.monotonic() < start + 60:
            ready = "document.readyState === 'complete' && 'ready' in document.documentElement.dataset"
            if self.evaluate("location.protocol === 'file:'") and self.evaluate(ready):
                return time.monotonic() - start
            if self.complaints:
                raise RuntimeError(f"the page was not drawn: {self.complaints}")
            time.sleep(0.01)
        raise TimeoutError("the page was not drawn")

    def press(self, key):
        code = KEYS.get(key, ord(key.upper()[0]))
        text = {"text": "\r" if key == "Enter" else key} if key == "Enter" or len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path):
        """The whole page, however long it is."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))
