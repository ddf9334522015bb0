"""Pages that give people access: the projects of a service, and the people of one project with their roles."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import FormData

from coalface.desk.web import auth, people
from coalface.desk.web.api import AnyDesk
from coalface.desk.web.forms import SentForm, text_in
from coalface.desk.web.rendering import page
from coalface.web.tokens import ROLES, check_person, new_token

access_pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


def engineer_of_page(caller: auth.PageCaller) -> Any:
    """The caller, who must be an engineer of the project."""
    return auth.only_engineers(caller)


Engineer = Annotated[Any, Depends(engineer_of_page)]


@access_pages.get("/projects/")
def all_projects(request: Request, caller: auth.PageCaller) -> Response:
    """The projects that the caller may see, with the caller's role in each."""
    mine = request.app.state.authenticator.projects_of(caller)
    rows = [(desk.project, mine[desk.project.name]) for desk in request.app.state.desks if desk.project.name in mine]
    return page(request, "projects.html", caller, rows=rows, project=None)


@access_pages.get("/people")
def people_page(request: Request, caller: Engineer, desk: AnyDesk) -> Response:
    """Who has access, and forms that change it."""
    return _page(request, caller, desk)


@access_pages.post("/people")
async def change_people(request: Request, caller: Engineer, desk: AnyDesk, form: SentForm) -> Response:
    """Make a token, which the response shows once; admit, revoke, or change a role."""
    return await run_in_threadpool(_change, request, caller, desk, form)


def _change(request: Request, caller: Any, desk: Any, form: FormData) -> Response:
    what, name, role = text_in(form, "do"), text_in(form, "name").strip(), text_in(form, "role")
    if what == "add":
        check_person(name, role)
        token = new_token()
        desk.store.add_token(name, role, token)
        return _page(request, caller, desk, new=(name, token))
    if what == "admit":
        people.admit(caller, request.app.state.desks, desk, name, role)
    elif what == "role":
        people.change_role(caller, desk, name, role)
    elif what == "revoke":
        people.revoke(caller, desk, name)
    return RedirectResponse("/people", 303)


def _page(request: Request, caller: Any, desk: Any, new: tuple[str, str] | None = None) -> Response:
    seen = {name: worker.last_seen for name, worker in desk.state.latest_counters.workers.items()}
    rows = [(name, role, created, seen.get(name)) for name, role, _, created in desk.store.tokens()]
    others = list(people.strangers(caller, request.app.state.desks, desk))
    return page(request, "people.html", caller, rows=rows, roles=ROLES, others=others, new=new)
