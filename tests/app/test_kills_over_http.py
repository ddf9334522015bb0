"""A service killed with -9 under annotators who keep sending: nothing acknowledged is lost, nothing counts twice."""

import pytest
from benchmarks.labelling_kills import torment

from tests.ledger import postgres


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_acknowledged_answer_is_in_the_log_once_and_the_model_is_the_same(request, tmp_path, database):
    url = None
    if database == "postgresql":
        url = postgres.fresh_database(request.getfixturevalue("postgres_server"), "kills")
    found = torment(tmp_path, kills=20, annotators=20, database=url, longest=0.8)
    assert found.problems == []
    assert found.acknowledged
    assert set(found.logged) == set(found.acknowledged)
    assert (found.repeated, found.unfinished) == (0, 0)
    assert found.same_model
