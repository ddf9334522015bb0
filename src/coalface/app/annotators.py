"""Annotators that are programs: a Python function, a command that speaks JSON lines, or an HTTP endpoint.

Each is given a question as plain values and gives back ``{"costs": {label: number or null}}`` or ``{"label": truth}``,
where it likes with a "price" and a "note". A bare mapping of labels to numbers will do, too.
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
from typing import Any

from coalface.errors import CoalfaceError, InputError

Annotator = Callable[[dict[str, Any]], Any]
_LONGEST_REPLY = 1 << 20  # bytes


class AnnotatorError(CoalfaceError, RuntimeError):
    """An annotator did not answer, or not as it should; it may be asked again."""


def annotator_of(spec: str, timeout: float = 60.0) -> Annotator:
    """The annotator that a text names: ``http://...``, ``module:function``, or a command.

    >>> annotator_of("json:dumps")({"labels": ["cat"]})
    '{"labels": ["cat"]}'
    """
    if spec.startswith(("http://", "https://")):
        return HttpAnnotator(spec, timeout)
    module, colon, function = spec.partition(":")
    if colon and module.replace(".", "").isidentifier() and function.isidentifier():
        return _imported(module, function)
    return CommandAnnotator(spec, timeout)


def reply_of(raw: Any) -> dict[str, Any]:
    """What an annotator said, with either "costs" or "label".

    >>> reply_of({"cat": 0.5})
    {'costs': {'cat': 0.5}}
    """
    if not isinstance(raw, Mapping):
        raise AnnotatorError(f"An annotator must give back a mapping, got {raw!r:.80}.")
    if isinstance(raw.get("costs"), Mapping):
        return {**raw, "costs": dict(raw["costs"])}
    if "label" in raw and (raw["label"] is None or isinstance(raw["label"], str)):
        return dict(raw)
    return {"costs": dict(raw)}


def _imported(module: str, function: str) -> Annotator:
    if "" not in sys.path:
        sys.path.insert(0, "")  # as python -m does: the module may lie in the working folder
    try:
        found: Annotator = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as problem:
        raise InputError(f"The annotator {module}:{function} cannot be imported ({problem}). Check its name.") from None
    return found


class HttpAnnotator:
    """Posts the question as JSON and reads the reply as JSON."""

    def __init__(self, url: str, timeout: float = 60.0) -> None:
        self.url, self.timeout = url, timeout

    def __call__(self, question: dict[str, Any]) -> Any:
        """The reply; an AnnotatorError if there is none in time."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        request = urllib.request.Request(self.url, json.dumps(question).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                return json.loads(response.read(_LONGEST_REPLY))
        except (OSError, ValueError) as problem:
            raise AnnotatorError(f"{self.url} did not answer as it should: {problem}.") from None


class CommandAnnotator:
    """A command that reads a question per line and writes a reply per line; each thread has a process of its own."""

    def __init__(self, command: str, timeout: float = 60.0) -> None:
        self.command, self.timeout = shlex.split(command), timeout
        if not self.command:
            raise InputError("The annotator must be an address, module:function or a command, got nothing.")
        self._own = threading.local()
        self._all: list[subprocess.Popen[bytes]] = []

    def __call__(self, question: dict[str, Any]) -> Any:
        """The reply; a process that fails or is too slow is ended, and another one is started next time."""
        process = self._process()
        try:
            _send(process, json.dumps(question).encode() + b"\n")
            return json.loads(_line(process, self.timeout))
        except (OSError, ValueError) as problem:
            process.kill()
            self._own.process = None
            raise AnnotatorError(f"{self.command[0]} did not answer as it should: {problem}.") from None

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # a pipe whose reader is gone cannot be flushed
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
                raise InputError(f"The annotator {self.command[0]} cannot be run ({problem.strerror}).") from None
            self._all.append(process)
            self._own.process = process
        return process


def _send(process: subprocess.Popen[bytes], line: bytes) -> None:
    if process.stdin is None:
        raise OSError("it has no input")
    process.stdin.write(line)


def _line(process: subprocess.Popen[bytes], timeout: float) -> bytes:
    """The next line, within the time."""
    if process.stdout is None:
        raise OSError("it has no output")
    deadline, line = time.monotonic() + timeout, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise OSError(f"no reply within {timeout:g} seconds")
            piece = os.read(process.stdout.fileno(), 65536)
            line += piece
            if not piece or len(line) > _LONGEST_REPLY:
                raise OSError("it ended" if not piece else "its reply is too long")
    return line
