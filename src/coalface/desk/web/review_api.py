"""REST routes under ``/api/v1`` for reviewers: examples with their history, agreement, corrections."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from coalface.desk.service.agreements import Agreements
from coalface.desk.service.curation import Settled
from coalface.desk.service.reviews import Listed, Reviewed, Surprise, Wanted
from coalface.desk.web.api import COMMON, Key, NamedDesk
from coalface.desk.web.api_models import Cost, Cursor, Limit, Name, Page, Reason, RequestBody
from coalface.desk.web.auth import Reviewer, reviewer_of_api
from coalface.errors import InputError

review_api = APIRouter(dependencies=[Depends(reviewer_of_api)], **COMMON)
Word = Annotated[str, Query(max_length=1000, pattern=r"^[^\x00]*$")]


class CorrectionBody(RequestBody):
    """The right costs of some labels, or the true ``label``, and why."""

    example_id: Name
    costs: dict[Name, Cost | None] = Field(default_factory=dict)
    label: Name | None = None
    reason: Reason


@review_api.get("/projects/{project}/review")
def review(
    desk: NamedDesk,
    text: Word = "",
    label: Word = "",
    annotator: Word = "",
    state: Literal["", "undecided", "open", "unfinished", "closed", "passed", "retired"] = "",
    only: Literal["", "disagreement", "flag", "corrected", "gold"] = "",
    order: Literal["pool", "uncertain", "disagreement"] = "pool",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Page[Listed]:
    """Examples by label, annotator, state, text, disagreement or flag."""
    start = int(cursor or 0)
    found, total = desk.reviews.listed(Wanted(text, label, annotator, state, only, order), start, limit)
    return Page(items=found, next_cursor=str(start + limit) if start + limit < total else None)


@review_api.get("/projects/{project}/review/{example_id:path}")
def about(desk: NamedDesk, example_id: Name) -> Reviewed:
    """All about one example: what is known, what the model says, and what happened."""
    return desk.reviews.about(example_id)


@review_api.get("/projects/{project}/agreement")
def agreement(desk: NamedDesk, metric: Literal["interval", "ordinal", "nominal"] = "interval") -> Agreements:
    """Krippendorff's alpha with 95 % intervals, overall, by label and by annotator, and the distance from gold."""
    return desk.reviews.agreements(metric)


@review_api.get("/projects/{project}/surprises")
def surprises(desk: NamedDesk, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> list[Surprise]:
    """Likely wrong answers: those that the model, trained without them, finds most surprising."""
    return desk.reviews.surprises(limit)


@review_api.post("/projects/{project}/corrections", status_code=201)
def correct(caller: Reviewer, desk: NamedDesk, key: Key, body: CorrectionBody) -> Settled:
    """Correct the costs of an example, with a reason. The log keeps the answers beside it."""
    if (body.label is None) != bool(body.costs):
        raise InputError("A correction gives either costs or the true label. Give one of them.")
    desk.project.scale.checked(body.costs, levels=True)
    return desk.curation.correct(
        caller.name, body.example_id, body.costs, body.reason, label=body.label, key=f"{caller.name}:{key}"
    )
