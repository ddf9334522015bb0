"""REST under ``/api/v1``: what a program can do that a person does on the pages, and more.

One service serves one project; its name stands in the address so that a client cannot mistake one for another.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from coalface.app import views
from coalface.app.auth import AnyCaller, Engineer, caller_of_api, engineer_of_api
from coalface.app.desk import Desk
from coalface.app.exchange import NoQuestion, Progress, Question
from coalface.app.problems import RESPONSES, RefusedError
from coalface.app.tokens import Caller, check_person, digest_of, new_token

MEDIA_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "vw": "text/plain; charset=utf-8",
    "model": "application/octet-stream",
}
_SUFFIXES = {"jsonl": "jsonl", "csv": "csv", "vw": "vw", "model": "coalface"}


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
_COMMON: dict[str, Any] = {"prefix": "/api/v1", "responses": RESPONSES}
api = APIRouter(dependencies=[Depends(caller_of_api)], **_COMMON)
for_engineers = APIRouter(dependencies=[Depends(engineer_of_api)], **_COMMON)


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
    queries: list[views.QueryView] = []
    for _ in range(body.max_items):
        found = desk.lease(caller.name, body.ttl_s)
        if isinstance(found, NoQuestion):
            return views.LeasedView(queries=queries, reason=None if queries else found.reason)
        queries.append(_view(found, caller))
    return views.LeasedView(queries=queries)


@api.get("/projects/{project}/queries")
def held(caller: AnyCaller, desk: NamedDesk) -> views.LeasedView:
    """The queries that the caller holds, the newest lease first."""
    return views.LeasedView(queries=[_view(question, caller) for question in desk.held(caller.name)])


@api.post("/leases/{lease_id}:renew")
def renew(caller: AnyCaller, desk: AnyDesk, lease_id: views.Identifier, body: views.RenewBody) -> views.LeaseView:
    """A later end for a lease of the caller's."""
    return views.LeaseView.model_validate({"expires_at": desk.renew(lease_id, caller.name, body.ttl_s)})


@api.post("/leases/{lease_id}:release", status_code=204)
def release(caller: AnyCaller, desk: AnyDesk, lease_id: views.Identifier) -> None:
    """Give a query back unanswered."""
    desk.release(lease_id, caller.name)


@api.post("/projects/{project}/answers", status_code=201)
def answer(caller: AnyCaller, desk: NamedDesk, key: Key, body: views.AnswerBody) -> views.ReceiptView:
    """Costs for a query. The same key again gives the same receipt; an answer after the lease has ended is kept."""
    about = (caller.name, body.query_id, body.lease_id)
    if body.label is not None or (desk.project.true_label and not body.costs):
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
    caller: AnyCaller, desk: NamedDesk, limit: Annotated[int, Query(ge=1, le=1000)] = 10
) -> list[views.AnsweredView]:
    """The caller's own answers, the newest first."""
    return [views.AnsweredView.model_validate(one) for one in desk.recent(caller.name, limit)]


@api.delete("/answers/{answer_id}")
def undo(caller: AnyCaller, desk: AnyDesk, answer_id: views.Identifier) -> views.UndoneView:
    """Take an own answer back; its query is leased to the caller again."""
    question = desk.undo(caller.name, answer_id)
    return views.UndoneView(query=None if question is None else _view(question, caller))


@api.get("/projects/{project}/progress")
def progress(caller: AnyCaller, desk: NamedDesk) -> Progress:
    """What was asked against what may be spent, and the caller's own pace."""
    return desk.progress(caller.name)


@for_engineers.get("/projects/{project}/overview")
def overview(desk: NamedDesk) -> views.OverviewView:
    """Everything the dashboard shows."""
    return views.OverviewView.model_validate(desk.overview())


@for_engineers.get("/projects/{project}/annotators")
def annotators(desk: NamedDesk) -> list[views.AnnotatorView]:
    """Everybody's pace and agreement."""
    return [views.AnnotatorView.model_validate(row) for row in desk.overview().annotators]


@for_engineers.get("/projects/{project}/events")
def events(
    desk: NamedDesk,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str, Query(pattern=r"^[0-9]{1,15}$")] = "0",
) -> views.EventsView:
    """The log, the oldest first."""
    found = desk.events(after=int(cursor), limit=limit)
    following = str(found[-1].id) if len(found) == limit else None
    return views.EventsView(items=[views.EventView.model_validate(one) for one in found], next_cursor=following)


@for_engineers.post("/projects/{project}/predict")
def predict(desk: NamedDesk, body: views.PredictBody) -> list[dict[str, Any]]:
    """For each example its label, and the predicted cost and range of every label."""
    return list(desk.predict(body.examples))


@for_engineers.get("/projects/{project}/exports/{form}", response_class=Response)
def export(desk: NamedDesk, form: views.Form) -> StreamingResponse:
    """Everything that was answered as JSON lines, CSV or VW text, or the trained model."""
    name = f"{desk.project.name}.{_SUFFIXES[form]}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(iter(desk.export(form)), media_type=MEDIA_TYPES[form], headers=headers)


@for_engineers.get("/tokens")
def tokens(desk: AnyDesk) -> list[views.TokenView]:
    """Who has a token."""
    return [views.TokenView(name=name, role=role) for name, role, *_ in desk.store.tokens()]


@for_engineers.post("/tokens", status_code=201)
def add_token(desk: AnyDesk, body: views.TokenBody) -> views.NewTokenView:
    """A new token, shown this once."""
    check_person(body.name, body.role)
    token = new_token()
    desk.store.add_token(body.name, body.role, digest_of(token))
    return views.NewTokenView(name=body.name, role=body.role, token=token)


@for_engineers.delete("/tokens/{name}", status_code=204)
def remove_token(caller: Engineer, desk: AnyDesk, name: views.Identifier) -> None:
    """Nobody of this name may call any longer, from the next request on."""
    if name == caller.name:
        raise RefusedError(409, "You would lock yourself out. Let another engineer remove your token.")
    desk.store.remove_token(name)


def _view(question: Question, caller: Caller) -> views.QueryView:
    return views.QueryView.model_validate(views.for_caller(question, caller))
