"""REST under ``/api/v1``: what a program can do that a person does on the pages, and more.

One service serves one project; its name stands in the address so that a client cannot mistake one for another.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request

from coalface.service.desk.desk import Desk
from coalface.service.desk.messages import NoQuestion, Progress, Question
from coalface.service.web import views
from coalface.service.web.auth import AnyCaller, caller_of_api
from coalface.service.web.http_errors import RESPONSES, RefusedError
from coalface.service.web.tokens import Caller

# What annotators may hold, so that none of them empties the queue; the limits of programs are in the views.
_MOST_ITEMS, _LONGEST_LEASE = 10, 3600.0


async def desk_of(request: Request) -> Desk:  # async, as it has nothing to wait for: no thread is needed
    """The desk behind this service."""
    desk: Desk = request.app.state.desk
    return desk


AnyDesk = Annotated[Desk, Depends(desk_of)]


async def named_desk(project: views.Identifier, desk: AnyDesk) -> Desk:
    """The desk of the project in the address."""
    if project != desk.project.name:
        raise RefusedError(404, f"There is no project {project!r} here; this service serves {desk.project.name!r}.")
    return desk


NamedDesk = Annotated[Desk, Depends(named_desk)]
Key = Annotated[views.Identifier, Header(alias="Idempotency-Key")]
COMMON: dict[str, Any] = {"prefix": "/api/v1", "responses": RESPONSES}
api = APIRouter(dependencies=[Depends(caller_of_api)], **COMMON)


@api.get("/projects")
def projects(desk: AnyDesk) -> list[views.ProjectView]:
    """The one project that is served."""
    return [views.ProjectView.model_validate(desk.project)]


@api.get("/projects/{project}")
def project(desk: NamedDesk) -> views.ProjectView:
    """What is asked, about which labels, on which scale."""
    return views.ProjectView.model_validate(desk.project)


@api.post("/projects/{project}/queries:lease")
def lease(caller: AnyCaller, desk: NamedDesk, body: views.LeaseBody) -> views.LeasedView:
    """Queries that nobody else will be given until their lease ends."""
    _refuse_too_much(caller, body.ttl_s, body.max_items)
    queries: list[views.QueryView] = []
    for _ in range(body.max_items):
        found = desk.lease(caller.name, body.ttl_s)
        if isinstance(found, NoQuestion):
            return views.LeasedView(queries=queries, reason=None if queries else found.reason)
        queries.append(_view(found, caller))
    return views.LeasedView(queries=queries)


@api.get("/projects/{project}/queries")
def held(caller: AnyCaller, desk: NamedDesk) -> views.Page[views.QueryView]:
    """The queries that the caller holds, the newest lease first: few enough for one page."""
    return views.Page(items=[_view(question, caller) for question in desk.held(caller.name)])


@api.post("/leases/{lease_id}:renew")
def renew(caller: AnyCaller, desk: AnyDesk, lease_id: views.Identifier, body: views.RenewBody) -> views.LeaseView:
    """A later end for a lease of the caller's."""
    _refuse_too_much(caller, body.ttl_s)
    return views.LeaseView.model_validate({"expires_at": desk.renew(lease_id, caller.name, body.ttl_s)})


@api.post("/leases/{lease_id}:release", status_code=204)
def release(caller: AnyCaller, desk: AnyDesk, lease_id: views.Identifier) -> None:
    """Give a query back unanswered."""
    desk.release(lease_id, caller.name)


@api.post("/projects/{project}/answers", status_code=201)
def answer(caller: AnyCaller, desk: NamedDesk, key: Key, body: views.AnswerBody) -> views.ReceiptView:
    """Costs for a query. The same key again gives the same receipt; an answer after the lease has ended is kept."""
    about = (caller.name, body.query_id, body.lease_id)
    if body.label is not None:
        if body.costs or body.unsure:
            raise RefusedError(422, "An answer gives either costs or the true label, got both. Leave one out.")
        receipt = desk.answer_truth(*about, body.label, key, body.lead_time_s, body.note)
    else:
        costs = {**body.costs, **dict.fromkeys(body.unsure)}
        receipt = desk.answer(*about, costs, key, body.lead_time_s, body.note)
    follow_up = None if receipt.follow_up is None else _view(receipt.follow_up, caller)
    return views.ReceiptView(
        answer_id=receipt.answer_id, late=receipt.late, learned=receipt.learned, follow_up=follow_up
    )


@api.get("/projects/{project}/answers")
def answers(
    caller: AnyCaller, desk: NamedDesk, limit: views.Limit = 10, cursor: views.Cursor = ""
) -> views.Page[views.AnsweredView]:
    """The caller's own answers, the newest first."""
    before = int(cursor) if cursor else None
    found = [views.AnsweredView.model_validate(one) for one in desk.recent(caller.name, limit + 1, before)]
    return views.page_of(found, limit, lambda answered: answered.answer_id)


@api.delete("/answers/{answer_id}")
def undo(caller: AnyCaller, desk: AnyDesk, answer_id: views.Identifier) -> views.UndoneView:
    """Take an own answer back; its query is leased to the caller again."""
    question = desk.undo(caller.name, answer_id)
    return views.UndoneView(query=None if question is None else _view(question, caller))


@api.get("/projects/{project}/progress")
def progress(caller: AnyCaller, desk: NamedDesk) -> Progress:
    """What was asked against what may be spent, and the caller's own pace."""
    return desk.progress(caller.name)


def _view(question: Question, caller: Caller) -> views.QueryView:
    return views.QueryView.model_validate(views.for_caller(question, caller))


def _refuse_too_much(caller: Caller, ttl: float, items: int = 1) -> None:
    if not caller.is_engineer and (ttl > _LONGEST_LEASE or items > _MOST_ITEMS):
        raise RefusedError(
            422,
            f"An annotator may lease at most {_MOST_ITEMS} queries at a time (max_items), for at most "
            f"{_LONGEST_LEASE:g} s (ttl_s), got {items} for {ttl:g} s. Ask for less.",
        )
