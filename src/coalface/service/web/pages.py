"""The pages: log in, label, and the dashboard.

They work as plain HTML forms; the script adds keyboard control, drafts and lease renewal.
"""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.datastructures import FormData

from coalface.errors import ConflictError, InputError, UnknownIdError
from coalface.service.desk.examples import not_asked
from coalface.service.desk.messages import STOPPED, NoQuestion
from coalface.service.web import auth
from coalface.service.web.api import AnyDesk
from coalface.service.web.api_models import visible_to
from coalface.service.web.http_errors import RefusedError
from coalface.service.web.rendering import bar, budget_rows, page, sparkline

LEASE_SECONDS = 600.0
_A_MONTH = 30 * 86400
_SANDBOX = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
_REFRESH = {"looking": 0.5, "all-leased": 10, "others-only": 30}  # seconds, where waiting helps
_NOTICES = {
    "late": "Your lease had ended. Your answer was still accepted.",
    "before": "You have already answered this question. Your first answer counts.",
    "nothing": "There is nothing to undo.",
    "stays": "Not undone: you have undone it already, a later answer depends on it, or you hold too many questions.",
    "undone": "Your answer was undone. Please answer again.",
}
pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


async def sent_form(request: Request, caller: auth.PageCaller) -> FormData:
    """A form that one of our own pages sent."""
    form = await request.form(max_files=0, max_fields=5000)
    auth.check_form_key(caller, _text(form, "csrf"))
    return form


SentForm = Annotated[FormData, Depends(sent_form)]


@pages.get("/")
def start(caller: auth.PageCaller) -> Response:
    """Engineers start at the dashboard, annotators at the next question."""
    return _to("/dashboard" if caller.is_engineer else "/label")


@pages.get("/login")
def login_page(request: Request) -> Response:
    """The form for a token."""
    return page(request, "login.html", None)


@pages.post("/login", dependencies=[Depends(auth.refuse_other_sites)])
def login(request: Request, token: Annotated[str, Form(max_length=200)]) -> Response:
    """Keep the token in a cookie that scripts cannot read and other sites cannot send."""
    authenticator: auth.Authenticator = request.app.state.authenticator
    try:
        authenticator.authenticate(token.strip(), auth.address_of(request))
    except RefusedError as refusal:
        return page(request, "login.html", None, refusal.status, wrong=refusal.detail)
    response = _to("/")
    secure = request.url.scheme == "https"
    name = request.app.state.cookie
    response.set_cookie(name, token.strip(), _A_MONTH, httponly=True, samesite="strict", secure=secure)
    return response


@pages.post("/logout", dependencies=[Depends(sent_form)])
def logout(request: Request) -> Response:
    """Remove the token from this browser."""
    response = _to("/login")
    response.delete_cookie(request.app.state.cookie)
    return response


@pages.get("/label")
def label_page(request: Request, caller: auth.PageCaller, desk: AnyDesk, notice: str = "") -> Response:
    """The question that the caller holds, or a new one, or why there is none."""
    held = desk.held(caller.name)
    question = held[0] if held else desk.lease(caller.name, LEASE_SECONDS)
    values: dict[str, Any] = {
        "progress": desk.progress(caller.name),
        "recent": desk.recent(caller.name, 10),
        "notice": _NOTICES.get(notice, ""),
    }
    if isinstance(question, NoQuestion):
        refresh = _REFRESH.get(question.reason)
        return page(request, "no_question.html", caller, why=STOPPED[question.reason], refresh=refresh, **values)
    shown, project = visible_to(caller, question), desk.project
    values |= {"question": shown, "key": secrets.token_hex(16), "budget": budget_rows(values["progress"])}
    values["bars"] = {label: bar(*span, project.cost_bounds) for label, span in shown.ranges.items()}
    values["draft"] = f"{request.app.state.cookie} {caller.name} {question.id}"
    values["others"] = [one for one in project.offered if one not in {*shown.labels, *shown.known}]
    values["not_asked"] = not_asked(desk.state, question) if caller.is_engineer else {}
    return page(request, "true_label.html" if question.true_label else "label.html", caller, **values)


@pages.post("/label")
async def send(caller: auth.PageCaller, desk: AnyDesk, form: SentForm) -> Response:
    """Record the answer and go to the next question."""
    about = (caller.name, _text(form, "question_id"), _text(form, "lease_id"))
    more = (_text(form, "key"), _seconds(_text(form, "seconds")), _text(form, "note").strip() or None)
    try:
        if desk.project.true_label or "label" in form:
            receipt = await run_in_threadpool(desk.answer_truth, *about, _text(form, "label") or None, *more)
        else:
            receipt = await run_in_threadpool(desk.answer, *about, _costs(form), *more)
    except ConflictError:
        return _to("/label?notice=before")
    return _to("/label?notice=late" if receipt.late else "/label")


@pages.post("/undo")
async def undo(caller: auth.PageCaller, desk: AnyDesk, form: SentForm) -> Response:
    """Undo one of the caller's answers, by default the last."""
    answer_id = _text(form, "answer_id")
    if not answer_id:
        recent = await run_in_threadpool(desk.recent, caller.name, 10)
        answer_id = next((one.answer_id for one in recent if not one.undone), "")
    if not answer_id:
        return _to("/label?notice=nothing")
    try:
        await run_in_threadpool(desk.undo, caller.name, answer_id)
    except ConflictError:
        return _to("/label?notice=stays")
    return _to("/label?notice=undone")


@pages.get("/content/{example_id:path}")
def content(caller: auth.PageCaller, desk: AnyDesk, example_id: str) -> Response:
    """The picture or the HTML of an example; annotators see only the examples of their own questions."""
    mine = next((one for one in desk.held(caller.name) if one.example_id == example_id), None)
    if mine is None and not caller.is_engineer:
        raise UnknownIdError(f"You hold no question about an example {example_id!r}.")
    headers = {"content-security-policy": _SANDBOX, "x-frame-options": "SAMEORIGIN"}
    if mine is not None and mine.content["kind"] == "html":
        return HTMLResponse(str(mine.content["html"]), headers=headers)
    return FileResponse(desk.project.file_of(example_id), headers=headers)


@pages.get("/dashboard")
def dashboard(request: Request, caller: auth.PageCaller, desk: AnyDesk) -> Response:
    """Spending, model quality, annotators and labels, for engineers."""
    auth.only_engineers(caller)
    overview = desk.overview()
    bounds = desk.project.cost_bounds
    label_rows = [
        (row, bar(row.lowest, row.highest, bounds), bar(row.predicted, row.predicted, bounds)[0])
        for row in overview.labels
    ]
    values: dict[str, Any] = {"overview": overview, "budget": budget_rows(overview.progress), "label_rows": label_rows}
    values |= {"curve": sparkline(overview.history), "why": STOPPED.get(overview.stopped or "", "")}
    return page(request, "dashboard.html", caller, **values)


def _costs(form: FormData) -> dict[str, float | None]:
    """The rows of the form: ``label-0`` names a label, ``cost-0`` is its cost, or ? for can't tell."""
    costs: dict[str, float | None] = {}
    for name in form:
        number = name.removeprefix("label-")
        cost = _text(form, f"cost-{number}").strip()
        if number != name and cost:
            label = _text(form, name)
            if not label:
                raise InputError(f"A cost needs a label, got the cost {cost} without one. Choose the label.")
            costs[label] = None if cost == "?" else _number(cost)
    return costs


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"A cost must be a number, or ? if you can't tell, got {text!r}.") from None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:  # a browser without scripts measures no time
        return None
    return seconds if 0 <= seconds < 1e6 else None


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    if not isinstance(value, str) or "\0" in value or len(value) > 10_000:
        raise InputError(f"{name} must be a text of at most 10000 characters.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):  # a form may name any encoding
        raise InputError(f"{name} must be a text of whole characters.")
    return value


def _to(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)
