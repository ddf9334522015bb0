"""REST routes under ``/api/v1`` for engineers: all annotators' work, the pool, predictions, exports and tokens."""

from collections.abc import Iterator
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import Path, Query, Response
from fastapi.responses import StreamingResponse

from coalface.desk.service.curation import Settled
from coalface.desk.service.messages import (
    AnnotatorRow,
    ChangedView,
    ComingQuestion,
    ExampleState,
    LogEvent,
    NewTokenView,
    Overview,
    Page,
    ProjectView,
    Remark,
    TokenView,
)
from coalface.desk.service.pool_changes import Added
from coalface.desk.web import api_models as models
from coalface.desk.web.api import ApiRoutes, NamedDesk
from coalface.desk.web.auth import Engineer, engineer_of_api
from coalface.desk.web.pages import revoke
from coalface.rounds import change_of
from coalface.web.tokens import check_person, new_token

MEDIA_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "vw": "text/plain; charset=utf-8",
    "model": "application/octet-stream",
    "predictions": "application/jsonl",
    "predictions.csv": "text/csv; charset=utf-8",
    "label-studio": "application/json",
    "parquet": "application/octet-stream",
}
_NamedItem = TypeVar("_NamedItem", AnnotatorRow, TokenView)
_SUFFIXES = {
    "jsonl": "jsonl",
    "csv": "csv",
    "vw": "vw",
    "model": "coalface",
    "predictions": "predictions.jsonl",
    "predictions.csv": "predictions.csv",
    "label-studio": "json",
    "parquet": "parquet",
}
admin_api = ApiRoutes(engineer_of_api, of="engineers")


@admin_api.get("/projects/{project}/overview")
def _get_overview(desk: NamedDesk) -> Overview:
    """All values that the dashboard shows."""
    return desk.overview()


@admin_api.get("/projects/{project}/annotators")
def _list_annotators(desk: NamedDesk, limit: models.Limit = 100, cursor: models.NameCursor = "") -> Page[AnnotatorRow]:
    """Each annotator's pace and agreement, sorted by name."""
    return _page_by_name(desk.overview().annotators, limit, cursor)


@admin_api.get("/projects/{project}/events")
def _list_events(desk: NamedDesk, limit: models.Limit = 100, cursor: models.Cursor = "") -> Page[LogEvent]:
    """The event log, the oldest event first."""
    return Page.of(desk.events(int(cursor or 0), limit + 1), limit, lambda event: event.id)


@admin_api.get("/projects/{project}/remarks")
def _list_remarks(desk: NamedDesk, limit: models.Limit = 100) -> Page[Remark]:
    """The flags that are not resolved, then the latest notes, each from the newest, on one page."""
    return Page(items=desk.remarks(limit))


@admin_api.post("/projects/{project}/flags/{flag}:resolve", status_code=204)
def _resolve_flag(caller: Engineer, desk: NamedDesk, flag: Annotated[int, Path(ge=1, lt=2**63)]) -> None:
    """Record that a flag was dealt with."""
    desk.resolve(flag, caller.name)


@admin_api.get("/projects/{project}/examples")
def _list_examples(desk: NamedDesk, limit: models.Limit = 100, cursor: models.Cursor = "") -> Page[ExampleState]:
    """The examples of the pool with their states, in the order in which the learner decides them."""
    return Page.of(desk.examples(int(cursor or 0), limit + 1), limit, lambda example: example.turn)


@admin_api.get("/projects/{project}/next")
def _list_upcoming_queries(desk: NamedDesk, n: Annotated[int, Query(ge=1, le=100)] = 10) -> Page[ComingQuestion]:
    """The queries that the current model would ask next. This call changes nothing."""
    return Page(items=desk.upcoming(n))


@admin_api.post("/projects/{project}/predict")
def _predict_labels(desk: NamedDesk, body: models.PredictBody) -> list[dict[str, Any]]:
    """For each example the predicted label, and the predicted cost and cost range of every label."""
    return list(desk.predict(body.examples))


@admin_api.get("/projects/{project}/exports/{form}", response_class=Response)
def _export_answers(desk: NamedDesk, form: models.Form, top: models.Top = None) -> StreamingResponse:
    """All answers as JSON lines, CSV or VW text, the trained model, or predictions for the whole pool."""
    headers = {"content-disposition": _attachment(f"{desk.project.name}.{_SUFFIXES[form]}")}
    parts: Iterator[bytes] = iter(desk.export(form, top))
    return StreamingResponse(parts, media_type=MEDIA_TYPES[form], headers=headers)


@admin_api.post("/projects/{project}/labels")
def _change_labels(caller: Engineer, desk: NamedDesk, body: models.LabelsBody) -> ProjectView:
    """Add, rename or retire a label. Adding a retired label brings it back."""
    change = change_of(body.add, body.rename, body.to, body.retire, body.cost_matrix)
    return ProjectView.of(desk.change_labels(change, caller.name))


@admin_api.get("/projects/{project}/tokens")
def _list_tokens(desk: NamedDesk, limit: models.Limit = 100, cursor: models.NameCursor = "") -> Page[TokenView]:
    """The people who have a token, sorted by name."""
    found = [TokenView(name=name, role=role) for name, role, *_ in desk.access.tokens()]
    return _page_by_name(found, limit, cursor)


@admin_api.post("/projects/{project}/tokens", status_code=201)
def _add_token(desk: NamedDesk, body: models.TokenBody) -> NewTokenView:
    """Make a token. The response is the only place where it is shown."""
    check_person(body.name, body.role)
    token = new_token()
    desk.access.add_token(body.name, body.role, token)
    return NewTokenView(name=body.name, role=body.role, token=token)


@admin_api.delete("/projects/{project}/tokens/{name:path}", status_code=204)
def _remove_token(caller: Engineer, desk: NamedDesk, name: models.Identifier) -> None:
    """Revoke this person's token. The next request with it is refused, and their browsers are logged out."""
    revoke(caller, desk, name)


def _attachment(name: str) -> str:
    r"""The Content-Disposition header of a download; letters beyond ASCII need the second form of RFC 6266.

    >>> _attachment("mail.csv")
    'attachment; filename="mail.csv"'
    >>> _attachment("Bücher.csv")
    'attachment; filename="B_cher.csv"; filename*=utf-8\'\'B%C3%BCcher.csv'
    """
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\' else "_" for letter in name
    )
    exact = "" if plain == name else f"; filename*=utf-8''{quote(name, safe='', errors='replace')}"
    return f'attachment; filename="{plain}"{exact}'


@admin_api.post("/projects/{project}/examples", status_code=201)
def _add_examples(caller: Engineer, desk: NamedDesk, body: models.ExamplesBody) -> Added:
    """Add examples to the pool. Those that it has already, with the same content, are left as they are."""
    features = (
        [one.get("features", ()) for one in body.examples] if any("features" in one for one in body.examples) else None
    )
    records = [{name: value for name, value in one.items() if name != "features"} for one in body.examples]
    return desk.curation.add_examples(records, caller.name, features=features, first=body.first)


@admin_api.post("/projects/{project}/examples:retire")
def _retire_examples(caller: Engineer, desk: NamedDesk, body: models.IdsBody) -> ChangedView:
    """Ask about these examples no more, and let the model forget them. The log keeps their answers."""
    return ChangedView(changed=desk.curation.retire_examples(body.ids, caller.name, body.reason))


@admin_api.post("/projects/{project}/examples:restore")
def _restore_examples(caller: Engineer, desk: NamedDesk, body: models.IdsBody) -> ChangedView:
    """Bring retired examples back, with their answers."""
    return ChangedView(changed=desk.curation.restore_examples(body.ids, caller.name, body.reason))


@admin_api.post("/projects/{project}/costs", status_code=201)
def _import_costs(caller: Engineer, desk: NamedDesk, body: models.CostsBody) -> Settled:
    """Let the model learn labels and costs that exist already. Examples with known costs keep theirs."""
    return desk.curation.import_costs(body.items, caller.name, gold=body.gold)


def _page_by_name(found: list[_NamedItem], limit: int, cursor: str) -> Page[_NamedItem]:
    """The items whose names come after the cursor, sorted by name."""
    rest = sorted((one for one in found if one.name > cursor), key=lambda one: one.name)
    return Page.of(rest, limit, lambda one: one.name)
