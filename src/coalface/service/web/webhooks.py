"""Events told to another service, signed as Standard Webhooks (version 1) has it, in order, at least once each.

The log is the queue: a number in a file says how far it was delivered. An endpoint that is down is tried again, less
and less often, and misses nothing; one that answers 410 (gone) is left alone. The receiver knows an event that comes
twice by its ``webhook-id``.
"""

import base64
import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coalface.errors import FileFormatError, InputError
from coalface.files.atomic import atomic_write
from coalface.service.desk.desk import Desk
from coalface.service.desk.messages import Event

TOLD = {
    "answered": "answer.created",
    "undone": "answer.undone",
    "expired": "query.expired",
    "snapshot": "model.updated",
    "stopped": "labelling.stopped",
}
_GONE = 410
_LONGEST_WAIT = 300.0  # seconds between attempts
Post = Callable[[str, bytes, dict[str, str]], int]


def new_secret() -> str:
    """A secret that sender and receiver share.

    >>> new_secret().startswith("whsec_")
    True
    """
    return "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()


def signature_of(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of the header ``webhook-signature``.

    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> signature_of(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


class Messenger:
    """Tells one endpoint what happens at a desk, from a thread of its own."""

    def __init__(self, desk: Desk, url: str, secret: str, place: Path, post: Post | None = None) -> None:
        check_endpoint(url, secret)
        self._desk, self._url, self._secret, self._place = desk, url, secret, place
        self._post = post or _post
        self._told = _told_before(place)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        """Begin where the last run stopped."""
        self._thread.start()

    def stop(self) -> None:
        """End soon; what was not delivered waits for the next start."""
        self._ending.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        wait = 1.0
        while not self._ending.wait(wait):
            try:
                delivered = self.deliver()
            except Exception:
                logging.getLogger("coalface").exception("webhooks cannot read the log")
                delivered = False
            if delivered is None:
                return
            wait = 1.0 if delivered else min(2.0 * wait, _LONGEST_WAIT)

    def deliver(self) -> bool | None:
        """Tell everything that is new; False if the endpoint did not take it, None if it is gone for good."""
        while found := self._desk.events(after=self._told, limit=100):
            for event in found:
                if event.kind in TOLD:
                    status = self._tell(event)
                    if status == _GONE:
                        logging.getLogger("coalface").warning("webhooks end: %s is gone", self._url)
                        return None
                    if not 200 <= status < 300:
                        return False
                    self._keep(event.id)
                self._told = event.id
            self._keep(self._told)
            if self._ending.is_set():
                break
        return True

    def _tell(self, event: Event) -> int:
        project = self._desk.project
        data: dict[str, Any] = {"project": project.name, "event": event.id, "who": event.who, "body": event.body}
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(event.at))
        body = json.dumps({"type": TOLD[event.kind], "timestamp": at, "data": data}, allow_nan=False).encode()
        message_id, now = f"msg_{project.id}_{event.id}", int(time.time())
        headers = {
            "content-type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(now),
            "webhook-signature": signature_of(self._secret, message_id, now, body),
        }
        return self._post(self._url, body, headers)

    def _keep(self, told: int) -> None:
        self._told = told
        with atomic_write(self._place) as file:
            file.write(str(told).encode())


def check_endpoint(url: str, secret: str) -> None:
    """Refuse an address or a secret that cannot work."""
    if not url.startswith(("https://", "http://")):
        raise InputError(f"A webhook must begin with https:// or http://, got {url!r}.")
    try:
        fits = secret.startswith("whsec_") and 24 <= len(base64.b64decode(secret[6:], validate=True)) <= 64
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            "The webhook secret must be whsec_ and 24 to 64 bytes in base64, got something else. Make one with "
            "coalface.service.web.webhooks.new_secret()."
        )


def _told_before(place: Path) -> int:
    """The number of the last event that was told; 0 before there is one."""
    if not place.exists():
        return 0
    text = place.read_bytes()[:40].decode("utf-8", "replace").strip()
    if not (text.isascii() and text.isdigit()):
        raise FileFormatError(
            f"{place} must hold the number of the last event that was told, got {text!r}. Write that number there, or "
            "remove the file to have everything told again."
        )
    return int(text)


def _post(url: str, body: bytes, headers: dict[str, str]) -> int:
    import httpx

    try:
        return httpx.post(url, content=body, headers=headers, timeout=20.0).status_code
    except httpx.HTTPError:
        return 0
