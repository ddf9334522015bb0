"""A headless browser that looks at pages, driven through a pair of pipes: no driver, no port, no network.

It speaks the DevTools protocol: JSON messages that end with a zero byte, in on descriptor 3, out on 4.
"""

import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field

NAMES = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE = 60.0  # seconds for any one answer
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # a page that wants to go out finds nobody there
    "--remote-debugging-pipe",
    "--window-size=1200,900",
)
# Whatever descriptors Python's pipes have got, the browser wants 3 and 4.
_START = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_MEASURE = """
(() => {
  const sizes = [...document.querySelectorAll('figure svg, svg:root')].map(svg => {
    const box = svg.getBoundingClientRect();
    const drawn = svg.getBBox();
    return [box.width, box.height, drawn.width, drawn.height];
  });
  const root = document.documentElement;
  return {sizes, paper: getComputedStyle(document.body || root).backgroundColor,
          ink: getComputedStyle(document.querySelector('svg text') || root).fill,
          too_wide: root.scrollWidth - root.clientWidth};
})()
"""


def find_browser():
    """The path of a browser, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Look:
    """What was seen of a page: the sizes of its figures on the screen and of what is drawn in them, and its doings."""

    url: str
    sizes: list = field(default_factory=list)
    paper: str = ""
    ink: str = ""
    too_wide: float = 0.0
    complaints: list = field(default_factory=list)
    requests: list = field(default_factory=list)


def problems(look, n_figures):
    """What is wrong with a page that should show so many figures, say nothing and load nothing but itself."""
    found = [f"the console says: {complaint}" for complaint in look.complaints]
    found += [f"it loads {url}" for url in look.requests if url != look.url]
    if look.requests.count(look.url) != 1:
        found.append(f"the page itself was loaded {look.requests.count(look.url)} times")
    if len(look.sizes) != n_figures:
        found.append(f"it has {len(look.sizes)} figures instead of {n_figures}")
    found += [f"figure {i} is empty: {size}" for i, size in enumerate(look.sizes) if min(size) < 50]
    if look.too_wide > 0:
        found.append(f"it is {look.too_wide} pixels wider than the window")
    return found


class Browser:
    """A running browser; use it in a ``with`` block."""

    options = _OPTIONS

    def __init__(self, program, profile):
        self.program, self.profile = program, profile
        self.numbers, self.buffer, self.events = itertools.count(1), b"", []

    def __enter__(self):
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        command = [self.program, *self.options, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        return self

    def __exit__(self, *error):
        try:
            self._call("Browser.close")
            self.process.wait(_PATIENCE)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        finally:
            os.close(self.out)
            os.close(self.into)

    def look_at(self, path, *, dark=False):
        """Open a file in a page of its own and see what it does until it is loaded and quiet."""
        look = Look(path.as_uri())
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable", session)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", session, features=[scheme])
        self.events.clear()
        self._call("Page.navigate", session, url=look.url)
        self._wait_for("Page.loadEventFired")
        seen = self._call("Runtime.evaluate", session, expression=_MEASURE, returnByValue=True)["result"]["value"]
        self._listen(0.1)  # what failed to load is told a little later
        for event in self.events:
            _note(look, event["method"], event["params"])
        self._call("Target.closeTarget", targetId=target)
        look.sizes, look.paper, look.ink, look.too_wide = (seen[key] for key in ("sizes", "paper", "ink", "too_wide"))
        return look

    def _call(self, method, session=None, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read(_PATIENCE)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self._keep(answer)

    def _wait_for(self, method):
        while not any(event["method"] == method for event in self.events):
            self._keep(self._read(_PATIENCE))

    def _listen(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                self._keep(self._read(left))
            except TimeoutError:
                return

    def _keep(self, message):
        if "method" in message:
            self.events.append(message)

    def _read(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(end - time.monotonic(), 0))
            if not ready:
                raise TimeoutError("The browser did not answer in time.")
            piece = os.read(self.into, 1 << 16)
            if not piece:
                raise EOFError("The browser has ended.")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)


def _note(look, method, params):
    if method == "Network.requestWillBeSent":
        look.requests.append(params["request"]["url"])
    elif method == "Runtime.exceptionThrown":
        look.complaints.append(params["exceptionDetails"]["text"])
    elif method == "Runtime.consoleAPICalled":
        look.complaints.append(" ".join(str(part.get("value")) for part in params["args"]))
    elif method == "Log.entryAdded":
        look.complaints.append(params["entry"]["text"])
