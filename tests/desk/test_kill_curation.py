"""Two projects in one process, killed while people answer, add examples, correct and retire: nothing is lost."""

import os
import random
import threading
import time
from collections import Counter
from functools import partial

import pytest

from coalface.desk.log.events import WITHDRAWING, rounds_in, undone_in
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from tests.desk.kills import annotate, killed
from tests.desk.projects import LABELS, same_bits, small_project
from tests.rounds import postgres

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("COALFACE_KILLS", "4"))


def serve(folders, acknowledged, life):
    """Work on all projects in several threads until killed; each acknowledged change is a line of a file."""
    handle = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def done(folder, *words):
        os.write(handle, f"{folder.name} {' '.join(words)}\n".encode())

    def acknowledge(folder, who, receipt, key):
        done(folder, "answered", who, key)
        return receipt.follow_up

    def curate(folder, desk):
        for number in range(10**6):
            names = [f"new-{life}-{number}-{i}" for i in range(3)]
            desk.curation.add_examples(
                [{"id": name, "text": f"parcel {name} is late"} for name in names], "eve", first=True
            )
            done(folder, "added", *names)
            name = desk.project.pool.example_id(random.randrange(len(desk.project.pool)))
            if desk.project.pool.place(name) not in desk.state.counters.retired:
                key = f"{life}-{number}"
                desk.curation.correct("eve", name, {}, "a reason", label=random.choice(LABELS), key=key)
                done(folder, "corrected", name, key)
            desk.curation.retire_examples([names[0]], "eve", "a test")
            done(folder, "retired", names[0])

    for folder in folders:
        desk = Desk(Project.open(folder))
        for number in range(4):
            who = f"person{number}"
            written = partial(acknowledge, folder, who)
            threading.Thread(target=annotate, args=(desk, who, life, written), daemon=True).start()
        threading.Thread(target=curate, args=(folder, desk), daemon=True).start()
    time.sleep(60)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_or_counted_twice(tmp_path, request, database):
    folders, acknowledged = [tmp_path / "mail", tmp_path / "calls"], tmp_path / "acknowledged"
    for folder in folders:
        url = "sqlite:///project.db"
        if database == "postgresql":
            url = postgres.fresh_database(request.getfixturevalue("postgres_server"), f"curate_{folder.name}")
        small_project(folder, n=500, database=url, learner={"mellowness": 0.9})
    random.seed(0)
    for life in range(KILLS):
        killed(serve, folders, acknowledged, life, acknowledged=acknowledged, more=1500)
    lines = [line.split() for line in acknowledged.read_text().splitlines()]
    assert {tuple(line[:2]) for line in lines} == {
        (folder.name, kind) for folder in folders for kind in ("answered", "added", "corrected", "retired")
    }
    for folder in folders:
        check(folder, [line[1:] for line in lines if line[0] == folder.name])


def check(folder, lines):
    desk = Desk(Project.open(folder))
    try:
        desk.settle()
        pool, log = desk.project.pool, desk.state.log
        ids = [pool.example_id(place) for place in range(len(pool))]
        assert len(set(ids)) == len(ids)
        assert sorted(pool.order.tolist()) == list(range(len(pool)))
        for kind, *words in lines:
            if kind == "answered":
                assert log.named(f"answer:{words[0]}:{words[1]}") is not None
            elif kind == "added":
                assert [pool.content(pool.place(name))["text"] for name in words] == [
                    f"parcel {name} is late" for name in words
                ]
            elif kind == "corrected":
                assert log.named(f"settle:{words[1]}") is not None
            else:
                assert pool.place(words[0]) in desk.state.counters.retired
        undone = undone_in(log.read(kinds=WITHDRAWING))
        taught = Counter(
            example
            for event in log.read(kinds=["closed", "settled"])
            if event.id not in undone
            for example, _ in rounds_in(event)
        )
        assert set(taught.values()) <= {1}  # no example is learned twice
        rebuilt = desk.project.new_learner()
        desk.state.model._fold(rebuilt, 0)
        assert same_bits(desk.state.model.learner, rebuilt)
    finally:
        desk.close()
