"""REST routes under ``/api/v1`` for annotators and programs: lease queries, answer them, undo answers.

The name of a project is part of the address, so that a client cannot confuse two projects. Leases have random ids, so
their routes need no name.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Header, HTTPException, Request

from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import (
    Answered,
    DeskProgress,
    LeasedView,
    LeaseView,
    NoQuestion,
    Page,
    ProjectView,
    Question,
    Receipt,
    UndoneView,
)
from coalface.desk.web import api_models as models
from coalface.desk.web.auth import AnyCaller, Authenticator, Desks, caller_of_api, project_named
from coalface.errors import InputError
from coalface.web.http_errors import RESPONSES
from coalface.web.tokens import Caller

# Limits for annotators, so that none of them empties the queue. The limits for engineers' programs are in the models.
_MOST_ITEMS, _LONGEST_LEASE = 10, 3600.0


async def _desk_of(request: Request) -> Desk:  # async: it never blocks, so it needs no thread
    """The desk of the project in the address or, where it names none, of the only project."""
    desks: Desks = request.app.state.desks
    found = desks.get(project_named(request))
    if found is None:
        raise HTTPException(404, f"The address must name a project of this service: {', '.join(desks.names)}.")
    return found


AnyDesk = Annotated[Desk, Depends(_desk_of)]


async def _named_desk(request: Request, project: models.Identifier, _: AnyCaller) -> Desk:
    """The desk of the project in the address, which was found with the caller."""
    found: Desk | None = request.state.desk
    if found is None:
        raise HTTPException(404, f"There is no project {project!r} here.")
    return found


def _desk_of_lease(request: Request, caller: AnyCaller, lease_id: models.Identifier) -> Desk:
    """The desk that gave the caller this lease; of several projects, the one that knows it."""
    desks: Desks = request.app.state.desks
    authenticator: Authenticator = request.app.state.authenticator
    if desks.only is not None:
        return desks.only
    mine = authenticator.projects_of(caller)
    for desk in desks:
        if desk.project.name in mine and desk.has_lease(lease_id, caller.name):
            return desk
    raise HTTPException(404, f"There is no lease {lease_id!r:.60} of {caller.name!r}.")


NamedDesk = Annotated[Desk, Depends(_named_desk)]
LeaseDesk = Annotated[Desk, Depends(_desk_of_lease)]
Key = Annotated[models.Identifier, Header(alias="Idempotency-Key")]
# All fields of these bodies have defaults, so the body is optional.
RenewBody = Annotated[models.RenewBody, Body(default_factory=models.RenewBody)]
SkipBody = Annotated[models.SkipBody, Body(default_factory=models.SkipBody)]


class ApiRoutes(APIRouter):
    """Routes under ``/api/v1`` for callers whom ``guard`` lets in, described by the names of their functions."""

    def __init__(self, guard: Callable[..., Any], of: str) -> None:
        super().__init__(prefix="/api/v1", tags=[of], responses=RESPONSES, dependencies=[Depends(guard)])

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        """Add a route; the underscore of its function is not part of its name."""
        super().add_api_route(path, endpoint, **{**more, "name": endpoint.__name__.strip("_")})


api = ApiRoutes(caller_of_api, of="annotators")


@api.get("/projects")
def _list_projects(request: Request, caller: AnyCaller) -> list[ProjectView]:
    """The projects of this service that the caller may see."""
    desks: Desks = request.app.state.desks
    mine = request.app.state.authenticator.projects_of(caller)
    return [ProjectView.of(desk.project) for desk in desks if desk.project.name in mine]


@api.get("/projects/{project}")
def _get_project(desk: NamedDesk) -> ProjectView:
    """The project's question, labels and cost scale."""
    return ProjectView.of(desk.project)


@api.post("/projects/{project}/queries:lease")
def _lease_queries(caller: AnyCaller, desk: NamedDesk, body: models.LeaseBody) -> LeasedView:
    """Lease queries. No other caller gets them until the lease ends."""
    _check_limits(caller, body.ttl_s, body.max_items)
    queries: list[Question] = []
    for _ in range(body.max_items):
        found = desk.lease(caller.name, body.ttl_s)
        if isinstance(found, NoQuestion):
            return LeasedView(queries=queries, reason=None if queries else found.reason)
        queries.append(visible_to(caller, found))
    return LeasedView(queries=queries)


@api.get("/projects/{project}/queries")
def _list_held_queries(caller: AnyCaller, desk: NamedDesk) -> Page[Question]:
    """The queries that the caller holds, the newest lease first, always on one page."""
    return Page(items=[visible_to(caller, question) for question in desk.held(caller.name)])


@api.post("/leases/{lease_id}:renew")
def _renew_lease(caller: AnyCaller, desk: LeaseDesk, lease_id: models.Identifier, body: RenewBody) -> LeaseView:
    """Extend one of the caller's leases."""
    _check_limits(caller, body.ttl_s)
    return LeaseView(expires_at=desk.renew(lease_id, caller.name, body.ttl_s))


@api.post("/leases/{lease_id}:release", status_code=204)
def _release_lease(caller: AnyCaller, desk: LeaseDesk, lease_id: models.Identifier) -> None:
    """Give a query back unanswered."""
    desk.release(lease_id, caller.name)


@api.post("/leases/{lease_id}:skip", status_code=204)
def _skip_query(caller: AnyCaller, desk: LeaseDesk, lease_id: models.Identifier, body: SkipBody) -> None:
    """Leave a query to other annotators, at no cost. The caller does not get it again."""
    desk.skip(lease_id, caller.name, body.note)


@api.post("/leases/{lease_id}:flag", status_code=204)
def _flag_example(caller: AnyCaller, desk: LeaseDesk, lease_id: models.Identifier, body: models.FlagBody) -> None:
    """Flag the example of a query for an engineer. The query can still be answered or skipped."""
    desk.flag(lease_id, caller.name, body.note)


@api.post("/projects/{project}/queries:resume", status_code=204)
def _resume_queries(caller: AnyCaller, desk: NamedDesk) -> None:
    """Take back all skips of the caller, so that these queries can come again."""
    desk.resume(caller.name)


@api.post("/projects/{project}/answers", status_code=201)
def _answer_query(caller: AnyCaller, desk: NamedDesk, key: Key, body: models.AnswerBody) -> Receipt:
    """Answer a query. The same key gives the same receipt; an answer after the end of the lease is accepted."""
    about = (caller.name, body.query_id, body.lease_id)
    if body.label is not None and (body.costs or body.unsure):
        raise InputError("An answer gives either costs or the true label, got both. Leave one out.")
    if body.label is not None:
        receipt = desk.answer_truth(*about, body.label, key, body.lead_time_s, body.note)
    else:
        costs = body.costs | dict.fromkeys(body.unsure)
        receipt = desk.answer(*about, costs, key, body.lead_time_s, body.note, ahead=body.ahead, levels=True)
    follow_up = receipt.follow_up
    return replace(receipt, follow_up=None if follow_up is None else visible_to(caller, follow_up))


@api.get("/projects/{project}/answers")
def _list_answers(
    caller: AnyCaller, desk: NamedDesk, limit: models.Limit = 10, cursor: models.Cursor = ""
) -> Page[Answered]:
    """The caller's own answers, the newest first."""
    before = int(cursor) if cursor else None
    return Page.of(desk.recent(caller.name, limit + 1, before), limit, lambda answered: answered.answer_id)


@api.delete("/projects/{project}/answers/{answer_id}")
def _undo_answer(caller: AnyCaller, desk: NamedDesk, answer_id: models.Identifier) -> UndoneView:
    """Undo one of the caller's answers; its query is leased to the caller again."""
    question = desk.undo(caller.name, answer_id)
    return UndoneView(query=None if question is None else visible_to(caller, question))


@api.get("/projects/{project}/progress")
def _get_progress(caller: AnyCaller, desk: NamedDesk) -> DeskProgress:
    """The amounts spent, the budget, and the caller's own pace."""
    return desk.progress(caller.name)


def _check_limits(caller: Caller, ttl: float, items: int = 1) -> None:
    if not caller.is_engineer and (ttl > _LONGEST_LEASE or items > _MOST_ITEMS):
        raise HTTPException(
            422,
            f"An annotator may lease at most {_MOST_ITEMS} queries at a time (max_items), for at most "
            f"{_LONGEST_LEASE:g} s (ttl_s), got {items} for {ttl:g} s. Ask for less.",
        )


def visible_to(caller: Caller, question: Question) -> Question:
    """The question; for annotators without the model's ranges and reason, which could bias them."""
    return question if caller.is_engineer else replace(question, ranges={}, reason="")
