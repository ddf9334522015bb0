"""Review: examples are found by what happened to them, disagreements queue, and likely wrong answers come first."""

import json
from pathlib import Path

import numpy as np
import pytest

import coalface.desk.web
from coalface.data.agreement import krippendorff_alpha
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.desk.service.reviews import Wanted
from coalface.errors import InputError
from coalface.learner.pool import possible_savings
from tests.desk.desks import open_desk
from tests.desk.projects import costs_for, same_bits, small_project, work
from tests.desk.serving import client_of, served
from tests.desk.test_pool_changes import replayed

TEMPLATES = Path(coalface.desk.web.__file__).parent / "templates"


@pytest.fixture
def desk(tmp_path):
    found = Desk(small_project(tmp_path / "mail", n=40, overlap=2, learner={"mellowness": 0.9}))
    yield found
    found.close()


def contrary(question):
    """Costs that differ from those of an honest annotator wherever the text has the word bank."""
    costs = costs_for(question)
    return {label: 1.0 - cost for label, cost in costs.items()} if "bank" in question.content["text"] else costs


def ids(desk, **wanted):
    return [one.id for one in desk.reviews.listed(Wanted(**wanted), limit=1000)[0]]


def text_of(desk, name):
    return desk.project.pool.content(desk.project.pool.place(name))["text"]


def test_disagreements_queue_until_a_reviewer_decides(desk):
    work(desk, "ada", n=12)
    work(desk, "bob", n=12, costs=contrary)
    names = ids(desk, only="disagreement")
    assert names
    assert all("bank" in text_of(desk, name) for name in names)
    both = [one for one in desk.reviews.listed(Wanted(), limit=1000)[0] if one.annotators == ["ada", "bob"]]
    assert {one.id for one in both if one.disagreement > 0} == set(names)
    widest = desk.reviews.listed(Wanted(only="disagreement", order="disagreement"))[0]
    assert [one.disagreement for one in widest] == sorted((one.disagreement for one in widest), reverse=True)
    label = desk.project.labels[0]
    desk.curation.correct("eve", names[0], {label: 0.25}, "See the guidelines.")
    assert names[0] not in ids(desk, only="disagreement")
    assert ids(desk, only="corrected") == [names[0]]
    about = desk.reviews.about(names[0])
    assert about.costs[label] == 0.25
    assert [one.who for one in about.history if one.kind == "answered"][:1] == ["ada"]
    assert about.history[-1].note == "See the guidelines."
    assert about.history[-1].stands
    assert same_bits(replayed(desk), desk.state.model.learner)


def test_a_corrected_answer_no_longer_stands_and_the_export_says_who_corrected_it(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", n=20))
    work(desk, "ada", n=2)
    first, second = (one.id for one in desk.reviews.listed(Wanted(annotator="ada"))[0])
    costs = desk.reviews.about(first).costs
    other = {label: 1.0 - cost for label, cost in costs.items() if cost != 0.5}
    desk.curation.correct("eve", first, other, "It is about money.")
    desk.curation.correct("eve", second, desk.reviews.about(second).costs, "Agreed.")
    answer, correction = desk.reviews.about(first).history
    assert (answer.stands, answer.replaced, correction.stands) == (False, True, True)
    assert [one.stands for one in desk.reviews.about(second).history] == [True, True]
    lines = {line["id"]: line for line in map(json.loads, desk.export("jsonl"))}
    at = [one.at for one in (correction, desk.reviews.about(second).history[1])]
    assert lines[first]["corrections"] == [{"who": "eve", "at": at[0], "reason": "It is about money."}]
    assert lines[second]["corrections"] == [{"who": "eve", "at": at[1], "reason": "Agreed."}]
    ((old,), (confirmed,)) = (lines[name]["answers"] for name in (first, second))
    assert (old.get("learned"), old.get("replaced")) == (None, True)
    assert (confirmed.get("learned"), confirmed.get("replaced")) == (True, None)
    desk.close()


def test_the_most_uncertain_examples_include_those_with_an_open_question(tmp_path):
    with open_desk(tmp_path, n_examples=3, learner={"rule": {"warm_up": 3}}) as desk:
        held = [desk.lease("ada").example_id for _ in range(3)]
        assert ids(desk, state="undecided") == []
        assert sorted(ids(desk, state="unfinished", order="uncertain")) == sorted(held)
        assert 'state=unfinished">Most uncertain' in (TEMPLATES / "parts.html").read_text()


def test_examples_are_found_by_text_label_annotator_state_and_flag(desk):
    work(desk, "ada", n=8)
    question = desk.lease("bob")
    desk.flag(question.lease_id, "bob", "two topics")
    assert ids(desk, only="flag") == [question.example_id]
    assert all("BANK".lower() in text_of(desk, name) for name in ids(desk, text="BANK"))
    assert len(ids(desk, text="bank")) == sum("bank" in text_of(desk, f"mail-{i}") for i in range(40))
    assert ids(desk, text='no "such" text') == []
    answered = ids(desk, annotator="ada")
    assert set(ids(desk, state="closed")) <= set(answered)
    labelled = {name: ids(desk, label=name) for name in desk.project.labels}
    assert sorted(name for names in labelled.values() for name in names) == sorted(ids(desk, state="closed"))
    for label, names in labelled.items():
        costs = [desk.reviews.about(name).costs for name in names]
        assert all(found[label] == min(cost for cost in found.values() if cost is not None) for found in costs)
    assert len(ids(desk)) == 40
    with pytest.raises(InputError, match="only must be one of"):
        ids(desk, only="everything")


def test_the_most_uncertain_come_first_and_pages_continue(desk):
    work(desk, "ada", n=20)
    names = ids(desk, order="uncertain")
    scores = possible_savings(
        desk.state.model.learner, desk.project.pool.rows(np.array([desk.project.pool.place(name) for name in names]))
    )
    assert (np.diff(scores) <= 0).all()
    first, total = desk.reviews.listed(Wanted(order="uncertain"), limit=15)
    rest, _ = desk.reviews.listed(Wanted(order="uncertain"), 15, 100)
    assert [one.id for one in first + rest] == names
    assert total == 40


def test_agreement_by_label_is_that_of_the_table_of_its_costs(desk):
    work(desk, "ada", n=15)
    work(desk, "bob", n=15, costs=contrary)
    found = desk.reviews.agreements("ordinal")
    shared = desk.state.counters.shared_costs()
    for row in found.labels:
        table = [[costs["ada"], costs["bob"]] for (_, label), costs in shared.items() if label == row.name]
        assert row.costs == len(table)
        if row.alpha is not None:
            assert row.alpha == pytest.approx(krippendorff_alpha(table, "ordinal"))
            assert row.low <= row.alpha <= row.high
    everything = [[costs["ada"], costs["bob"]] for costs in shared.values()]
    assert desk.reviews.agreements().overall.alpha == pytest.approx(krippendorff_alpha(everything))


def test_planted_wrong_answers_are_the_most_surprising(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", n=150, learner={"rule": "passive"}))
    assert desk.reviews.surprises() == []
    wrong = {f"mail-{i}" for i in range(0, 150, 19)}

    def careless(question):
        costs = costs_for(question)
        return {label: 1.0 - cost for label, cost in costs.items()} if question.example_id in wrong else costs

    work(desk, costs=careless)
    found = desk.reviews.surprises(len(wrong))
    hits = {one.example_id for one in found} & wrong
    assert len(hits) >= 0.6 * len(wrong)  # 8 of 150 at random would be 0.4 of 8
    assert [one.surprise for one in found] == sorted((one.surprise for one in found), reverse=True)
    assert all(one.who == "ada" for one in found)
    assert desk.reviews.surprises(3) == found[:3]
    desk.curation.correct("eve", found[0].example_id, {}, "It was wrong.", label="other")
    desk.settle()
    assert desk.reviews.surprises(1) != found[:1]
    desk.close()


def test_gold_questions_are_mixed_in_once_each_and_compared(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", n=60, gold=0.5, learner={"mellowness": 0.9}))
    gold = [{"id": f"mail-{i}", "costs": {"refund": 0.0, "delivery": 0.5, "other": 1.0}} for i in range(5)]
    desk.curation.import_costs(gold, "eve", gold=True)
    work(desk, "ada", n=25)
    leased = [event.body["example_id"] for event in desk.events(limit=10_000) if event.kind == "leased"]
    shown = [name for name in leased if name in {one["id"] for one in gold}]
    assert sorted(shown) == sorted({one["id"] for one in gold})
    (row,) = desk.reviews.agreements().annotators
    expected = []
    for one in gold:
        question = type("Q", (), {"content": {"text": text_of(desk, one["id"])}, "labels": list(one["costs"])})
        expected += [abs(costs_for(question)[label] - cost) for label, cost in one["costs"].items()]
    assert (row.gold_costs, row.gold) == (15, pytest.approx(np.mean(expected)))
    assert desk.reviews.about("mail-0").costs == gold[0]["costs"]  # the model keeps what it was given
    counters = desk.state.counters
    passed = sum(counters.was_passed(place) for place in range(60))
    assert desk.state.model.learner.round_ - 1 == len(counters.closed) + passed  # a gold answer is not another round
    assert same_bits(replayed(desk), desk.state.model.learner)
    desk.close()


def test_a_gold_question_that_is_given_back_is_not_learned(tmp_path):
    desk = Desk(small_project(tmp_path / "mail", n=30, gold=0.5))
    desk.curation.import_costs([{"id": "mail-3", "label": "refund"}], gold=True)
    rounds = desk.state.model.learner.round_
    names = [f"person {i}" for i in range(12)]
    first = next(q for q in (desk.lease(name) for name in names) if q.example_id == "mail-3")
    holder = next(name for name in names if any(q.example_id == "mail-3" for q in desk.held(name)))
    desk.release(first.lease_id, holder)
    work(desk, "ada", n=1)
    for name in names:
        while not isinstance(question := desk.lease(name), NoQuestion) and question.example_id != "mail-3":
            continue
    assert not desk.state.counters.was_passed(3)
    assert desk.state.model.learner.round_ <= rounds + 1
    assert same_bits(replayed(desk), desk.state.model.learner)
    desk.close()


def test_a_share_of_gold_must_be_at_most_a_half(tmp_path):
    with pytest.raises(InputError, match=r"from 0 to 0\.5"):
        small_project(tmp_path / "mail", gold=0.7)
    small_project(tmp_path / "mail", gold=0.1)
    assert Project.open(tmp_path / "mail").gold == 0.1


def test_reviewers_read_and_correct_over_http_and_annotators_do_not(tmp_path):
    with open_desk(tmp_path) as desk:
        desk.access.add_token("rae", "reviewer", "coal_rae")
        with served(desk) as address, client_of(address, "rae") as rae, client_of(address, "ann") as ann:
            place = "/api/v1/projects/tickets"
            (query,) = ann.post(f"{place}/queries:lease", json={}).json()["queries"]
            body = {
                "query_id": query["id"],
                "lease_id": query["lease_id"],
                "costs": dict.fromkeys(query["labels"], 1.0),
            }
            ann.post(f"{place}/answers", json=body, headers={"idempotency-key": "1"})
            found = rae.get(f"{place}/review?annotator=ann").json()["items"]
            assert [one["id"] for one in found] == [query["example_id"]]
            about = rae.get(f"{place}/review/{query['example_id']}").json()
            assert [one["kind"] for one in about["history"]] == ["answered"]
            right = {"example_id": query["example_id"], "costs": {"Fraud": 0}, "reason": "stolen card"}
            first = rae.post(f"{place}/corrections", json=right, headers={"idempotency-key": "c"})
            again = rae.post(f"{place}/corrections", json=right, headers={"idempotency-key": "c"})
            assert (first.json(), again.json()) == ({"settled": 1, "known": 0}, {"settled": 0, "known": 1})
            assert rae.get(f"{place}/review/{query['example_id']}").json()["costs"]["Fraud"] == 0
            for wrong in ({"reason": " "}, {"reason": None}, {"costs": {"Fraud": 2.5}}):
                refused = rae.post(f"{place}/corrections", json=right | wrong, headers={"idempotency-key": "d"})
                assert refused.status_code == 422
            assert "levels none (0)" in refused.json()["detail"]
            without = {name: value for name, value in right.items() if name != "reason"}
            refused = rae.post(f"{place}/corrections", json=without, headers={"idempotency-key": "d"})
            assert (refused.status_code, "reason" in refused.json()["detail"]) == (422, True)
            assert len(rae.get(f"{place}/review/{query['example_id']}").json()["history"]) == 2
            refused = ann.post(f"{place}/corrections", json=right, headers={"idempotency-key": "c"})
            assert refused.json()["detail"].startswith("Only reviewers and engineers may do this.")
            assert rae.get(f"{place}/agreement?metric=ordinal").json()["annotators"][0]["name"] == "ann"
            assert rae.get(f"{place}/surprises").json() == []
            for path in ("review", "agreement", "surprises", f"review/{query['example_id']}"):
                assert ann.get(f"{place}/{path}").status_code == 403
            assert rae.get(f"{place}/tokens").status_code in (403, 404)
            assert rae.get(f"{place}/overview").status_code == 403
