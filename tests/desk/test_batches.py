"""Batches: questions out in one file, answers back in another; the same file twice counts once, and nothing is lost."""

import json

import pytest

from coalface.buying.oracles.judge import Prices
from coalface.desk.annotators.batches import OwnForm, lease_batch, take_batch, write_batch
from coalface.desk.annotators.labelling import Labelling
from coalface.desk.annotators.openai import OpenAIForm
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from tests.desk.projects import LABELS, Clock, same_bits, small_project, work

DAY = 86_400.0


def rule(text, label):
    right = "refund" if "money" in text or "refund" in text else "delivery" if "parcel" in text else "other"
    return 0.0 if label == right else 1.0 if label == "other" else 0.5


def answered(line):
    return {**line, "costs": {label: rule(line["content"]["text"], label) for label in line["labels"]}}


def read(path):
    return [json.loads(text) for text in path.read_text().splitlines()]


def write(path, lines):
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def out(desk, path, most=10**6, form=None, name="batch"):
    questions, why = lease_batch(desk, name, DAY, most)
    write_batch(desk, questions, path, form or OwnForm())
    return read(path), why


@pytest.fixture
def desk(tmp_path):
    with_desk = Desk(small_project(tmp_path / "p", n=60), clock=Clock())
    yield with_desk
    with_desk.close()


def books(desk):
    desk.settle()
    spent = desk.state.counters.spent
    return spent.examples, spent.costs, desk.state.model.learner.model_.state.counters.tolist()


def test_batch_after_batch_labels_the_whole_pool(desk, tmp_path):
    trips = 0
    while trips < 40:
        lines, _ = out(desk, tmp_path / "q.jsonl")
        if not lines:
            break
        done = take_batch(desk, "batch", write(tmp_path / "a.jsonl", map(answered, lines)), OwnForm())
        assert (done.answers, done.problems) == (len(lines), [])
        trips += 1
    assert trips > 1  # follow-up questions come in later batches
    assert desk.lease("ada").reason == "nothing-worth-asking"
    assert desk.state.model.learner.round_ == 61


def test_a_batch_may_hold_more_questions_than_an_annotator(desk, tmp_path):
    lines, why = out(desk, tmp_path / "q.jsonl")
    assert len(lines) > 32
    assert why == "all-leased"
    assert out(desk, tmp_path / "again.jsonl")[0] == []  # nothing is asked twice


def test_the_same_answers_twice_count_once(desk, tmp_path):
    lines, _ = out(desk, tmp_path / "q.jsonl")
    answers = write(tmp_path / "a.jsonl", map(answered, lines))
    once, books_once = take_batch(desk, "batch", answers, OwnForm()), books(desk)
    twice = take_batch(desk, "batch", answers, OwnForm())
    assert (twice.answers, twice.before, twice.problems) == (0, once.answers, [])
    assert books(desk) == books_once


def test_answers_in_parts_are_the_answers_as_a_whole(tmp_path):
    desks = [Desk(small_project(tmp_path / name, n=40)) for name in "ab"]
    for which, desk in enumerate(desks):
        lines, _ = out(desk, tmp_path / "q.jsonl")
        files = [lines[:7], lines[:20], lines] if which else [lines]
        for part in files:
            take_batch(desk, "batch", write(tmp_path / "a.jsonl", map(answered, part)), OwnForm())
    assert books(desks[0]) == books(desks[1])
    assert same_bits(*(desk.state.model.learner for desk in desks))
    for desk in desks:
        desk.close()


def test_a_wrong_line_is_one_line_of_complaint_and_changes_nothing(desk, tmp_path):
    lines, _ = out(desk, tmp_path / "q.jsonl", most=12)
    good = [answered(line) for line in lines]
    take_batch(desk, "batch", write(tmp_path / "first.jsonl", good[:1]), OwnForm())
    before = books(desk)
    wrong = [
        {**good[0], "costs": dict.fromkeys(good[0]["labels"], 0.9)},  # another answer than before
        {**good[1], "lease": "no-such-lease"},
        {**good[2], "id": "999.0"},
        {**good[3], "labels": ["refund"] if good[3]["labels"] != ["refund"] else ["other"]},
        {**good[4], "costs": {"refund": 7.5}},
        {**good[5], "costs": {"unheard-of": 0.5}},
        {**good[6], "costs": "cheap"},
        {"id": 5},
        ["not an object"],
    ]
    path = write(tmp_path / "wrong.jsonl", wrong)
    path.write_text(path.read_text() + "{broken\n\n")
    done = take_batch(desk, "batch", path, OwnForm())
    assert (done.answers, done.before, len(done.problems)) == (0, 0, 10)
    assert all("\n" not in problem and problem.startswith(f"{path}, line ") for problem in done.problems)
    assert books(desk) == before
    unanswered = take_batch(desk, "batch", tmp_path / "q.jsonl", OwnForm())
    assert (unanswered.unanswered, unanswered.answers, unanswered.problems) == (12, 0, [])
    rest = take_batch(desk, "batch", write(tmp_path / "rest.jsonl", good), OwnForm())
    assert (rest.answers, rest.before) == (11, 1)


def test_a_crash_between_out_and_in_loses_nothing(tmp_path):
    project = small_project(tmp_path / "p", n=40)
    desk = Desk(project)
    questions, _ = lease_batch(desk, "batch", DAY, 10)  # and the process ends before it has written the file
    desk.close()
    desk = Desk(Project.open(tmp_path / "p"))
    write_batch(desk, desk.held("batch"), tmp_path / "again.jsonl", OwnForm())
    lines = read(tmp_path / "again.jsonl")
    assert {(line["id"], line["lease"]) for line in lines} == {(one.id, one.lease_id) for one in questions}
    desk.close()
    desk = Desk(Project.open(tmp_path / "p"))
    done = take_batch(desk, "batch", write(tmp_path / "a.jsonl", map(answered, lines)), OwnForm())
    assert (done.answers, done.late, done.problems) == (10, 0, [])
    desk.close()


def test_after_the_lease_others_are_asked_and_a_late_answer_is_kept(desk, tmp_path):
    lines, _ = out(desk, tmp_path / "q.jsonl", most=5)
    desk.state.clock.now += 2 * DAY
    others, _ = work(desk, "ada")
    done = take_batch(desk, "batch", write(tmp_path / "a.jsonl", map(answered, lines)), OwnForm())
    assert (done.answers, done.late, done.problems) == (5, 5, [])
    assert not any(receipt.late for receipt in others)
    assert desk.progress("batch").own_examples == 5


def test_a_batch_keeps_to_its_budget_and_to_that_of_the_project(tmp_path):
    desk = Desk(small_project(tmp_path / "p", n=60, budget={"costs": 40}))
    desk.limit_run({"costs": 25})
    lines, why = out(desk, tmp_path / "q.jsonl")
    assert sum(len(line["labels"]) for line in lines) <= 25
    assert why == "all-leased"
    desk.close()
    desk = Desk(Project.open(tmp_path / "p"))
    more, _ = out(desk, tmp_path / "q2.jsonl")
    assert sum(len(line["labels"]) for line in lines + more) <= 40
    for part in (lines, more):
        take_batch(desk, "batch", write(tmp_path / "a.jsonl", map(answered, part)), OwnForm())
    assert desk.progress().costs <= 40
    desk.close()


def response(line, content, status=200, **more):
    body = {"choices": [{"message": {"content": content, **more}}]}
    body["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100}
    return {"custom_id": line["custom_id"], "response": {"status_code": status, "body": body}, "error": None}


def test_the_form_of_openai_has_a_request_per_line_and_reads_the_responses(tmp_path):
    desk = Desk(small_project(tmp_path / "p", n=40, budget={"price_in": 1.0, "price_out": 10.0}))
    form = OpenAIForm(desk.project, "gpt-4o-mini")
    lines, _ = out(desk, tmp_path / "q.jsonl", most=6, form=form)
    assert {(line["method"], line["url"], line["body"]["model"]) for line in lines} == {
        ("POST", "/v1/chat/completions", "gpt-4o-mini")
    }
    assert len({line["custom_id"] for line in lines}) == 6
    valid = json.dumps({"costs": {"refund": 0.0, "delivery": 0.5, "other": None}})
    given = [
        response(lines[0], valid),
        response(lines[1], valid, status=500),
        response(lines[2], "no JSON"),
        response(lines[3], "", refusal="I can't judge this."),
        {"custom_id": lines[4]["custom_id"], "response": None, "error": {"message": "expired"}},
        response(lines[5], json.dumps({"costs": {"refund": 3.0, "delivery": 0.5, "other": 0.1}})),
    ]
    answers = write(tmp_path / "a.jsonl", given)
    for taken in (1, 0):
        done = take_batch(desk, "batch", answers, form)
        assert (done.answers, done.before, len(done.problems)) == (taken, 1 - taken, 5)
    assert desk.progress().price == pytest.approx(Prices(1.0, 10.0).of(1000, 100))
    assert desk.progress().costs == 3
    desk.close()


def test_a_run_with_a_budget_of_its_own_stops_there_and_the_next_one_goes_on(tmp_path):
    project = small_project(tmp_path / "p", n=60)
    whole = Desk(small_project(tmp_path / "q", n=60))
    reference = Labelling(whole, lambda q: {label: rule(q["content"]["text"], label) for label in q["labels"]}).run()
    costs = []
    for _ in range(100):
        desk = Desk(Project.open(project.folder))
        desk.limit_run({"costs": 7})
        done = Labelling(desk, lambda q: {label: rule(q["content"]["text"], label) for label in q["labels"]}).run()
        costs.append(desk.progress().costs)
        desk.settle()
        learner = desk.state.model.learner
        desk.close()
        if done.stopped != "run-limit":
            break
    steps = [after - before for before, after in zip([0, *costs], costs, strict=False)]
    assert done.stopped == reference.stopped == "nothing-worth-asking"
    assert all(step <= 7 for step in steps)
    assert learner.round_ == 61  # nothing was cut off by the limits of single runs
    whole.close()


def test_labels_stay_in_their_project(desk, tmp_path):
    lines, _ = out(desk, tmp_path / "q.jsonl", most=1)
    assert set(lines[0]["labels"]) <= set(LABELS)
    assert lines[0]["lease"]
