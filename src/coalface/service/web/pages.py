"""The pages: log in, give costs, see how it goes.

They work as plain forms; the script adds keys, drafts and renewals.
"""

import secrets
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.datastructures import FormData

from coalface.errors import ConflictError, InputError, UnknownIdError
from coalface.service.desk.desk import Desk
from coalface.service.desk.examples import not_asked
from coalface.service.desk.messages import STOPPED, NoQuestion, Question
from coalface.service.web.api import AnyDesk
from coalface.service.web.auth import Door, address_of, check_form_key, only_engineers
from coalface.service.web.chart_geometry import bar, shares, sparkline
from coalface.service.web.http_errors import RefusedError
from coalface.service.web.tokens import Caller, form_key
from coalface.service.web.views import for_caller

LEASE_SECONDS = 600.0
_A_MONTH = 30 * 86400
_SANDBOX = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class _LoginNeededError(RefusedError):
    def __init__(self) -> None:
        super().__init__(303, "Log in first.", {"location": "/login"})


def caller_of_page(request: Request) -> Caller:
    """The caller by cookie; whoever has none is sent to log in."""
    token = request.cookies.get(request.app.state.cookie)
    door: Door = request.app.state.door
    try:
        if token is None:
            raise _LoginNeededError
        return door.admit(token, address_of(request))
    except RefusedError as refusal:
        raise _LoginNeededError if refusal.status == 401 else refusal from None


Visitor = Annotated[Caller, Depends(caller_of_page)]


async def sent_form(request: Request, caller: Visitor) -> FormData:
    """A form that one of our own pages sent."""
    form = await request.form(max_files=0, max_fields=5000)
    check_form_key(caller, _text(form, "csrf"))
    return form


SentForm = Annotated[FormData, Depends(sent_form)]


@pages.get("/")
def start(caller: Visitor) -> Response:
    """Engineers want to see how it goes, annotators want to begin."""
    return _to("/dashboard" if caller.is_engineer else "/label")


@pages.get("/login")
def login_page(request: Request) -> Response:
    """Where a token is typed in."""
    return _page(request, "login.html", None)


@pages.post("/login")
def login(request: Request, token: Annotated[str, Form(max_length=200)]) -> Response:
    """Keep the token in a cookie that scripts cannot read and other sites cannot send."""
    _refuse_other_sites(request)
    door: Door = request.app.state.door
    try:
        door.admit(token.strip(), address_of(request))
    except RefusedError as refusal:
        return _page(request, "login.html", None, refusal.status, wrong=refusal.detail)
    answer = _to("/")
    secure = request.url.scheme == "https"
    name = request.app.state.cookie
    answer.set_cookie(name, token.strip(), _A_MONTH, httponly=True, samesite="strict", secure=secure)
    return answer


@pages.post("/logout", dependencies=[Depends(sent_form)])
def logout(request: Request) -> Response:
    """Forget the token on this machine."""
    answer = _to("/login")
    answer.delete_cookie(request.app.state.cookie)
    return answer


@pages.get("/label")
def label_page(request: Request, caller: Visitor, desk: AnyDesk, said: str = "") -> Response:
    """The question that the caller holds, or a new one, or why there is none."""
    held = desk.held(caller.name)
    question = held[0] if held else desk.lease(caller.name, LEASE_SECONDS)
    about: dict[str, Any] = {
        "progress": desk.progress(caller.name),
        "recent": desk.recent(caller.name, 10),
        "said": _SAYINGS.get(said, ""),
    }
    if isinstance(question, NoQuestion):
        again = _LOOK_AGAIN.get(question.reason)
        return _page(request, "nothing.html", caller, why=STOPPED[question.reason], again=again, **about)
    shown = for_caller(question, caller)
    about |= {"question": shown, "key": secrets.token_hex(16), "bars": _bars(shown, desk)}
    about["how_many"] = shares(about["progress"])
    about["draft"] = f"{request.app.state.cookie} {caller.name} {question.id}"
    about["others"] = [one for one in desk.project.labels if one not in {*shown.labels, *shown.known}]
    about["not_asked"] = not_asked(desk.state, question) if caller.is_engineer else {}
    return _page(request, "truth.html" if desk.project.true_label else "label.html", caller, **about)


@pages.post("/label")
async def send(caller: Visitor, desk: AnyDesk, form: SentForm) -> Response:
    """Take the answer and show what comes next."""
    about = (caller.name, _text(form, "question_id"), _text(form, "lease_id"))
    more = (_text(form, "key"), _seconds(_text(form, "seconds")), _text(form, "note").strip() or None)
    try:
        if desk.project.true_label:
            receipt = await run_in_threadpool(desk.answer_truth, *about, _text(form, "label") or None, *more)
        else:
            receipt = await run_in_threadpool(desk.answer, *about, _costs(form), *more)
    except ConflictError:
        return _to("/label?said=before")
    return _to("/label?said=late" if receipt.late else "/label")


@pages.post("/undo")
async def undo(caller: Visitor, desk: AnyDesk, form: SentForm) -> Response:
    """Take back one of the caller's answers, by default the last."""
    answer_id = _text(form, "answer_id")
    if not answer_id:
        recent = await run_in_threadpool(desk.recent, caller.name, 10)
        answer_id = next((one.answer_id for one in recent if not one.undone), "")
    if not answer_id:
        return _to("/label?said=nothing")
    try:
        await run_in_threadpool(desk.undo, caller.name, answer_id)
    except ConflictError:
        return _to("/label?said=stays")
    return _to("/label?said=undone")


@pages.get("/content/{example_id:path}")
def content(caller: Visitor, desk: AnyDesk, example_id: str) -> Response:
    """The picture or the HTML of an example; annotators see only those they are asked about."""
    mine = next((one for one in desk.held(caller.name) if one.example_id == example_id), None)
    if mine is None and not caller.is_engineer:
        raise UnknownIdError(f"You hold no question about an example {example_id!r}.")
    headers = {"content-security-policy": _SANDBOX, "x-frame-options": "SAMEORIGIN"}
    if mine is not None and mine.content["kind"] == "html":
        return HTMLResponse(str(mine.content["html"]), headers=headers)
    return FileResponse(desk.project.file_of(example_id), headers=headers)


@pages.get("/dashboard")
def dashboard(request: Request, caller: Visitor, desk: AnyDesk) -> Response:
    """How it goes, for engineers."""
    only_engineers(caller)
    overview = desk.overview()
    bounds = desk.project.cost_bounds
    about: dict[str, Any] = {"overview": overview, "how_many": shares(overview.progress)}
    about["curve"] = sparkline(overview.history)
    about["pictures"] = [
        (row, bar(row.lowest, row.highest, bounds), bar(row.predicted, row.predicted, bounds)[0])
        for row in overview.labels
    ]
    return _page(request, "dashboard.html", caller, why=STOPPED.get(overview.stopped or "", ""), **about)


_LOOK_AGAIN = {"looking": 0.5, "all-leased": 10, "others-only": 30}  # seconds, where waiting helps
_SAYINGS = {
    "late": "Your lease had ended; the answer was kept all the same.",
    "before": "You had answered this already; the first answer stands.",
    "nothing": "There is nothing to undo.",
    "stays": "This answer stays: it was taken back before, somebody else has gone on from it, or you hold too many.",
    "undone": "Taken back: give this answer again.",
}


def _page(request: Request, template: str, caller: Caller | None, status: int = 200, **about: Any) -> Response:
    about |= {"project": request.app.state.desk.project, "caller": caller}
    about["csrf"] = form_key(caller.token) if caller else ""
    answer: Response = request.app.state.templates.TemplateResponse(request, template, about, status)
    return answer


def _bars(question: Question, desk: Desk) -> dict[str, tuple[float, float]]:
    return {label: bar(*span, desk.project.cost_bounds) for label, span in question.ranges.items()}


def _costs(form: FormData) -> dict[str, float | None]:
    """The rows of the form: ``label-0`` names a label, ``cost-0`` is its cost, or ? for can't tell."""
    costs: dict[str, float | None] = {}
    for name in form:
        place = name.removeprefix("label-")
        cost = _text(form, f"cost-{place}").strip()
        if place != name and cost:
            label = _text(form, name)
            if not label:
                raise InputError(f"A cost must be of a label, got {cost} for none. Choose the label.")
            costs[label] = None if cost == "?" else _number(cost)
    return costs


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"A cost must be a number, or ? where you can't tell, got {text!r}.") from None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:  # no script, no clock
        return None
    return seconds if 0 <= seconds < 1e6 else None


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    if not isinstance(value, str) or "\0" in value or len(value) > 10_000:
        raise InputError(f"{name} must be a text of at most 10000 characters.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):  # a form may say that it is in the strangest encoding
        raise InputError(f"{name} must be a text of whole characters.")
    return value


def _refuse_other_sites(request: Request) -> None:
    """Another site could log a person in under a foreign name; a browser says where a form stands.

    Over HTTPS it says so in one word, which is right whatever a server in front of this one makes of the address.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    same_host = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not (same_host if site is None else site == "same-origin"):
        raise RefusedError(403, "This did not come from a page of this service. Load the page again.")


def _to(place: str) -> RedirectResponse:
    return RedirectResponse(place, 303)
