"""Pools that live: examples are added to a running project, retired and restored; the log says which."""

import json

import numpy as np
import pytest

from coalface.desk.project.pool import ExampleFiles
from coalface.desk.project.pool_files import Sizes
from coalface.desk.project.project import Project
from coalface.desk.service.archive import read_archive, write_archive
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.errors import ConflictError, FileFormatError, InputError, UnknownIdError
from tests.desk.projects import WORDS, costs_for, same_bits, small_project, work


def more(n, first=0):
    rng = np.random.default_rng(2)
    return [{"id": f"new-{first + i}", "text": " ".join(rng.choice(WORDS, 4))} for i in range(n)]


def replayed(desk):
    desk.settle()
    fresh = desk.project.new_learner()
    desk.state.model._fold(fresh, 0)
    return fresh


@pytest.fixture
def desk(tmp_path):
    found = Desk(small_project(tmp_path / "mail", n=30, learner={"mellowness": 0.9}))
    yield found
    found.close()


def test_added_examples_are_asked_about_after_the_others_and_survive_a_restart(desk, tmp_path):
    assert desk.curation.add_examples(more(25), "eve").added == 25
    assert len(desk.project.pool) == 55
    assert {desk.project.pool.order[i] for i in range(30, 55)} == set(range(30, 55))
    work(desk)
    asked = [event.body["example_id"] for event in desk.events(limit=10_000) if event.kind == "leased"]
    assert any(name.startswith("new-") for name in asked)
    assert same_bits(replayed(desk), desk.state.model.learner)
    order, learner = desk.project.pool.order.tolist(), desk.state.model.learner
    desk.close()
    for snapshot in (tmp_path / "mail").glob("snapshot-*"):
        snapshot.unlink()
    again = Desk(Project.open(tmp_path / "mail"))
    assert again.project.pool.order.tolist() == order
    assert same_bits(again.state.model.learner, learner)
    assert again.project.pool.content(again.project.pool.place("new-3"))["text"] == more(25)[3]["text"]
    again.close()


def test_rows_of_old_and_new_examples_are_those_of_a_pool_that_had_all_from_the_start(desk, tmp_path):
    desk.curation.add_examples(more(4))
    pool = desk.project.pool
    places = np.array([31, 2, 33, 0])
    encoder = pool.encoder
    alone = Desk(small_project(tmp_path / "twin", n=30))
    contents = [{"text": pool.content(place)["text"]} for place in places.tolist()]

    expected = alone.project.pool.rows_of(contents)
    assert encoder is not None
    assert (pool.rows(places) != expected).nnz == 0
    alone.close()


def test_the_first_ones_come_before_all_undecided_examples(desk):
    work(desk, n=3)
    cursor = desk.state.counters.cursor
    desk.curation.add_examples(more(5), first=True, in_order=True)
    assert desk.project.pool.order[cursor : cursor + 5].tolist() == [30, 31, 32, 33, 34]
    assert sorted(desk.project.pool.order.tolist()) == list(range(35))
    assert [desk.project.pool.turn(int(place)) for place in desk.project.pool.order] == list(range(1, 36))


def test_the_same_examples_again_change_nothing(desk):
    first = desk.curation.add_examples(more(5))
    events = len(desk.events(limit=1000))
    again = desk.curation.add_examples(more(5))
    assert (first.added, again.added, again.known) == (5, 0, 5)
    assert len(desk.events(limit=1000)) == events


@pytest.mark.parametrize(
    ("examples", "error", "words"),
    [
        ([{"id": "mail-1", "text": "something else"}], ConflictError, "another example 'mail-1'"),
        ([{"id": "x", "text": "a"}, {"id": "x", "text": "a"}], InputError, "'x' twice"),
        ([{"id": "x", "size": 3}], InputError, "kind text"),
        ([{"id": "x", "text": "a", "colour": "red"}], InputError, "colour"),
    ],
    ids=["another content", "twice", "another kind", "another field"],
)
def test_wrong_examples_change_nothing(desk, examples, error, words):
    with pytest.raises(error, match=words):
        desk.curation.add_examples([*more(3), *examples])
    assert len(desk.project.pool) == 30


def test_examples_of_a_project_with_features_of_its_own_need_theirs(tmp_path):
    examples = [{"id": str(i), "text": "hi"} for i in range(5)]
    desk = Desk(Project.create(tmp_path / "p", examples, ["a", "b"], features=np.eye(5)))
    with pytest.raises(InputError, match="5 numbers each"):
        desk.curation.add_examples([{"id": "new", "text": "hi"}])
    desk.curation.add_examples([{"id": "new", "text": "hi"}], features=[[0, 0, 2.5, 0, 1]])
    assert desk.project.pool.rows(np.array([5, 0])).toarray().tolist() == [[0, 0, 2.5, 0, 1], [1, 0, 0, 0, 0]]
    desk.close()


def test_images_are_added_with_their_files(tmp_path):
    from PIL import Image

    for folder, names in (("old", "ab"), ("new", "cd")):
        (tmp_path / folder).mkdir()
        for name in names:
            Image.new("RGB", (20, 20), "red" if name in "ac" else "blue").save(tmp_path / folder / f"{name}.png")
    desk = Desk(Project.create(tmp_path / "p", tmp_path / "old", ["warm", "cold"]))
    desk.curation.add_examples(tmp_path / "new")
    assert desk.project.file_of("d.png").read_bytes() == (tmp_path / "new/d.png").read_bytes()
    places = np.array([desk.project.pool.place(name) for name in ("a.png", "c.png", "b.png", "d.png")])
    rows = desk.project.pool.rows(places).toarray()
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[2], rows[3])
    desk.close()


def test_what_was_written_before_a_commit_that_failed_does_not_count(desk, monkeypatch):
    desk.curation.add_examples(more(2))
    with monkeypatch.context() as patch:
        patch.setattr(desk.state.log, "extend", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            desk.curation.add_examples(more(9, first=2))
    assert len(desk.project.pool) == 32
    desk.curation.add_examples(more(3, first=20))
    pool = desk.project.pool
    assert [pool.example_id(place) for place in range(30, 35)] == ["new-0", "new-1", "new-20", "new-21", "new-22"]
    assert pool.added == ExampleFiles(pool.folder, pool.added, "added_").sizes
    assert len((pool.folder / "added_examples.jsonl").read_text().splitlines()) == 5


def test_files_that_are_shorter_than_the_log_says_are_refused(desk, tmp_path):
    desk.curation.add_examples(more(2))
    desk.close()
    (tmp_path / "mail/pool/added_values.bin").write_bytes(b"")
    with pytest.raises(FileFormatError, match=r"added_values.bin must have .* bytes, it has 0"):
        Desk(Project.open(tmp_path / "mail"))


@pytest.mark.parametrize("wrong", [{"examples": 7}, {"after": 99}, {"n": "x"}, {"cells": -3}])
def test_a_log_that_says_wrongly_how_the_pool_grew_is_refused(desk, wrong):
    desk.curation.add_examples(more(2))
    body = {**desk.project.pool.added._asdict(), "examples": 3, "n": 1, "after": 32, "seed": 0}
    with pytest.raises(FileFormatError, match=r"grew|must have"):
        desk.project.pool.grow(body | wrong)
    assert len(desk.project.pool) == 32


def test_a_retired_example_is_not_asked_about_and_the_model_forgets_it(desk):
    work(desk, n=6)
    before = len(desk.state.counters.closed)
    done = desk.project.pool.example_id(next(iter(desk.state.counters.closed)))
    undecided = desk.project.pool.example_id(int(desk.project.pool.order[-1]))
    assert desk.curation.retire_examples([done, undecided], "eve", "spam") == 2
    assert desk.curation.retire_examples([done], "eve") == 0
    assert len(desk.state.counters.closed) == before - 1
    assert done not in [json.loads(line)["id"] for line in desk.export("jsonl")]
    work(desk)
    leased = [event.body["example_id"] for event in desk.events(limit=10_000) if event.kind == "leased"]
    assert undecided not in leased
    assert same_bits(replayed(desk), desk.state.model.learner)
    kept = [event.body for event in desk.events(limit=10_000) if event.kind == "answered"]
    assert done in [body["example_id"] for body in kept]


def test_a_restored_example_has_its_answers_again(desk):
    work(desk, n=6)
    learner = replayed(desk)
    place = next(iter(desk.state.counters.closed))
    done = desk.project.pool.example_id(place)
    costs = {json.loads(line)["id"]: json.loads(line)["costs"] for line in desk.export("jsonl")}
    desk.curation.retire_examples([done])
    assert desk.curation.restore_examples([done], "eve", "a mistake") == 1
    assert {json.loads(line)["id"]: json.loads(line)["costs"] for line in desk.export("jsonl")} == costs
    again = replayed(desk)
    assert same_bits(desk.state.model.learner, again)
    assert (again.round_, again.costs_queried_) == (learner.round_, learner.costs_queried_)
    with pytest.raises(UnknownIdError):
        desk.curation.retire_examples(["nothing"])


def test_an_answer_that_comes_after_its_example_was_retired_is_kept_and_learned_when_it_is_restored(desk):
    question = desk.lease("ada")
    desk.curation.retire_examples([question.example_id])
    receipt = desk.answer("ada", question.id, question.lease_id, costs_for(question), "k")
    assert receipt.answer_id
    place = desk.project.pool.place(question.example_id)
    assert place not in desk.state.counters.closed
    desk.curation.restore_examples([question.example_id])
    assert place in desk.state.counters.closed
    assert same_bits(replayed(desk), desk.state.model.learner)


def test_more_examples_wake_a_project_that_was_finished(desk):
    work(desk)
    assert isinstance(desk.lease("ada"), NoQuestion)
    assert desk.overview().stopped == "nothing-worth-asking"
    desk.curation.add_examples([{"id": f"odd-{i}", "text": f"quite other words {i} {i + 1}"} for i in range(40)])
    assert desk.overview().stopped is None
    assert not isinstance(desk.lease("ada"), NoQuestion)


def test_an_archive_has_the_examples_that_were_added(desk, tmp_path):
    desk.curation.add_examples(more(10))
    work(desk)
    desk.curation.retire_examples(["new-1"])
    desk.settle()
    write_archive(desk.project, desk.store, tmp_path / "all.zip")
    twin = Desk(read_archive(tmp_path / "all.zip", tmp_path / "twin"))
    assert twin.project.pool.order.tolist() == desk.project.pool.order.tolist()
    assert same_bits(twin.state.model.learner, desk.state.model.learner)
    assert twin.state.counters.retired.keys() == desk.state.counters.retired.keys()
    twin.close()


def test_sizes_count_the_leading_zero_of_ends():
    assert [Sizes(2, 5, 9).numbers_in(name) for name in ("starts", "indptr", "columns", "values")] == [3, 3, 5, 5]


def test_predictions_cover_the_whole_pool_and_the_most_uncertain_come_first(desk):
    work(desk, n=8)
    desk.curation.add_examples(more(5))
    desk.curation.retire_examples(["mail-2"])
    lines = [json.loads(line) for line in desk.export("predictions")]
    names = [line["id"] for line in lines]
    assert names == [f"mail-{i}" for i in range(30) if i != 2] + [f"new-{i}" for i in range(5)]
    (alone,) = desk.predict([{"id": "new-4"}])
    assert {name: lines[-1][name] for name in alone} == alone
    answered = {one["id"]: one["costs"] for one in map(json.loads, desk.export("jsonl")) if one["finished"]}
    assert {line["id"]: line["answered"] for line in lines if line["answered"]} == answered
    top = [json.loads(line) for line in desk.export("predictions", 4)]
    scores = sorted((line["uncertainty"] for line in lines), reverse=True)
    assert [line["uncertainty"] for line in top] == scores[:4]
    table = b"".join(desk.export("predictions.csv", 1)).decode().splitlines()
    assert table[0].startswith("id,label,uncertainty,cost:refund,lowest:refund,highest:refund")
    assert table[1].startswith(f"{top[0]['id']},{top[0]['label']},")


def test_the_place_of_an_example_in_a_file_does_not_change_its_range(desk):
    desk.curation.import_costs([{"id": f"mail-{i}", "label": ("refund", "delivery")[i % 2]} for i in range(20)])
    desk.settle()
    lines = {line["id"]: line for line in map(json.loads, desk.export("predictions"))}
    top = [json.loads(line) for line in desk.export("predictions", 12)]
    assert top == [lines[line["id"]] for line in top]
    assert list(lines).index(top[0]["id"]) > 0


def test_examples_are_added_over_http_and_a_file_again_changes_nothing(tmp_path):
    from tests.desk.desks import open_desk
    from tests.desk.serving import client_of, served

    with open_desk(tmp_path) as desk, served(desk) as address, client_of(address, "eve") as eve:
        body = {"examples": [{"id": "a/b", "text": "my card is gone"}], "first": True}
        assert eve.post("/api/v1/projects/tickets/examples", json=body).json() == {"added": 1, "known": 0}
        assert eve.post("/api/v1/projects/tickets/examples", json=body).json() == {"added": 0, "known": 1}
        costs = {"items": [{"id": "a/b", "label": "Fraud"}]}
        assert eve.post("/api/v1/projects/tickets/costs", json=costs).json() == {"settled": 1, "known": 0}
        retired = eve.post("/api/v1/projects/tickets/examples:retire", json={"ids": ["a/b"], "reason": "twice"})
        assert retired.json() == {"changed": 1}
        assert eve.post("/api/v1/projects/tickets/examples:restore", json={"ids": ["a/b"]}).json() == {"changed": 1}
        first = eve.get("/api/v1/projects/tickets/exports/predictions?top=2").text.splitlines()
        assert len(first) == 2
    with open_desk(tmp_path / "other") as desk, served(desk) as address, client_of(address, "ann") as ann:
        assert ann.post("/api/v1/projects/tickets/examples", json=body).status_code == 403
