"""What a person does in a browser: log in, answer questions by keys, and count trips to the server."""

import pytest

from tests.studies.browser import find_browser

IN_A_BROWSER = [
    pytest.mark.slow,
    pytest.mark.skipif(find_browser() is None, reason="no chromium here: no browser to label in"),
]
QUESTION = "document.querySelector('#answer input[name=question_id]')?.value"
CHOSEN = "[...document.querySelectorAll('fieldset.row:not([hidden]) input:checked')].map(one => one.value)"
SHOWN = "rows().map(labelOf)"
EXAMPLE = ".example .name"


def log_in(visitor, address, name):
    visitor.open(f"{address}/login")
    visitor.wait("document.activeElement.id == 'token'")
    visitor.type(f"coal_{name}")
    visitor.press("Enter")
    visitor.wait("!location.pathname.endsWith('/login') && document.readyState == 'complete'")


def log_out(visitor):
    visitor.see("document.querySelector('header.top button').click()")
    visitor.wait("location.pathname == '/login' && document.readyState == 'complete'")


def answer(visitor, *keys):
    """Press keys and wait for the next question to appear."""
    before = visitor.see(QUESTION)
    visitor.press(*keys)
    visitor.wait(f"{QUESTION} != {before!r}")


def answer_example(visitor, key):
    """Give every row this key, confirm several rows with Enter, and wait for the next question; the keys pressed."""
    before, n = visitor.see(QUESTION), 0
    here = f"!busy && {QUESTION} == {before!r}"
    while visitor.see(f"Boolean({here} && empty())"):
        visitor.press(key)
        n += 1
    if visitor.see(here):
        visitor.press("Enter")
        n += 1
    visitor.wait(f"{QUESTION} != {before!r}")
    return n


def trips(visitor):
    """How many answers, skips and undos were sent since the last page was opened."""
    sent = (event["params"]["request"] for event in visitor.events if event["method"] == "Network.requestWillBeSent")
    return sum(one["method"] == "POST" for one in sent)
