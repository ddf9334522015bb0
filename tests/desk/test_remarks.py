"""Skips, flags and notes: a question goes to another annotator at no cost, and engineers read what was said."""

from contextlib import closing

import pytest

from coalface.desk.project.project import Project
from coalface.desk.service.archive import read_archive, write_archive
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.errors import InputError, UnknownIdError
from tests.desk.desks import answers
from tests.desk.interviewing import tell
from tests.desk.projects import same_bits, small_project, work


def test_a_skipped_question_goes_to_another_annotator_and_costs_nothing(desk_of):
    desk = desk_of()
    first = desk.lease("ada")
    desk.skip(first.lease_id, "ada")
    second = desk.lease("ada")
    assert second.example_id != first.example_id
    assert desk.lease("bob").example_id == first.example_id
    assert (desk.progress().examples, desk.progress().costs) == (0, 0)


def test_all_copies_of_an_example_are_skipped_together(desk_of):
    desk = desk_of(n=3, overlap=2)
    first = desk.lease("ada")
    desk.skip(first.lease_id, "ada")
    work(desk, "ada")
    assert desk.lease("ada") == NoQuestion("skipped")
    assert first.example_id in {desk.lease("bob").example_id for _ in range(3)}


def test_skipped_questions_come_again_when_they_are_resumed(desk_of):
    desk = desk_of(n=2)
    seen = []
    for _ in range(2):
        seen.append(desk.lease("ada"))
        desk.skip(seen[-1].lease_id, "ada")
    assert desk.lease("ada") == NoQuestion("skipped")
    assert desk.resume("ada", last=True)
    assert desk.lease("ada").example_id == seen[1].example_id
    assert desk.resume("ada")
    assert not desk.resume("ada")
    assert desk.lease("ada").example_id == seen[0].example_id


def test_a_skip_of_a_lease_that_is_over_takes_nothing_away(desk_of, clock):
    desk = desk_of()
    first = desk.lease("ada", ttl=60)
    clock.now += 61
    theirs = desk.lease("bob")
    assert theirs.example_id == first.example_id
    desk.skip(first.lease_id, "ada")
    assert [one.example_id for one in desk.held("bob")] == [theirs.example_id]
    with pytest.raises(UnknownIdError, match="no lease"):
        desk.skip(first.lease_id, "bob")


def test_a_half_answered_example_can_be_skipped_and_another_annotator_goes_on(desk_of):
    desk = desk_of()
    follow_up = tell(desk, "ada", desk.lease("ada"), 1.0).follow_up
    desk.skip(follow_up.lease_id, "ada")
    assert desk.lease("bob").example_id == follow_up.example_id
    assert desk.progress().costs == 1


def test_flags_and_notes_are_listed_until_an_engineer_resolves_them(desk_of):
    desk = desk_of()
    first = desk.lease("ada")
    desk.flag(first.lease_id, "ada", "two topics")
    desk.flag(first.lease_id, "ada", "two topics")  # sent twice
    desk.answer("ada", first.id, first.lease_id, dict.fromkeys(first.labels, 1.0), "a", note="two topics")
    second = desk.lease("bob")
    desk.skip(second.lease_id, "bob", "not my language")
    found = desk.remarks()
    assert [(one.who, one.note, one.flag) for one in found] == [
        ("ada", "two topics", True),
        ("bob", "not my language", False),
    ]
    assert found[0].example_id == first.example_id
    desk.resolve(found[0].id, "eve")
    assert [(one.note, one.flag) for one in desk.remarks()] == [("not my language", False), ("two topics", False)]
    with pytest.raises(UnknownIdError, match="no open flag"):
        desk.resolve(found[0].id, "eve")


def test_the_note_of_an_undone_answer_is_not_listed(desk_of):
    desk = desk_of()
    first = desk.lease("ada")
    given = desk.answer("ada", first.id, first.lease_id, dict.fromkeys(first.labels, 1.0), "a", note="hm")
    assert [one.note for one in desk.remarks()] == ["hm"]
    desk.undo("ada", given.answer_id)
    assert desk.remarks() == []


@pytest.mark.parametrize("note", ["", "  ", "x" * 10_001, "\0", None])
def test_a_flag_says_something(desk_of, note):
    desk = desk_of()
    question = desk.lease("ada")
    with pytest.raises(InputError, match="note must"):
        desk.flag(question.lease_id, "ada", note)
    assert desk.remarks() == []


def test_skips_and_flags_survive_a_restart_and_an_archive_with_the_same_model(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", n=30))
    skipped = desk.lease("ada")
    desk.flag(skipped.lease_id, "ada", "look at this")
    desk.skip(skipped.lease_id, "ada")
    work(desk, "ada", 8)
    write_archive(desk.project, desk.store, tmp_path / "mail.zip")
    learner = desk.state.model.learner
    desk.close()
    for project in (Project.open(tmp_path / "mail"), read_archive(tmp_path / "mail.zip", tmp_path / "copy")):
        with closing(Desk(project)) as again:
            assert [one.note for one in again.remarks()] == ["look at this"]
            assert again.lease("ada").example_id != skipped.example_id
            assert same_bits(again.state.model.learner, learner)


def test_programs_skip_flag_and_resume_over_http(as_ann, as_bob, as_eve, desk):
    (query,) = as_ann.post("/api/v1/projects/tickets/queries:lease", json={}).json()["queries"]
    lease = f"/api/v1/leases/{query['lease_id']}"
    assert as_ann.post(f"{lease}:flag", json={"note": "spam?"}).status_code == 204
    assert as_bob.post(f"{lease}:skip", json={}).status_code == 404
    assert as_ann.post(f"{lease}:skip", json={"note": "not mine"}).status_code == 204
    (other,) = as_ann.post("/api/v1/projects/tickets/queries:lease", json={}).json()["queries"]
    assert other["example_id"] != query["example_id"]
    assert as_ann.get("/api/v1/projects/tickets/remarks").status_code == 403
    flag, note = as_eve.get("/api/v1/projects/tickets/remarks").json()["items"]
    assert (flag["note"], flag["flag"], note["note"]) == ("spam?", True, "not mine")
    assert as_ann.post(f"/api/v1/projects/tickets/flags/{flag['id']}:resolve").status_code == 403
    assert as_eve.post(f"/api/v1/projects/tickets/flags/{flag['id']}:resolve").status_code == 204
    assert as_eve.post(f"/api/v1/projects/tickets/flags/{flag['id']}:resolve").status_code == 404
    assert as_ann.post("/api/v1/projects/tickets/queries:resume").status_code == 204
    assert as_ann.post(f"/api/v1/leases/{other['lease_id']}:release").status_code == 204
    (again,) = as_ann.post("/api/v1/projects/tickets/queries:lease", json={}).json()["queries"]
    assert (again["example_id"], answers(desk)) == (query["example_id"], [])
