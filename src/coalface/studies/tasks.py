"""Runs many tasks on an executor: some at once, those that lost their worker again, results as they come."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

from coalface.files import interrupts_put_off
from coalface.studies.cells import Stopped

RETRIES = 2  # of a task that lost its worker
_POLL_SECONDS = 0.2  # how often the caller checks for Ctrl-C while tasks run
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class _Ended(Generic[T, R]):
    """A task that has ended: its item and either its result or, after all attempts, its error."""

    item: T
    result: R | None = None
    error: BaseException | None = None


def run_tasks(start: Callable[[T], "Future[R]"], items: Iterable[T], at_once: int) -> Iterator[list[_Ended[T, R]]]:
    """Start all items, at most ``at_once`` at a time, and return those that end; cancels what is left at the end.

    Those that have ended when the caller is ready come together, in a list.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as pool:
    ...     [ended[0].result for ended in run_tasks(lambda n: pool.submit(abs, n), [-1, -2], at_once=1)]
    [1, 2]
    """
    running: dict[Future[R], tuple[int, T]] = {}
    try:
        yield from _ending(start, items, at_once, running)
    finally:
        for future in running:
            future.cancel()


def _ending(
    start: Callable[[T], "Future[R]"], items: Iterable[T], at_once: int, running: "dict[Future[R], tuple[int, T]]"
) -> Iterator[list[_Ended[T, R]]]:
    """Tasks as they end. One whose worker died runs again at the end, alone, so that it harms no other.

    Ctrl-C waits while the futures are in use: an interrupt between two steps of their locks would release a lock that
    a worker holds, and the worker would fail with a traceback.
    """
    waiting, alone, lost = deque(enumerate(items)), deque[tuple[int, T]](), Counter[int]()

    def begin(numbered: tuple[int, T]) -> None:
        running[start(numbered[1])] = numbered

    def take(future: "Future[R]", numbered: tuple[int, T]) -> Iterator[_Ended[T, R]]:
        error = _error_of(future)
        if error is None:
            yield _Ended(numbered[1], result=future.result())
        elif lost[numbered[0]] < RETRIES:
            lost[numbered[0]] += 1
            alone.append(numbered)
        else:
            yield _Ended(numbered[1], error=error)

    while waiting or alone or running:
        ended: list[_Ended[T, R]] = []
        try:
            with interrupts_put_off():
                while waiting and len(running) < at_once:
                    begin(waiting.popleft())
                if alone and not running:
                    begin(alone.popleft())
                done, _ = wait(running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    ended += take(future, running.pop(future))
        finally:
            if ended:
                yield ended  # before an interrupt ends the run


def _error_of(future: "Future[R]") -> BaseException | None:
    """Why a task has no result; raises ``KeyboardInterrupt`` if that is what stopped it."""
    if future.cancelled():
        return CancelledError("the task was cancelled")
    error = future.exception()
    if isinstance(error, Stopped | KeyboardInterrupt):
        raise KeyboardInterrupt
    return error
