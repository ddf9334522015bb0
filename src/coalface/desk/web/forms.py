"""Reads forms, and refuses those that pages of another site sent."""

from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import FormData

from coalface.desk.web import auth
from coalface.errors import InputError


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
        raise InputError(f"A cost must be a number, or ? if you can't tell, got {text!r}.") from None


def text_in(form: FormData, name: str) -> str:
    """A field of a form, checked; empty if it is missing."""
    value = form.get(name, "")
    if not isinstance(value, str) or "\0" in value or len(value) > 10_000:
        raise InputError(f"{name} must be a text of at most 10000 characters.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):  # a form may name any encoding
        raise InputError(f"{name} must be a text of whole characters.")
    return value
