"""Pydantic models of the engineers' REST requests and responses. Times are ISO 8601 in UTC."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Query
from pydantic import Field

from coalface.service.desk.messages import Estimate, LabelRow, Progress
from coalface.service.web.api_models import Body, Name, Page, View, page_of

Form = Literal["jsonl", "csv", "vw", "model"]
NameCursor = Annotated[
    str, Query(max_length=200, pattern=r"^[^\x00]*$", description="The next_cursor of the previous page.")
]


class NamedView(View):
    """Something with a name."""

    name: str


Named = TypeVar("Named", bound=NamedView)


class AnnotatorView(NamedView):
    """One annotator's work."""

    examples: int
    costs: int
    cant_tell: int
    seconds: float | None
    agreement: float | None
    compared: int
    last_seen: datetime | None


class OverviewView(View):
    """All values that the dashboard shows."""

    progress: Progress
    pool: int
    decided: int
    passive_costs: int
    test_cost: Estimate | None
    saving: Estimate | None
    contested: Estimate | None
    stopped: str | None
    rebuilding: bool
    problem: str | None
    model: int
    annotators: list[AnnotatorView]
    labels: list[LabelRow]
    history: list[tuple[int, float]]


class EventView(View):
    """One event of the log."""

    id: int
    at: datetime
    kind: str
    who: str | None
    body: dict[str, Any]


class ExampleView(View):
    """An example of the pool and its state; ``turn`` is its place in the order of decisions."""

    id: str
    turn: int
    state: Literal["undecided", "open", "closed", "passed"]


class ComingView(View):
    """A query that would be asked: ``labels`` first, then perhaps those in ``later``."""

    example_id: str
    labels: list[str]
    later: list[str]
    ranges: dict[str, tuple[float, float]]
    reason: str


class TokenView(NamedView):
    """The owner of a token, without the token."""

    role: str


class NewTokenView(TokenView):
    """A new token, shown only in this response."""

    token: str


class PredictBody(Body):
    """Examples in the format of the project's pool."""

    examples: list[dict[str, Any]] = Field(min_length=1, max_length=1000)


class TokenBody(Body):
    """The owner of a new token."""

    name: Name
    role: Literal["annotator", "engineer"]


def page_by_name(found: list[Named], limit: int, cursor: str) -> Page[Named]:
    """The items whose names come after the cursor, sorted by name."""
    rest = sorted((one for one in found if one.name > cursor), key=lambda one: one.name)
    return page_of(rest, limit, lambda one: one.name)
