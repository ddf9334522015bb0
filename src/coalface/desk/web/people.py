"""The people of a project: who has access, with which role; and the pages on which engineers change that."""

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from coalface.desk.service.desk import Desk
from coalface.desk.web import auth
from coalface.desk.web.api import AnyDesk
from coalface.desk.web.rendering import SentForm, page, text_in
from coalface.errors import UnknownIdError
from coalface.web.tokens import ROLES, Caller, check_person, new_token

access_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


def revoke(caller: Caller, desk: Desk, name: str) -> None:
    """Revoke a person's token; engineers cannot revoke their own."""
    _refuse_self(caller, name, "remove your own token")
    desk.access.remove_token(name)


def _change_role(caller: Caller, desk: Desk, name: str, role: str) -> None:
    """Give a person another role."""
    check_person(name, role)
    _refuse_self(caller, name, "change your own role")
    desk.access.change_role(name, role)


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


@access_pages.get("/projects/")
def _all_projects(request: Request, caller: auth.PageCaller) -> Response:
    """The projects that the caller may see, with the caller's role in each."""
    mine = request.app.state.authenticator.projects_of(caller)
    rows = [(desk.project, mine[desk.project.name]) for desk in request.app.state.desks if desk.project.name in mine]
    return page(request, "projects.html", caller, rows=rows, project=None)


@access_pages.get("/people")
def _people_page(request: Request, caller: auth.PageEngineer, desk: AnyDesk) -> Response:
    """Who has access, and forms that change it."""
    return _page(request, caller, desk)


@access_pages.post("/people")
def _change_people(request: Request, caller: auth.PageEngineer, desk: AnyDesk, form: SentForm) -> Response:
    """Make a token, which the response shows once; admit, revoke, or change a role."""
    what, name, role = text_in(form, "do"), text_in(form, "name").strip(), text_in(form, "role")
    if what == "add":
        check_person(name, role)
        token = new_token()
        desk.access.add_token(name, role, token)
        return _page(request, caller, desk, new=(name, token))
    if what == "admit":
        _admit(caller, request.app.state.desks, desk, name, role)
    elif what == "role":
        _change_role(caller, desk, name, role)
    elif what == "revoke":
        revoke(caller, desk, name)
    return RedirectResponse("/people", 303)


def _page(request: Request, caller: Caller, desk: Desk, new: tuple[str, str] | None = None) -> Response:
    seen = desk.last_seen()
    rows = [(name, role, created, seen.get(name)) for name, role, _, created in desk.access.tokens()]
    others = list(_strangers(caller, request.app.state.desks, desk))
    return page(request, "people.html", caller, rows=rows, roles=ROLES, others=others, new=new)
