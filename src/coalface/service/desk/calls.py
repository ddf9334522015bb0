"""Paid calls, written down before they are sent and when they end, so that no reply is bought twice."""

import math
from typing import Any

from coalface.errors import CoalfaceError
from coalface.service.desk.call_book import CALLED, CALLING, PAID, CallBook
from coalface.service.desk.project_state import ProjectState


class CallTooExpensive(CoalfaceError, RuntimeError):
    """The rest of the budget does not cover a call at its greatest possible price."""


class Calls:
    """The calls of one judge to an endpoint; ``reply`` finds what was bought before, also in an earlier process."""

    def __init__(self, state: ProjectState, who: str) -> None:
        self._state, self._who = state, who

    def reply(self, request: str) -> dict[str, Any] | None:
        """The reply on record to this request, a hash; None if there is none."""
        event = self._state.log.named(f"reply:{request}")
        return None if event is None else dict(event.body["reply"])

    def begin(self, request: str, example_id: str, at_most: float) -> int:
        """Write down that a request is about to be sent; the number of the call.

        The call is refused if the budget in money does not cover it. Calls that are under way, or that may have been
        paid, count at the most that they can cost.
        """
        state = self._state
        with state.lock:
            limit, book = state.project.limits.price, state.counters.calls
            left = math.inf if limit is None else limit * (1 + 1e-12) - state.counters.spent.price - book.at_risk
            if at_most > left:
                raise CallTooExpensive(
                    f"The next call can cost {at_most:.6g}, but {max(left, 0.0):.6g} of the budget is left. "
                    "Raise price in the [budget] of project.toml, or lower --max-tokens."
                )
            with state.recording() as record:
                example = state.project.pool.place(example_id)
                record.add(CALLING, {"request": request, "at_most": at_most}, self._who, example)
            return record.events[0].id

    def end(self, call: int, outcome: str, request: str = "", seconds: float | None = None, **more: Any) -> None:
        """Write down how a call ended; a paid one with its "reply", its tokens and its "price"."""
        ref = f"reply:{request}" if outcome == PAID else None
        with self._state.recording() as record:
            record.add(CALLED, {"call": call, "outcome": outcome, **more}, self._who, seconds=seconds, ref=ref)

    def book(self) -> CallBook:
        """The books of the project's calls."""
        return self._state.counters.calls
