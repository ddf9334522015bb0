"""Pages: Jinja2 templates with their number formats, and the forms that come back from them.

A form is refused if a page of another site sent it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.templating import Jinja2Templates
from starlette.datastructures import FormData

from coalface.desk.web import auth
from coalface.errors import InputError, counted
from coalface.web.middleware import PROJECT
from coalface.web.tokens import Caller

_NOTHING = "\N{EN DASH}"
TEMPLATES = Jinja2Templates(Path(__file__).parent / "templates")
TEMPLATES.env.trim_blocks = TEMPLATES.env.lstrip_blocks = True


def page(request: Request, template: str, caller: Caller | None, status: int = 200, **values: Any) -> Response:
    """A page of the project; without a caller, one that anyone may see."""
    desks = request.app.state.desks
    desk = desks.get(request.scope.get(PROJECT))
    values = (
        {"project": None if desk is None else desk.project, "several": len(desks) > 1} | values | {"caller": caller}
    )
    values["csrf"] = caller.form_key if caller else ""
    return TEMPLATES.TemplateResponse(request, template, values, status)


def error_page(request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """The page of an error."""
    values = {"title": HTTPStatus(status).phrase, "detail": detail}
    return TEMPLATES.TemplateResponse(request, "problem.html", values, status, headers)


def _short(number: float | None, digits: int = 3) -> str:
    """A number with few digits and thousands separators.

    >>> _short(1234567.8), _short(0.12345), _short(0.000012345), _short(None)
    ('1,234,568', '0.123', '0.0000123', '–')
    """
    if number is None:
        return _NOTHING
    whole = number == int(number) or abs(number) >= 10**digits
    return f"{number:,.0f}" if whole else format(Decimal(f"{number:.{digits}g}"), ",f")


def _seconds(number: float | None) -> str:
    """A duration in seconds to one decimal place.

    >>> _seconds(2.43e-05), _seconds(12.34), _seconds(None)
    ('under 0.1', '12.3', '–')
    """
    if number is None:
        return _NOTHING
    return f"{number:,.1f}" if number >= 0.1 else "under 0.1"


def _hours(number: float) -> str:
    """A duration, given in hours, in the unit that suits it.

    >>> _hours(0.0071), _hours(0.4), _hours(1.0), _hours(36.4)
    ('less than a minute', '24 minutes', '1 hour', '36.4 hours')
    """
    if number < 1 / 60:
        return "less than a minute"
    return (
        counted(round(60 * number), "minute")
        if number < 0.99
        else f"{_short(number)} {'hour' if number == 1 else 'hours'}"
    )


def _moment(seconds: float | None) -> str:
    """A date and time in UTC.

    >>> _moment(0.0)
    '1970-01-01 00:00'
    """
    return _NOTHING if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


TEMPLATES.env.filters |= {"short": _short, "seconds": _seconds, "hours": _hours, "moment": _moment}


async def sent_form(request: Request, caller: auth.PageCaller) -> FormData:
    """A form that one of our own pages sent."""
    form = await request.form(max_files=0, max_fields=5000)
    auth.check_form_key(caller, text_in(form, "csrf"))
    return form


SentForm = Annotated[FormData, Depends(sent_form)]


def costs_in(form: FormData) -> dict[str, float | None]:
    """The rows of the form: ``label-0`` names a label, ``cost-0`` is its cost, or ? for can't tell."""
    costs: dict[str, float | None] = {}
    for name in form:
        number = name.removeprefix("label-")
        cost = text_in(form, f"cost-{number}").strip()
        if number != name and cost:
            label = text_in(form, name)
            if not label:
                raise InputError(f"A cost needs a label, got the cost {cost} without one. Choose the label.")
            costs[label] = None if cost == "?" else _number(cost)
    return costs


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"A cost must be a number, or ? if you can't tell, got {text!r}. Correct it.") from None


def text_in(form: FormData, name: str) -> str:
    """A field of a form, checked; empty if it is missing."""
    value = form.get(name, "")
    if not isinstance(value, str) or "\0" in value or len(value) > 10_000:
        raise InputError(f"{name} must be a text of at most 10000 characters. Shorten it.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):  # a form may name any encoding
        raise InputError(f"{name} must be a text of whole characters. Send the form in UTF-8.")
    return value
