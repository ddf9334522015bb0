"""Pages for reviewers: a list of examples to search and filter, the history of one, and a form that corrects it."""

import secrets
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from coalface.desk.service.reviews import ONLY, ORDERS, STATES, Wanted
from coalface.desk.web import auth
from coalface.desk.web.api import AnyDesk
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
review_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@review_pages.get("/review")
def review_list(
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
    values: dict[str, Any] = {"rows": rows, "total": total, "start": start, "wanted": wanted, "titles": _TITLES}
    values |= {"states": STATES, "onlys": ONLY, "orders": ORDERS, "names": sorted(desk.last_seen())}
    values |= {"disagreements": len(desk.reviews.disagreements()), "query": urlencode(chosen)}
    values["next"] = start + _PER_PAGE if start + _PER_PAGE < total else None
    values["previous"] = max(start - _PER_PAGE, 0) if start else None
    return page(request, "review.html", caller, **values)


@review_pages.get("/reviewed")
def review_one(
    request: Request, caller: auth.PageReviewer, desk: AnyDesk, id: Word, notice: str = "", queue: str = ""
) -> Response:
    """The whole history of one example, and a form that corrects it."""
    found = desk.reviews.about(id)
    values: dict[str, Any] = {"found": found, "key": secrets.token_hex(16), "queue": queue}
    values |= {"notice": _NOTICES.get(notice, ""), "labels": desk.project.offered}
    return page(request, "reviewed.html", caller, **values)


@review_pages.get("/agreement")
def agreement_page(request: Request, caller: auth.PageReviewer, desk: AnyDesk) -> Response:
    """How far annotators agree, by label and by annotator."""
    return page(request, "agreement.html", caller, found=desk.reviews.agreements())


@review_pages.get("/surprises")
def surprises_page(request: Request, caller: auth.PageReviewer, desk: AnyDesk) -> Response:
    """Likely wrong answers."""
    return page(request, "surprises.html", caller, rows=desk.reviews.surprises(50))


@review_pages.post("/reviewed")
def correct(caller: auth.PageReviewer, desk: AnyDesk, form: SentForm) -> Response:
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
