"""A service under load, and killed with -9 under annotators who keep sending: nothing is lost, nothing counts twice."""

import pytest
from benchmarks import labelling_load
from benchmarks.labelling_kills import kill_repeatedly

from tests.rounds import postgres

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_acknowledged_change_is_in_the_log_once_and_the_model_is_the_same(request, tmp_path, database):
    databases, restart = [None, None], None
    if database == "postgresql":
        server = request.getfixturevalue("postgres_server")
        databases = [postgres.fresh_database(server, f"kills{k}") for k in range(2)]
        restart = postgres.restarting(server)
    found = kill_repeatedly(
        tmp_path, kills=10, annotators=12, databases=databases, longest=0.5, restart_database=restart
    )
    assert found.problems == []
    assert set(found.acknowledged) == {"answered", "skipped", "flagged", "added", "corrected", "retired"}
    assert found.ahead > 0
    assert found.lost == []
    assert (found.repeated, found.unacknowledged, found.unfinished) == (0, 0, 0)
    assert found.same_model


def test_a_crew_at_work_is_served_without_an_error(capsys, monkeypatch):
    monkeypatch.setattr(labelling_load, "RAMP", 0.1)
    labelling_load.main(annotators="3", examples="200", seconds="3", pause="0.05")
    said = capsys.readouterr().out
    assert "errors 0;" in said
    assert "next question:" in said
    assert "answer:" in said
