"""What was acknowledged survives: a desk killed at random under several threads has lost and doubled nothing."""

import os
import random
import threading
import time
from functools import partial

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from tests.desk.kills import annotate, killed
from tests.desk.projects import same_bits, small_project
from tests.rounds import postgres

pytestmark = pytest.mark.slow

THREADS = 20
KILLS = int(os.environ.get("COALFACE_KILLS", "6"))


def serve(folder, acknowledged, life):
    """Answer in several threads until killed; each acknowledged answer is a line of a file."""
    desk = Desk(Project.open(folder))
    handle = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def acknowledge(who, receipt, key):
        os.write(handle, f"{receipt.answer_id} {key}\n".encode())
        if random.random() < 0.05:
            recent = desk.recent(who, 1)
            if not recent[0].undone and receipt.follow_up is None:
                return desk.undo(who, recent[0].answer_id)
        return receipt.follow_up

    for number in range(THREADS):
        who = f"person {number}"
        threading.Thread(target=annotate, args=(desk, who, life, partial(acknowledge, who)), daemon=True).start()
    time.sleep(60)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_or_doubled(tmp_path, request, database):
    url = "sqlite:///project.db"
    if database == "postgresql":
        url = postgres.fresh_database(request.getfixturevalue("postgres_server"), "kill")
    folder, acknowledged = tmp_path / "mail", tmp_path / "acknowledged"
    small_project(folder, n=3000, database=url, learner={"mellowness": 0.9})
    random.seed(0)
    for life in range(KILLS):
        killed(serve, folder, acknowledged, life, acknowledged=acknowledged, more=500)
        assert checked_answers(folder, acknowledged) > 5


def checked_answers(folder, acknowledged):
    """How many answers were acknowledged; each is in the log once, and model and questions follow from the log."""
    desk = Desk(Project.open(folder))
    try:
        answers = {event.ref: event for event in desk.state.log.read(kinds=["answered"])}
        lines = [line.split(" ", 1) for line in acknowledged.read_text().splitlines()]
        for number, key in lines:
            who = key.split("-")[1]
            assert answers[f"answer:{who}:{key}"].id == int(number)
        assert len({key for _, key in lines}) == len(lines)
        rebuilt = desk.project.new_learner()
        desk.state.model._fold(rebuilt, 0)
        assert same_bits(desk.state.model.learner, rebuilt)
        no_question_is_lost(desk)
        return len(lines)
    finally:
        desk.close()


def no_question_is_lost(desk):
    """Every example up to the cursor was passed, is closed, or is open; and in one of these states only."""
    passed = [example for event in desk.state.log.read(kinds=["passed"]) for example in event.body["examples"]]
    rows = desk.store.rows()
    closed = [row.example for row in rows if not row.open]
    still_open = [row.example for row in rows if row.open]
    decided = desk.project.pool.order[: desk.state.counters.cursor].tolist()
    assert sorted(passed + closed + still_open) == sorted(decided)
    assert sorted(desk.state.counters.closed) == sorted(closed)
