"""What was acknowledged survives: a desk killed at random under several threads has lost and doubled nothing."""

import multiprocessing
import os
import random
import signal
import threading
import time

import pytest

from coalface.service.desk.desk import Desk
from coalface.service.desk.messages import NoQuestion
from coalface.service.project.project import Project
from tests.rounds import postgres
from tests.service.projects import costs_for, same_bits, small_project

pytestmark = pytest.mark.slow

THREADS = 20
KILLS = int(os.environ.get("COALFACE_KILLS", "6"))


def serve(folder, acknowledged, life):
    """Answer in several threads until killed; each acknowledged answer is a line of a file."""
    desk = Desk(Project.open(folder))
    handle = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def annotate(who):
        while True:
            question = desk.lease(who, ttl=5)
            if isinstance(question, NoQuestion):
                time.sleep(0.01)
                continue
            while question:
                key = f"{life}-{who}-{question.lease_id}-{question.id}"
                receipt = desk.answer(who, question.id, question.lease_id, costs_for(question), key)
                os.write(handle, f"{receipt.answer_id} {key}\n".encode())
                question = receipt.follow_up
                if random.random() < 0.05:
                    recent = desk.recent(who, 1)
                    if not recent[0].undone and question is None:
                        question = desk.undo(who, recent[0].answer_id)

    for number in range(THREADS):
        threading.Thread(target=annotate, args=(f"person {number}",), daemon=True).start()
    time.sleep(60)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_or_doubled(tmp_path, request, database):
    url = "sqlite:///project.db"
    if database == "postgresql":
        url = postgres.fresh_database(request.getfixturevalue("postgres_server"), "kill")
    folder, acknowledged = tmp_path / "mail", tmp_path / "acknowledged"
    small_project(folder, n=3000, database=url, learner={"mellowness": 0.9})
    random.seed(0)
    context = multiprocessing.get_context("fork")  # starts in no time, with all modules loaded
    for life in range(KILLS):
        process = context.Process(target=serve, args=(folder, acknowledged, life))
        process.start()
        size, deadline = acknowledged.stat().st_size if acknowledged.exists() else 0, time.monotonic() + 120
        while time.monotonic() < deadline and (not acknowledged.exists() or acknowledged.stat().st_size < size + 500):
            time.sleep(0.02)
        time.sleep(random.uniform(0.0, 0.3))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL  # it was killed in the middle, and did not end by itself
        check(folder, acknowledged)


def check(folder, acknowledged):
    desk = Desk(Project.open(folder))
    try:
        answers = {event.ref: event for event in desk.state.log.read(kinds=["answered"])}
        lines = [line.split(" ", 1) for line in acknowledged.read_text().splitlines()]
        assert len(lines) > 5
        for number, key in lines:
            who = key.split("-")[1]
            assert answers[f"answer:{who}:{key}"].id == int(number)
        assert len({key for _, key in lines}) == len(lines)
        rebuilt = desk.project.new_learner()
        desk.state.model._fold(rebuilt, 0)
        assert same_bits(desk.state.model.learner, rebuilt)
        no_question_is_lost(desk)
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
