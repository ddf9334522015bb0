"""The books of paid calls: what a judge's calls to an endpoint cost, and which of them may have been paid unseen.

Every call is two events. "calling" is written before the request is sent, with the most that it can cost. "called" is
written when the call ends: with the reply and its price, or without a reply. A call whose end was never written was
under way when the process ended. Such a call, and one whose reply was lost, may have been paid.
"""

from dataclasses import dataclass, field
from typing import Any

from coalface.rounds.event_log import Event

CALLING, CALLED = "calling", "called"
PAID, UNPAID, LOST = "paid", "unpaid", "lost"  # the outcomes of a call


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
