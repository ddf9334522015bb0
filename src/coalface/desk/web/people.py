"""The people of a project: who has access, with which role; engineers change it."""

from coalface.desk.service.desk import Desk
from coalface.desk.web.desks import Desks
from coalface.errors import UnknownIdError
from coalface.web.http_errors import RefusedError
from coalface.web.tokens import Caller, check_person


def revoke(caller: Caller, desk: Desk, name: str) -> None:
    """Revoke a person's token; engineers cannot revoke their own."""
    _refuse_self(caller, name, "remove your own token")
    desk.store.remove_token(name)


def change_role(caller: Caller, desk: Desk, name: str, role: str) -> None:
    """Give a person another role."""
    check_person(name, role)
    _refuse_self(caller, name, "change your own role")
    desk.store.change_role(name, role)


def strangers(caller: Caller, desks: Desks, desk: Desk) -> dict[str, str]:
    """People of the caller's other projects who have no access to this one: name and digest of their token."""
    here = {digest for _, _, digest, _ in desk.store.tokens()}
    found: dict[str, str] = {}
    for other in desks:
        mine = other.store.role_of(caller.digest)
        if other is not desk and mine is not None and mine[1] == "engineer":
            found |= {name: digest for name, _, digest, _ in other.store.tokens() if digest not in here}
    return dict(sorted(found.items()))


def admit(caller: Caller, desks: Desks, desk: Desk, name: str, role: str) -> None:
    """Let a person of another project in, with the token that they have."""
    check_person(name, role)
    known = strangers(caller, desks, desk)
    if name not in known:
        raise UnknownIdError(f"There is no {name!r} in your other projects who lacks access to this one.")
    desk.store.admit(name, role, known[name])


def _refuse_self(caller: Caller, name: str, what: str) -> None:
    if name == caller.name:
        raise RefusedError(409, f"You cannot {what}. Ask another engineer to do it.")
