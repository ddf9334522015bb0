"""The pages: log in, label, the dashboard, and the people of a project with their roles.

They work as plain HTML forms; the script adds keyboard control, drafts and lease renewal.
"""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.datastructures import FormData

from coalface.desk.service.checks import is_event_number
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import STOPPED, DeskProgress, NoQuestion
from coalface.desk.web import auth
from coalface.desk.web.api import AnyDesk, visible_to
from coalface.desk.web.charts import learning_chart, spending_chart
from coalface.desk.web.rendering import SentForm, costs_in, page, sent_form, text_in
from coalface.errors import ConflictError, UnknownIdError
from coalface.web.tokens import A_MONTH, ROLES, Caller, check_person, new_token

LEASE_SECONDS = 600.0
_MOST_REMARKS = 20  # on the dashboard
_MOST_LATER = 24  # follow-up rows that a page brings along, so that it stays small
_SANDBOX = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
_REFRESH = {"looking": 0.5, "all-leased": 10, "others-only": 30}  # seconds, where waiting helps
_NOTICES = {
    "late": "Your lease had ended. Your answer was still accepted.",
    "before": "You have already answered this question. Your first answer counts.",
    "nothing": "There is nothing to undo.",
    "stays": "Not undone: you have undone it already, a later answer depends on it, or you hold too many questions.",
    "undone": "Your answer was undone. Please answer again.",
    "skipped": "Skipped: another annotator gets that question. U brings it back.",
    "back": "Here is the question that you skipped.",
}
pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@pages.get("/")
def _start(caller: auth.PageCaller) -> Response:
    """Engineers start at the dashboard, reviewers at the review, annotators at the next question.

    In a service with several projects, all start at the list of their projects.
    """
    if caller.role == auth.NOBODY:
        return _to("/projects/")
    return _to("/dashboard" if caller.is_engineer else "/review" if caller.may_review else "/label")


@pages.get("/login")
def _login_page(request: Request) -> Response:
    """The form for a token."""
    return page(request, "login.html", None)


@pages.post("/login", dependencies=[Depends(auth.refuse_other_sites)])
def _login(request: Request, token: Annotated[str, Form(max_length=200)]) -> Response:
    """Begin a session, whose id is kept in a cookie that scripts cannot read and other sites cannot send."""
    authenticator: auth.Authenticator = request.app.state.authenticator
    try:
        authenticator.authenticate(request, token.strip())
    except HTTPException as refusal:
        return page(request, "login.html", None, refusal.status_code, wrong=refusal.detail)
    response = _to("/")
    secure = request.url.scheme == "https"
    name = request.app.state.cookie
    session = authenticator.begin_session(token.strip())
    response.set_cookie(name, session, int(A_MONTH), httponly=True, samesite="strict", secure=secure)
    return response


@pages.post("/logout", dependencies=[Depends(sent_form)])
def _logout(request: Request) -> Response:
    """End the session of this browser."""
    request.app.state.authenticator.end_session(request.cookies.get(request.app.state.cookie, ""))
    response = _to("/login")
    response.delete_cookie(request.app.state.cookie)
    return response


@pages.get("/label")
def _label_page(request: Request, caller: auth.PageCaller, desk: AnyDesk, notice: str = "") -> Response:
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
        values |= {"why": STOPPED[question.reason], "refresh": refresh, "skipped": question.reason == "skipped"}
        return page(request, "no_question.html", caller, **values)
    shown, project = visible_to(caller, question), desk.project
    later = shown.later[:_MOST_LATER]
    shares = project.scale.shares([needless for _, needless in later])
    undone = (one for one in values["recent"] if one.undone and one.question_id == question.id)
    values |= {
        "question": shown,
        "key": secrets.token_hex(16),
        "budget": _budget_rows(values["progress"]),
        "bars": {label: _bar(*span, project.cost_bounds) for label, span in shown.ranges.items()},
        "later": [(label, share) for (label, _), share in zip(later, shares, strict=True)],
        "redo": next(undone, None) if notice == "undone" else None,  # to be given again by one key
        "draft": f"{request.app.state.cookie} {desk.project.id} {caller.name} {question.id}",
        "others": [one for one in project.offered if one not in {*shown.labels, *shown.known}],
        "not_asked": desk.not_asked(question) if caller.is_engineer else {},
    }
    return page(request, "true_label.html" if question.true_label else "label.html", caller, **values)


@pages.post("/label")
def _send(caller: auth.PageCaller, desk: AnyDesk, form: SentForm) -> Response:
    """Record the answer and go to the next question."""
    about = (caller.name, text_in(form, "question_id"), text_in(form, "lease_id"))
    more = (text_in(form, "key"), _seconds(text_in(form, "seconds")), text_in(form, "note").strip() or None)
    _flag(desk, caller.name, form)
    try:
        if desk.project.true_label or "label" in form:
            receipt = desk.answer_truth(*about, text_in(form, "label") or None, *more)
        else:
            ahead = [label for label in form.getlist("ahead") if isinstance(label, str)]
            receipt = desk.answer(*about, costs_in(form), *more, ahead=ahead, levels=True)
    except ConflictError:
        return _to("/label?notice=before")
    return _to("/label?notice=late" if receipt.late else "/label")


@pages.post("/skip")
def _skip(caller: auth.PageCaller, desk: AnyDesk, form: SentForm) -> Response:
    """Leave the question to other annotators."""
    _flag(desk, caller.name, form)
    note = text_in(form, "note").strip() or None
    desk.skip(text_in(form, "lease_id"), caller.name, note)
    return _to("/label?notice=skipped")


@pages.post("/resume", dependencies=[Depends(sent_form)])
def _resume(caller: auth.PageCaller, desk: AnyDesk) -> Response:
    """Ask the caller again about the questions that the caller skipped."""
    desk.resume(caller.name)
    return _to("/label")


@pages.post("/undo")
def _undo(caller: auth.PageCaller, desk: AnyDesk, form: SentForm) -> Response:
    """Undo one of the caller's answers, by default the last, or the skip after it."""
    answer_id = text_in(form, "answer_id")
    if not answer_id:
        recent = desk.recent(caller.name, 10)
        answer_id = next((one.answer_id for one in recent if not one.undone), "")
        if desk.last_skip(caller.name) > int(answer_id or 0):
            for question in desk.held(caller.name):  # so that the question skipped last comes first
                desk.release(question.lease_id, caller.name)
            desk.resume(caller.name, last=True)
            return _to("/label?notice=back")
    if not answer_id:
        return _to("/label?notice=nothing")
    try:
        desk.undo(caller.name, answer_id)
    except ConflictError:
        return _to("/label?notice=stays")
    return _to("/label?notice=undone")


@pages.get("/content/{example_id:path}")
def _content(caller: auth.PageCaller, desk: AnyDesk, example_id: str) -> Response:
    """The picture or the HTML of an example; annotators see only the examples of their own questions."""
    mine = next((one for one in desk.held(caller.name) if one.example_id == example_id), None)
    if mine is None and not caller.is_engineer:
        raise UnknownIdError(f"You hold no question about an example {example_id!r}. Open /label to get one.")
    headers = {"content-security-policy": _SANDBOX, "x-frame-options": "SAMEORIGIN"}
    if mine is not None and mine.content["kind"] == "html":
        return HTMLResponse(str(mine.content["html"]), headers=headers)
    return FileResponse(desk.project.file_of(example_id), headers=headers)


@pages.get("/dashboard")
def _dashboard(request: Request, caller: auth.PageEngineer, desk: AnyDesk) -> Response:
    """Spending, model quality, annotators and labels, for engineers."""
    overview = desk.overview()
    bounds = desk.project.cost_bounds
    label_rows = [
        (row, _bar(row.lowest, row.highest, bounds), _bar(row.predicted, row.predicted, bounds)[0])
        for row in overview.labels
    ]
    expected = None if overview.expected is None or overview.stopped else overview.expected.costs
    values: dict[str, Any] = {
        "overview": overview,
        "budget": _budget_rows(overview.progress),
        "label_rows": label_rows,
        "learning": learning_chart(overview.history, overview.progressive, bounds[0]),
        "spending": spending_chart(overview.spending, overview.pace, expected, desk.project.limits.costs),
        "why": STOPPED.get(overview.stopped or "", ""),
        "remarks": desk.remarks(_MOST_REMARKS),
    }
    return page(request, "dashboard.html", caller, **values)


def _flag(desk: Desk, annotator: str, form: FormData) -> None:
    """Flag the example of a form if its box is ticked."""
    if "flag" in form:
        desk.flag(text_in(form, "lease_id"), annotator, text_in(form, "note"))


@pages.post("/resolve")
def _resolve(caller: auth.PageEngineer, desk: AnyDesk, form: SentForm) -> Response:
    """Record that an engineer has dealt with a flag."""
    flag = text_in(form, "flag")
    if not is_event_number(flag):
        raise UnknownIdError(f"There is no open flag {flag!r:.40}.")
    desk.resolve(int(flag), caller.name)
    return _to("/dashboard")


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:  # a browser without scripts measures no time
        return None
    return seconds if 0 <= seconds < 1e6 else None


def _to(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)


def _bar(lowest: float, highest: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """The start and the width of a cost range, in percent of the cost scale.

    >>> _bar(1.0, 2.0, (0.0, 4.0))
    (25.0, 25.0)
    """
    floor, ceiling = bounds
    begin, end = (100.0 * (min(max(cost, floor), ceiling) - floor) / (ceiling - floor) for cost in (lowest, highest))
    return round(begin, 2), round(end - begin, 2)


def _budget_rows(progress: DeskProgress) -> list[tuple[str, float, float | None, float]]:
    """For each quantity of the budget: its name, the amount spent, the limit, and the share spent in percent.

    >>> _budget_rows(DeskProgress(30, 75, 0.0, {"costs": 150}))
    [('examples', 30, None, 0.0), ('costs', 75, 150, 50.0)]
    """
    spent = {"examples": progress.examples, "costs": progress.costs, "price": progress.price}
    rows = []
    for name, amount in spent.items():
        limit = progress.budget.get(name)
        if name != "price" or limit is not None or amount:
            rows.append((name, amount, limit, round(min(100.0 * amount / limit, 100.0), 1) if limit else 0.0))
    return rows


# -- people --------------------------------------------------------------------------------------


def revoke(caller: Caller, desk: Desk, name: str) -> None:
    """Revoke a person's token; engineers cannot revoke their own."""
    _refuse_self(caller, name, "remove your own token")
    desk.access.remove_token(name)


def _strangers(caller: Caller, desks: auth.Desks, desk: Desk) -> dict[str, str]:
    """People of the caller's other projects who have no access to this one: name and digest of their token."""
    here = {digest for _, _, digest, _ in desk.access.tokens()}
    found: dict[str, str] = {}
    for other in desks:
        mine = other.access.role_of(caller.digest)
        if other is not desk and mine is not None and mine[1] == "engineer":
            found |= {name: digest for name, _, digest, _ in other.access.tokens() if digest not in here}
    return dict(sorted(found.items()))


def _admit(caller: Caller, desks: auth.Desks, desk: Desk, name: str, role: str) -> None:
    """Let a person of another project in, with the token that they have."""
    check_person(name, role)
    known = _strangers(caller, desks, desk)
    if name not in known:
        raise UnknownIdError(
            f"There is no {name!r} in your other projects who lacks access to this one. Make a token for them."
        )
    desk.access.admit(name, role, known[name])


def _refuse_self(caller: Caller, name: str, what: str) -> None:
    if name == caller.name:
        raise HTTPException(409, f"You cannot {what}. Ask another engineer to do it.")


@pages.get("/projects/")
def _all_projects(request: Request, caller: auth.PageCaller) -> Response:
    """The projects that the caller may see, with the caller's role in each."""
    mine = request.app.state.authenticator.projects_of(caller)
    rows = [(desk.project, mine[desk.project.name]) for desk in request.app.state.desks if desk.project.name in mine]
    return page(request, "projects.html", caller, rows=rows, project=None)


@pages.get("/people")
def _people_page(request: Request, caller: auth.PageEngineer, desk: AnyDesk) -> Response:
    """Who has access, and forms that change it."""
    return _people(request, caller, desk)


@pages.post("/people")
def _change_people(request: Request, caller: auth.PageEngineer, desk: AnyDesk, form: SentForm) -> Response:
    """Make a token, which the response shows once; admit, revoke, or change a role."""
    what, name, role = text_in(form, "do"), text_in(form, "name").strip(), text_in(form, "role")
    if what == "add":
        check_person(name, role)
        token = new_token()
        desk.access.add_token(name, role, token)
        return _people(request, caller, desk, new=(name, token))
    if what == "admit":
        _admit(caller, request.app.state.desks, desk, name, role)
    elif what == "role":
        check_person(name, role)
        _refuse_self(caller, name, "change your own role")
        desk.access.change_role(name, role)
    elif what == "revoke":
        revoke(caller, desk, name)
    return RedirectResponse("/people", 303)


def _people(request: Request, caller: Caller, desk: Desk, new: tuple[str, str] | None = None) -> Response:
    seen = desk.last_seen()
    rows = [(name, role, created, seen.get(name)) for name, role, _, created in desk.access.tokens()]
    others = list(_strangers(caller, request.app.state.desks, desk))
    return page(request, "people.html", caller, rows=rows, roles=ROLES, others=others, new=new)
