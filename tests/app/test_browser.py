"""A person labels in a real browser, by keys, and an engineer watches."""

import pytest

from coalface.app.exchange import Question
from tests.app.fake_desk import FakeDesk, fake_project
from tests.app.serving import served
from tests.app.visitor import Visitor
from tests.experiments.browser import find_browser

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no chromium here: no browser to label in")
QUESTION = "document.querySelector('input[name=question_id]')?.value"
CHOSEN = "[...document.querySelectorAll('fieldset.row input:checked')].map(one => one.value)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Visitor(find_browser(), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def visitor(browser):
    browser.wear()
    return browser


def log_in(visitor, address, name):
    visitor.open(f"{address}/login")
    visitor.type(f"coal_{name}")
    visitor.press("Enter")
    visitor.wait("location.pathname != '/login' && document.readyState == 'complete'")


def log_out(visitor):
    visitor.see("document.querySelector('header.top button').click()")
    visitor.wait("location.pathname == '/login' && document.readyState == 'complete'")


def answer(visitor, *keys):
    """Press keys and wait for the next question."""
    before = visitor.see(QUESTION)
    visitor.press(*keys)
    visitor.wait(f"{QUESTION} != {before!r}")


def test_ten_examples_by_keys_with_undo_cant_tell_and_a_reload(visitor):
    desk = FakeDesk()
    with served(desk) as address:
        log_in(visitor, address, "ann")
        for _ in range(8):
            answer(visitor, "3", "1", "Enter")
            answer(visitor, "0", "Enter")
        answer(visitor, " ", "2", "Enter")  # can't tell
        answer(visitor, "4", "Enter")
        visitor.press("2")
        visitor.reload()  # in the middle of a question
        assert visitor.see(CHOSEN) == ["2.0"]
        assert visitor.see("document.activeElement.name") == "cost-1"
        answer(visitor, "1", "Enter")
        visitor.press("2", "u")  # first what is not sent
        assert visitor.see(CHOSEN) == []
        answer(visitor, "u")  # then what was
        assert visitor.text(".said") == "Taken back: give this answer again."
        answer(visitor, "0", "0", "Enter")
        answer(visitor, "1", "Enter")
        assert visitor.complaints() == []
        costs = [tuple(one.costs.values()) for one in desk.answers.values()]
        assert costs == [(3.0, 1.0), (0.0,)] * 8 + [(None, 2.0), (4.0,), (0.0, 0.0), (1.0,)]
        log_out(visitor)
        log_in(visitor, address, "eve")
        assert visitor.text("#examples") == "10"
        assert visitor.text("#costs") == "30"
        assert visitor.complaints() == []


def test_the_dashboard_moves_by_itself(visitor):
    desk = FakeDesk()
    with served(desk) as address:
        log_in(visitor, address, "eve")
        assert visitor.text("#costs") == "0"
        question = desk.lease("ann")
        assert isinstance(question, Question)
        desk.answer("ann", question.id, question.lease_id, {"Billing": 1.0, "Refunds": 1.0}, "k")
        visitor.see("look()")  # what its clock does every ten seconds
        visitor.wait("document.querySelector('#costs').textContent == '2'")


def test_an_open_row_is_not_sent_and_a_lost_server_loses_no_answer(visitor):
    desk = FakeDesk()
    with served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("3", "Enter")
        assert "A row is open" in visitor.text("#status")
    visitor.press("1", "Enter")
    visitor.wait("document.querySelector('#status').textContent.includes('Not sent')")
    assert visitor.see(CHOSEN) == ["3.0", "1.0"]
    assert not desk.answers


def test_free_numbers_are_typed_and_space_says_cant_tell(visitor):
    desk = FakeDesk(fake_project(levels=False))
    with served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.type("1.5")
        visitor.press("Enter", " ")
        answer(visitor, "Enter")
        assert [one.costs for one in desk.answers.values()] == [{"Billing": 1.5, "Refunds": None}]


def test_the_true_label_is_found_among_many_and_given_by_one_key(visitor):
    desk = FakeDesk(fake_project(labels=[f"intent {i}" for i in range(30)], true_label=True))
    with served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("/")
        visitor.type("12")
        visitor.press("Escape")
        answer(visitor, "1")
        answer(visitor, "2")
    assert desk.truths == ["intent 12", "intent 1"]


def test_pages_fit_a_phone_and_turn_dark(visitor):
    with served(FakeDesk()) as address:
        log_in(visitor, address, "eve")
        for path in ("/label", "/dashboard"):
            visitor.open(address + path)
            papers = set()
            for dark in (False, True):
                visitor.wear(dark=dark, width=390, height=800)
                assert visitor.see("document.documentElement.scrollWidth") <= 390
                papers.add(visitor.see("getComputedStyle(document.body).backgroundColor"))
            assert len(papers) == 2


def test_everything_that_can_be_pressed_has_a_name(visitor):
    nameless = """[...document.querySelectorAll('button, a, input:not([type=hidden]):not([hidden]), textarea, img, svg')]
      .filter(one => !(one.textContent.trim() || one.labels?.length || one.ariaLabel || one.alt || one.title))
      .map(one => one.outerHTML)"""
    with served(FakeDesk()) as address:
        log_in(visitor, address, "eve")
        for path in ("/login", "/label", "/dashboard"):
            visitor.open(address + path)
            assert visitor.see(nameless) == []
