"""An annotator labels in a real browser by keyboard, and an engineer watches the dashboard."""

from coalface.desk.service.messages import STOPPED
from tests.desk.browsing import (
    CHOSEN,
    IN_A_BROWSER,
    QUESTION,
    SHOWN,
    answer,
    answer_example,
    log_in,
    log_out,
)
from tests.desk.desks import answers, desk_in_turn, open_desk
from tests.desk.serving import served

pytestmark = IN_A_BROWSER


def test_ten_examples_by_keys_with_undo_cant_tell_and_a_reload(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        for key in "3104213c":
            answer_example(visitor, key)
        assert set(answers(desk)[-1][1].values()) == {None}  # C: can't tell
        visitor.press("2")
        question, place = visitor.see(QUESTION), visitor.see("document.activeElement.name")
        visitor.reload()  # in the middle of a question
        assert (visitor.see(QUESTION), visitor.see(CHOSEN)) == (question, ["2.0"])
        assert visitor.see("document.activeElement.name") == place
        visitor.press("u")  # first undoes what is not sent
        assert visitor.see(CHOSEN) == []
        answer_example(visitor, "4")
        before = answers(desk)
        answer(visitor, "u")  # then undoes what was sent
        assert visitor.text(".notice span") == "Your answer was undone. Please answer again."
        assert answers(desk) == before[:-1]
        answer_example(visitor, "0")
        assert set(answers(desk)[-1][1].values()) == {0.0}
        answer_example(visitor, "1")
        assert visitor.complaints() == []
        n_costs = sum(len(costs) for _, costs in answers(desk))
        log_out(visitor)
        log_in(visitor, address, "eve")
        assert (visitor.text("#examples"), visitor.text("#costs")) == ("10", str(n_costs))
        assert visitor.complaints() == []


def test_follow_up_labels_come_as_new_rows_without_a_trip_to_the_server(visitor, tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        question, (first,) = visitor.see(QUESTION), visitor.see(SHOWN)
        visitor.press("4")
        assert (visitor.see(QUESTION), visitor.see(SHOWN)[0], len(visitor.see(SHOWN))) == (question, first, 2)
        visitor.press("u")  # the follow-up depends on the answer
        assert (visitor.see(SHOWN), answers(desk)) == ([first], [])
        answer(visitor, "0")  # the best cost settles the rest: one key, one trip
        assert answers(desk) == [("ann", {first: 0.0})]


def test_costs_of_other_labels_are_added_and_survive_a_reload(visitor, tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        (asked,) = visitor.see(SHOWN)
        others = visitor.see("[...document.querySelectorAll('.extra option')].map(one => one.value).filter(Boolean)")
        visitor.press("+", *others[0][:3].lower(), "Enter", "Enter")
        assert "A row is empty" in visitor.text("#status")
        visitor.see("goTo(rows().at(-1))")
        visitor.press("1", "+", *others[1][:3].lower(), "Enter", "c")
        visitor.reload()
        assert visitor.see("rows().map((row) => [labelOf(row), costOf(row)])") == [
            [asked, ""], [others[0], "1.0"], [others[1], "?"],
        ]  # fmt: skip
        visitor.press("u")  # removes the last one
        visitor.see("goTo(rows()[0])")
        visitor.press("3")
        answer(visitor, "2", "Enter")  # the label that is no longer given is asked about
        assert answers(desk) == [("ann", {asked: 3.0, others[0]: 1.0, others[1]: 2.0})]
        assert desk.progress().costs == 2
        assert visitor.complaints() == []


def test_a_draft_belongs_to_its_project(visitor, tmp_path):
    keys = []
    for name in ("one", "other"):
        with open_desk(tmp_path / name) as desk, served(desk) as address:
            log_in(visitor, address, "ann")
            visitor.press("2")
            keys.append(visitor.see("Object.keys(localStorage).join()"))
    assert keys[0] not in keys[1].split(",")


def test_a_waiting_annotator_gets_the_question_that_is_released(visitor, tmp_path):
    with open_desk(tmp_path, budget={"examples": 1}) as desk, served(desk) as address:
        question = desk.lease("bob")
        log_in(visitor, address, "ann")
        assert visitor.text("h1") == STOPPED["all-leased"]
        visitor.see("refresh()")
        visitor.wait("main().dataset.refresh == '10'")
        desk.release(question.lease_id, "bob")
        visitor.see("refresh()")
        visitor.wait(f"{QUESTION}")
        assert visitor.complaints() == []


def test_the_dashboard_refreshes_by_itself(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "eve")
        assert visitor.text("#costs") == "0"
        question = desk.lease("ann")
        desk.answer("ann", question.id, question.lease_id, dict.fromkeys(question.labels, 1.0), "k")
        visitor.see("refresh()")  # the page does this every ten seconds
        visitor.wait("document.querySelector('#costs').textContent == '3'")


def test_an_empty_row_is_not_sent_and_a_lost_server_loses_no_answer(visitor, tmp_path):
    with open_desk(tmp_path) as desk:
        with served(desk) as address:
            log_in(visitor, address, "ann")
            visitor.press("3", "Enter")
            assert "A row is empty" in visitor.text("#status")
        visitor.press("1", "0", "Enter")
        visitor.wait("document.querySelector('#status').textContent.includes('Not sent')")
        assert visitor.see(CHOSEN) == ["3.0", "1.0", "0.0"]
        assert answers(desk) == []


def test_an_answer_that_did_not_reach_the_server_is_sent_again_without_a_key(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.see("window.reach = fetch, window.fetch = () => Promise.reject(new TypeError('Failed to fetch')), 0")
        before = visitor.see(QUESTION)
        visitor.press("3", "1", "0", "Enter")
        visitor.wait("document.querySelector('#status').textContent")
        assert visitor.text("#status") == (
            "Not sent (server unreachable). Your answer is kept in this browser and will be sent again."
        )
        visitor.see("window.fetch = window.reach, 0")
        visitor.wait(f"{QUESTION} != {before!r}")
        assert [list(costs.values()) for _, costs in answers(desk)] == [[3.0, 1.0, 0.0]]
        assert visitor.text("#status") == ""


def test_free_numbers_are_typed_and_letters_in_their_fields_are_no_keys(visitor, tmp_path):
    with open_desk(tmp_path, levels=(), cost_bounds=(0.0, 10.0)) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("9", "u")
        assert visitor.see("document.activeElement.value") == "9u"
        visitor.press("Escape", "u")  # outside the field it is a key
        visitor.type("1.5")
        visitor.press("Enter", "?", "Enter")
        visitor.type("7")
        answer(visitor, "Enter")
        assert [list(costs.values()) for _, costs in answers(desk)] == [[1.5, None, 7.0]]


def test_the_true_label_is_found_among_many_and_given_by_one_key(visitor, tmp_path):
    labels = [f"intent {i}" for i in range(30)]
    with open_desk(tmp_path, labels=labels, true_label=True) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("/")
        visitor.type("12")
        visitor.press("Escape")
        answer(visitor, "1")
        answer(visitor, "2")
        answer(visitor, "c")
        visitor.press("/")
        visitor.type("27")
        answer(visitor, "Enter")  # the first that is found
        truths = [[label for label, cost in costs.items() if cost == 0] for _, costs in answers(desk)]
    assert truths == [["intent 12"], ["intent 1"], [], ["intent 27"]]


def test_pages_fit_a_phone_and_turn_dark(visitor, desk, address):
    desk.flag(desk.lease("ann").lease_id, "ann", "It has two topics, and both of them are about money.")
    log_in(visitor, address, "eve")
    for path in ("/label", "/dashboard"):
        visitor.open(address + path)
        papers = set()
        for dark in (False, True):
            visitor.set_screen(dark=dark, width=390, height=800)
            assert visitor.see("document.documentElement.scrollWidth") <= 390
            papers.add(visitor.see("getComputedStyle(document.body).backgroundColor"))
        assert len(papers) == 2


def test_everything_that_can_be_pressed_has_a_name(visitor, address):
    nameless = """[...document.querySelectorAll('button, a, input:not([type=hidden], [hidden]), textarea, img, svg')]
      .filter(one => !(one.textContent.trim() || one.labels?.length || one.ariaLabel || one.alt || one.title))
      .map(one => one.outerHTML)"""
    log_in(visitor, address, "eve")
    for path in ("/login", "/label", "/dashboard"):
        visitor.open(address + path)
        assert visitor.see(nameless) == []
