"""A person at a headless browser who opens pages, presses keys and reads."""

import base64
import json
import time

from tests.studies import browser

_KEYS = {
    "Enter": ("Enter", 13, "\r"),
    " ": ("Space", 32, " "),
    "Escape": ("Escape", 27, ""),
    "Backspace": ("Backspace", 8, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
}


class Visitor(browser.Browser):
    """A browser with one open page, which can reach only this machine."""

    options = tuple(
        option.replace("MAP * ~NOTFOUND", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1") for option in browser._OPTIONS
    )

    def __enter__(self):
        super().__enter__()
        self._target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._page = self._call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable", self._page)
        return self

    def open(self, url):
        """Open a page and wait until it is loaded."""
        self.events.clear()
        self._call("Page.navigate", self._page, url=url)
        self._wait_for("Page.loadEventFired")

    def reload(self):
        """Load the page again."""
        self.complaints()
        self.events.clear()
        self._call("Page.reload", self._page)
        self._wait_for("Page.loadEventFired")

    def press(self, *keys):
        """Press keys one after the other."""
        for key in keys:
            code, number, text = _KEYS.get(key, (key, ord(key[0].upper()), key))
            about = {"key": key, "code": code, "windowsVirtualKeyCode": number, "text": text}
            self._call("Input.dispatchKeyEvent", self._page, type="keyDown", **about)
            self._call("Input.dispatchKeyEvent", self._page, type="keyUp", key=key, code=code)

    def type(self, text):
        """Type into the element that has the focus."""
        self._call("Input.insertText", self._page, text=text)

    def see(self, expression):
        """The value of a JavaScript expression on the page."""
        answer = self._call("Runtime.evaluate", self._page, expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def text(self, selector):
        """The text of an element."""
        return self.see(f"document.querySelector({json.dumps(selector)})?.textContent.trim()")

    def wait(self, expression, seconds=120.0):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.see(f"Boolean({expression})"):
            assert time.monotonic() < end, (
                f"not seen in time: {expression}; the page says {self.see('document.body.innerText')}"
            )
            time.sleep(0.02)

    def set_screen(self, *, dark=False, width=1200, height=900):
        """Set the colour scheme and the size of the screen."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        touch = {"name": "pointer", "value": "coarse" if width < 600 else "fine"}
        hover = {"name": "hover", "value": "none" if width < 600 else "hover"}
        self._call("Emulation.setEmulatedMedia", self._page, features=[scheme, touch, hover])
        self._call(
            "Emulation.setDeviceMetricsOverride", self._page, width=width, height=height, deviceScaleFactor=1,
            mobile=width < 600,
        )  # fmt: skip

    def picture(self, path):
        """Write a picture of the visible part of the page."""
        answer = self._call("Page.captureScreenshot", self._page, format="png", optimizeForSpeed=False)
        path.write_bytes(base64.b64decode(answer["data"]))

    def complaints(self):
        """The console messages since the last page was opened."""
        look = browser.Look("")
        for event in self.events:
            browser._note(look, event["method"], event["params"])
        return look.complaints
