"""A project whose labels have prices of asking of their own: money by label, a limit that is never passed."""

import random

import pytest

from coalface.desk.annotators.labelling import Labelling
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.messages import NoQuestion
from coalface.errors import InputError
from coalface.rounds.label_change import LabelChange
from tests.desk.interviewing import logged, taken_over, tell
from tests.desk.projects import LABELS, costs_for, small_project, work

PRICES = {"refund": 0.07, "delivery": 1.1, "other": 0.3}


@pytest.fixture
def priced(tmp_path, clock):
    """Makes a desk of a project whose labels have prices, closed at the end."""
    desks = []

    def make(price=None, **settings):
        budget = {"price_per_cost": PRICES} | ({} if price is None else {"price": price}) | settings.pop("budget", {})
        project = small_project(tmp_path / f"mail-{len(desks)}", budget=budget, **settings)
        desks.append(Desk(project, clock=clock))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


def owed(desk, prices=PRICES):
    """What the log says that the costs were worth, each once by annotator and example."""
    answered = [(event.who, event.body["example_id"], event.body["asked"]) for event in logged(desk, "answered")]
    put = {(who, example, label) for who, example, asked in answered for label in asked}
    return sum(prices[label] for _, _, label in put)


def test_the_books_have_the_money_of_each_label(priced):
    desk = priced()
    work(desk, n=40)
    rows = {row.label: row for row in desk.overview().labels}
    assert desk.progress().price == pytest.approx(owed(desk))
    assert {label: row.price for label, row in rows.items()} == PRICES
    for label, row in rows.items():
        assert row.spent == pytest.approx(row.asked * PRICES[label])


@pytest.mark.parametrize("seed", range(6))
def test_the_limit_in_money_is_never_passed_and_nearly_used(priced, seed):
    draw = random.Random(seed)
    limit, overlap = draw.uniform(3.0, 20.0), draw.choice([1, 2])
    desk = priced(limit, overlap=overlap, budget={"price_per_example": draw.choice([0.0, 0.25])})
    crew, questions = [f"person {k}" for k in range(4)], {}
    for turn in range(600):
        who = crew[turn % 4]
        question = questions.get(who) or desk.lease(who)
        if isinstance(question, NoQuestion):
            questions.pop(who, None)
            continue
        questions[who] = question
        if turn >= 4 and draw.random() < 0.8:  # all hold a question before anyone answers
            reply = costs_for(question)
            ahead = [label for label, _ in question.later] if draw.random() < 0.3 else []
            later = {label: draw.random() for label in ahead}
            receipt = desk.answer(who, question.id, question.lease_id, reply | later, str(turn), ahead=ahead)
            questions[who] = receipt.follow_up
            if draw.random() < 0.1 and receipt.follow_up is None:
                questions[who] = desk.undo(who, receipt.answer_id)
        assert desk.progress().price <= limit + 1e-9
    assert limit - desk.progress().price < max(PRICES.values()) + 0.25
    assert desk.lease("ada") == NoQuestion("budget-spent")


def test_the_rest_of_the_money_buys_cheaper_labels(priced):
    desk = priced(1.0, learner={"rule": {"warm_up": 0}})
    _, reason = work(desk)
    assert reason == "budget-spent"
    asked = {label for event in logged(desk, "answered") for label in event.body["asked"]}
    assert asked == {"refund", "other"}
    assert 0.6 < desk.progress().price <= 1.0


@pytest.mark.parametrize("cheapest", LABELS)
def test_questions_of_equal_use_begin_with_the_cheapest(priced, cheapest):
    desk = priced(learner={"rule": {"warm_up": 0}}, budget={"price_per_cost": PRICES | {cheapest: 0.01}})
    assert desk.lease("ada").labels == [cheapest]


def test_an_undone_answer_gives_back_what_was_booked_for_it(priced, clock):
    desk = priced()
    late, theirs = taken_over(desk, clock)
    tell(desk, "bob", theirs, 0.5)
    receipts = [tell(desk, "ada", late, 0.5)]
    before = desk.progress().price
    assert before == pytest.approx(2 * sum(PRICES.values()))
    desk.undo("ada", receipts[0].answer_id)
    assert desk.progress().price == pytest.approx(sum(PRICES.values()))
    assert sum(row.spent for row in desk.overview().labels) == pytest.approx(desk.progress().price)


def test_money_that_was_booked_stays_when_the_prices_of_the_settings_change(priced, clock):
    desk = priced()
    work(desk, n=5)
    spent, folder = desk.progress().price, desk.project.folder
    desk.close()
    settings = (folder / "project.toml").read_text()
    (folder / "project.toml").write_text(settings.replace("1.1", "7.5"))
    again = Desk(Project.open(folder), clock=clock)
    assert again.progress().price == spent
    again.close()


def test_a_renamed_label_keeps_its_price_and_its_books(priced, clock):
    desk = priced()
    work(desk, n=5)
    spent = desk.progress().price
    desk.change_labels(LabelChange("rename", "delivery", 0, new_name="parcels"))
    work(desk, n=5)
    prices = {**PRICES, "parcels": PRICES["delivery"]}
    assert desk.progress().price == pytest.approx(owed(desk, prices)) != spent
    row = next(row for row in desk.overview().labels if row.label == "parcels")
    assert (row.price, row.spent) == (1.1, pytest.approx(row.asked * 1.1))
    folder, spent = desk.project.folder, desk.progress().price
    desk.close()
    again = Desk(Project.open(folder), clock=clock)
    assert again.progress().price == spent
    assert again.project.limits.price_per_cost["parcels"] == 1.1
    again.close()


def test_a_new_label_needs_a_price_first(priced, clock):
    desk = priced()
    with pytest.raises(InputError, match="price_per_cost for every label, got none for 'legal'"):
        desk.change_labels(LabelChange("add", "legal", 0))
    folder = desk.project.folder
    desk.close()
    settings = (folder / "project.toml").read_text()
    (folder / "project.toml").write_text(settings.replace("other = 0.3", "other = 0.3, legal = 2.5"))
    again = Desk(Project.open(folder), clock=clock)
    again.change_labels(LabelChange("add", "legal", 0))
    work(again, n=3, costs=lambda question: dict.fromkeys(question.labels, 0.5))
    assert again.progress().price == pytest.approx(owed(again, {**PRICES, "legal": 2.5}))
    again.close()


def test_a_program_that_charges_more_than_the_price_of_a_label_raises_all_prices(priced):
    desk = priced(5.0, learner={"rule": {"warm_up": 0}})

    def dear(question):
        usual = sum(PRICES[label] for label in question["labels"])
        return {"costs": dict.fromkeys(question["labels"], 0.5), "price": usual + 0.4 * len(question["labels"])}

    assert Labelling(desk, dear).run().stopped == "budget-spent"
    assert desk.state.limits.price_per_cost == {"refund": 0.47, "delivery": 1.5, "other": 0.7}
    assert 5.0 - 1.5 < desk.progress().price <= 5.0 + 1e-9
    assert sum(row.spent for row in desk.overview().labels) == pytest.approx(desk.progress().price)


def test_a_program_that_charges_the_price_of_its_labels_raises_none(priced):
    desk = priced(5.0)
    charged = lambda question: {  # noqa: E731
        "costs": dict.fromkeys(question["labels"], 0.5),
        "price": sum(PRICES[label] for label in question["labels"]),
    }
    Labelling(desk, charged).run()
    assert desk.state.limits.price_per_cost == PRICES


def test_a_run_has_a_limit_in_money_of_its_own(priced):
    desk = priced(50.0)
    work(desk, n=2)
    before = desk.progress().price
    desk.limit_run({"price": 3.0})
    _, reason = work(desk)
    assert reason == "run-limit"
    assert 3.0 - 1.1 < desk.progress().price - before <= 3.0 + 1e-9


def test_the_forecast_is_in_money_and_within_the_limit(priced):
    free, limited = priced(), priced(4.0)
    for desk in (free, limited):
        work(desk, n=3)
    wide, narrow = free.expected().price, limited.expected().price
    assert 0.0 < wide.lowest < wide.expected < wide.highest
    assert wide.highest <= max(PRICES.values()) * free.expected().costs.highest
    assert narrow.highest <= 4.0 - limited.progress().price
    assert limited.expected().costs.highest <= (4.0 - limited.progress().price) / 0.07 + 1e-9


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"budget": {"price_per_cost": {"refund": 1.0}}}, "every label, got none for 'delivery'"),
        ({"budget": {"price_per_cost": {}}}, "every label, got none"),
        (
            {"budget": {"price_per_cost": PRICES | {"other": -1.0}}},
            "of 'other' as a non-negative number",
        ),
        ({"budget": {"price_per_cost": PRICES}, "true_label": True}, "where annotators give true labels"),
        ({"budget": {"price_per_cost": PRICES}, "learner": {"price_of_truth": 2}}, "where annotators give true labels"),
        ({"budget": {"price": 1.0, "price_per_cost": dict.fromkeys(LABELS, 0.0)}}, "must give price_per_example or"),
    ],
)
def test_prices_that_do_not_fit_the_project_are_refused(tmp_path, settings, said):
    with pytest.raises(InputError, match=said):
        small_project(tmp_path / "mail", **settings)
