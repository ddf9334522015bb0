"""The dashboard counts what was asked, has numbers at the end, and says how sure its advice is."""

import re

import pytest

from coalface.desk.project.spending import Limits
from coalface.desk.service.counters import Counters
from coalface.desk.service.messages import EstimatedMean
from coalface.desk.service.overview import advice_on
from coalface.desk.web.charts import learning_chart, spending_chart
from coalface.learner.forecast import Interval
from coalface.rounds.event_log import Event
from tests.desk.desks import open_desk
from tests.desk.interviewing import tell
from tests.desk.projects import LABELS, work
from tests.desk.serving import client_of, served


def test_questions_that_wait_in_the_queue_do_not_count_as_asked(desk_of):
    desk = desk_of()
    assert desk.overview().passive_costs == 0
    for _ in range(3):
        tell(desk, "ada", desk.lease("ada"), 0.0)
    found = desk.overview()
    assert desk.state.counters.cursor > 3  # the queue is ahead of the annotators
    assert (found.progress.examples, found.decided) == (3, 3)
    assert found.passive_costs == 3 * len(desk.project.labels)


def test_examples_that_needed_no_question_are_counted_once(desk_of):
    desk = desk_of(n=200, learner={"mellowness": 1e-6, "rule": {"warm_up": 5}}, labels=LABELS)
    work(desk)
    found = desk.overview()
    assert found.passed > 0
    assert found.decided == found.pool == found.passed + found.progress.examples
    assert found.passive_costs == 200 * len(LABELS)


def test_a_budget_that_ends_before_the_pool_is_no_forecast(desk_of):
    desk = desk_of(n=200, budget={"costs": 6}, labels=LABELS)
    assert str(desk.expected()).startswith("6 costs, all that is left of the budget, on ")
    work(desk)
    assert str(desk.expected()) == "0 costs, because the budget is spent"
    assert [*desk.expected().examples, *desk.expected().costs] == [0.0] * 6


def test_the_forecast_leaves_out_what_is_decided_or_retired(desk_of):
    desk = desk_of(n=200, learner={"mellowness": 1e-6, "rule": {"warm_up": 5}}, labels=LABELS)
    work(desk, n=8)
    pool, state = desk.project.pool, desk.state
    half = [pool.example_id(place) for place in range(len(pool))][::2]
    desk.curation.retire_examples(half, "eve", "duplicates")
    desk.settle()
    decided = {
        place for place in range(len(pool)) if state.counters.is_known(place) or state.counters.was_passed(place)
    }
    assert len(decided) > 100
    assert desk.overview().decided == len(decided)
    assert desk.expected().costs == state.model.learner.forecast(200 - len(decided)).costs
    desk.curation.retire_examples([pool.example_id(place) for place in range(len(pool))], "eve", "all")
    assert (desk.expected(), desk.overview().decided) == (None, 200)


@pytest.mark.parametrize("more", [{"cost_matrix": [[0.0, 1.0], [1.0, 0.0]]}, {"learner": {"price_of_truth": 1}}])
def test_a_true_label_counts_as_one_cost_and_the_dashboard_says_so(tmp_path, more):
    with open_desk(tmp_path, labels=("Billing", "Fraud"), levels=[], budget={"costs": 3}, **more) as desk:
        for number in range(3):
            question = desk.lease("ann")
            assert question.true_label
            label = None if number == 2 else "Fraud"
            desk.answer_truth("ann", question.id, question.lease_id, label, f"k{number}")
        assert (desk.progress().costs, desk.lease("ann").reason) == (3, "budget-spent")
        with served(desk) as address, client_of(address, "eve") as eve:
            eve.post("/login", data={"token": "coal_eve"})
            assert "true label counts as one cost" in " ".join(eve.get("/dashboard").text.split())


def test_a_finished_pool_has_its_numbers(desk_of):
    desk = desk_of(n=30, labels=LABELS)
    work(desk)
    found = desk.overview()
    assert (found.finished, found.contested, found.sampled) == (True, None, 30)
    assert all(row.highest > 0.0 for row in found.labels)
    assert sum(row.contending for row in found.labels) >= 1.0  # one label is always the best
    assert "finished" in found.advice.why


def test_the_pace_counts_costs_per_hour_of_work():
    counters = Counters((0.0, 1.0), Limits())
    for i in range(4):
        body = {"question": i, "step": 0, "costs": {"refund": 0.5, "other": 1.0}, "late": False, "learned": True}
        counters.take_in([Event("answered", 1000.0 + 60 * i, "ada", 20.0, i, None, body, id=i + 1)], [[]])
    (row,) = counters.annotators()
    assert row.costs_per_hour == pytest.approx(3600 * 2 / 20)
    assert counters.timeline.pace == pytest.approx(120.0)  # two costs a minute
    assert counters.timeline.points[-1] == (1180.0, 8)


def test_the_timeline_stays_small_and_ends_with_the_latest():
    timeline = Counters((0.0, 1.0), Limits()).timeline
    for i in range(10_000):
        timeline.record(float(i), i)
    assert len(timeline.points) <= 513
    assert (timeline.points[0], timeline.points[-1]) == ((0.0, 0), (9999.0, 9999))


def test_a_night_is_not_part_of_the_pace():
    timeline = Counters((0.0, 1.0), Limits()).timeline
    for i in range(20):
        timeline.record(60.0 * i + (80_000.0 if i >= 10 else 0.0), i)
    assert timeline.pace == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("saving", "stop"),
    [(EstimatedMean(0.005, 0.0, 0.01, 500), True), (EstimatedMean(0.01, 0.0, 0.05, 500), False), (None, None)],
)
def test_the_advice_is_to_stop_once_the_whole_interval_is_small(desk_of, saving, stop):
    desk = desk_of(learner={"audits": {"rate": 0.1}})
    found = advice_on(saving, desk.state.model.learner, (0.0, 1.0), 50, None)
    assert found.stop is stop
    assert ("95 % interval" in found.why) == (saving is not None)


def test_the_forecast_begins_where_the_spending_ends():
    spent = [(0.0, 0), (1800.0, 60), (3600.0, 100)]
    chart = spending_chart(spent, 100.0, Interval(1000.0, 500.0, 2000.0), budget=150.0)
    past, ahead = (line.split() for _, line in chart.lines)
    assert past[-1] == ahead[0] == chart.band.split()[0]
    assert chart.limit is not None
    assert spending_chart(spent, None, None, budget=1e9).limit is None  # a distant budget is not drawn
    assert spending_chart(spent[:1], None, None, None) is None


@pytest.mark.parametrize("lasting", [20.0, 400.0, 86_400.0, 2 * 86_400.0, 1e6])
def test_ticks_of_time_differ(lasting):
    chart = spending_chart([(1000.0, 0), (1000.0 + lasting, 40)], None, None, None)
    names = [name for _, name in chart.x_ticks]
    assert len(names) == len(set(names)) > 1


@pytest.mark.parametrize("high", [0.003, 0.7, 1, 3, 99, 12_345])
def test_ticks_cover_the_values_with_few_round_numbers(high):
    chart = learning_chart([(1, 0.0), (2, high)], [], 0.0)
    found = [float(text.replace(",", "")) for _, text in chart.y_ticks]
    assert found[0] == 0.0
    assert found[-2] < high <= found[-1]
    assert 2 <= len(found) <= 8


def test_the_page_shows_axes_pace_advice_and_flags(tmp_path):
    with open_desk(tmp_path, n_examples=150, budget={}) as desk, served(desk) as address:
        question = desk.lease("ann")
        desk.flag(question.lease_id, "ann", "two <topics>")
        work(desk, "ann", 90, costs=lambda question: dict.fromkeys(question.labels, 0.0))
        with client_of(address) as client:
            client.post("/login", data={"token": "coal_eve"})
            page = client.get("/dashboard").text
            assert page.count('class="curve"') == 2
            assert "time (UTC)" in page
            assert "No advice" in page
            assert "two &lt;topics&gt;" in page
            flag, csrf = re.findall('name="flag" value="([0-9]+)"', page), re.findall('name="csrf" value="(.*?)"', page)
            assert client.post("/resolve", data={"flag": flag[0], "csrf": csrf[0]}).status_code == 303
            assert client.post("/resolve", data={"flag": "x", "csrf": csrf[0]}).status_code == 404
            assert "two &lt;topics&gt;" not in client.get("/dashboard").text
