"""The log of events: numbered from 1, read in order, and found by number, name, person and kind."""

import pytest

from coalface.rounds.database import Database
from coalface.rounds.event_log import Event, EventLog, any_event


@pytest.fixture
def log(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/events.db")
    yield EventLog(database)
    database.close()


def written(log, *events):
    with log.database.writing() as connection:
        return log.extend(connection, list(events))


def test_events_are_numbered_in_order_and_found_by_their_number_and_their_name(log):
    with log.database.reading() as connection:
        assert not any_event(connection)
    assert (written(log), log.last(), log.get(1)) == ([], 0, None)
    kept = written(log, Event("told", 1.0, ref="first"), Event("told", 2.0, body={"a": 1}))
    assert [one.id for one in kept] == [1, 2]
    assert [log.get(number).at for number in (1, 2)] == [1.0, 2.0]
    assert (log.get(3), log.named("first").id, log.named("second")) == (None, 1, None)
    assert log.last() == 2
    with log.database.reading() as connection:
        assert any_event(connection)


def test_events_are_read_after_a_number_and_by_kind(log):
    written(log, *(Event("told" if n % 2 else "labels", float(n)) for n in range(1, 8)))
    assert [one.at for one in log.read()] == [1, 2, 3, 4, 5, 6, 7]
    assert [one.at for one in log.read(after=4)] == [5, 6, 7]
    assert [one.at for one in log.read(kinds=["labels"])] == [2, 4, 6]
    assert [one.at for one in log.page(2, 3)] == [3, 4, 5]
    assert (log.count("told"), log.count("labels"), log.count("other")) == (4, 3, 0)


def test_the_latest_events_of_a_person_are_of_one_kind_newest_first(log):
    written(
        log,
        *(Event(kind, at, who=who) for at, (who, kind) in enumerate([("ada", "a"), ("bob", "a"), ("ada", "b")] * 3)),
    )
    assert [one.at for one in log.latest("ada", "a", 5)] == [6, 3, 0]
    assert [one.at for one in log.latest("ada", "a", 2)] == [6, 3]
    assert [one.at for one in log.latest("ada", "b", 5)] == [8, 5, 2]
    assert [one.at for one in log.latest("ada", "a", 5, before=7)] == [3, 0]


def test_what_json_cannot_hold_is_refused_and_nothing_is_written(log):
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(log, Event("told", 1.0), Event("told", 2.0, body={"cost": float("nan")}))
    assert log.last() == 0


def test_an_answer_is_found_with_its_lease_and_all_events_about_the_example(log):
    written(
        log,
        Event("leased", 1.0, example=7, ref="lease-1"),
        Event("leased", 2.0, example=8, ref="lease-2"),
        Event("answered", 3.0, example=7, ref="answer-1"),
    )
    assert [one.at for one in log.about(7)] == [1.0, 3.0]
    with log.database.reading() as connection:
        answer, lease, past = log.of_answer(connection, "answer-1", "lease-1")
        assert (answer.at, lease.at, [one.at for one in past]) == (3.0, 1.0, [1.0, 3.0])
        assert log.of_answer(connection, "answer-1", "lease-3")[1:] == (None, [])


def test_an_event_in_json_leaves_out_what_it_does_not_have():
    assert Event("told", 1.0, who="ada").to_json() == {"kind": "told", "at": 1.0, "who": "ada", "body": {}, "id": 0}
