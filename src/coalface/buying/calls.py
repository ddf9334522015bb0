"""Paid calls, written down before they are sent and when they end, so that no reply is bought twice.

Every call is two events. "calling" is written before the request is sent, with the most that it can cost. "called" is
written when the call ends: with the reply and its price, or without a reply. A call whose end was never written was
under way when the process ended. Such a call, and one whose reply was lost, may have been paid.
"""

import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from coalface.errors import CoalfaceError
from coalface.rounds.event_log import Event, EventLog

CALLING, CALLED = "calling", "called"
PAID, UNPAID, LOST = "paid", "unpaid", "lost"  # the outcomes of a call
_CHECK = 0.1  # seconds after which a call that waits looks again


class BudgetTooSmallError(CoalfaceError, RuntimeError):
    """The rest of the budget does not cover a call at its greatest possible price."""


@dataclass
class CallBook:
    """Sums over the calls of a project, event by event.

    >>> book = CallBook()
    >>> book.take_in(Event("calling", at=1.0, who="gpt", body={"at_most": 0.02}, id=7))
    0.0
    >>> book.possibly_paid, book.at_risk
    (1, 0.02)
    >>> book.take_in(Event("called", at=2.0, who="gpt", body={"call": 7, "outcome": "paid", "price": 0.01}, id=8))
    0.01
    >>> book.possibly_paid, book.replies, book.price
    (0, 1, 0.01)
    """

    replies: int = 0  # calls that ended with a reply
    unpaid: int = 0  # calls that the endpoint turned down
    tokens_in: int = 0
    tokens_out: int = 0
    price: float = 0.0
    under_way: dict[int, float] = field(default_factory=dict)  # call -> the most that it can cost
    lost: dict[int, float] = field(default_factory=dict)  # the same, of calls that ended without a complete reply

    @property
    def possibly_paid(self) -> int:
        """How many calls may have been paid without a reply on record."""
        return len(self.under_way) + len(self.lost)

    @property
    def at_risk(self) -> float:
        """The most that those calls can have cost."""
        return sum(self.under_way.values()) + sum(self.lost.values())

    def take_in(self, event: Event) -> float:
        """Book one event; the price that it adds to what is known to be spent."""
        body: dict[str, Any] = event.body
        if event.kind == CALLING:
            self.under_way[event.id] = float(body["at_most"])
        if event.kind != CALLED:
            return 0.0
        most = self.under_way.pop(body["call"], 0.0)
        if body["outcome"] == LOST:
            self.lost[body["call"]] = most
        if body["outcome"] != PAID:
            self.unpaid += body["outcome"] == UNPAID
            return 0.0
        price = body.get("price", 0.0)
        self.replies += 1
        self.tokens_in += body.get("tokens_in", 0)
        self.tokens_out += body.get("tokens_out", 0)
        self.price += price
        if "price" not in body:  # the endpoint did not say how many tokens it charged for
            self.lost[body["call"]] = most
        return float(price)

    def plain(self) -> dict[str, Any]:
        """The sums as JSON values."""
        names = ("replies", "unpaid", "tokens_in", "tokens_out", "price", "possibly_paid", "at_risk")
        return {name: getattr(self, name) for name in names}


class _CallRecord(Protocol):
    """Where calls are written down: the log of a project, the sums over it, and its budget in money."""

    @property
    def log(self) -> EventLog:
        """The log of events."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The lock that a caller who writes holds."""

    @property
    def calls(self) -> CallBook:
        """The sums over all calls so far."""

    @property
    def price_left(self) -> float:
        """What the budget leaves, if no call that may have been paid was paid; infinite without a limit."""

    def record_call(self, kind: str, body: dict[str, Any], who: str, example_id: str | None = None, **more: Any) -> int:
        """Write an event, with ``more`` of its fields; its number."""


class Calls:
    """The calls of one judge to an endpoint; ``reply`` finds what was bought before, also in an earlier process."""

    def __init__(self, record: _CallRecord, who: str) -> None:
        self._record, self._who = record, who
        self._mine: set[int] = set()  # calls of this process that are under way
        self._ended = threading.Condition()

    def reply(self, request: str) -> dict[str, Any] | None:
        """The reply on record to this request, a hash; None if there is none."""
        event = self._record.log.named(f"reply:{request}")
        return None if event is None else dict(event.body["reply"])

    def begin(self, request: str, example_id: str, at_most: float) -> int:
        """Write down that a request is about to be sent; the number of the call.

        The call is refused if the budget in money does not cover it. Calls that may have been paid count at the most
        that they can cost. If calls of other threads stand in the way, this one waits for them.
        """
        while True:
            with self._record.lock:
                book = self._record.calls
                left = self._record.price_left - book.at_risk
                if at_most <= left:
                    body = {"request": request, "at_most": at_most}
                    call = self._record.record_call(CALLING, body, self._who, example_id)
                    self._mine.add(call)
                    return call
                if at_most > left + sum(book.under_way[call] for call in self._mine):
                    raise BudgetTooSmallError(
                        f"The next call can cost {at_most:.6g}, but {max(left, 0.0):.6g} of the budget is left. "
                        "Raise price in the [budget] of project.toml, or lower --max-tokens."
                    )
            with self._ended:
                self._ended.wait(_CHECK)

    def end(self, call: int, outcome: str, request: str = "", seconds: float | None = None, **more: Any) -> None:
        """Write down how a call ended; a paid one with its "reply", its tokens and its "price"."""
        ref = f"reply:{request}" if outcome == PAID else None
        body = {"call": call, "outcome": outcome, **more}
        with self._record.lock:
            self._record.record_call(CALLED, body, self._who, seconds=seconds, ref=ref)
            self._mine.discard(call)
        with self._ended:
            self._ended.notify_all()
