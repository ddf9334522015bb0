"""Webhooks: events sent to another service, signed by Standard Webhooks (version 1), in order, at least once each.

The event log is the queue; a file holds the number of the last event delivered. All events that wait go together in one
message, so a slow endpoint keeps up. If it is down, delivery is retried with growing pauses and no event is
lost. After a response of 410 (gone), delivery ends.
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

from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import LogEvent
from coalface.errors import FileFormatError, InputError
from coalface.files import atomic_write

EVENT_TYPES = {
    "answered": "answer.created",
    "undone": "answer.undone",
    "expired": "query.expired",
    "snapshot": "model.updated",
    "stopped": "labelling.stopped",
}
_GONE = 410
_LONGEST_WAIT = 300.0  # seconds between two attempts
_POLL = 0.25  # seconds between two looks at the log
_MOST_EVENTS = 500  # of the log that one message covers
_SECONDS_TO_CONNECT, _SECONDS_TO_REPLY = 5.0, 20.0
Post = Callable[[str, bytes, dict[str, str]], int]


def new_secret() -> str:
    """A random secret for the sender and the receiver.

    >>> new_secret().startswith("whsec_")
    True
    """
    return "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()


def _signature_of(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of the header ``webhook-signature``.

    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> _signature_of(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


class Messenger:
    """Delivers the events of a desk to one endpoint, from its own thread."""

    def __init__(self, desk: Desk, url: str, secret: str, progress_file: Path, post: Post | None = None) -> None:
        _check_endpoint(url, secret)
        self._desk, self._url, self._secret, self._progress_file = desk, url, secret, progress_file
        self._post = post or _PooledConnection().post
        self._delivered = _last_delivered(progress_file)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        """Continue after the last event delivered."""
        self._thread.start()

    def stop(self) -> None:
        """End soon; the next start delivers the remaining events."""
        self._ending.set()
        self._thread.join(5.0)

    @property
    def waiting(self) -> int:
        """How many events of the log were not delivered or passed over yet."""
        return max(self._desk.store.log.last() - self._delivered, 0)

    def _run(self) -> None:
        wait = _POLL
        while not self._ending.wait(wait):
            try:
                delivered = self.deliver()
            except Exception:
                logging.getLogger("coalface").exception("webhooks cannot read the event log")
                delivered = False
            if delivered is None:
                return
            wait = _POLL if delivered else min(max(2.0 * wait, 1.0), _LONGEST_WAIT)

    def deliver(self) -> bool | None:
        """Deliver all new events; False if the endpoint did not accept some, None if it is gone (410)."""
        while found := self._desk.events(after=self._delivered, limit=_MOST_EVENTS):
            told = [event for event in found if event.kind in EVENT_TYPES]
            status = self._send(told) if told else 200
            if status == _GONE:
                logging.getLogger("coalface").warning("webhook delivery ends: %s is gone (410)", self._url)
                return None
            if not 200 <= status < 300:
                logging.getLogger("coalface").warning("webhook: %s answered %d, trying again later", self._url, status)
                return False
            self._record(found[-1].id)
            if self._ending.is_set():
                break
        return True

    def _send(self, events: list[LogEvent]) -> int:
        """Send events as one message; the same events have the same ``webhook-id``."""
        project, now = self._desk.project, int(time.time())
        data = {"project": project.name, "events": [_plain(event) for event in events]}
        content = {"type": "events.created", "timestamp": _timestamp(now), "data": data}
        body = json.dumps(content, allow_nan=False).encode()
        message_id = f"msg_{project.id}_{events[0].id}_{events[-1].id}"
        headers = {
            "content-type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(now),
            "webhook-signature": _signature_of(self._secret, message_id, now, body),
        }
        return self._post(self._url, body, headers)

    def _record(self, delivered: int) -> None:
        self._delivered = delivered
        with atomic_write(self._progress_file) as file:
            file.write(str(delivered).encode())


def _check_endpoint(url: str, secret: str) -> None:
    """Refuse an invalid URL or secret."""
    if not url.startswith(("https://", "http://")):
        raise InputError(f"A webhook URL must begin with https:// or http://, got {url!r}. Correct it.")
    try:
        fits = secret.startswith("whsec_") and 24 <= len(base64.b64decode(secret[6:], validate=True)) <= 64
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            "The webhook secret must be whsec_ and 24 to 64 bytes in base64; the one given is not. Make one with "
            "coalface.desk.web.webhooks.new_secret()."
        )


def _last_delivered(progress_file: Path) -> int:
    """The number of the last event delivered; 0 if there is none."""
    if not progress_file.exists():
        return 0
    text = progress_file.read_bytes()[:40].decode("utf-8", "replace").strip()
    if not (text.isascii() and text.isdigit()):
        raise FileFormatError(
            f"{progress_file} must hold the number of the last event delivered, got {text!r}. Write that number into "
            "it, or remove the file to deliver all events again."
        )
    return int(text)


def _plain(event: LogEvent) -> dict[str, Any]:
    at = _timestamp(event.at)
    return {"type": EVENT_TYPES[event.kind], "event": event.id, "timestamp": at, "who": event.who, "body": event.body}


def _timestamp(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


class _PooledConnection:
    """Posts over one connection that is kept open between messages."""

    def __init__(self) -> None:
        import httpx

        limits = httpx.Timeout(_SECONDS_TO_REPLY, connect=_SECONDS_TO_CONNECT)
        self._client, self._error = httpx.Client(timeout=limits, follow_redirects=False), httpx.HTTPError

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> int:
        """The status of the response; 0 if there was none."""
        try:
            return self._client.post(url, content=body, headers=headers).status_code
        except self._error:
            return 0
