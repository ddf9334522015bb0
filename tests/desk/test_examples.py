"""The state of the examples in the pool, and the questions that come next."""

from coalface.desk.service.messages import Question
from tests.desk.desks import LABELS, desk_in_turn, open_desk
from tests.desk.serving import client_of, served
from tests.desk.test_api import PROJECT, lease, send


def test_examples_are_listed_with_where_they_stand(as_ann, as_eve, desk):
    (query,) = lease(as_ann)["queries"]
    send(as_ann, query, dict.fromkeys(LABELS, 1.0), "k")
    (held,) = lease(as_ann)["queries"]
    items = as_eve.get(f"{PROJECT}/examples", params={"limit": 1000}).json()["items"]
    state = {item["id"]: item["state"] for item in items}
    assert sorted(state) == sorted(f"ticket/{i}" for i in range(60))
    assert (state[query["example_id"]], state[held["example_id"]]) == ("closed", "open")
    decided = sum(item["state"] != "undecided" for item in items)
    assert [item["turn"] for item in items if item["state"] == "undecided"] == list(range(decided + 1, 61))
    passed = {i for event in desk.events(limit=1000) if event.kind == "passed" for i in event.body["examples"]}
    assert {item["id"] for item in items if item["state"] == "passed"} == {f"ticket/{i}" for i in passed}


def test_what_comes_next_is_what_is_leased_next_and_looking_changes_nothing(tmp_path):
    with desk_in_turn(tmp_path) as desk, served(desk) as address, client_of(address, "eve") as eve:
        for _ in range(2):  # an empty queue, and one that has questions of an older model
            before = desk.events(limit=1000)
            coming = eve.get(f"{PROJECT}/next", params={"n": 5}).json()["items"]
            assert desk.events(limit=1000) == before
            found = lease(eve, max_items=5)["queries"]
            for shown, query in zip(coming, found, strict=True):
                assert {name: shown[name] for name in ("example_id", "labels", "ranges", "reason")} == {
                    name: query[name] for name in ("example_id", "labels", "ranges", "reason")
                }
                assert set(shown["labels"] + shown["later"]) == set(shown["ranges"])
                send(eve, query, dict.fromkeys(LABELS, 1.0), query["id"])


def test_nothing_comes_next_once_the_budget_is_spent(tmp_path):
    with open_desk(tmp_path, budget={"examples": 1}) as desk, served(desk) as address, client_of(address, "eve") as eve:
        assert len(eve.get(f"{PROJECT}/next").json()["items"]) == 10
        (query,) = lease(eve)["queries"]
        send(eve, query, dict.fromkeys(LABELS, 1.0), "k")
        assert eve.get(f"{PROJECT}/next").json()["items"] == []


def test_with_overlap_each_annotator_is_asked_about_an_example_once(tmp_path):
    with open_desk(tmp_path, overlap=2) as desk:
        desk.release(desk.lease("ann").lease_id, "ann")  # now the queue has questions, two copies of each
        coming = [one.example_id for one in desk.upcoming(20)]
        assert len(coming) == len(set(coming)) == 20


def test_labels_that_are_not_asked_are_surely_worse_or_known(tmp_path):
    seen = set()
    with desk_in_turn(tmp_path) as desk:
        while isinstance(question := desk.lease("eve"), Question):
            (predicted,) = desk.predict([{"id": question.example_id}])
            guaranteed = min(high for _, high in predicted["ranges"].values())
            found = desk.not_asked(question)
            for label in set(LABELS) - set(question.labels):
                (reason,) = [reason for reason, labels in found.items() if label in labels]
                assert (reason == "perhaps later") == (label in question.ranges)
                if label not in question.ranges:
                    assert (reason == "surely worse") == (predicted["ranges"][label][0] > guaranteed)
                seen.add(reason)
            late = 2.0 * ("late" in question.content["text"])
            costs = {"Billing": 1.0, "Refunds": late, "Fraud": 4.0}
            desk.answer("eve", question.id, question.lease_id, costs, question.id)
    assert {"surely worse", "perhaps later"} <= seen
