"""Paid calls, written down before they are sent and when they end, so that no reply is bought twice."""

import math
import threading
from typing import Any

from coalface.desk.service.call_book import CALLED, CALLING, PAID
from coalface.desk.service.project_state import ProjectState
from coalface.errors import CoalfaceError

_CHECK = 0.1  # seconds after which a call that waits looks again


class BudgetTooSmallError(CoalfaceError, RuntimeError):
    """The rest of the budget does not cover a call at its greatest possible price."""


class Calls:
    """The calls of one judge to an endpoint; ``reply`` finds what was bought before, also in an earlier process."""

    def __init__(self, state: ProjectState, who: str) -> None:
        self._state, self._who = state, who
        self._mine: set[int] = set()  # calls of this process that are under way
        self._ended = threading.Condition()

    def reply(self, request: str) -> dict[str, Any] | None:
        """The reply on record to this request, a hash; None if there is none."""
        event = self._state.log.named(f"reply:{request}")
        return None if event is None else dict(event.body["reply"])

    def begin(self, request: str, example_id: str, at_most: float) -> int:
        """Write down that a request is about to be sent; the number of the call.

        The call is refused if the budget in money does not cover it. Calls that may have been paid count at the most
        that they can cost. If calls of other threads stand in the way, this one waits for them.
        """
        while True:
            with self._state.lock:
                left = self._left()
                if at_most <= left:
                    return self._begun(request, example_id, at_most)
                under_way = self._state.counters.calls.under_way
                if at_most > left + sum(under_way[call] for call in self._mine):
                    raise BudgetTooSmallError(
                        f"The next call can cost {at_most:.6g}, but {max(left, 0.0):.6g} of the budget is left. "
                        "Raise price in the [budget] of project.toml, or lower --max-tokens."
                    )
            with self._ended:
                self._ended.wait(_CHECK)

    def end(self, call: int, outcome: str, request: str = "", seconds: float | None = None, **more: Any) -> None:
        """Write down how a call ended; a paid one with its "reply", its tokens and its "price"."""
        ref = f"reply:{request}" if outcome == PAID else None
        with self._state.lock:
            with self._state.recording() as record:
                record.add(CALLED, {"call": call, "outcome": outcome, **more}, self._who, seconds=seconds, ref=ref)
            self._mine.discard(call)
        with self._ended:
            self._ended.notify_all()

    def _left(self) -> float:
        """What the budget in money leaves for further calls."""
        limit, counters = self._state.limits.price, self._state.counters
        if limit is None:
            return math.inf
        return limit * (1 + 1e-12) - counters.spent.price - counters.calls.at_risk  # sums of prices are not exact

    def _begun(self, request: str, example_id: str, at_most: float) -> int:
        example = self._state.project.pool.place(example_id)
        with self._state.recording() as record:
            record.add(CALLING, {"request": request, "at_most": at_most}, self._who, example)
        call = record.events[0].id
        self._mine.add(call)
        return call
