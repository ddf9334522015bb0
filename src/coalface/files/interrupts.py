"""Ctrl-C, put off until what was begun is whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_put_off() -> Iterator[None]:
    """A block in which Ctrl-C waits; it is delivered where the block ends.

    What was learned and what the ledger says of it must not be torn apart. Only the main thread is ever
    interrupted, so elsewhere there is nothing to do.

    >>> try:
    ...     with interrupts_put_off():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("done")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    done
    interrupted
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    waiting: list[tuple[int, object]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if waiting:
            handler(*waiting[0])  # type: ignore[arg-type]
