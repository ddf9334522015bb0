"""Says to the logger "coalface.work" what is going on, if it takes long; the command line shows these lines."""

import logging
from threading import Timer
from time import perf_counter
from types import TracebackType

WORK = logging.getLogger("coalface.work")


class LongWork:
    """A block of work; if it takes longer than ``after`` seconds, the log says what it is, and when it has ended.

    >>> with LongWork("adding two numbers", after=1.0):
    ...     print(1 + 1)
    2
    """

    def __init__(self, what: str, after: float) -> None:
        self.what, self.after = what, after

    def __enter__(self) -> None:
        self._began = perf_counter()
        self._timer = Timer(self.after, WORK.info, ["%s ...", self.what])
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._timer.cancel()
        seconds = perf_counter() - self._began
        if seconds > self.after and kind is None:
            WORK.info("%s: done in %.1f s", self.what, seconds)
