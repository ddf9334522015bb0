"""Rate limits: never more calls than allowed, and a label at its limit does not hold up the others."""

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import CoalClassifier
from coalface.buying.oracles.rates import Rate, Rates
from coalface.desk.annotators.labelling import Labelling
from coalface.desk.service.desk import Desk
from coalface.errors import InputError
from tests.desk.projects import LABELS, small_project


class Time:
    """A clock that moves only when someone waits."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


@given(st.integers(1, 5), st.floats(0.5, 100), st.lists(st.floats(0.0, 20.0), max_size=60))
def test_no_window_of_time_has_more_calls_than_allowed(calls, seconds, waits):
    time, began = Time(), []
    rates = Rates({"a": Rate(calls, seconds)}, clock=time)
    for wait in waits:
        time.wait(wait)
        if rates.begin(["a"]):
            began.append(time.now)
            rates.end(["a"])
    for start in began:
        assert sum(start <= at < start + seconds for at in began) <= calls


def test_calls_at_the_same_time_are_limited_by_label():
    rates = Rates({"a": Rate(concurrent=2)})
    assert [rates.begin(["a"]), rates.begin(["a", "b"]), rates.begin(["a"]), rates.begin(["b"])] == [1, 1, 0, 1]
    rates.end(["a", "b"])
    assert rates.begin(["a"])


def test_an_interview_waits_for_its_limits():
    time, began = Time(), []
    rates = Rates({"walk": Rate.of("3/min")}, clock=time, pause=time.wait)

    def answer(_, label):
        began.append((label, time.now))
        return 0.2 if label == "walk" else 0.9

    CoalClassifier(["walk", "fly"], model="online").interview([[1.0]] * 8, rates.limited(answer))
    walks = [at for label, at in began if label == "walk"]
    assert len(walks) > 3
    assert all(later - earlier >= 60.0 for earlier, later in zip(walks, walks[3:], strict=False))


def test_a_label_at_its_limit_does_not_hold_up_the_others(tmp_path):
    """With one call about "refund" per day, questions about the other labels are all answered."""
    time, lock, asked = Time(), threading.Lock(), []
    desk = Desk(small_project(tmp_path / "p", n=80, learner={"rule": {"warm_up": 0}}))
    rates = Rates({"refund": Rate.of("1/day")}, clock=time)
    ended = threading.Event()

    def answer(question):
        with lock:
            asked.append(tuple(question["labels"]))
        return dict.fromkeys(question["labels"], 0.5)

    labelling = Labelling(desk, answer, workers=3, rates=rates, pause=lambda _: ended.is_set() or time.wait(1800.0))
    labelling.limit = 20
    done = labelling.run()
    counts = Counter("refund" in labels for labels in asked)
    assert done.answers == 20
    assert counts[True] <= 1 + time.now // 86_400
    assert counts[False] >= 18 - time.now // 86_400
    assert desk.held("program") == []  # what waited was given back
    desk.close()


def test_no_more_calls_than_allowed_are_under_way(tmp_path):
    lock, under_way, most = threading.Lock(), Counter(), Counter()

    def answer(question):
        with lock:
            under_way.update(question["labels"])
            for label in question["labels"]:
                most[label] = max(most[label], under_way[label])
        threading.Event().wait(0.005)
        with lock:
            under_way.subtract(question["labels"])
        return dict.fromkeys(question["labels"], 0.5)

    desk = Desk(small_project(tmp_path / "p", n=40))
    rates = Rates.parsed([], ["refund=1", "2"], LABELS)
    done = Labelling(desk, answer, workers=6, rates=rates).run()
    assert done.stopped == "nothing-worth-asking"
    assert most["refund"] == 1
    assert max(most.values()) <= 2
    desk.close()


@pytest.mark.parametrize(
    ("rates", "concurrent", "message"),
    [
        (["fast"], [], "A rate must be like 60/min"),
        (["60/year"], [], "A rate must be like 60/min"),
        (["0/min"], [], "A rate must be like 60/min"),
        (["dog=60/min"], [], "--rate has no label 'dog'"),
        ([], ["cat=0"], "--concurrent must be a whole number"),
        ([], ["many"], "--concurrent must be a whole number"),
    ],
)
def test_a_wrong_limit_is_one_line(rates, concurrent, message):
    with pytest.raises(InputError, match=message):
        Rates.parsed(rates, concurrent, ["cat"])
