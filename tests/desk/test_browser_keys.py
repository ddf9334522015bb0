"""Keys do what they say and nothing else, and one screen is one decision."""

import json

import numpy as np
from matplotlib.image import imsave

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from tests.desk.browsing import (
    CHOSEN,
    EXAMPLE,
    IN_A_BROWSER,
    QUESTION,
    SHOWN,
    answer,
    answer_example,
    log_in,
    trips,
)
from tests.desk.desks import LABELS, answers, desk_in_turn, open_desk
from tests.desk.serving import served

pytestmark = IN_A_BROWSER
FOCUSED = "document.activeElement.value"


def test_typing_the_name_of_a_label_is_typing(visitor, tmp_path):
    labels = ["unhappy", "hurry", "sunny", "fun"]  # they contain the keys of undo, help and note
    with desk_in_turn(tmp_path, labels=labels) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        answer(visitor, "0")
        before, question = answers(desk), visitor.see(QUESTION)
        visitor.see("document.querySelector('details.more').open = true")
        visitor.see("document.querySelector('.extra select').focus()")
        visitor.press(*"sunny")
        assert visitor.see("document.activeElement.tagName") == "SELECT"
        visitor.see("goTo(rows()[0])")
        visitor.press("+", *"hur")
        assert visitor.see(FOCUSED) == "hur"
        assert (answers(desk), visitor.see(QUESTION)) == (before, question)


def test_arrows_move_and_space_chooses(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("ArrowRight", "ArrowRight")
        assert (visitor.see(CHOSEN), visitor.see(FOCUSED)) == ([], "2.0")
        visitor.press("ArrowDown")
        assert visitor.see("current() == rows()[1]")
        visitor.press("ArrowLeft", " ")
        assert visitor.see("rows().map(costOf)") == ["", "1.0", ""]


def test_undo_of_a_sent_answer_can_be_taken_back(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        answer(visitor, "1", "2", "c", "Enter")
        before = answers(desk)
        answer(visitor, "u")
        assert (answers(desk), visitor.text("#redo button")) == ([], "Redo Y")
        answer(visitor, "y")
        assert answers(desk) == before


def test_the_right_one_and_all_others_wrong_take_one_stroke(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("ArrowDown")
        answer(visitor, "r", "Enter")
        answer(visitor, "1", "a", "Enter")
        answer(visitor, "/", *"fra", "Enter", "Enter")
        assert [list(costs.values()) for _, costs in answers(desk)] == [[4, 0, 4], [1, 4, 4], [4, 4, 0]]


def test_help_begins_at_its_top(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.set_screen(height=500)
        visitor.press("h")
        visitor.wait("document.querySelector('#help-text').open")
        assert visitor.see("document.querySelector('#help-text').scrollTop") == 0
        visitor.press("Escape")
        visitor.wait("!document.querySelector('#help-text').open")


def test_the_annotator_sets_when_an_answer_is_sent(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("h")
        visitor.see("document.querySelector('#sending').value = 'always'")
        visitor.see("document.querySelector('#sending').dispatchEvent(new Event('change', {bubbles: true}))")
        visitor.see("document.querySelector('#help-text').close()")
        answer(visitor, "1", "2", "3")
        assert len(answers(desk)) == 1
        visitor.see("localStorage.clear()")


def test_fifteen_examples_take_fifteen_trips(visitor, tmp_path):
    labels = [f"queue {i}" for i in range(12)]
    with (
        open_desk(tmp_path, labels=labels, learner={"rule": {"warm_up": 0}}, budget={}) as desk,
        served(desk) as address,
    ):
        log_in(visitor, address, "ann")
        visitor.open(f"{address}/label")
        pressed = sum(answer_example(visitor, key) for key in "234102341023410")
        assert (trips(visitor), desk.progress().examples) == (15, 15)
        assert pressed <= desk.progress().costs + 15  # a key per cost, and Enter where there are several


def test_skip_and_flag_by_keys(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        first = visitor.text(EXAMPLE)
        visitor.press("f", *"two topics")
        visitor.press("Escape")
        answer(visitor, "s")
        assert visitor.text(EXAMPLE) != first
        assert [(one.note, one.flag) for one in desk.remarks()] == [("two topics", True)]
        answer(visitor, "u")
        assert (visitor.text(EXAMPLE), answers(desk)) == (first, [])
        visitor.press("f", "Escape", "1", "2", "3", "Enter")
        assert visitor.text("#status") == "A flag needs a note. Write what is wrong."


def test_the_example_stays_in_view_and_keeps_its_place(visitor, tmp_path):
    text = "\n".join(f"line {i}" for i in range(200))
    project = Project.create(tmp_path / "long", [{"text": text}, {"text": "short"}], [f"label {i}" for i in range(20)])
    desk = Desk(project)
    try:
        with served(desk) as address:
            log_in(visitor, address, "ann")
            if visitor.text(".example .text") == "short":
                visitor.press("Escape")
                answer(visitor, "s")
            for width in (390, 1200):
                visitor.set_screen(width=width, height=800)
                visitor.see("goTo(rows().at(-1))")
                box = visitor.see("JSON.stringify(document.querySelector('.example').getBoundingClientRect())")
                assert 0 <= json.loads(box)["top"] < 400, (width, box)
                row = json.loads(visitor.see("JSON.stringify(rows().at(-1).getBoundingClientRect())"))
                assert row["bottom"] <= 800, row
                assert width > 1000 or row["top"] >= json.loads(box)["bottom"] - 1, (row, box)
            visitor.see("exampleText().scrollTop = 300")
            visitor.wait("sessionStorage.getItem(placeName()) == '300'")
            visitor.reload()
            assert visitor.see("exampleText().scrollTop") == 300
    finally:
        desk.close()


def test_a_screen_reader_hears_the_new_question(visitor, tmp_path):
    with open_desk(tmp_path) as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        answer(visitor, "1", "2", "3", "Enter")
        said = visitor.text("#announce")
        assert visitor.text(".example .text") in said
        assert all(label in said for label in LABELS)
        assert visitor.see("rows().every((row) => document.getElementById(row.getAttribute('aria-describedby')))")
        assert visitor.see("document.querySelector('#announce').getAttribute('aria-live')") == "polite"
    with desk_in_turn(tmp_path / "turn") as desk, served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("4")
        assert visitor.text("#announce") == f"Next label: {visitor.see(SHOWN)[1]}"


def test_images_grow_and_texts_run_in_their_direction(visitor, tmp_path):
    (tmp_path / "photos").mkdir()
    imsave(tmp_path / "photos" / "a.png", np.zeros((8, 8, 3)))
    desk = Desk(Project.create(tmp_path / "pets", tmp_path / "photos", LABELS))
    with served(desk) as address:
        log_in(visitor, address, "ann")
        visitor.press("Escape", "z")
        assert visitor.see("document.querySelector('#larger').open")
        width = "document.querySelector('#larger img').getBoundingClientRect().width"
        before = visitor.see(width)
        visitor.see("document.querySelector('#larger img').click()")
        assert visitor.see(width) > 1.5 * before > 700
    desk.close()
    texts = {"rtl": "שלום עולם, איפה החבילה שלי?", "ltr": "我的包裹在哪里"}
    for direction, text in texts.items():
        desk = Desk(Project.create(tmp_path / direction, [{"text": text}], [text[:4], "other"]))
        with served(desk) as address:
            log_in(visitor, address, "ann")
            assert visitor.see("getComputedStyle(exampleText()).direction") == direction
        desk.close()
