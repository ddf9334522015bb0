"""A service under load, and killed with -9 under annotators who keep sending: nothing is lost, nothing counts twice."""

import pytest
from benchmarks import labelling_load
from benchmarks.labelling_kills import kill_repeatedly

from tests.rounds import postgres

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_acknowledged_answer_is_in_the_log_once_and_the_model_is_the_same(request, tmp_path, database):
    url = None
    if database == "postgresql":
        url = postgres.fresh_database(request.getfixturevalue("postgres_server"), "kills")
    found = kill_repeatedly(tmp_path, kills=20, annotators=20, database=url, longest=0.5)
    assert found.problems == []
    assert found.acknowledged
    assert set(found.logged) == set(found.acknowledged)
    assert (found.repeated, found.unfinished) == (0, 0)
    assert found.same_model


def test_a_crew_at_work_is_served_without_an_error(capsys, monkeypatch):
    monkeypatch.setattr(labelling_load, "RAMP", 0.1)
    labelling_load.main(annotators="3", examples="200", seconds="3", pause="0.05")
    said = capsys.readouterr().out
    assert "errors 0;" in said
    assert "next question:" in said
    assert "answer:" in said
