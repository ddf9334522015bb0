"""A closed desk refuses every call in one line."""

import pytest

from coalface.desk.service.desk import Desk
from coalface.errors import InputError
from tests.desk.projects import LABELS, small_project


def test_a_closed_desk_refuses_every_call(tmp_path):
    desk = Desk(small_project(tmp_path / "mail"))
    question = desk.lease("ada")
    desk.close()
    calls = [
        lambda: desk.lease("ada"),
        lambda: desk.held("ada"),
        lambda: desk.displayed_labels("ada", question.id, question.lease_id),
        lambda: desk.limit_run({"costs": 1}),
        lambda: desk.renew(question.lease_id, "ada"),
        lambda: desk.release(question.lease_id, "ada"),
        lambda: desk.answer("ada", question.id, question.lease_id, {LABELS[0]: 1.0}, key="k"),
        lambda: desk.answer_truth("ada", question.id, question.lease_id, LABELS[0], key="k"),
        lambda: desk.undo("ada", "1"),
        lambda: desk.recent("ada"),
        lambda: desk.progress("ada"),
        lambda: desk.overview(),
        lambda: desk.events(),
        lambda: desk.predict([{"text": "money"}]),
        lambda: desk.export("jsonl"),
        lambda: desk.settle(),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"is closed. Open the project again"):
            call()
    desk.close()  # a second time does nothing
