"""Pydantic models of the REST requests, and the few responses that are not messages of the desk."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from coalface.desk.project.scale import Level
from coalface.desk.service.messages import AnnotatorRow, Question, Time
from coalface.web.tokens import Caller

# Databases cannot store the character 0.
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[^\x00]+$")]
Reason = Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]
Cost = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Lifetime = Annotated[float, Field(ge=1, le=86400, allow_inf_nan=False, description="Seconds until the lease ends.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="The largest number of items on a page.")]
Cursor = Annotated[str, Query(pattern=r"^[0-9]{0,15}$", description="The next_cursor of the previous page.")]
Top = Annotated[int | None, Query(ge=1, le=10**9, description="Predictions: only so many, the most uncertain first.")]
Item = TypeVar("Item")


class View(BaseModel):
    """A response."""

    model_config = ConfigDict(from_attributes=True)


class RequestBody(BaseModel):
    """A request."""

    # A misspelt field is an error, and so is a value of another type: true is not the number 1.
    model_config = ConfigDict(extra="forbid", strict=True)


class Page(View, Generic[Item]):
    """Part of a list; ``next_cursor`` is the cursor of the next page, null on the last."""

    items: list[Item]
    next_cursor: str | None = None


class ProjectView(View):
    """The project's question, labels and cost scale."""

    name: str
    title: str
    question: str
    guidelines: str
    labels: list[str] = Field(validation_alias="offered")
    retired: list[str]
    all_labels: list[str] = Field(validation_alias="labels", description="The retired ones too, by their columns.")
    levels: list[Level]
    cost_bounds: tuple[float, float]
    true_label: bool


class LeasedView(View):
    """Queries to answer; if there are none, ``reason`` says why."""

    queries: list[Question]
    reason: str | None = None


class LeaseView(View):
    """The end of a lease."""

    expires_at: Time


class UndoneView(View):
    """The query of an undone answer, leased to its author again."""

    query: Question | None


class LeaseBody(RequestBody):
    """The number of queries, and the duration of their leases."""

    max_items: int = Field(1, ge=1, le=100, description="Annotators: at most 10, for at most 3,600 seconds.")
    ttl_s: Lifetime = 600.0


class RenewBody(RequestBody):
    """The duration of a lease from now."""

    ttl_s: Lifetime = 600.0


Note = Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]


class SkipBody(RequestBody):
    """Why a query is skipped."""

    note: Note | None = None


class FlagBody(RequestBody):
    """What an engineer should know about the example."""

    note: Annotated[str, StringConstraints(min_length=1, max_length=10_000, pattern=r"^[^\x00]*$")]


class AnswerBody(RequestBody):
    """Costs by label (null or ``unsure`` means "can't tell"), or the true ``label`` in a project that asks for it."""

    query_id: Identifier
    lease_id: Identifier
    costs: dict[Name, Cost | None] = Field(default_factory=dict)
    unsure: list[Name] = Field(default_factory=list)
    label: Name | None = None
    ahead: list[Name] = Field(
        default_factory=list, description="Those of the query's later labels that were asked about, with costs above."
    )
    lead_time_s: Seconds | None = None
    note: Note | None = None


def visible_to(caller: Caller, question: Question) -> Question:
    """The question; for annotators without the model's ranges and reason, which could bias them."""
    return question if caller.is_engineer else replace(question, ranges={}, reason="")


def page_of(found: list[Item], limit: int, cursor_of: Callable[[Item], object]) -> Page[Item]:
    """The first ``limit`` items; a cursor to the next page if there are more.

    >>> page_of([3, 5, 8], 2, lambda number: number)
    Page(items=[3, 5], next_cursor='5')
    """
    return Page(items=found[:limit], next_cursor=str(cursor_of(found[limit - 1])) if len(found) > limit else None)


Form = Literal["jsonl", "csv", "vw", "model", "predictions", "predictions.csv", "label-studio", "parquet"]
NameCursor = Annotated[
    str, Query(max_length=200, pattern=r"^[^\x00]*$", description="The next_cursor of the previous page.")
]


class TokenView(View):
    """The owner of a token, without the token."""

    name: str
    role: str


class NewTokenView(TokenView):
    """A new token, shown only in this response."""

    token: str


class PredictBody(RequestBody):
    """Examples in the format of the project's pool."""

    examples: list[dict[str, Any]] = Field(min_length=1, max_length=1000)


class LabelsBody(RequestBody):
    """One change of the labels: ``add`` or ``retire`` a label, or ``rename`` one ``to`` another name.

    A new label of a project with costs of errors comes with ``cost_matrix``, the costs of all labels, the new one last.
    """

    add: Name | None = None
    rename: Name | None = None
    to: Name | None = None
    retire: Name | None = None
    cost_matrix: list[list[float]] | None = None


class ExamplesBody(RequestBody):
    """Examples that join the pool, in its format; ``first`` asks about them before all undecided ones."""

    examples: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)
    first: bool = False


class IdsBody(RequestBody):
    """Examples by id, and why they are retired or brought back."""

    ids: list[Identifier] = Field(min_length=1, max_length=10_000)
    reason: Reason = ""


class ChangedView(View):
    """How many examples were changed; the others were so already."""

    changed: int


class CostsBody(RequestBody):
    """Known costs: ``{"id", "label"}`` with the true label, or ``{"id", "costs"}`` by label."""

    items: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)
    gold: bool = Field(False, description="Check annotators with these examples; replaces what is known about them.")


class TokenBody(RequestBody):
    """The owner of a new token."""

    name: Name
    role: Literal["annotator", "reviewer", "engineer"] = "annotator"


NamedItem = TypeVar("NamedItem", AnnotatorRow, TokenView)


def page_by_name(found: list[NamedItem], limit: int, cursor: str) -> Page[NamedItem]:
    """The items whose names come after the cursor, sorted by name."""
    rest = sorted((one for one in found if one.name > cursor), key=lambda one: one.name)
    return page_of(rest, limit, lambda one: one.name)
