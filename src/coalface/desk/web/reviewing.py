"""What reviewers do, over REST and on pages: examples to search and filter, their history, agreement, corrections."""

import secrets
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from coalface.desk.service.agreements import Agreements
from coalface.desk.service.curation import Settled
from coalface.desk.service.messages import Page
from coalface.desk.service.reviews import ONLY, ORDERS, STATES, Listed, Reviewed, Surprise, Wanted
from coalface.desk.web import auth
from coalface.desk.web.api import AnyDesk, ApiRoutes, Key, NamedDesk
from coalface.desk.web.api_models import Cost, Cursor, Limit, Name, Reason, RequestBody
from coalface.desk.web.rendering import SentForm, costs_in, page, text_in
from coalface.errors import InputError

_PER_PAGE = 50
_NOTICES = {"corrected": "Corrected. The answers before stay in the history.", "same": "Nothing was changed."}
_TITLES = {
    "disagreement": "annotators disagree",
    "flag": "flagged",
    "corrected": "corrected or imported",
    "gold": "gold",
    "uncertain": "the most uncertain first",
    "pool": "as they are asked about",
}
Word = Annotated[str, Query(max_length=1000, pattern=r"^[^\x00]*$")]
review_api = ApiRoutes(auth.reviewer_of_api, of="reviewers")
review_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class CorrectionBody(RequestBody):
    """The right costs of some labels, or the true ``label``, and why."""

    example_id: Name
    costs: dict[Name, Cost | None] = Field(default_factory=dict)
    label: Name | None = None
    reason: Reason


@review_api.get("/projects/{project}/review")
def _find_examples(
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
def _get_example(desk: NamedDesk, example_id: Name) -> Reviewed:
    """All about one example: what is known, what the model says, and what happened."""
    return desk.reviews.about(example_id)


@review_api.get("/projects/{project}/agreement")
def _get_agreement(desk: NamedDesk, metric: Literal["interval", "ordinal", "nominal"] = "interval") -> Agreements:
    """Krippendorff's alpha with 95 % intervals, overall, by label and by annotator, and the distance from gold."""
    return desk.reviews.agreements(metric)


@review_api.get("/projects/{project}/surprises")
def _list_surprises(desk: NamedDesk, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> list[Surprise]:
    """Likely wrong answers: those that the model, trained without them, finds most surprising."""
    return desk.reviews.surprises(limit)


@review_api.post("/projects/{project}/corrections", status_code=201)
def _correct_costs(caller: auth.Reviewer, desk: NamedDesk, key: Key, body: CorrectionBody) -> Settled:
    """Correct the costs of an example, with a reason. The log keeps the answers beside it."""
    if (body.label is None) != bool(body.costs):
        raise InputError("A correction gives either costs or the true label. Give one of them.")
    desk.project.scale.checked(body.costs, levels=True)
    return desk.curation.correct(
        caller.name, body.example_id, body.costs, body.reason, label=body.label, key=f"{caller.name}:{key}"
    )


@review_pages.get("/review")
def _review_list(
    request: Request,
    caller: auth.PageReviewer,
    desk: AnyDesk,
    text: Word = "",
    label: Word = "",
    annotator: Word = "",
    state: Word = "",
    only: Word = "",
    order: Word = "pool",
    start: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> Response:
    """Examples to search and filter."""
    wanted = Wanted(text, label, annotator, state, only, order or "pool")
    rows, total = desk.reviews.listed(wanted, start, _PER_PAGE)
    chosen = {name: value for name, value in vars(wanted).items() if value and (name, value) != ("order", "pool")}
    values: dict[str, Any] = {
        "rows": rows,
        "total": total,
        "start": start,
        "wanted": wanted,
        "titles": _TITLES,
        "states": STATES,
        "onlys": ONLY,
        "orders": ORDERS,
        "names": sorted(desk.last_seen()),
        "disagreements": len(desk.reviews.disagreements()),
        "query": urlencode(chosen),
        "next": start + _PER_PAGE if start + _PER_PAGE < total else None,
        "previous": max(start - _PER_PAGE, 0) if start else None,
    }
    return page(request, "review.html", caller, **values)


@review_pages.get("/reviewed")
def _review_one(
    request: Request, caller: auth.PageReviewer, desk: AnyDesk, id: Word, notice: str = "", queue: str = ""
) -> Response:
    """The whole history of one example, and a form that corrects it."""
    found = desk.reviews.about(id)
    values: dict[str, Any] = {"found": found, "queue": queue, "labels": desk.project.offered}
    return page(request, "reviewed.html", caller, key=secrets.token_hex(16), notice=_NOTICES.get(notice, ""), **values)


@review_pages.get("/agreement")
def _agreement_page(request: Request, caller: auth.PageReviewer, desk: AnyDesk) -> Response:
    """How far annotators agree, by label and by annotator."""
    return page(request, "agreement.html", caller, found=desk.reviews.agreements())


@review_pages.get("/surprises")
def _surprises_page(request: Request, caller: auth.PageReviewer, desk: AnyDesk) -> Response:
    """Likely wrong answers."""
    return page(request, "surprises.html", caller, rows=desk.reviews.surprises(50))


@review_pages.post("/reviewed")
def _send_correction(caller: auth.PageReviewer, desk: AnyDesk, form: SentForm) -> Response:
    """Correct an example, then show it again or, in the queue of disagreements, the next one."""
    name, reason, key = text_in(form, "example_id"), text_in(form, "reason"), text_in(form, "key")
    label, costs = text_in(form, "label") or None, costs_in(form)
    if label is not None and costs:
        raise InputError("A correction gives either costs or the true label, got both. Leave one empty.")
    desk.project.scale.checked(costs, levels=True)
    found = desk.curation.correct(caller.name, name, costs, reason, label=label, key=f"{caller.name}:{key}")
    if text_in(form, "queue"):
        following = next(iter(desk.reviews.disagreements()), None)
        if following is None:
            return RedirectResponse("review?only=disagreement", 303)
        name = desk.project.pool.example_id(following)
    where = {"id": name, "notice": "corrected" if found.settled else "same"}
    return RedirectResponse(f"reviewed?{urlencode(where | ({'queue': '1'} if text_in(form, 'queue') else {}))}", 303)
