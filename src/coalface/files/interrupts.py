"""Ctrl-C, delayed until a block of code has finished."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_put_off() -> Iterator[None]:
    """A block that Ctrl-C does not interrupt; the interrupt is delivered when the block ends.

    It keeps the model and the ledger consistent. Python interrupts only the main thread, so in other threads this does
    nothing.

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
