"""Log lines with the time, the level and the id of the request, as text for people or as JSON for programs."""

import json
import logging
import sys
import time
from contextvars import ContextVar
from typing import TextIO

from coalface.errors import InputError

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
FORMS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
_LOGGERS = ("coalface", "uvicorn", "py.warnings")


class _JsonLogLines(logging.Formatter):
    """One JSON object per line.

    >>> record = logging.LogRecord("coalface", logging.INFO, "", 0, "wrote %s", ("a.coalface",), None)
    >>> record.created = 0.25
    >>> _JsonLogLines().format(record)
    '{"time": "1970-01-01T00:00:00.250Z", "level": "info", "logger": "coalface", "message": "wrote a.coalface"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        line = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **({"request_id": REQUEST_ID.get()} if REQUEST_ID.get() else {}),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class _TextLogLines(logging.Formatter):
    r"""Time, level and message; a line break in a message is written as \n, so that a caller cannot forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line, and the traceback of an error after it."""
        message = record.getMessage().replace("\r", "\\r").replace("\n", "\\n")
        request = f" [{REQUEST_ID.get()}]" if REQUEST_ID.get() else ""
        trace = "\n" + self.formatException(record.exc_info) if record.exc_info else ""
        return f"{_time(record)} {record.levelname.lower()}{request} {message}{trace}"


def configure_logs(form: str = "text", level: str = "info", stream: TextIO | None = None) -> None:
    """Send the log of the service to a stream, by default to stderr."""
    if form not in FORMS or level not in LEVELS:
        raise InputError(
            f"The log must be one of {', '.join(FORMS)} at one of {', '.join(LEVELS)}, got {form!r} at {level!r}. "
            "Choose from these."
        )
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(_JsonLogLines() if form == "json" else _TextLogLines())
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        logger.setLevel(level.upper())


def _time(record: logging.LogRecord) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{whole}.{int(record.created % 1 * 1000):03d}Z"
