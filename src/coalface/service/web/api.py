"""REST routes under ``/api/v1`` for annotators and programs: lease queries, answer them, undo answers.

One service serves one project. Its name is part of the address, so that a client cannot confuse two projects.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request

from coalface.service.desk.desk import Desk
from coalface.service.desk.messages import NoQuestion, Progress, Question
from coalface.service.web import api_models as models
from coalface.service.web.auth import AnyCaller, caller_of_api
from coalface.service.web.http_errors import RESPONSES, RefusedError
from coalface.service.web.tokens import Caller

# Limits for annotators, so that none of them empties the queue. The limits for engineers' programs are in the models.
_MOST_ITEMS, _LONGEST_LEASE = 10, 3600.0


async def desk_of(request: Request) -> Desk:  # async: it never blocks, so it needs no thread
    """The desk of this service."""
    desk: Desk = request.app.state.desk
    return desk


AnyDesk = Annotated[Desk, Depends(desk_of)]


async def named_desk(project: models.Identifier, desk: AnyDesk) -> Desk:
    """The desk of the project in the address."""
    if project != desk.project.name:
        raise RefusedError(404, f"There is no project {project!r} here; this service serves {desk.project.name!r}.")
    return desk


NamedDesk = Annotated[Desk, Depends(named_desk)]
Key = Annotated[models.Identifier, Header(alias="Idempotency-Key")]
COMMON: dict[str, Any] = {"prefix": "/api/v1", "responses": RESPONSES}
api = APIRouter(dependencies=[Depends(caller_of_api)], **COMMON)


@api.get("/projects")
def projects(desk: AnyDesk) -> list[models.ProjectView]:
    """A list of the one project that this service serves."""
    return [models.ProjectView.model_validate(desk.project)]


@api.get("/projects/{project}")
def project(desk: NamedDesk) -> models.ProjectView:
    """The project's question, labels and cost scale."""
    return models.ProjectView.model_validate(desk.project)


@api.post("/projects/{project}/queries:lease")
def lease(caller: AnyCaller, desk: NamedDesk, body: models.LeaseBody) -> models.LeasedView:
    """Lease queries. No other caller gets them until the lease ends."""
    _check_limits(caller, body.ttl_s, body.max_items)
    queries: list[models.QueryView] = []
    for _ in range(body.max_items):
        found = desk.lease(caller.name, body.ttl_s)
        if isinstance(found, NoQuestion):
            return models.LeasedView(queries=queries, reason=None if queries else found.reason)
        queries.append(_view(caller, found))
    return models.LeasedView(queries=queries)


@api.get("/projects/{project}/queries")
def held(caller: AnyCaller, desk: NamedDesk) -> models.Page[models.QueryView]:
    """The queries that the caller holds, the newest lease first, always on one page."""
    return models.Page(items=[_view(caller, question) for question in desk.held(caller.name)])


@api.post("/leases/{lease_id}:renew")
def renew(caller: AnyCaller, desk: AnyDesk, lease_id: models.Identifier, body: models.RenewBody) -> models.LeaseView:
    """Extend one of the caller's leases."""
    _check_limits(caller, body.ttl_s)
    return models.LeaseView.model_validate({"expires_at": desk.renew(lease_id, caller.name, body.ttl_s)})


@api.post("/leases/{lease_id}:release", status_code=204)
def release(caller: AnyCaller, desk: AnyDesk, lease_id: models.Identifier) -> None:
    """Give a query back unanswered."""
    desk.release(lease_id, caller.name)


@api.post("/projects/{project}/answers", status_code=201)
def answer(caller: AnyCaller, desk: NamedDesk, key: Key, body: models.AnswerBody) -> models.ReceiptView:
    """Answer a query. The same key gives the same receipt; an answer after the end of the lease is accepted."""
    about = (caller.name, body.query_id, body.lease_id)
    if body.label is not None:
        receipt = desk.answer_truth(*about, body.label, key, body.lead_time_s, body.note)
    else:
        costs = body.costs | dict.fromkeys(body.unsure)
        receipt = desk.answer(*about, costs, key, body.lead_time_s, body.note)
    follow_up = None if receipt.follow_up is None else _view(caller, receipt.follow_up)
    return models.ReceiptView(
        answer_id=receipt.answer_id, late=receipt.late, learned=receipt.learned, follow_up=follow_up
    )


@api.get("/projects/{project}/answers")
def answers(
    caller: AnyCaller, desk: NamedDesk, limit: models.Limit = 10, cursor: models.Cursor = ""
) -> models.Page[models.AnsweredView]:
    """The caller's own answers, the newest first."""
    before = int(cursor) if cursor else None
    found = [models.AnsweredView.model_validate(one) for one in desk.recent(caller.name, limit + 1, before)]
    return models.page_of(found, limit, lambda answered: answered.answer_id)


@api.delete("/answers/{answer_id}")
def undo(caller: AnyCaller, desk: AnyDesk, answer_id: models.Identifier) -> models.UndoneView:
    """Undo one of the caller's answers; its query is leased to the caller again."""
    question = desk.undo(caller.name, answer_id)
    return models.UndoneView(query=None if question is None else _view(caller, question))


@api.get("/projects/{project}/progress")
def progress(caller: AnyCaller, desk: NamedDesk) -> Progress:
    """The amounts spent, the budget, and the caller's own pace."""
    return desk.progress(caller.name)


def _view(caller: Caller, question: Question) -> models.QueryView:
    return models.QueryView.model_validate(models.visible_to(caller, question))


def _check_limits(caller: Caller, ttl: float, items: int = 1) -> None:
    if not caller.is_engineer and (ttl > _LONGEST_LEASE or items > _MOST_ITEMS):
        raise RefusedError(
            422,
            f"An annotator may lease at most {_MOST_ITEMS} queries at a time (max_items), for at most "
            f"{_LONGEST_LEASE:g} s (ttl_s), got {items} for {ttl:g} s. Ask for less.",
        )
