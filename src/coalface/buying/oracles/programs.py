"""Annotators that are programs: a Python function, a command that speaks JSON lines, or an HTTP endpoint.

Each gets a question as plain values and returns ``{"costs": {label: number or null}}`` or ``{"label": true label}``,
optionally with a "price" and a "note". A plain mapping of labels to numbers is accepted too.
"""

import importlib
import json
import os
import selectors
import shlex
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from queue import Empty, SimpleQueue
from typing import Any

from coalface.errors import CoalfaceError, InputError

Annotator = Callable[[dict[str, Any]], Any]
_LONGEST_REPLY = 1 << 20  # bytes


class AnnotatorError(CoalfaceError, RuntimeError):
    """An annotator gave no valid reply; another attempt may succeed."""


class NoAnswerError(AnnotatorError):
    """An annotator gave no valid answer to one question and would not later; ``bought`` if the attempt cost money."""

    def __init__(self, message: str, *, bought: bool) -> None:
        super().__init__(message)
        self.bought = bought


class RunEndedError(AnnotatorError):
    """No further question can be answered: ``reason``, a key of ``ENDED``, or an error if there is none."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


def annotator_of(spec: str, timeout: float = 60.0) -> Annotator:
    """The annotator for a specification: ``http://...``, ``module:function``, or a command.

    >>> annotator_of("json:dumps")({"labels": ["cat"]})
    '{"labels": ["cat"]}'
    """
    if spec.startswith(("http://", "https://")):
        return _HttpAnnotator(spec, timeout)
    module, colon, function = spec.partition(":")
    if colon and module.replace(".", "").isidentifier() and function.isidentifier():
        return _imported(module, function)
    return CommandAnnotator(spec, timeout)


def reply_of(raw: Any) -> dict[str, Any]:
    """An annotator's reply in its full form, with either "costs" or "label".

    >>> reply_of({"cat": 0.5})
    {'costs': {'cat': 0.5}}
    """
    if not isinstance(raw, Mapping):
        raise AnnotatorError(
            f"An annotator must return a mapping such as {{'costs': {{label: number}}}}, got {raw!r:.80}. Correct it."
        )
    if isinstance(raw.get("costs"), Mapping):
        return {**raw, "costs": dict(raw["costs"])}
    if "label" in raw and (raw["label"] is None or isinstance(raw["label"], str)):
        return dict(raw)
    return {"costs": dict(raw)}


def _imported(module: str, function: str) -> Annotator:
    if "" not in sys.path:
        sys.path.insert(0, "")  # like python -m: the module may be in the working folder
    try:
        found: Annotator = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as problem:
        raise InputError(
            f"The annotator {module}:{function} cannot be imported ({problem}). Check the module and function names."
        ) from None
    return found


class _HttpAnnotator:
    """An HTTP endpoint: takes the question as JSON, returns the reply as JSON."""

    def __init__(self, url: str, timeout: float = 60.0) -> None:
        self.url, self.timeout = url, timeout

    def __call__(self, question: dict[str, Any]) -> Any:
        """The reply; an AnnotatorError if no valid one comes in time."""
        try:
            return json.loads(_in_time(lambda: self._post(json.dumps(question).encode()), self.timeout))
        except (OSError, ValueError, HTTPException) as problem:
            raise AnnotatorError(
                f"{self.url} gave no valid reply: {problem}. Send it one question by hand, and read its log."
            ) from None

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        request = urllib.request.Request(self.url, body, headers)
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            reply: bytes = response.read(_LONGEST_REPLY)
        return reply


class CommandAnnotator:
    """A command that reads one question per line and writes one reply per line; each thread starts its own process."""

    def __init__(self, command: str, timeout: float = 60.0) -> None:
        self.command, self.timeout = shlex.split(command), timeout
        if not self.command:
            raise InputError("The annotator must be a URL, module:function or a command, got an empty text. Name one.")
        self._own = threading.local()
        self._all: list[subprocess.Popen[bytes]] = []

    def __call__(self, question: dict[str, Any]) -> Any:
        """The reply; a process that fails or is too slow is killed, and the next call starts another."""
        process = self._process()
        try:
            return json.loads(_exchange(process, json.dumps(question).encode() + b"\n", self.timeout))
        except (OSError, ValueError) as problem:
            process.kill()
            self._own.process = None
            raise AnnotatorError(
                f"{self.command[0]} gave no valid reply: {problem}. Run it by hand with one question."
            ) from None

    def close(self) -> None:
        """Kill all processes."""
        for process in self._all:
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # a pipe without a reader cannot be flushed
                    if pipe is not None:
                        pipe.close()
            process.kill()
            process.wait()
        self._all.clear()

    def _process(self) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] | None = getattr(self._own, "process", None)
        if process is None or process.poll() is not None:
            try:
                process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
            except OSError as problem:
                raise InputError(
                    f"The annotator {self.command[0]} cannot be run ({problem.strerror}). Check the command."
                ) from None
            if process.stdin is not None:
                os.set_blocking(process.stdin.fileno(), False)  # writing must not block when the program does not read
            self._all.append(process)
            self._own.process = process
        return process


def _in_time(call: Callable[[], bytes], timeout: float) -> bytes:
    """The result of a call, or an OSError after ``timeout`` seconds; a socket's own timeout restarts with every byte.

    A call that is too slow goes on in a daemon thread, and its result is dropped.
    """
    ended: SimpleQueue[tuple[bytes, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            ended.put((call(), None))
        except BaseException as problem:
            ended.put((b"", problem))

    threading.Thread(target=run, daemon=True).start()
    try:
        reply, problem = ended.get(timeout=timeout)
    except Empty:
        raise OSError(f"no reply within {timeout:g} seconds") from None
    if problem is not None:
        raise problem
    return reply


def _exchange(process: subprocess.Popen[bytes], line: bytes, timeout: float) -> bytes:
    """Write one line and read one line within ``timeout`` seconds."""
    if process.stdin is None or process.stdout is None:
        raise OSError("it has no input or no output")
    deadline, reply = time.monotonic() + timeout, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while not reply.endswith(b"\n"):
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise OSError(f"no reply within {timeout:g} seconds")
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    line = line[os.write(key.fd, line) :]
                    if not line:
                        selector.unregister(process.stdin)
                else:
                    piece = os.read(key.fd, 65536)
                    reply += piece
                    if not piece or len(reply) > _LONGEST_REPLY:
                        raise OSError("it ended" if not piece else "its reply is too long")
    if line:
        raise OSError("it replied before it had read the question")
    return reply
