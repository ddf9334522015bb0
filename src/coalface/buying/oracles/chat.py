"""An endpoint for chat completions that speaks OpenAI's protocol, over plain HTTP: one request, one outcome.

A request ends with a ``Completion`` or with one of three errors. ``EndpointBusyError``: it was turned down and not
paid. ``ReplyLostError``: it may have been paid, but no complete reply came. ``RunEndedError``: no other request can
succeed either.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from coalface.buying.oracles.programs import AnnotatorError, RunEndedError
from coalface.data.numbers import is_whole
from coalface.errors import InputError, in_one_line

try:
    import httpx
except ModuleNotFoundError:  # pragma: no cover
    raise InputError("LLM judges need httpx. Run: pip install 'coalface[app]'") from None

DEFAULT_URL = "https://api.openai.com/v1"
_LONGEST_REPLY = 1 << 20  # bytes
_LONGEST_ERROR = 300  # characters
_NOT_PAID = (409, 425, 429, 500, 503)  # turned down; another attempt may succeed
_UNCLEAR = (408, 502, 504)  # given up on the way; the model may have answered
_MALFORMED = (400, 404, 415, 422, 501)  # perhaps because of a parameter that the endpoint does not know


class EndpointBusyError(AnnotatorError):
    """The endpoint turned a request down, unpaid; ``wait`` is how many seconds it wants, if it said so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class ReplyLostError(AnnotatorError):
    """No complete reply came, but the endpoint may charge for it."""


@dataclass(frozen=True)
class Completion:
    """What the model said: its ``text``, or why it refused; and the tokens charged for, if the endpoint tells."""

    text: str
    refusal: str = ""
    cut_off: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    id: str = ""


class _Dialect:
    """The optional parameters that an endpoint accepts; one that it refuses is replaced or left out from then on."""

    def __init__(self) -> None:
        self._formats = ["json_schema", "json_object", ""]
        self._limits = ["max_tokens", "max_completion_tokens"]
        self._plain = ["temperature", "seed"]
        self._lock = threading.Lock()

    def spoken(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The request in the parameters that the endpoint accepts."""
        with self._lock:
            spoken: dict[str, Any] = {name: request[name] for name in ("model", "messages", *self._plain)}
            spoken[self._limits[0]] = request["max_tokens"]
            if self._formats[0] == "json_schema":
                form = {"name": "reply", "strict": True, "schema": request["schema"]}
                spoken["response_format"] = {"type": "json_schema", "json_schema": form}
            elif self._formats[0]:
                spoken["response_format"] = {"type": self._formats[0]}
            return spoken

    def refused(self, sent: Mapping[str, Any], complaint: str) -> None:
        """Take note that a request was refused: leave out what the complaint names, else the form of the reply."""
        with self._lock:
            named = [name for name in self._plain if name in complaint and name in sent]
            if named:
                self._plain.remove(named[0])
            elif len(self._limits) > 1 and self._limits[0] in complaint and self._limits[0] in sent:
                self._limits.pop(0)
            elif len(self._formats) > 1 and sent.get("response_format", {}).get("type") == self._formats[0]:
                self._formats.pop(0)


class ChatEndpoint:
    """One model at an endpoint; the key is sent with each request and appears nowhere else.

    ``transport`` replaces the network in tests.

    >>> def said(request):
    ...     message = {"role": "assistant", "content": "4"}
    ...     return httpx.Response(200, json={"choices": [{"message": message}], "usage": {"prompt_tokens": 9}})
    >>> endpoint = ChatEndpoint("http://localhost:8000/v1", "", transport=httpx.MockTransport(said))
    >>> request = {"model": "small", "messages": [{"role": "user", "content": "2 + 2?"}], "schema": {}}
    >>> endpoint.complete({**request, "temperature": 0, "seed": 0, "max_tokens": 5}).text
    '4'
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        timeout: float = 60.0,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            url = httpx.URL(base_url)
        except httpx.InvalidURL:
            url = httpx.URL("")
        if url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise InputError(
                "OPENAI_BASE_URL must be an address such as https://api.openai.com/v1, without a password. "
                "Put the key into OPENAI_API_KEY."
            )
        if any(not 32 < ord(letter) < 127 for letter in key):
            raise InputError("OPENAI_API_KEY must be a key of printable ASCII characters. Set it without line breaks.")
        self.url = f"{base_url.rstrip('/')}/chat/completions"
        self._key, self._timeout, self._clock = key, timeout, clock
        self._dialect = _Dialect()
        self._client = httpx.Client(timeout=timeout, transport=transport, follow_redirects=False)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def complete(self, request: Mapping[str, Any]) -> Completion:
        """The completion of a request: "model", "messages", "temperature", "seed", "max_tokens" and "schema".

        A request in a form that the endpoint refuses is not paid. It is sent again in a plainer form.
        """
        while True:
            sent = self._dialect.spoken(request)
            status, headers, body = self._post(sent)
            if status == 200:
                return self._completion(body)
            complaint = self._safe(body.decode("utf-8", "replace"))
            if status in _MALFORMED:
                self._dialect.refused(sent, complaint)
                if self._dialect.spoken(request) != sent:
                    continue
            raise _failure(status, headers, complaint[:_LONGEST_ERROR])

    def _post(self, sent: Mapping[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        deadline, body = self._clock() + self._timeout, b""
        try:
            with self._client.stream("POST", self.url, json=sent, headers=headers) as response:
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > _LONGEST_REPLY:
                        raise ReplyLostError(f"{self._host} gave a reply of more than {_LONGEST_REPLY:,} bytes.")
                    if self._clock() > deadline:
                        raise ReplyLostError(f"{self._host} gave no complete reply within {self._timeout:g} seconds.")
                return response.status_code, response.headers, body
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as problem:
            raise EndpointBusyError(f"{self._host} cannot be reached ({self._safe(in_one_line(problem))}).") from None
        except httpx.TimeoutException:
            raise ReplyLostError(f"{self._host} gave no complete reply within {self._timeout:g} seconds.") from None
        except httpx.HTTPError as problem:
            raise ReplyLostError(f"{self._host} gave no complete reply ({self._safe(in_one_line(problem))}).") from None

    def _completion(self, body: bytes) -> Completion:
        try:
            plain = json.loads(body)
            choice, usage = plain["choices"][0], plain.get("usage") or {}
            message, ended = choice["message"], choice.get("finish_reason")
            refused = message.get("refusal") or ("its filter stopped the reply" if ended == "content_filter" else "")
            return Completion(
                text=self._safe(str(message.get("content") or "")),
                refusal=self._safe(str(refused)),
                cut_off=ended == "length",
                tokens_in=_count(usage.get("prompt_tokens")),
                tokens_out=_count(usage.get("completion_tokens")),
                id=self._safe(str(plain.get("id", ""))),
            )
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise ReplyLostError(f"{self._host} gave a reply that is not a chat completion.") from None

    @property
    def _host(self) -> str:
        return httpx.URL(self.url).host

    def _safe(self, text: str) -> str:
        """The text without the key, which some endpoints repeat."""
        return text.replace(self._key, "***") if self._key else text


def _failure(status: int, headers: httpx.Headers, complaint: str) -> AnnotatorError:
    said = f"status {status}: {' '.join(complaint.split())}"
    if status in _NOT_PAID:
        return EndpointBusyError(f"The endpoint turned the request down ({said}).", _wanted_wait(headers))
    if status in _UNCLEAR:
        return ReplyLostError(f"The endpoint gave up ({said}).")
    remedy = "Check OPENAI_API_KEY." if status in (401, 403) else "Check OPENAI_BASE_URL and the name of the model."
    return RunEndedError(f"The endpoint refused the request ({said}). {remedy}")


def _wanted_wait(headers: httpx.Headers) -> float | None:
    """The seconds in Retry-After, which may also be a date."""
    text = headers.get("retry-after", "")
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return None


def _count(value: Any) -> int | None:
    return value if is_whole(value) and value >= 0 else None
