"""REST for engineers: everybody's work, the pool, what comes next, predictions, exports and tokens."""

from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import StreamingResponse

from coalface.service.desk.examples import examples_after, next_questions
from coalface.service.web import views
from coalface.service.web.api import COMMON, AnyDesk, NamedDesk
from coalface.service.web.auth import Engineer, engineer_of_api
from coalface.service.web.http_errors import RefusedError
from coalface.service.web.tokens import check_person, digest_of, new_token

MEDIA_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "vw": "text/plain; charset=utf-8",
    "model": "application/octet-stream",
}
_SUFFIXES = {"jsonl": "jsonl", "csv": "csv", "vw": "vw", "model": "coalface"}
for_engineers = APIRouter(dependencies=[Depends(engineer_of_api)], **COMMON)


@for_engineers.get("/projects/{project}/overview")
def overview(desk: NamedDesk) -> views.OverviewView:
    """Everything the dashboard shows."""
    return views.OverviewView.model_validate(desk.overview())


@for_engineers.get("/projects/{project}/annotators")
def annotators(
    desk: NamedDesk, limit: views.Limit = 100, cursor: views.NameCursor = ""
) -> views.Page[views.AnnotatorView]:
    """Everybody's pace and agreement, by name."""
    found = [views.AnnotatorView.model_validate(row) for row in desk.overview().annotators]
    return views.page_by_name(found, limit, cursor)


@for_engineers.get("/projects/{project}/events")
def events(desk: NamedDesk, limit: views.Limit = 100, cursor: views.Cursor = "") -> views.Page[views.EventView]:
    """The log, the oldest first."""
    found = [views.EventView.model_validate(one) for one in desk.events(after=int(cursor or 0), limit=limit + 1)]
    return views.page_of(found, limit, lambda event: event.id)


@for_engineers.get("/projects/{project}/examples")
def examples(desk: NamedDesk, limit: views.Limit = 100, cursor: views.Cursor = "") -> views.Page[views.ExampleView]:
    """The pool in the order in which it is decided, and where each example stands."""
    found = [views.ExampleView.model_validate(one) for one in examples_after(desk.state, int(cursor or 0), limit + 1)]
    return views.page_of(found, limit, lambda example: example.turn)


@for_engineers.get("/projects/{project}/next")
def coming(desk: NamedDesk, n: Annotated[int, Query(ge=1, le=100)] = 10) -> views.Page[views.ComingView]:
    """What would be asked next, by what the model knows now; looking changes nothing."""
    return views.Page(items=[views.ComingView.model_validate(one) for one in next_questions(desk.state, n)])


@for_engineers.post("/projects/{project}/predict")
def predict(desk: NamedDesk, body: views.PredictBody) -> list[dict[str, Any]]:
    """For each example its label, and the predicted cost and range of every label."""
    return list(desk.predict(body.examples))


@for_engineers.get("/projects/{project}/exports/{form}", response_class=Response)
def export(desk: NamedDesk, form: views.Form) -> StreamingResponse:
    """Everything that was answered as JSON lines, CSV or VW text, or the trained model."""
    headers = {"content-disposition": attachment(f"{desk.project.name}.{_SUFFIXES[form]}")}
    parts: Iterator[bytes] = iter(desk.export(form))
    return StreamingResponse(parts, media_type=MEDIA_TYPES[form], headers=headers)


@for_engineers.get("/tokens")
def tokens(desk: AnyDesk, limit: views.Limit = 100, cursor: views.NameCursor = "") -> views.Page[views.TokenView]:
    """Who has a token, by name."""
    found = [views.TokenView(name=name, role=role) for name, role, *_ in desk.store.tokens()]
    return views.page_by_name(found, limit, cursor)


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


def attachment(name: str) -> str:
    r"""The header that names a download; a header has no letters beyond ASCII but in this form (RFC 6266).

    >>> attachment("mail.csv")
    'attachment; filename="mail.csv"'
    >>> attachment("Bücher.csv")
    'attachment; filename="B_cher.csv"; filename*=utf-8\'\'B%C3%BCcher.csv'
    """
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\' else "_" for letter in name
    )
    exact = "" if plain == name else f"; filename*=utf-8''{quote(name, safe='', errors='replace')}"
    return f'attachment; filename="{plain}"{exact}'
